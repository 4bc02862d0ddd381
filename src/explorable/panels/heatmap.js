// The Heatmap panel: a matrix as colours on a canvas, its axes as SVG over it.

import { colorAt, drawColorBar, textAt, ticksBetween } from "../js/axis.js";
import { element, node } from "../js/elements.js";
import { KINDS } from "../js/kinds.js";
import { amountText } from "../js/numbers.js";
import LOOK from "../look.json" with { type: "json" };

const MARGIN = 36; // pixels at the left, for the numbers of the rows
const AFTER = 12; // pixels at the right: half of the last number below the colour bar
const LETTER = 7; // pixels: how wide a letter of a tick is, at most
const LINE = 11; // pixels from word to word, at least: with less, some words are left out
const STEPS = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  PageUp: [-10, 0],
  PageDown: [10, 0],
  Home: [0, -Infinity],
  End: [0, Infinity],
};

const within = (number, count) => Math.min(count, Math.max(1, number));

class Heatmap {
  constructor(panel, words) {
    this.panel = panel;
    this.words = words;
    this.narrowest = 100;
    this.canvas = element("canvas", { "aria-hidden": true });
    this.surface = node("svg");
    this.ring = node("rect", { class: "ring" });
    this.element = element("div", { class: "layered" }, this.canvas, this.surface);
    this.margin = panel.row_words ? Math.max(MARGIN, panel.letters.row_words * LETTER + 10) : MARGIN;
    this.below = panel.column_words ? Math.max(0, panel.letters.column_words * LETTER - 6) : 0; // what words need more than numbers
  }

  needs() {
    const { scale, matrix, companion } = this.panel;
    return { now: [scale.limits, matrix, ...(companion ? [companion.matrix] : [])], later: [] };
  }

  draw(view, { width: size, height: tall }) {
    const { panel, margin, below } = this;
    const wordsAt = (slot) => (slot ? view.at(slot).split(" ") : null);
    const limits = view.at(panel.scale.limits).values;
    const { shape, values } = view.at(panel.matrix);
    this.companion = panel.companion && view.at(panel.companion.matrix).values;
    [this.shape, this.values, this.rowWords, this.columnWords] = [shape, values, wordsAt(panel.row_words), wordsAt(panel.column_words)];
    const side = Math.min(size - margin - AFTER, 1.25 * tall);
    const height = side * Math.min(1, panel.tallest); // whatever its shape, so that nothing below shifts
    this.cell = Math.min(side / shape[1], height / shape[0]);
    const [bottom, right] = shape.map((count, axis) => [34, margin][axis] + Math.round(this.cell * count));
    this.box = { left: margin, top: 34, right, bottom };
    this.paint(limits);
    const bar = { left: margin, right: margin + side, top: 34 + Math.round(height) + below + 64 };
    this.surface.setAttribute("viewBox", `0 0 ${size} ${bar.top + 56}`); // room for the hatched key, also without one: nothing shifts
    this.surface.replaceChildren(...drawColorBar(panel, limits, bar), ...this.ticks(), ...this.names(), ...this.key(bar), this.ring);
    return { kind: "heatmap", limits, shape, values, rowWords: this.rowWords ?? [], columnWords: this.columnWords ?? [] };
  }

  paint(limits) {
    const { canvas, box, values } = this;
    const [rows, columns] = this.shape;
    [canvas.width, canvas.height] = [columns, rows]; // one pixel a cell; CSS enlarges it with sharp edges
    const [width, height] = [box.right - box.left, box.bottom - box.top];
    canvas.style.cssText = `left: ${box.left}px; top: ${box.top}px; width: ${width}px; height: ${height}px`;
    const image = new ImageData(columns, rows);
    values.forEach((value, i) => {
      // −∞, no path, stays clear: the canvas's hatched ground shows
      if (value !== -Infinity) image.data.set([...colorAt(this.panel.colormap, limits, value), 255], 4 * i);
    });
    canvas.getContext("2d").putImageData(image, 0, 0);
  }

  // The numbers of the rows or columns that have a tick: as many as their words, or round ones, have room.
  ticked(words, count) {
    if (!words) return [...new Set([1, ...ticksBetween([1, count], (this.box.right - this.box.left) / 36, true)])];
    return words.map((_, i) => i + 1).filter((number) => (number - 1) % Math.ceil(LINE / this.cell) === 0);
  }

