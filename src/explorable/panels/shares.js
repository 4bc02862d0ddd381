// The Shares panel: bars of length 1 under each other, each divided into its parts.

import { axisName, scaleBetween, textAt } from "../js/axis.js";
import { node, set } from "../js/elements.js";
import { STRIDES } from "../js/keys.js";
import { KINDS } from "../js/kinds.js";
import { amountText } from "../js/numbers.js";
import { widthOf } from "../js/words.js";
import LOOK from "../look.json" with { type: "json" };

const OVER = 26; // pixels above the bars, for the title
const THICKEST = 28; // pixels from bar to bar
const SPACE = 0.25; // of that, between them
const SEAM = 1.2; // pixels between parts, at most
const ENDS = [0, 0.25, 0.5, 0.75, 1]; // ticks

class Shares {
  constructor(panel, words) {
    this.panel = panel;
    this.words = words;
    this.element = this.surface = node("svg");
    this.rings = node("path", { class: "ring" });
    this.narrowest = 280;
    this.margin = Math.max(...panel.bars.map(({ label }) => widthOf(label)));
  }

  needs() {
    const { along, bars } = this.panel;
    return { now: [along.limits, ...bars.map(({ parts }) => parts)], later: [] };
  }

  draw(view, { width: size, height }) {
    const { panel } = this;
    const limits = view.at(panel.along.limits).values;
    const pitch = Math.min(THICKEST, height / panel.bars.length);
    this.box = { left: this.margin, top: OVER, right: size - 10, bottom: OVER + pitch * panel.bars.length };
    this.x = scaleBetween(limits, [this.box.left, this.box.right]);
    this.bars = panel.bars.map((bar, i) => this.measure(bar, view, OVER + i * pitch, pitch));
    set(this.surface, "viewBox", `0 0 ${size} ${this.box.bottom + 42}`);
    this.surface.replaceChildren(...this.axis(), this.title(), ...this.bars.flatMap((bar) => this.makeBar(bar)), this.rings);
    const shown = this.bars.map(({ label, inFocus, parts }) => ({ label, inFocus, parts }));
    return { kind: "shares", limits, bars: shown };
  }

  // A bar's parts, and where each begins and ends.
  measure({ label, focus, parts: source }, view, from, pitch) {
    const parts = view.at(source).values;
    const ends = [0];
    for (const part of parts) ends.push(ends.at(-1) + part);
    const places = Array.from(parts, (_, i) => [this.x(ends[i]), this.x(ends[i + 1])]);
    const inFocus = focus === null || view.value(focus[0]) === focus[1];
    return { label, inFocus, parts, places, top: from, thick: pitch * (1 - SPACE) };
  }

  makeBar({ label, inFocus, places, top, thick }) {
    const seam = Math.min(SEAM, (0.3 * (this.box.right - this.box.left)) / places.length);
    const part = ([left, right]) =>
      `M${left.toFixed(1)},${top}h${Math.max(0.3, right - left - seam).toFixed(2)}v${thick}H${left.toFixed(1)}z`;
    const color = inFocus ? this.panel.color : "grey";
    const name = textAt(inFocus ? `label ${color}` : "tick", this.box.left - 8, top + thick / 2 + 4.5, "end", label);
    return [node("path", { class: `part ${color}`, d: places.map(part).join("") }), name];
  }

  axis() {
    const { along } = this.panel;
    const { left, right, bottom, top } = this.box;
    const parts = ENDS.map((tick) => textAt("tick", this.x(tick), bottom + 14, "middle", amountText(tick, along)));
    const grid = ENDS.map((tick) => node("path", { class: "grid", d: `M${this.x(tick)},${top - 4}V${bottom + 2}` }));
    return [...grid, ...parts, axisName(along, (left + right) / 2, bottom + 34, "middle", Infinity)];
  }

  title() {
    const { color, mark, title } = this.panel;
    const shape = node("path", { class: `series mark ${mark}`, d: `M5,-4.5${LOOK.marks[mark].path}` });
    return node("g", { class: color, transform: `translate(${this.box.left},12)` }, shape, textAt("heading", 14, 0, "start", title));
  }

  // Of the part at a place across; a pointer between two bars means the nearer.
  pickAt(px, py) {
    const { left, top, right, bottom } = this.box;
    if (px < left || px > right || py < top - 6 || py > bottom + 6) return null;
    const height = (bottom - top) / this.bars.length;
    const { places } = this.bars[Math.max(0, Math.min(this.bars.length - 1, Math.floor((py - top) / height)))];
    const at = places.findIndex(([, end]) => px <= end);
    return { [this.panel.part]: (at < 0 ? places.length - 1 : at) + 1 };
  }

  step(pick, key) {
    if (!STRIDES[key]) return null;
    const most = Math.max(...this.bars.map(({ parts }) => parts.length));
    const next = pick && this.panel.part in pick ? pick[this.panel.part] + STRIDES[key] : 1;
    return { [this.panel.part]: Math.min(most, Math.max(1, next)) };
  }

  // One part is marked in every bar that has it.
  mark(pick) {
    const { panel } = this;
    const number = pick?.[panel.part];
    const there = number === undefined ? [] : this.bars.filter(({ parts }) => number <= parts.length);
    const ring = ({ places, top, thick }) => {
      const [left, right] = places[number - 1];
      return `M${left - 1},${top - 2}H${right + 1}V${top + thick + 2}H${left - 1}z`;
    };
    set(this.rings, "d", there.map(ring).join(""));
    if (!there.length) return null;
    const said = there.map(({ label, inFocus, parts }) => ({
      color: inFocus ? panel.color : "grey",
      mark: panel.mark,
      text: `${label}${this.words.colon}${amountText(parts[number - 1], panel.along)}`,
    }));
    return { place: `${panel.part} = ${number}`, said };
  }

  table() {
    const most = Math.max(...this.bars.map(({ parts }) => parts.length));
    const cell = ({ parts }, i) => (i < parts.length ? amountText(parts[i], this.panel.along) : "");
    const rows = Array.from({ length: most }, (_, i) => [String(i + 1), ...this.bars.map((bar) => cell(bar, i))]);
    return { head: [this.panel.part, ...this.bars.map(({ label }) => label)], rows };
  }
}

KINDS.shares = (panel, words) => new Shares(panel, words);
