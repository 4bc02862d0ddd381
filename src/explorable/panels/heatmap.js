// The Heatmap panel: a matrix as colours on a canvas, its axes as SVG over it.

import { textAt } from "../js/axis.js";
import { colorAt } from "../js/color_bar.js";
import { element, node, renew, set } from "../js/elements.js";
import { KINDS } from "../js/kinds.js";
import { cellName, matrixWords } from "../js/matrix_words.js";
import { amountText } from "../js/numbers.js";
import { ticksOf } from "../js/ticks.js";
import { tween } from "../js/tween.js";
import LOOK from "../look.json" with { type: "json" };

const TOP = 34; // pixels above the matrix, for title and name of the rows
const AFTER = 3; // pixels at the right, for the ring of a cell
const INSET = 4; // pixels at the left, without words there, for the first of those that stand below
const LETTER = 8; // pixels: how wide a letter of a tick is, at most
const NUMBERS = { log10: false }; // of rows and columns, as an axis
const WORDS_APART = 12; // pixels from word to word, at least: with less, some are left out
const [SIZE, SMALLEST] = [12, 7]; // pixels: letters shrink before any is left out, for without it the text would be another
const NUMBERS_APART = 28; // pixels from number to number, at least
const BAND = 4; // pixels: how thick the colour of a word is
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

// Let a cell that goes, or comes, keep its colour on the way: only how clear it is changes.
function fade(before, now, at, goes) {
  if (goes) now.set(before.subarray(at, at + 3), at);
  else before.set(now.subarray(at, at + 3), at);
}

const within = (number, count) => Math.min(count, Math.max(1, number));

class Heatmap {
  constructor(panel, words) {
    this.panel = panel;
    this.words = words;
    this.square = true;
    this.narrowest = 100;
    this.canvas = element("canvas", { "aria-hidden": true, class: "hatched" });
    this.around = node("g");
    this.ring = node("rect", { class: "ring" });
    this.lanes = [node("path", { class: "lane ground" }), node("path", { class: "lane" })];
    this.surface = node("svg", {}, this.around, ...this.lanes, this.ring);
    this.element = element("div", { class: "layered" }, this.canvas, this.surface);
    const { letters, word_colors } = panel;
    this.band = word_colors ? BAND + 3 : 0;
    this.margin = letters.row_words * LETTER + 9 + this.band;
    this.standing = panel.column_words && letters.column_words > 1; // words of one letter lie
    this.below = (this.standing ? letters.column_words * LETTER - 6 : 0) + this.band; // what words need more than numbers
  }

  needs() {
    const { scale, matrix, companion } = this.panel;
    return { now: [scale.limits, matrix, ...(companion ? [companion.matrix] : [])], later: [] };
  }

  // Panels that stand beside each other and name their rows alike have the same rows: the first of them says which.
  sharesRows({ panel: other }) {
    const one = this.panel;
    return one !== other && one.rows === other.rows && Boolean(one.row_words) === Boolean(other.row_words);
  }

  beside(first) {
    const inset = this.standing ? INSET : 0;
    return (this.sharesRows(first) ? inset : this.margin) + AFTER;
  }

  draw(view, { width: size, height: tall, first }) {
    const { panel, below } = this;
    const limits = view.at(panel.scale.limits).values;
    this.element.classList.toggle("faint", panel.faint_at !== null && view.value(panel.faint_at[0]) === panel.faint_at[1]);
    const { shape, values } = view.at(panel.matrix);
    this.companion = panel.companion && view.at(panel.companion.matrix).values;
    [this.rowWords, this.columnWords] = matrixWords(panel, view);
    const left = this.beside(first) - AFTER;
    const side = Math.max(1, Math.min(size - left - AFTER, tall));
    this.widest = left + side;
    this.named = !this.sharesRows(first); // or the first names the rows
    const rows = this.named ? null : first.rows; // where those of arcs stand
    const height = rows?.height ?? side * Math.min(1, panel.tallest); // whatever its shape, so that nothing below shifts
    const high = rows?.each ?? Math.min(side / shape[1], height / shape[0]);
    this.cell = { width: Math.min(side / shape[1], high), height: high };
    const [bottom, right] = [TOP + Math.round(high * shape[0]), left + Math.round(this.cell.width * shape[1])];
    this.box = { left, top: TOP, right, bottom };
    this.place(shape);
    this.paint(values, shape, limits);
    set(this.surface, "viewBox", `0 0 ${size} ${TOP + Math.round(height) + below + 40}`);
    this.frame(`${shape} ${this.named} ${left} ${side} ${height} ${this.rowWords} ${this.columnWords}`);
    return { kind: "heatmap", limits, shape, values, rowWords: this.rowWords ?? [], columnWords: this.columnWords ?? [] };
  }

