// The Arcs panel: the words of two texts in two columns, and an arc for every weight between them.

import { textAt } from "../js/axis.js";
import { node, set } from "../js/elements.js";
import { STRIDES } from "../js/keys.js";
import { KINDS } from "../js/kinds.js";
import { cellName, matrixWords } from "../js/matrix_words.js";
import { amountText } from "../js/numbers.js";

const FIRST_WORD = 34; // pixels above the first word, as many as above a heatmap
const CLOSEST = 10; // pixels from word to word
const LARGEST = 13; // pixels of a letter's height, at most
const WIDE = 8; // pixels of a letter's width
const SHORTEST_ARC = 46; // pixels between the columns, at least
const DOWNWARDS = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 };

const clamp = (place, count) => Math.min(count, Math.max(1, place));

class Arcs {
  constructor(panel, words) {
    this.panel = panel;
    this.words = words;
    this.element = this.surface = node("svg");
    this.margins = [panel.letters.column_words * WIDE + 6, panel.letters.row_words * WIDE + 6];
    this.narrowest = this.margins[0] + this.margins[1] + SHORTEST_ARC;
  }

  needs() {
    return { now: [this.panel.weight.limits, this.panel.matrix], later: [] };
  }

  draw(view, { width: size, height: tall }) {
    const { panel } = this;
    const limits = view.at(panel.weight.limits).values;
    const { shape, values } = view.at(panel.matrix);
    [this.shape, this.values] = [shape, values];
    [this.rowWords, this.columnWords] = matrixWords(panel, view);
    const height = Math.max(tall, CLOSEST * panel.most); // whatever the number of words, so that nothing below shifts
    this.gap = height / Math.max(...shape);
    this.rows = { height, each: this.gap };
    this.ends = [this.margins[0], size - this.margins[1]];
    set(this.surface, "viewBox", `0 0 ${size} ${FIRST_WORD + height + 8}`);
    this.texts = {
      column: this.column(this.columnWords, this.ends[0] - 6, "end"),
      row: this.column(this.rowWords, this.ends[1] + 6, "start"),
    };
    this.arcs = this.isOpen() ? this.makeArcs(limits) : this.makeWays();
    const names = [
      textAt("axis-name", 2, FIRST_WORD - 8, "start", panel.columns),
      textAt("axis-name", size - 2, FIRST_WORD - 8, "end", panel.rows),
    ];
    this.surface.replaceChildren(...names, ...this.arcs.map(({ path }) => path), ...this.hub(), ...this.texts.column, ...this.texts.row);
    return { kind: "arcs", limits, shape, values, rowWords: this.rowWords, columnWords: this.columnWords };
  }

  // Whether any word leads to another one by itself.
  isOpen() {
    return this.values.some((value) => value !== -Infinity);
  }

  heightOf(place) {
    return FIRST_WORD + (place - 0.5) * this.gap;
  }

  column(words, x, anchor) {
    const size = `font-size: ${Math.min(LARGEST, 0.95 * this.gap).toFixed(1)}px`;
    return words.map((word, i) => {
      const text = textAt(`arc-word ${word.startsWith("*") ? "wrong" : ""}`, x, this.heightOf(i + 1) + 4, anchor, word);
      text.setAttribute("style", size);
      return text;
    });
  }

  curve([x0, y0], [x1, y1]) {
    const middle = (x0 + x1) / 2;
    const points = [x0, y0, middle, y0, middle, y1, x1, y1].map((number) => number.toFixed(1));
    return `M${points[0]},${points[1]}C${points.slice(2).join(" ")}`;
  }

  // An arc for each weight above the scale's lower end: {row, column, path}.
  makeArcs([low, high]) {
    const { panel, ends } = this;
    const plain = (value) => (panel.weight.log10 ? 10 ** value : value);
    const arcs = [];
    this.values.forEach((value, at) => {
      if (value <= low) return;
      const [row, column] = [Math.floor(at / this.shape[1]) + 1, (at % this.shape[1]) + 1];
      const share = Math.min(1, plain(value) / plain(high));
      const d = this.curve([ends[0], this.heightOf(column)], [ends[1], this.heightOf(row)]);
      const style = `stroke-width: ${(0.6 + 3 * share).toFixed(2)}; --share: ${(0.2 + 0.8 * share).toFixed(2)}`;
      arcs.push({ row, column, path: node("path", { class: `arc ${panel.color}`, d, style }) });
    });
    return arcs;
  }

