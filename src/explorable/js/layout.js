// The stage: the panels in rows, as many side by side as have room.

import LOOK from "../look.json" with { type: "json" };
import { element } from "./elements.js";
import { KINDS } from "./kinds.js";

const { columns: COLUMNS, gap: GAP } = LOOK.stage; // a panel takes all columns, a half or a third
const LEAST = 200; // pixels: no panel is drawn narrower

export class Stage {
  constructor({ panels, rows }, words) {
    this.rows = rows;
    this.rowOf = rows.flatMap((count, row) => Array(count).fill(row));
    const narrowestIn = (row) => Math.max(...panels.filter((_, i) => this.rowOf[i] === row).map(({ kind }) => KINDS[kind].narrowest));
    this.narrowest = rows.map((_, row) => narrowestIn(row));
    this.panels = panels.map((panel) => KINDS[panel.kind].make(panel, words));
    this.element = element("div", { class: "stage" }, ...this.panels.map((panel) => panel.element));
    this.width = 0; // as last measured: to read it costs a layout
  }

  // Returns whether the width has changed.
  measure() {
    const before = this.width;
    this.width = this.element.clientWidth;
    return this.width !== before;
  }

  // Put a panel in its place and return its width.
  place(panel, i) {
    const row = this.rowOf[i];
    const fit = Math.floor((this.width + GAP) / (this.narrowest[row] + GAP));
    const side = Math.min(this.rows[row], Math.max(1, fit)); // panels side by side
    const span = `${row === this.rowOf[i - 1] ? "auto" : 1} / span ${COLUMNS / side}`; // a row begins at the left
    if (panel.element.style.gridColumn !== span) panel.element.style.gridColumn = span;
    return Math.max(LEAST, (this.width + GAP) / side - GAP);
  }

  // The parts of the figure that the panels show: at once, and later.
  needs(view) {
    const needs = this.panels.map((panel) => panel.needs(view));
    return { now: needs.flatMap(({ now }) => now), later: needs.flatMap(({ later }) => later) };
  }

  draw(view) {
    return this.panels.map((panel, i) => panel.draw(view, this.place(panel, i)));
  }

  // Call changed() when the width changes. Returns a function that ends this.
  watch(changed) {
    const observer = new ResizeObserver(() => this.measure() && changed());
    observer.observe(this.element);
    return () => observer.disconnect();
  }
}