  // What stands around the matrix, drawn again when anything of it changes.
  frame(key) {
    if (this.framed === key) return;
    this.framed = key;
    renew(this.around, [...this.ticks(), ...this.bands(), ...this.names()]);
  }

  // Lay the canvas under the axes, with one pixel a cell, which CSS enlarges with sharp edges.
  place([rows, columns]) {
    const { canvas, box } = this;
    const [width, height] = [box.right - box.left, box.bottom - box.top];
    set(canvas, "style", `left: ${box.left}px; top: ${box.top}px; width: ${width}px; height: ${height}px`);
    if (canvas.width !== columns || canvas.height !== rows) [canvas.width, canvas.height] = [columns, rows];
  }

  // The colours go from those shown to those of new numbers. A cell of −∞, no path, is clear: the hatched ground shows.
  paint(values, shape, limits) {
    const key = `${shape} ${limits}`;
    if (this.values === values && this.painted === key) return;
    const before = String(this.shape) === String(shape) ? Uint8ClampedArray.from(this.colors) : null;
    const now = new Uint8ClampedArray(4 * values.length);
    [this.values, this.shape, this.painted] = [values, shape, key];
    values.forEach((value, i) => {
      const none = value === -Infinity;
      now.set(none ? [0, 0, 0, 0] : [...colorAt(this.panel.colormap, limits, value), 255], 4 * i);
      if (before && none !== (before[4 * i + 3] === 0)) fade(before, now, 4 * i, none);
    });
    const show = (colors) => {
      this.colors = colors;
      this.canvas.getContext("2d").putImageData(new ImageData(colors, shape[1], shape[0]), 0, 0);
    };
    tween(this.canvas, (share) => show(before && share < 1 ? now.map((channel, i) => before[i] + (channel - before[i]) * share) : now));
  }

  // The numbers of the rows or columns that have a tick: as many as their words, or round ones, have room; size: of each.
  ticked(words, count, size) {
    if (!words) return [...new Set([1, ...ticksOf(NUMBERS, [1, count], size * count, () => NUMBERS_APART, true).map(({ at }) => at)])];
    const apart = this.isLettered(words) ? SMALLEST : WORDS_APART;
    return words.map((_, i) => i + 1).filter((number) => (number - 1) % Math.ceil(apart / size) === 0);
  }

  // A word or a number at a row or column; a word in its colour.
  tick(words, number, x, y, anchor) {
    const color = words && this.panel.word_colors?.[words[number - 1]];
    const text = textAt(color ? `tick word ${color}` : "tick", x, y, anchor, words?.[number - 1] ?? number);
    if (words && this.isLettered(words))
      text.setAttribute("style", `font-size: ${Math.min(SIZE, Math.max(SMALLEST, this.cell.width - 0.5)).toFixed(1)}px`);
    return text;
  }

  isLettered(words) {
    return words.every((word) => word.length === 1);
  }

  ticks() {
    const { box, cell, band, rowWords, columnWords } = this;
    const [rows, columns] = this.shape;
    const row = (i) => this.tick(rowWords, i, box.left - 6 - band, box.top + (i - 0.5) * cell.height + 4, "end");
    const middle = (j) => box.left + (j - 0.5) * cell.width;
    const column = (j) => this.tick(columnWords, j, Math.max(LETTER / 2, middle(j)), box.bottom + 15 + band, "middle");
    const standing = (j) => {
      const transform = `translate(${middle(j) + 4},${box.bottom + 6 + band}) rotate(-90)`; // to be read from below
      return node("g", { transform }, this.tick(columnWords, j, 0, 0, "end"));
    };
    const rowTicks = this.named ? this.ticked(rowWords, rows, cell.height).map(row) : [];
    return [...this.ticked(columnWords, columns, cell.width).map(this.standing ? standing : column), ...rowTicks];
  }