  // Without weights: a way from every word at the left to the hub, and from there to every word at the right.
  makeWays() {
    const [ends, center] = [this.ends, this.center()];
    const way = (row, column, from, to) => ({
      row,
      column,
      path: node("path", { class: "arc", d: this.curve(from, to), style: "stroke-width: 1; --share: 0.8" }),
    });
    const into = this.columnWords.map((_, i) => way(null, i + 1, [ends[0], this.heightOf(i + 1)], center));
    return [...into, ...this.rowWords.map((_, i) => way(i + 1, null, center, [ends[1], this.heightOf(i + 1)]))];
  }

  center() {
    return [(this.ends[0] + this.ends[1]) / 2, FIRST_WORD + (this.gap * Math.max(...this.shape)) / 2];
  }

  hub() {
    if (this.isOpen()) return [];
    const [cx, cy] = this.center();
    return [node("circle", { class: "hub", cx, cy, r: 13 }), textAt("hub-name", cx, cy + 4, "middle", this.panel.through)];
  }

  at(row, column) {
    return this.values[(row - 1) * this.shape[1] + column - 1];
  }

  // The column of the largest weight in a row.
  strongest(row) {
    const columns = this.columnWords.map((_, j) => j + 1);
    return columns.reduce((best, column) => (this.at(row, column) > this.at(row, best) ? column : best));
  }

  // Near a word: at the right it and where most of its weight goes, at the left it and the word that gives it most.
  pickAt(px, py) {
    const place = Math.ceil((py - FIRST_WORD) / this.gap);
    const left = px < (this.ends[0] + this.ends[1]) / 2;
    const count = this.shape[left ? 1 : 0];
    if (place < 1 || place > count) return null;
    if (!left) return { row: place, column: this.strongest(place) };
    const rows = this.rowWords.map((_, i) => i + 1);
    return { row: rows.reduce((best, row) => (this.at(row, place) > this.at(best, place) ? row : best)), column: place };
  }

  step(pick, key) {
    const [down, across] = [DOWNWARDS[key], STRIDES[key]];
    if (!down && !across) return null;
    const row = clamp(pick?.row ?? 1, this.shape[0]);
    if (!pick || !("row" in pick)) return { row, column: this.strongest(row) };
    if (across && !down) return { row, column: clamp(pick.column + across, this.shape[1]) };
    const next = clamp(row + down, this.shape[0]);
    return { row: next, column: this.strongest(next) };
  }

  // Light all arcs of the picked row, and both words.
  mark(pick) {
    const { panel, words } = this;
    const shown = pick && "row" in pick && pick.row <= this.shape[0] && pick.column <= this.shape[1];
    this.surface.classList.toggle("tracing", Boolean(shown));
    for (const { row, path } of this.arcs) path.classList.toggle("lit", Boolean(shown) && (row === pick.row || row === null));
    this.texts.row.forEach((text, i) => text.classList.toggle("lit", Boolean(shown) && i + 1 === pick.row));
    this.texts.column.forEach((text, j) => text.classList.toggle("lit", Boolean(shown) && j + 1 === pick.column));
    if (!shown) return null;
    const place = cellName(panel, [this.rowWords, this.columnWords], pick, words);
    const say = (text) => ({ place, said: [{ color: this.isOpen() ? panel.color : null, mark: panel.mark, text }] });
    if (!this.isOpen()) return say(`${this.rowWords[pick.row - 1]} ← ${panel.through}`);
    const from = this.strongest(pick.row);
    const most = `${this.rowWords[pick.row - 1]} ← ${this.columnWords[from - 1]} ${amountText(this.at(pick.row, from), panel.weight)}`;
    return say(most);
  }

  // Each word at the right with where most of its weight goes.
  table() {
    const { panel } = this;
    const row = (word, i) => {
      const from = this.strongest(i + 1);
      const most = this.isOpen() ? [this.columnWords[from - 1], amountText(this.at(i + 1, from), panel.weight)] : [panel.through, "—"];
      return [`${i + 1} ${word}`, ...most];
    };
    return { head: [panel.rows, panel.columns, panel.weight.label], rows: this.rowWords.map(row) };
  }
}

KINDS.arcs = (panel, words) => new Arcs(panel, words);
