// The stage: the panels in rows, as many side by side as have room.

import LOOK from "../look.json" with { type: "json" };
import { element } from "./elements.js";
import { KINDS } from "./kinds.js";

const { columns: COLUMNS, gap: GAP } = LOOK.stage; // a panel takes all columns, a half or a third
const LEAST = 200; // pixels: no panel is drawn narrower

export function makeStage({ panels: specs, rows }, words) {
  const panels = specs.map((spec) => KINDS[spec.kind].make(spec, words));
  const stage = element("div", { class: "stage" }, ...panels.map((panel) => panel.element));
  const left = panels.map((panel, i) => [panel, KINDS[specs[i].kind].narrowest]);
  const inRows = rows.map((count) => left.splice(0, count));
  let width = 0; // as last measured: to read it costs a layout

  function drawRow(row, view) {
    const narrowest = Math.max(...row.map(([, pixels]) => pixels));
    const side = Math.min(row.length, Math.max(1, Math.floor((width + GAP) / (narrowest + GAP)))); // panels side by side
    return row.map(([panel], i) => {
      const span = `${i ? "auto" : 1} / span ${COLUMNS / side}`; // a row begins at the left
      if (panel.element.style.gridColumn !== span) panel.element.style.gridColumn = span;
      return panel.draw(view, Math.max(LEAST, (width + GAP) / side - GAP));
    });
  }
  // Returns whether the width has changed.
  function measure() {
    const before = width;
    width = stage.clientWidth;
    if (width !== before) stage.style.setProperty("--drawn", `${width}px`); // paper keeps it
    return width !== before;
  }
  // Call changed() when the width changes. Returns a function that ends this.
  function watch(changed) {
    const observer = new ResizeObserver(() => measure() && changed());
    observer.observe(stage);
    return () => observer.disconnect();
  }
  return { element: stage, panels, draw: (view) => inRows.flatMap((row) => drawRow(row, view)), measure, watch };
}