  // The colours of the words, along rows and columns.
  bands() {
    const { box, cell } = this;
    const { word_colors } = this.panel;
    if (!word_colors) return [];
    const band = (words, place) => (words ?? []).map((word, i) => node("rect", { class: `band ${word_colors[word]}`, ...place(i) }));
    const [x, y] = [(j) => box.left + j * cell.width + 0.5, (i) => box.top + i * cell.height + 0.5];
    const rows = band(this.rowWords, (i) => ({ x: box.left - 3 - BAND, y: y(i), width: BAND, height: cell.height - 1 }));
    const columns = band(this.columnWords, (j) => ({ x: x(j), y: box.bottom + 3, width: cell.width - 1, height: BAND }));
    return [...(this.named ? rows : []), ...columns];
  }

  // The names of rows and columns and, where it has a colour, the title.
  names() {
    const { panel, box } = this;
    const columns = textAt("axis-name", (box.left + box.right) / 2, box.bottom + this.below + 33, "middle", panel.columns);
    const rows = this.named ? [textAt("axis-name", 0, TOP - 6, "start", panel.rows)] : [];
    if (!panel.color) return [columns, ...rows];
    const title = textAt("heading", 14, 0, "start", panel.title);
    const mark = node("path", { class: `series mark ${panel.mark}`, d: `M5,-4.5${LOOK.marks[panel.mark].path}` });
    return [columns, ...rows, node("g", { class: panel.color, transform: `translate(${box.left},12)` }, mark, title)];
  }

  pickAt(px, py) {
    const { box, cell } = this;
    const [rows, columns] = this.shape;
    if (px < box.left || px > box.right || py < box.top || py > box.bottom) return null;
    return { row: within(Math.ceil((py - box.top) / cell.height), rows), column: within(Math.ceil((px - box.left) / cell.width), columns) };
  }

  step(pick, key) {
    const [rows, columns] = this.shape;
    if (!STEPS[key]) return null;
    if (!pick || !("row" in pick)) return { row: 1, column: 1 };
    const [down, right] = STEPS[key];
    return { row: within(pick.row + down, rows), column: within(pick.column + right, columns) };
  }

  // Lines through a cell to all four sides of the matrix, which leave the cell free.
  laneOf({ x, y, width, height }) {
    const { left, top, right, bottom } = this.box;
    const [across, down] = [x + width / 2, y + height / 2].map((number) => number.toFixed(1));
    return `M${left},${down}H${x}M${x + width},${down}H${right}M${across},${top}V${y}M${across},${y + height}V${bottom}`;
  }

  mark(pick) {
    const { panel, words, box, cell } = this;
    const [rows, columns] = this.shape;
    const shown = pick && "row" in pick && pick.row <= rows && pick.column <= columns;
    for (const part of [this.ring, ...this.lanes]) set(part, "display", shown ? "inline" : "none");
    if (!shown) return null;
    const place = { x: box.left + (pick.column - 1) * cell.width, y: box.top + (pick.row - 1) * cell.height, ...cell };
    for (const [name, number] of Object.entries(place)) this.ring.setAttribute(name, number.toFixed(1));
    for (const lane of this.lanes) set(lane, "d", this.laneOf(place));
    const at = (pick.row - 1) * columns + pick.column - 1;
    const [value, companion] = [this.values[at], this.companion?.[at] ?? -Infinity];
    const said = [value === -Infinity ? words.none : `${panel.scale.label} ${amountText(value, panel.scale)}`];
    if (value !== -Infinity && companion !== -Infinity) said.push(`${panel.companion.label} ${companion}`);
    const text = panel.title + words.is + said.join(words.comma);
    const cellAt = cellName(panel, [this.rowWords, this.columnWords], pick, words);
    return { place: cellAt, said: [{ color: panel.color, mark: panel.mark, text }] };
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
