// The stage: the panels in rows, as many side by side as have room.

import LOOK from "../look.json" with { type: "json" };
import { makeColorBars } from "./color_bar.js";
import { element } from "./elements.js";
import { KINDS } from "./kinds.js";

const { columns: COLUMNS, gap: GAP } = LOOK.stage; // a panel takes all columns, a half, a third or a quarter
const TALL = { wide: [360, 200, 130], narrow: [330, 165, 90] }; // pixels of a plot, with one line of them, two, or more
const NARROW = 600; // pixels: the stage of a phone
const SQUARE = 2; // a row of squares is so many times as high as another, if all are to stand on one screen
const PAPER = 640; // pixels: as wide as a sheet of paper, without its margins
const TWEEN = 150; // milliseconds: a state that the next follows sooner is not tweened into

export function makeStage({ panels: specs, rows }, words) {
  const panels = specs.map((spec) => KINDS[spec.kind](spec, words));
  const left = [...panels];
  const inRows = rows.map((count) => left.splice(0, count));
  const bars = inRows.map((row) => makeColorBars(row, words));
  const parts = inRows.flatMap((row, i) => [...row.map((panel) => panel.element), ...bars[i].elements]);
  const stage = element("div", { class: "stage" }, ...parts);
  let drawnAt = -TWEEN; // when it was last drawn
  let width = 0; // as last measured: to read it costs a layout

  const gap = () => (width < NARROW ? GAP / 2 : GAP);
  // How many panels of a row stand side by side: of four rather two and two than three and one.
  function sideBySide(row) {
    const narrowest = Math.max(...row.map((panel) => panel.narrowest));
    const most = Math.max(1, Math.floor((width + gap()) / (narrowest + gap())));
    return Math.ceil(row.length / Math.ceil(row.length / most));
  }
  // Where each panel of a row stands, `side` of them in a line: its line and column, its width, and how far it is off its
  // part of the stage. All are equally wide, unless each says what it needs beside its plot: then the plots are.
  function placesOf(row, side) {
    const room = (width + gap()) / side - gap();
    const beside = row.map((panel, i) => panel.beside?.(row[i - (i % side)]));
    const mean = beside.slice(0, side).reduce((sum, pixels) => sum + pixels, 0) / side; // NaN where one does not say
    let off = 0;
    return beside.map((pixels, i) => {
      const [line, column] = [Math.floor(i / side), i % side];
      if (!column) off = 0;
      const [left, wide] = [off, room + (pixels - mean || 0)];
      off += wide - room;
      return { line, column, width: wide, start: column * (room + gap()) + left, margin: `0 ${room - wide - left}px 0 ${left}px` };
    });
  }
  // Draw a row from a line of the grid on; every second one is for colour bars. Returns the numbers drawn.
  function drawRow(row, bars, view, height, from) {
    const side = sideBySide(row);
    const share = COLUMNS / side;
    const places = placesOf(row, side);
    const areaOf = ({ line, column }, below, count) => `${from + 2 * line + below} / ${1 + column * share} / auto / span ${count * share}`;
    const drawn = row.map((panel, i) => {
      const { style } = panel.element;
      const area = areaOf(places[i], 0, 1);
      if (style.gridArea !== area) style.gridArea = area;
      if (style.margin !== places[i].margin) style.margin = places[i].margin;
      return panel.draw(view, { width: places[i].width, height, first: row[i - places[i].column] });
    });
    bars.draw(view, (i, count) => {
      const [first, last] = [places[i], places[i + count - 1]];
      const inOne = first.line === last.line; // or else below all lines
      const area = areaOf({ line: last.line, column: inOne ? first.column : 0 }, 1, inOne ? count : side);
      const [left, right] = [first.start + row[i].box.left, inOne ? last.start + row[i + count - 1].widest : width];
      const start = inOne ? first.column * ((width + gap()) / side) : 0;
      return { area, left: left - start, right: right - start };
    });
    return drawn;
  }
  // Every plot is as high as lets all of them stand on one screen.
  function heightsOf(lines) {
    const weights = inRows.map((row) => (row.some(({ square }) => square) ? SQUARE : 1));
    const all = weights.reduce((sum, weight, i) => sum + weight * lines[i], 0);
    const heights = TALL[width < NARROW ? "narrow" : "wide"];
    return weights.map((weight) => Math.min(heights[0], weight * heights[Math.min(all, heights.length) - 1]));
  }
  function draw(view) {
    const lines = inRows.map((row) => Math.ceil(row.length / sideBySide(row)));
    const heights = heightsOf(lines);
    stage.style.setProperty("--gap", `${gap()}px`);
    stage.classList.toggle("quick", performance.now() - drawnAt < TWEEN);
    drawnAt = performance.now();
    let line = 1;
    return inRows.flatMap((row, i) => {
      const drawn = drawRow(row, bars[i], view, heights[i], line);
      line += 2 * lines[i];
      return drawn;
    });
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
