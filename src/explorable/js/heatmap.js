// The Heatmap panel: a matrix as colours on a canvas, its axes as SVG over it.

import { colorAt, drawColorBar, node, ticksBetween } from "./axis.js";
import { MARKS } from "./marks.js";
import { amountText } from "./numbers.js";

const MARGIN = 36; // pixels at the left, for the numbers of the rows
const LETTER = 7; // pixels: how wide a letter of a tick is, at most
const LINE = 11; // pixels from word to word, at least: with less, some words are left out

export function heatmapPanel(panel, words) {
  const element = document.createElement("div");
  element.className = "heatmap";
  const canvas = document.createElement("canvas");
  canvas.setAttribute("aria-hidden", "true");
  const svg = node("svg");
  const ring = node("rect", { class: "ring" });
  element.append(canvas, svg);
  let [matrix, beside, box, cell] = [null, null, null, 0];
  let [rowWords, columnWords] = [null, null];
  const margin = panel.row_words ? Math.max(MARGIN, panel.letters.row_words * LETTER + 10) : MARGIN;
  const below = panel.column_words ? Math.max(0, panel.letters.column_words * LETTER - 6) : 0; // more than numbers need
  const wordsAt = (view, slot) => slot && view.at(slot).split(" ");

  function paint(limits) {
    const [rows, columns] = matrix.shape;
    [canvas.width, canvas.height] = [columns, rows]; // one pixel a cell; CSS enlarges it with sharp edges
    const image = new ImageData(columns, rows);
    matrix.values.forEach((value, i) => {
      // −∞, no path, stays clear: the canvas's hatched ground shows
      if (value !== -Infinity) image.data.set([...colorAt(panel.colormap, limits, value), 255], 4 * i);
    });
    canvas.getContext("2d").putImageData(image, 0, 0);
  }

  function draw(view, size) {
    const limits = view.at(panel.scale.limits).values;
    matrix = view.at(panel.matrix);
    beside = panel.companion && view.at(panel.companion.matrix);
    [rowWords, columnWords] = [wordsAt(view, panel.row_words), wordsAt(view, panel.column_words)];
    const [rows, columns] = matrix.shape;
    paint(limits);
    const side = Math.min(size - margin - 6, 420);
    box = { left: margin, top: 34, right: margin + side, bottom: 34 + Math.round((side * rows) / columns) };
    Object.assign(canvas.style, { left: `${box.left}px`, top: `${box.top}px`, width: `${side}px`, height: `${box.bottom - box.top}px` });
    const bar = { left: box.left, right: box.right, top: box.bottom + below + 64 };
    const none = matrix.values.includes(-Infinity);
    svg.setAttribute("viewBox", `0 0 ${size} ${bar.top + 56}`); // as high without a hatched key as with one: nothing shifts
    const parts = drawColorBar(panel, limits, bar);
    cell = side / columns;
    const numbers = (count) => [...new Set([1, ...ticksBetween([1, count], side / 36, true)])];
    const some = (list) => list.map((_, at) => at + 1).filter((at) => (at - 1) % Math.ceil(LINE / cell) === 0);
    for (const j of columnWords ? some(columnWords) : numbers(columns)) {
      const [x, y] = [box.left + (j - 0.5) * cell, box.bottom];
      parts.push(columnWords // upright, to be read from below
        ? node("text", { class: "tick", transform: `translate(${x + 4},${y + 6}) rotate(-90)`, "text-anchor": "end" }, columnWords[j - 1])
        : node("text", { class: "tick", x, y: y + 16, "text-anchor": "middle" }, j));
    }
    for (const i of rowWords ? some(rowWords) : numbers(rows)) parts.push(node("text", { class: "tick", x: box.left - 6, y: box.top + (i - 0.5) * cell + 4, "text-anchor": "end" }, rowWords ? rowWords[i - 1] : i));
    parts.push(node("text", { class: "axis-name", x: 2, y: box.top - 12 }, panel.rows));
    if (panel.color) parts.push(node("g", { class: panel.color, transform: `translate(${box.right},${box.top - 12})` },
      node("text", { class: "heading", x: -12, "text-anchor": "end" }, panel.title), node("path", { class: `series mark ${panel.mark}`, d: `M-4,-4${MARKS[panel.mark]}` })));
    parts.push(node("text", { class: "axis-name", x: (box.left + box.right) / 2, y: box.bottom + below + 34, "text-anchor": "middle" }, panel.columns));
    if (none) {
      parts.push(node("rect", { class: "none", x: bar.left, y: bar.top + 38, width: 11, height: 11 }));
      parts.push(node("text", { class: "tick", x: bar.left + 17, y: bar.top + 48 }, words.none));
    }
    svg.replaceChildren(...parts, ring);
    return { kind: "heatmap", limits, shape: matrix.shape, values: matrix.values, rowWords: rowWords ?? [], columnWords: columnWords ?? [] };
  }

  const within = (number, count) => Math.min(count, Math.max(1, number));

  function pickAt(px, py) {
    if (px < box.left || px > box.right || py < box.top || py > box.bottom) return null;
    const [rows, columns] = matrix.shape;
    return { row: within(Math.ceil((py - box.top) / cell), rows), column: within(Math.ceil((px - box.left) / cell), columns) };
  }

  function step(pick, key) {
    const [rows, columns] = matrix.shape;
    const move = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], Home: [0, -columns], End: [0, columns] }[key];
    if (!move) return null;
    if (!pick || !("row" in pick)) return { row: 1, column: 1 };
    return { row: within(pick.row + move[0], rows), column: within(pick.column + move[1], columns) };
  }

  function mark(pick) {
    const shown = pick && "row" in pick && pick.row <= matrix.shape[0] && pick.column <= matrix.shape[1];
    ring.setAttribute("display", shown ? "inline" : "none");
    if (!shown) return null;
    const place = { x: box.left + (pick.column - 1) * cell, y: box.top + (pick.row - 1) * cell, width: cell, height: cell };
    for (const [name, number] of Object.entries(place)) ring.setAttribute(name, number.toFixed(1));
    const at = (pick.row - 1) * matrix.shape[1] + pick.column - 1;
    const value = matrix.values[at];
    const amount = value === -Infinity ? words.none : `${panel.scale.label} ${amountText(value, panel.scale)}`;
    const more = beside && value !== -Infinity && beside.values[at] !== -Infinity ? `${words.comma}${panel.companion.label} ${beside.values[at]}` : "";
    const naming = (name, number, listed) => (listed ? `${name} ${number}: ${listed[number - 1]}` : `${name} = ${number}`);
    return { place: `${naming(panel.rows, pick.row, rowWords)}${words.comma}${naming(panel.columns, pick.column, columnWords)}`, text: `${panel.title}${words.is}${amount}${more}` };
  }

  function table() {
    const [rows, columns] = matrix.shape;
    const line = (i) => [...matrix.values.subarray(i * columns, (i + 1) * columns)].map((value) => (value === -Infinity ? "0" : amountText(value, panel.scale)));
    const named = (i, listed) => (listed ? `${i + 1} ${listed[i]}` : String(i + 1));
    const head = [`${panel.rows} \\ ${panel.columns}`, ...Array.from({ length: columns }, (_, j) => named(j, columnWords))];
    return { head, rows: Array.from({ length: rows }, (_, i) => [named(i, rowWords), ...line(i)]) };
  }
  const needs = { now: [panel.scale.limits, panel.matrix, ...(panel.companion ? [panel.companion.matrix] : [])], later: [] };
  return { element, surface: svg, needs: () => needs, draw, pickAt, step, mark, table };
}
