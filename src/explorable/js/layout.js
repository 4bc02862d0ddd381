// The stage: the panels in rows, as many side by side as have room.

import LOOK from "../look.json" with { type: "json" };
import { makeColorBars } from "./color_bar.js";
import { element } from "./elements.js";
import { KINDS } from "./kinds.js";

const { columns: COLUMNS, gap: GAP } = LOOK.stage; // a panel takes all columns, a half, a third or a quarter
const TALL = { wide: [360, 200, 165], narrow: [330, 165, 90] }; // pixels of a plot, with one line of them, two, or more
const NARROW = 600; // pixels: the stage of a phone
// a line of squares is so many times as high as another, if all are to stand on one screen; where it is not the only one
const [SQUARE, SQUARES] = [{ wide: 1.45, narrow: 2.5 }, 1.3];
const LEAST = 0.8; // of its part of a line a panel keeps, where another needs more
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
  const share = (side) => (width + gap()) / side - gap(); // of a panel, with so many side by side
  // The widths of panels of a line: all alike, but for one that needs more, for which the others give way.
  function widthsOf(panels, side) {
    const room = share(side);
    const least = panels.map(({ narrowest }) => Math.min(narrowest, share(1)));
    const larger = least.filter((one) => one > room);
    const rest = larger.reduce((left, one) => left - one, side * room) / Math.max(1, side - larger.length);
    return least.map((one) => (one > room ? one : rest));
  }
  function fits(panels, side) {
    const widths = widthsOf(panels, side);
    const enough = (width, i) => width >= Math.min(panels[i].narrowest, share(1)) && width >= LEAST * share(side);
    return widths.every(enough) && widths.reduce((sum, width) => sum + width, 0) < side * share(side) + 1;
  }
  // A row as lines of panels: as many side by side as have room, of four rather two and two than three and one. Returns each
  // line's panels, and among how many they are as wide as one: what is left over is no wider than those above, if it fits.
  function linesOf(row) {
    const lines = [];
    for (const panel of row) {
      if (lines.length && fits([...lines.at(-1), panel], lines.at(-1).length + 1)) lines.at(-1).push(panel);
      else lines.push([panel]);
    }
    const most = Math.ceil(row.length / lines.length);
    const even = lines.map((_, i) => row.slice(i * most, (i + 1) * most)).filter((panels) => panels.length);
    const chosen = even.every((panels) => fits(panels, panels.length)) ? even : lines;
    const side = Math.max(...chosen.map((panels) => panels.length));
    return chosen.map((panels) => ({ panels, side: fits(panels, side) ? side : panels.length }));
  }
  // Where each panel of a row stands. All of a line are equally wide, unless each says what it needs beside its plot: then
  // the plots are.
  function placesOf(row) {
    const needs = ({ panels }) => panels.map((panel) => panel.beside?.(panels[0]));
    const mean = (pixels) => pixels.reduce((sum, one) => sum + one, 0) / pixels.length; // NaN where one does not say
    const lines = linesOf(row);
    return lines.flatMap((here, line) => {
      const { side } = here;
      const usual = mean(needs(side === lines[0].side ? lines[0] : here));
      const room = share(side);
      const widths = widthsOf(here.panels, side);
      let off = 0;
      return needs(here).map((pixels, column) => {
        const [left, wide] = [off, widths[column] + (pixels - usual || 0)];
        off += wide - room;
        const margin = `0 ${room - wide - left}px 0 ${left}px`;
        return { line, column, span: COLUMNS / side, width: wide, start: column * (room + gap()) + left, margin };
      });
    });
  }
  // Draw a row from a line of the grid on; every second one is for colour bars. Returns the numbers drawn.
  function drawRow(row, bars, view, heights, from) {
    const places = placesOf(row);
    const areaOf = ({ line, column, span }, below, count) =>
      `${from + 2 * line + below} / ${1 + column * span} / auto / span ${count * span}`;
    const drawn = row.map((panel, i) => {
      const { style } = panel.element;
      const area = areaOf(places[i], 0, 1);
      if (style.gridArea !== area) style.gridArea = area;
      if (style.margin !== places[i].margin) style.margin = places[i].margin;
      return panel.draw(view, { width: places[i].width, height: heights[places[i].line], first: row[i - places[i].column] });
    });
    const farthest = Math.max(...row.map((panel, i) => places[i].start + (panel.widest ?? 0)));
    bars.draw(view, (i, count) => {
      const [first, last] = [places[i], places[i + count - 1]];
      const inOne = first.line === last.line; // or else below all lines
      const { span } = last;
      const area = areaOf({ line: last.line, column: inOne ? first.column : 0, span }, 1, inOne ? count : COLUMNS / span);
      const [left, right] = [first.start + row[i].box.left, inOne ? last.start + row[i + count - 1].widest : farthest];
      const start = inOne ? (first.column * span * (width + gap())) / COLUMNS : 0;
      return { area, left: left - start, right: right - start };
    });
    return drawn;
  }
  // How high the plots of each line of each row are: as high as lets all of them stand on one screen. Squares are no higher
  // than they are wide, and leave the rest to the other lines.
  function heightsOf(inLines) {
    const lines = inLines.flat();
    const room = width < NARROW ? "narrow" : "wide";
    const [highest, high, low] = TALL[room];
    if (lines.length === 1) return [[highest]];
    const isSquare = ({ panels }) => panels.some((panel) => panel.square);
    const square = lines.filter(isSquare).length > 1 ? SQUARES : SQUARE[room];
    const weights = lines.map((line) => (isSquare(line) ? square : 1));
    const total = (numbers) => numbers.reduce((sum, one) => sum + one, 0);
    const each = total(weights) > 2 ? low : high;
    const widest = ({ panels, side }) => (panels.every((panel) => panel.square) ? share(side) : highest);
    const fitting = lines.map((line, i) => Math.min(weights[i] * each, widest(line)));
    const left = (each * total(weights) - total(fitting)) / lines.filter((line) => !isSquare(line)).length;
    const heights = new Map(lines.map((line, i) => [line, isSquare(line) ? fitting[i] : Math.min(high, fitting[i] + left)]));
    return inLines.map((row) => row.map((line) => heights.get(line)));
  }
  function draw(view) {
    const inLines = inRows.map(linesOf);
    const heights = heightsOf(inLines);
    stage.classList.toggle("quick", performance.now() - drawnAt < TWEEN);
    drawnAt = performance.now();
    let line = 1;
    return inRows.flatMap((row, i) => {
      const drawn = drawRow(row, bars[i], view, heights[i], line);
      line += 2 * inLines[i].length;
      return drawn;
    });
  }
  // Returns whether the width has changed.
  function measure() {
    const before = width;
    width = stage.clientWidth;
    if (width !== before) {
      stage.style.setProperty("--gap", `${gap()}px`);
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
