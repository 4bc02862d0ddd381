// The Lines panel: families of lines over two axes, named at their ends.

import { drawAxes, node } from "./axis.js";
import { arrayAt } from "./frames.js";

const MARKS = {
  circle: "m-3,0a3,3 0 1,0 6,0a3,3 0 1,0 -6,0z",
  square: "m-3,-3h6v6h-6z",
  triangle: "m0,-3.6l3.6,6.4h-7.2z",
  diamond: "m0,-4l4,4l-4,4l-4,-4z",
  cross: "m-3,-3l6,6m-6,0l6,-6",
};
const MARKS_A_LINE = 6;
const LINE_HEIGHT = 17;

const medians = new WeakMap(); // of each family drawn so far

function medianOf(family, rows) {
  if (!medians.has(family)) {
    const columns = family.length / rows;
    const middle = Float64Array.from({ length: columns }, (_, i) => {
      const column = Float64Array.from({ length: rows }, (_, row) => family[row * columns + i]).sort();
      return (column[(rows - 1) >> 1] + column[rows >> 1]) / 2;
    });
    medians.set(family, middle);
  }
  return medians.get(family);
}

// What is on screen at a setting: every series that is shown, its lines cut to the x axis's limits.
function linesAt(panel, frames, setting, sizes, value) {
  const limits = [panel.x, panel.y].map((axis) => arrayAt(frames, axis.limits, setting, sizes).values);
  const series = panel.series.map((one) => {
    if (one.shown !== null && !value(one.shown)) return null;
    const x = arrayAt(frames, one.x, setting, sizes).values;
    const { values, shape } = arrayAt(frames, one.y, setting, sizes);
    const rows = shape.length === 1 ? 1 : shape[0];
    const from = x.findIndex((place) => place >= limits[0][0]);
    const to = x.findLastIndex((place) => place <= limits[0][1]) + 1;
    const inFocus = one.focus === null || value(one.focus[0]) === one.focus[1];
    const middle = medianOf(values, rows).subarray(from, to);
    const y = inFocus ? Array.from({ length: rows }, (_, row) => values.subarray(row * x.length + from, row * x.length + to)) : [middle];
    return { label: one.label, inFocus, x: x.subarray(from, to), y, middle, family: values, medians: medianOf(values, rows) };
  });
  return { limits, series };
}

// Labels share the right margin: each as near to its line's end as the others leave room for, in the ends' order.
function spread(labels, top, bottom) {
  labels.sort((a, b) => a.end - b.end);
  labels.forEach((label, i) => (label.y = Math.max(label.y, i ? labels[i - 1].y + LINE_HEIGHT : top)));
  for (let i = labels.length - 1; i >= 0; i--) labels[i].y = Math.min(labels[i].y, i + 1 < labels.length ? labels[i + 1].y - LINE_HEIGHT : bottom);
}

// The elements of one series, made once and changed at every drawing: three paths in the plot, a label beside it.
function makeSeries(one) {
  const [thin, bold, marks] = ["thin", one.dashed ? "bold dashed" : "bold", `mark ${one.mark}`].map((kind) => node("path", { class: `series ${kind}` }));
  const group = node("g", {}, thin, bold, marks);
  const name = node("text", { class: "label", x: 16, y: 4 });
  const label = node("g", {}, node("path", { class: `series mark ${one.mark}`, d: `M9,0${MARKS[one.mark]}` }), name);
  return { one, group, thin, bold, marks, label, name };
}

const rounded = (number) => Math.round(10 * number) / 10;

function lineOf(xs, ys, x, y) {
  let path = "";
  for (let i = 0; i < xs.length; i++) path += `${i ? "L" : "M"}${rounded(x(xs[i]))},${rounded(y(Math.max(ys[i], -1e9)))}`;
  return path;
}

// Some marks along a line, evenly over the width of the plot.
function marksOf(mark, xs, ys, [low, high], x, y) {
  let path = "";
  for (let k = 0; k < MARKS_A_LINE; k++) {
    const i = xs.findIndex((place) => place >= low + ((k + 0.5) / MARKS_A_LINE) * (high - low));
    if (i >= 0 && ys[i] !== -Infinity) path += `M${rounded(x(xs[i]))},${rounded(y(ys[i]))}${MARKS[mark]}`;
  }
  return path;
}

