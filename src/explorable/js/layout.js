// The stage: the panels in rows, as many side by side as have room.

import LOOK from "../look.json" with { type: "json" };
import { element } from "./elements.js";
import { KINDS } from "./kinds.js";

const { columns: COLUMNS, gap: GAP } = LOOK.stage; // a panel takes all columns, a half or a third
const TALL = { wide: 420, narrow: 330 }; // pixels for all plots under each other, without ticks and names
const NARROW = 600; // pixels: the stage of a phone
const [SHORTEST, TALLEST] = [130, 360]; // pixels of one plot
const PAPER = 640; // pixels: as wide as a sheet of paper, without its margins
const TWEEN = 150; // milliseconds: a state that the next follows sooner is not tweened into

export function makeStage({ panels: specs, rows }, words) {
  const panels = specs.map((spec) => KINDS[spec.kind](spec, words));
  const stage = element("div", { class: "stage" }, ...panels.map((panel) => panel.element));
  const left = [...panels];
  const inRows = rows.map((count) => left.splice(0, count));
  let drawnAt = -TWEEN; // when it was last drawn
  let width = 0; // as last measured: to read it costs a layout

  const gap = () => (width < NARROW ? GAP / 2 : GAP);
  // How many panels of a row stand side by side.
  function sideBySide(row) {
    const narrowest = Math.max(...row.map((panel) => panel.narrowest));
    return Math.min(row.length, Math.max(1, Math.floor((width + gap()) / (narrowest + gap()))));
  }
  function drawRow(row, view, height) {
    const side = sideBySide(row);
    return row.map((panel, i) => {
      const span = `${i ? "auto" : 1} / span ${COLUMNS / side}`; // a row begins at the left
      if (panel.element.style.gridColumn !== span) panel.element.style.gridColumn = span;
      return panel.draw(view, { width: (width + gap()) / side - gap(), height });
    });
  }
  // Every plot is as high as lets all of them stand on one screen.
  function draw(view) {
    const lines = inRows.reduce((sum, row) => sum + Math.ceil(row.length / sideBySide(row)), 0);
    const height = Math.round(Math.min(TALLEST, Math.max(SHORTEST, TALL[width < NARROW ? "narrow" : "wide"] / lines)));
    stage.style.setProperty("--gap", `${gap()}px`);
    stage.classList.toggle("quick", performance.now() - drawnAt < TWEEN);
    drawnAt = performance.now();
    return inRows.flatMap((row) => drawRow(row, view, height));
  }
  // Returns whether the width has changed.
  function measure() {
    const before = width;
    width = stage.clientWidth;
    if (width !== before) {
      stage.style.setProperty("--drawn", `${width}px`); // paper keeps it
      stage.style.setProperty("--shrunk", Math.min(1, PAPER / width));
    }
    return width !== before;
  }
  // Call changed() when the width changes. Returns a function that ends this.
  function watch(changed) {
    const observer = new ResizeObserver(() => measure() && changed());
    observer.observe(stage);
    return () => observer.disconnect();
  }
  return { element: stage, panels, draw, measure, watch };
}
