// The Lines panel: families of lines over two axes, named at their ends.

import { drawAxes, node } from "./axis.js";
import { arrayAt } from "./frames.js";

const MARKS = {
  circle: "M-3,0a3,3 0 1,0 6,0a3,3 0 1,0 -6,0Z",
  square: "M-3,-3h6v6h-6Z",
  triangle: "M0,-3.6L3.6,2.8H-3.6Z",
  diamond: "M0,-4L4,0L0,4L-4,0Z",
  cross: "M-3,-3L3,3M-3,3L3,-3",
};
const MARKS_A_LINE = 6;
const LINE_HEIGHT = 17;

function median(rows, at) {
  const column = rows.map((row) => row[at]).sort((a, b) => a - b);
  const middle = column.length >> 1;
  return column.length % 2 ? column[middle] : (column[middle - 1] + column[middle]) / 2;
}

// What is on screen at a setting: every series that is shown, its lines cut to the x axis's limits.
function linesAt(panel, frames, setting, sizes, value) {
  const limits = [panel.x, panel.y].map((axis) => [...arrayAt(frames, axis.limits, setting, sizes).values]);
  const series = [];
  for (const one of panel.series) {
    if (one.shown !== null && !value(one.shown)) continue;
    const x = arrayAt(frames, one.x, setting, sizes).values;
    const y = arrayAt(frames, one.y, setting, sizes);
    const family = y.shape.length === 1 ? [y.values] : Array.from({ length: y.shape[0] }, (_, row) => y.values.subarray(row * x.length, (row + 1) * x.length));
    const seen = [...x.keys()].filter((i) => limits[0][0] <= x[i] && x[i] <= limits[0][1]);
    const inFocus = one.focus === null || value(one.focus[0]) === one.focus[1];
    const rows = inFocus ? family : [Float64Array.from(x.keys(), (i) => median(family, i))];
    series.push({ ...one, inFocus, x: seen.map((i) => x[i]), y: rows.map((row) => seen.map((i) => row[i])) });
  }
  return { kind: "lines", limits, series };
}

// Labels share the right margin: each as near to its line's end as the others leave room for, in the ends' order.
function spread(labels, top, bottom) {
  labels.sort((a, b) => a.end - b.end);
  labels.forEach((label, i) => (label.y = Math.max(label.y, i ? labels[i - 1].y + LINE_HEIGHT : top)));
  for (let i = labels.length - 1; i >= 0; i--) labels[i].y = Math.min(labels[i].y, i + 1 < labels.length ? labels[i + 1].y - LINE_HEIGHT : bottom);
}

export function linesPanel(panel, frames, sizes) {
  const svg = node("svg", { role: "img", "aria-label": panel.title });
  const width = Math.max(...panel.series.map((one) => [...one.label].reduce((sum, letter) => sum + (letter > "⺀" ? 14 : 7.5), 0)));

  function draw(setting, value, size) {
    const drawn = linesAt(panel, frames, setting, sizes, value);
    const box = { left: 50, top: 34, right: size - width - 40, bottom: Math.round(Math.min(400, Math.max(330, size * 0.56))) - 46 };
    svg.setAttribute("viewBox", `0 0 ${size} ${box.bottom + 46}`);
    const { x, y, parts } = drawAxes(panel, drawn.limits, box);
    // a nested svg clips what runs out of the plot
    const plot = node("svg", { x: box.left, y: box.top, width: box.right - box.left, height: box.bottom - box.top, viewBox: `${box.left} ${box.top} ${box.right - box.left} ${box.bottom - box.top}` });
    for (const rule of panel.rules) {
      plot.append(node("path", { class: "rule", d: `M${box.left},${y(rule.y)}H${box.right}` }));
      const below = y(rule.y) + 20 < box.bottom;
      plot.append(node("text", { class: "tick rule-name", x: box.right - 4, y: y(rule.y) + (below ? 15 : -5), "text-anchor": "end" }, rule.label));
    }
    const labels = [];
    for (const one of [...drawn.series].sort((a, b) => a.inFocus - b.inFocus)) {
      const name = one.inFocus ? `series ${one.color}` : "series aside";
      const path = (row) => "M" + row.map((v, i) => `${x(one.x[i]).toFixed(1)},${y(Math.max(v, -1e9)).toFixed(1)}`).join("L");
      const middle = one.y.length === 1 ? one.y[0] : one.x.map((_, i) => median(one.y, i));
      if (one.y.length > 1) for (const row of one.y) plot.append(node("path", { class: `${name} thin`, d: path(row) }));
      plot.append(node("path", { class: `${name} bold${one.dashed ? " dashed" : ""}`, d: path(middle) }));
      for (let k = 0; k < MARKS_A_LINE; k++) {
        const target = drawn.limits[0][0] + ((k + 0.5) / MARKS_A_LINE) * (drawn.limits[0][1] - drawn.limits[0][0]);
        const i = one.x.findIndex((value) => value >= target);
        if (i >= 0) plot.append(node("path", { class: `${name} mark ${one.mark}`, d: MARKS[one.mark], transform: `translate(${x(one.x[i])},${y(middle[i])})` }));
      }
      const end = y(middle.at(-1));
      const arrow = end > box.bottom ? " ↓" : end < box.top ? " ↑" : "";
      labels.push({ one, name, arrow, end, y: Math.min(box.bottom, Math.max(box.top, end)) });
    }
    spread(labels, box.top + 4, box.bottom);
    for (const label of labels) {
      parts.push(node("path", { class: `${label.name} mark ${label.one.mark}`, d: MARKS[label.one.mark], transform: `translate(${box.right + 9},${label.y})` }));
      parts.push(node("text", { class: `${label.name} label`, x: box.right + 16, y: label.y + 4 }, label.one.label + label.arrow));
    }
    svg.replaceChildren(...parts, plot);
    return { ...drawn, series: drawn.series.map(({ label, x, y, inFocus }) => ({ label, x, y, inFocus })) };
  }
  return { element: svg, draw };
}