// Set an attribute where it changes: setting the same one again costs a layout.
function set(element, name, value) {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

export function linesPanel(panel, frames, sizes) {
  const svg = node("svg", { role: "img", "aria-label": panel.title });
  const margin = 40 + Math.max(...panel.series.map((one) => [...one.label].reduce((sum, letter) => sum + (letter > "⺀" ? 14 : 7.5), 0)));
  const series = panel.series.map(makeSeries);
  let frame = { key: "" }; // axes and rules, drawn anew when limits or size change

  function drawFrame(limits, size) {
    const box = { left: 50, top: 34, right: size - margin, bottom: Math.round(Math.min(400, Math.max(330, size * 0.56))) - 46 };
    const [width, height] = [box.right - box.left, box.bottom - box.top];
    const { x, y, parts } = drawAxes(panel, limits, box);
    // a nested svg clips what runs out of the plot
    const plot = node("svg", { x: box.left, y: box.top, width, height, viewBox: `${box.left} ${box.top} ${width} ${height}` });
    for (const rule of panel.rules) {
      const below = y(rule.y) + 20 < box.bottom;
      plot.append(node("path", { class: "rule", d: `M${box.left},${y(rule.y)}H${box.right}` }));
      plot.append(node("text", { class: "tick rule-name", x: box.right - 4, y: y(rule.y) + (below ? 15 : -5), "text-anchor": "end" }, rule.label));
    }
    svg.setAttribute("viewBox", `0 0 ${size} ${box.bottom + 46}`);
    svg.replaceChildren(...parts, plot, ...series.map(({ label }) => label));
    return { x, y, box, plot, paths: new Map() };
  }

  // A path at this frame, kept: a slider often returns to where it was.
  function kept(numbers, make) {
    if (!frame.paths.has(numbers)) frame.paths.set(numbers, make());
    return frame.paths.get(numbers);
  }

  function drawSeries({ one, group, thin, bold, marks, label, name }, data, limits, { x, y, box, plot }) {
    for (const element of [group, label]) set(element, "class", data.inFocus ? one.color : "aside");
    set(thin, "d", data.y.length > 1 ? kept(data.family, () => data.y.map((row) => lineOf(data.x, row, x, y)).join("")) : "");
    const [line, dots] = kept(data.medians, () => [lineOf(data.x, data.middle, x, y), marksOf(one.mark, data.x, data.middle, limits[0], x, y)]);
    set(bold, "d", line);
    set(marks, "d", dots);
    const end = y(data.middle.at(-1));
    const words = one.label + (end > box.bottom ? " ↓" : end < box.top ? " ↑" : "");
    if (name.textContent !== words) name.textContent = words;
    const inFront = plot.lastChild === group;
    if ((data.inFocus && !inFront) || group.parentNode !== plot) plot.append(group);
    return { label, end, y: Math.min(box.bottom, Math.max(box.top, end)) };
  }

  function draw(setting, value, size) {
    const drawn = linesAt(panel, frames, setting, sizes, value);
    const key = `${drawn.limits} ${size}`;
    if (frame.key !== key) frame = { key, ...drawFrame(drawn.limits, size) };
    const labels = [];
    drawn.series.forEach((data, i) => {
      for (const element of [series[i].group, series[i].label]) set(element, "display", data ? "inline" : "none");
      if (data) labels.push(drawSeries(series[i], data, drawn.limits, frame));
    });
    spread(labels, frame.box.top + 4, frame.box.bottom);
    for (const { label, y } of labels) set(label, "transform", `translate(${frame.box.right},${rounded(y)})`);
    return { kind: "lines", limits: drawn.limits, series: drawn.series.filter(Boolean).map(({ label, inFocus, x, y }) => ({ label, inFocus, x, y })) };
  }
  return { element: svg, draw };
}