  ticks() {
    const { box, cell, rowWords, columnWords } = this;
    const [rows, columns] = this.shape;
    const row = (i) => textAt("tick", box.left - 6, box.top + (i - 0.5) * cell + 4, "end", rowWords?.[i - 1] ?? i);
    const column = (j) => textAt("tick", box.left + (j - 0.5) * cell, box.bottom + 16, "middle", j);
    const upright = (j) => {
      const transform = `translate(${box.left + (j - 0.5) * cell + 4},${box.bottom + 6}) rotate(-90)`; // to be read from below
      return node("g", { transform }, textAt("tick", 0, 0, "end", columnWords[j - 1]));
    };
    return [...this.ticked(columnWords, columns).map(columnWords ? upright : column), ...this.ticked(rowWords, rows).map(row)];
  }

  // The names of rows and columns and, where it has a colour, the title.
  names() {
    const { panel, box } = this;
    const rows = textAt("axis-name", 2, box.top - 12, "start", panel.rows);
    const columns = textAt("axis-name", (box.left + box.right) / 2, box.bottom + this.below + 34, "middle", panel.columns);
    if (!panel.color) return [rows, columns];
    const title = textAt("heading", -12, 0, "end", panel.title);
    const mark = node("path", { class: `series mark ${panel.mark}`, d: `M-4,-4${LOOK.marks[panel.mark].path}` });
    return [rows, columns, node("g", { class: panel.color, transform: `translate(${box.right},${box.top - 12})` }, title, mark)];
  }

  // What the hatched cells mean, if there are any.
  key({ left, top }) {
    if (!this.values.includes(-Infinity)) return [];
    const swatch = node("rect", { class: "none", x: left, y: top + 38, width: 11, height: 11 });
    return [swatch, textAt("tick", left + 17, top + 48, "start", this.words.none)];
  }

  pickAt(px, py) {
    const { box, cell } = this;
    const [rows, columns] = this.shape;
    if (px < box.left || px > box.right || py < box.top || py > box.bottom) return null;
    return { row: within(Math.ceil((py - box.top) / cell), rows), column: within(Math.ceil((px - box.left) / cell), columns) };
  }

  step(pick, key) {
    const [rows, columns] = this.shape;
    if (!STEPS[key]) return null;
    if (!pick || !("row" in pick)) return { row: 1, column: 1 };
    const [down, right] = STEPS[key];
    return { row: within(pick.row + down, rows), column: within(pick.column + right, columns) };
  }

  mark(pick) {
    const { panel, words, box, cell } = this;
    const [rows, columns] = this.shape;
    const shown = pick && "row" in pick && pick.row <= rows && pick.column <= columns;
    this.ring.setAttribute("display", shown ? "inline" : "none");
    if (!shown) return null;
    const place = { x: box.left + (pick.column - 1) * cell, y: box.top + (pick.row - 1) * cell, width: cell, height: cell };
    for (const [name, number] of Object.entries(place)) this.ring.setAttribute(name, number.toFixed(1));
    const at = (pick.row - 1) * columns + pick.column - 1;
    const [value, companion] = [this.values[at], this.companion?.[at] ?? -Infinity];
    const said = [value === -Infinity ? words.none : `${panel.scale.label} ${amountText(value, panel.scale)}`];
    if (value !== -Infinity && companion !== -Infinity) said.push(`${panel.companion.label} ${companion}`);
    const naming = (name, number, listed) => (listed ? `${name} ${number}: ${listed[number - 1]}` : `${name} = ${number}`);
    const named = [naming(panel.rows, pick.row, this.rowWords), naming(panel.columns, pick.column, this.columnWords)];
    return { place: named.join(words.comma), text: panel.title + words.is + said.join(words.comma) };
  }

  table() {
    const { panel, values, rowWords, columnWords } = this;
    const [rows, columns] = this.shape;
    const cell = (value) => (value === -Infinity ? "0" : amountText(value, panel.scale));
    const named = (i, listed) => (listed ? `${i + 1} ${listed[i]}` : String(i + 1));
    const head = [`${panel.rows} \\ ${panel.columns}`, ...Array.from({ length: columns }, (_, j) => named(j, columnWords))];
    const row = (i) => [named(i, rowWords), ...Array.from(values.subarray(i * columns, (i + 1) * columns), cell)];
    return { head, rows: Array.from({ length: rows }, (_, i) => row(i)) };
  }
}

KINDS.heatmap = (panel, words) => new Heatmap(panel, words);
