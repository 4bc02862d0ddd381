// The Lines panel: families of lines over two axes, named at their ends.

import { drawAxes, node, plainSymbol } from "./axis.js";
import { MARKS } from "./marks.js";
import { amountText } from "./numbers.js";

const MARKS_A_LINE = 6;
const LINE_HEIGHT = 17;
const NEAR = 1e-9; // places that differ by less are one
const LOWEST = 9999; // pixels: far below any plot, where −∞ is drawn; further down, what measures the page runs out of memory
const NARROWEST_PLOT = 80; // pixels between axis and labels; with less room the whole picture shrinks
const EDGE = 5; // pixels beside the plot, so that a mark on its limit is whole

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

const isShown = (one, view) => one.visible_if === null || view.value(one.visible_if);
const inFocus = (one, view) => one.focus === null || view.value(one.focus[0]) === one.focus[1];

// What is on screen: every series that is shown and computed, its lines cut to the x axis's limits.
function linesAt(panel, view) {
  const limits = [panel.x, panel.y].map((axis) => view.at(axis.limits).values);
  const series = panel.series.map((one) => {
    const [x, y] = [one.x, one.y].map(view.at);
    if (!isShown(one, view) || !x || !y) return null;
    const { values, shape } = y;
    const rows = shape.length === 1 ? 1 : shape[0];
    const length = x.values.length;
    const from = x.values.findIndex((place) => place >= limits[0][0]);
    const to = x.values.findLastIndex((place) => place <= limits[0][1]) + 1;
    if (from < 0 || to <= from) return null; // nothing of it lies within the limits
    const focused = inFocus(one, view);
    const middle = medianOf(values, rows).subarray(from, to);
    const lines = focused ? Array.from({ length: rows }, (_, row) => values.subarray(row * length + from, row * length + to)) : [middle];
    return { label: one.label, inFocus: focused, x: x.values.subarray(from, to), y: lines, middle, places: x.values, family: values };
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

const ids = new WeakMap();
let idCount = 0;

// A number that belongs to this object or array alone.
function idOf(thing) {
  if (!ids.has(thing)) ids.set(thing, ++idCount);
  return ids.get(thing);
}

const rounded = (number) => Math.round(10 * number) / 10;

function lineOf(xs, ys, x, y) {
  let path = "";
  for (let i = 0; i < xs.length; i++) path += `${i ? "L" : "M"}${rounded(x(xs[i]))},${Math.min(LOWEST, rounded(y(ys[i])))}`;
  return path;
}

// Some marks along a line, evenly over the width of the plot; one on a line that ends before the first of these.
function marksOf(mark, xs, ys, [low, high], x, y) {
  const thresholds = Array.from({ length: MARKS_A_LINE }, (_, k) => low + ((k + 0.5) / MARKS_A_LINE) * (high - low));
  const reached = thresholds.map((threshold) => xs.findIndex((place) => place >= threshold)).filter((i) => i >= 0);
  let path = "";
  for (const i of new Set(reached.length ? reached : [xs.length - 1])) {
    if (ys[i] > -Infinity) path += `M${rounded(x(xs[i]))},${rounded(y(ys[i]))}${MARKS[mark]}`;
  }
  return path;
}

// Set an attribute where it changes: setting the same one again costs a layout.
function set(element, name, value) {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

export function linesPanel(panel, words) {
  const svg = node("svg");
  const margin = 40 + Math.max(...panel.series.map((one) => [...one.label].reduce((sum, letter) => sum + (letter > "⺀" ? 14 : 7.5), 0)));
  const series = panel.series.map(makeSeries);
  const cursor = node("path", { class: "cursor" });
  const dots = node("g", { class: "picked" });
  const across = plainSymbol(panel.x);
  let frame = { key: "" }; // axes and rules, drawn anew when limits or size change
  let drawn = null;

  function drawFrame(limits, room) {
    const size = Math.max(room, 50 + NARROWEST_PLOT + margin);
    const box = { left: 50, top: 34, right: size - margin, bottom: Math.round(Math.min(400, Math.max(330, size * 0.56))) - 46 };
    const [width, height] = [box.right - box.left, box.bottom - box.top];
    const { x, y, parts } = drawAxes(panel, limits, box);
    // a nested svg clips what runs out of the plot
    const [left, wide] = [box.left - EDGE, width + 2 * EDGE];
    const plot = node("svg", { x: left, y: box.top, width: wide, height, viewBox: `${left} ${box.top} ${wide} ${height}` });
    for (const rule of panel.rules) {
      const below = y(rule.y) + 20 < box.bottom;
      plot.append(node("path", { class: "rule", d: `M${box.left},${y(rule.y)}H${box.right}` }));
      plot.append(node("text", { class: "tick rule-name", x: box.right - 4, y: y(rule.y) + (below ? 15 : -5), "text-anchor": "end" }, rule.label));
    }
    svg.setAttribute("viewBox", `0 0 ${size} ${box.bottom + 46}`);
    svg.replaceChildren(...parts, plot, cursor, dots, ...series.map(({ label }) => label));
    return { x, y, box, plot, paths: new Map() };
  }

  // A series' paths at this frame, kept for these x and y: a slider often returns to where it was.
  function kept(one, { places, family }, make) {
    const key = [one, places, family].map(idOf).join(" ");
    if (!frame.paths.has(key)) frame.paths.set(key, make());
    return frame.paths.get(key);
  }

  function drawSeries({ one, group, thin, bold, marks, label, name }, data, limits, { x, y, box, plot }) {
    for (const element of [group, label]) set(element, "class", data.inFocus ? one.color : "aside");
    const [each, line, dots] = kept(one, data, () => [
      data.y.length > 1 ? data.y.map((row) => lineOf(data.x, row, x, y)).join("") : "",
      lineOf(data.x, data.middle, x, y),
      marksOf(one.mark, data.x, data.middle, limits[0], x, y),
    ]);
    set(thin, "d", each);
    set(bold, "d", line);
    set(marks, "d", dots);
    const end = y(data.middle.at(-1));
    const words = one.label + (end > box.bottom ? " ↓" : end < box.top ? " ↑" : "");
    if (name.textContent !== words) name.textContent = words;
    const inFront = plot.lastChild === group;
    if ((data.inFocus && !inFront) || group.parentNode !== plot) plot.append(group);
    return { label, end, y: Math.min(box.bottom, Math.max(box.top, end)) };
  }

  function draw(view, size) {
    drawn = linesAt(panel, view);
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

  // What must be there before anything is drawn, and the grey lines that may follow.
  function needs(view) {
    const shown = panel.series.filter((one) => isShown(one, view));
    const parts = (wanted) => shown.filter((one) => inFocus(one, view) === wanted).flatMap(({ x, y }) => [x, y]);
    return { now: [panel.x.limits, panel.y.limits, ...parts(true)], later: parts(false) };
  }

  // The series that the reader steps along, and the number of its point nearest to a place.
  const leader = () => drawn.series.find((data) => data?.inFocus && data.x.length) ?? drawn.series.find((data) => data?.x.length);
  const nearest = (xs, place) => xs.reduce((best, x, i) => (Math.abs(x - place) < Math.abs(xs[best] - place) ? i : best), 0);

  function pickAt(px) {
    const lead = leader();
    if (!lead || px < frame.box.left - 10 || px > frame.box.right + 10) return null;
    return { [across]: lead.x[nearest(lead.x.map(frame.x), px)] };
  }

  function step(pick, key) {
    const lead = leader();
    const by = { ArrowRight: 1, ArrowLeft: -1, PageUp: 10, PageDown: -10, Home: -Infinity, End: Infinity }[key];
    if (!by || !lead) return null;
    const now = pick && across in pick ? nearest(lead.x, pick[across]) + by : 0;
    return { [across]: lead.x[Math.min(lead.x.length - 1, Math.max(0, now))] };
  }

  function mark(pick) {
    const place = pick?.[across];
    const inside = place !== undefined && place >= drawn.limits[0][0] && place <= drawn.limits[0][1];
    cursor.setAttribute("display", inside ? "inline" : "none");
    dots.replaceChildren();
    if (!inside) return null;
    const { x, y, box } = frame;
    cursor.setAttribute("d", `M${rounded(x(place))},${box.top}V${box.bottom}`);
    const said = drawn.series.flatMap((data, i) => {
      const at = data ? nearest(data.x, place) : -1;
      if (at < 0 || place < data.x[0] - NEAR || place > data.x.at(-1) + NEAR) return []; // beyond its ends it says nothing
      const high = y(data.middle[at]);
      if (high >= box.top && high <= box.bottom) dots.append(node("circle", { class: data.inFocus ? `dot ${panel.series[i].color}` : "dot aside", cx: x(data.x[at]), cy: high, r: 4 }));
      return [`${data.label} ${amountsOf(data, at)}`];
    });
    return { place: `${across} = ${amountText(place, panel.x)}`, text: said.join(words.semicolon) };
  }

  // The median and, of a family, its lowest and highest.
  function amountsOf(data, at) {
    const text = (value) => amountText(value, panel.y);
    const all = data.y.map((row) => row[at]);
    const range = all.length > 1 ? ` (${text(Math.min(...all))} … ${text(Math.max(...all))})` : "";
    return text(data.middle[at]) + range;
  }

  function table() {
    const shown = drawn.series.filter(Boolean);
    const places = [...new Set(shown.flatMap(({ x }) => [...x]))].sort((a, b) => a - b);
    const cell = (data, place) => {
      const at = data.x.indexOf(place);
      return at < 0 ? "" : amountsOf(data, at);
    };
    return { head: [panel.x.label, ...shown.map(({ label }) => label)], rows: places.map((place) => [amountText(place, panel.x), ...shown.map((data) => cell(data, place))]) };
  }
  return { element: svg, surface: svg, needs, draw, pickAt, step, mark, table };
}
