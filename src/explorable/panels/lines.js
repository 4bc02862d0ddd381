// The Lines panel: families of lines over two axes, named at their ends.

import { drawAxes, plainSymbol, textAt } from "../js/axis.js";
import { node } from "../js/elements.js";
import { STRIDES } from "../js/keys.js";
import { KINDS } from "../js/kinds.js";
import { nearest } from "../js/nearest.js";
import { amountText } from "../js/numbers.js";
import { widthOf } from "../js/words.js";
import LOOK from "../look.json" with { type: "json" };

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

function inFocus({ focus }, view) {
  if (typeof focus === "number") return Boolean(view.at(focus)?.values[0]); // a source
  return focus === null || view.value(focus[0]) === focus[1];
}

// What is on screen of a series, cut to the limits of the x axis; null if that is nothing, or not computed.
function seriesAt(one, view, [low, high]) {
  const [x, y] = [one.x, one.y].map(view.at);
  if (!isShown(one, view) || !x || !y) return null;
  const from = x.values.findIndex((place) => place >= low);
  const to = x.values.findLastIndex((place) => place <= high) + 1;
  if (from < 0 || to <= from) return null;
  const rows = y.shape.length === 1 ? 1 : y.shape[0];
  const middle = medianOf(y.values, rows).subarray(from, to);
  const focused = inFocus(one, view);
  const start = (row) => row * x.values.length;
  const lines = focused ? Array.from({ length: rows }, (_, row) => y.values.subarray(start(row) + from, start(row) + to)) : [middle];
  return { label: one.label, inFocus: focused, x: x.values.subarray(from, to), y: lines, middle, places: x.values, family: y.values };
}

// Labels share the right margin: each as near to its line's end as the others leave room for, in the ends' order.
function spread(labels, top, bottom) {
  labels.sort((a, b) => a.end - b.end);
  labels.forEach((label, i) => (label.y = Math.max(label.y, i ? labels[i - 1].y + LINE_HEIGHT : top)));
  labels.reverse();
  labels.forEach((label, i) => (label.y = Math.min(label.y, i ? labels[i - 1].y - LINE_HEIGHT : bottom)));
}

// The elements of one series, made once and changed at every drawing: three paths in the plot, a label beside it.
function makeSeries(one) {
  const shape = LOOK.marks[one.mark].path;
  const path = (kind) => node("path", { class: `series ${kind}` });
  const [thin, bold, marks] = [path("thin"), path(one.dashed ? "bold dashed" : "bold"), path(`mark ${one.mark}`)];
  const group = node("g", {}, thin, bold, marks);
  const name = node("text", { class: "label", x: 16, y: 4 });
  const label = node("g", {}, node("path", { class: `series mark ${one.mark}`, d: `M9,0${shape}` }), name);
  return { one, shape, group, thin, bold, marks, label, name };
}

const rounded = (number) => Math.round(10 * number) / 10;

function lineOf(xs, ys, x, y) {
  let path = "";
  for (let i = 0; i < xs.length; i++) path += `${i ? "L" : "M"}${rounded(x(xs[i]))},${Math.min(LOWEST, rounded(y(ys[i])))}`;
  return path;
}

// Some marks along a line, evenly over the width of the plot; one on a line that ends before the first of these.
function marksOf(shape, xs, ys, [low, high], x, y) {
  const thresholds = Array.from({ length: MARKS_A_LINE }, (_, k) => low + ((k + 0.5) / MARKS_A_LINE) * (high - low));
  const reached = thresholds.map((threshold) => xs.findIndex((place) => place >= threshold)).filter((i) => i >= 0);
  const marked = [...new Set(reached.length ? reached : [xs.length - 1])].filter((i) => ys[i] > -Infinity);
  return marked.map((i) => `M${rounded(x(xs[i]))},${rounded(y(ys[i]))}${shape}`).join("");
}

// Set an attribute where it changes: setting the same one again costs a layout.
function set(element, name, value) {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

class Lines {
  constructor(panel, words) {
    this.panel = panel;
    this.words = words;
    this.element = this.surface = node("svg");
    this.margin = 27 + Math.max(...panel.series.map(({ label }) => widthOf(`${label} ↓`)));
    this.series = panel.series.map(makeSeries);
    this.cursor = node("path", { class: "cursor" });
    this.dots = node("g", { class: "picked" });
    this.across = plainSymbol(panel.x);
    this.narrowest = 330;
    this.frame = { key: "" }; // axes and rules, drawn again when limits or size change
  }

  // What is drawn first, and the grey lines that may follow.
  needs(view) {
    const { x, y, series } = this.panel;
    const shown = series.filter((one) => isShown(one, view));
    const parts = (focused) => shown.filter((one) => inFocus(one, view) === focused).flatMap((one) => [one.x, one.y]);
    const focuses = shown.map((one) => one.focus).filter((focus) => typeof focus === "number");
    return { now: [x.limits, y.limits, ...focuses, ...parts(true)], later: parts(false) };
  }

  draw(view, { width: size, height }) {
    const { panel, series } = this;
    this.limits = [panel.x, panel.y].map((axis) => view.at(axis.limits).values);
    this.drawn = panel.series.map((one) => seriesAt(one, view, this.limits[0]));
    const key = `${this.limits} ${size} ${height}`;
    if (this.frame.key !== key) this.frame = { key, ...this.drawFrame(size, height) };
    const labels = [];
    this.drawn.forEach((data, i) => {
      for (const element of [series[i].group, series[i].label]) set(element, "display", data ? "inline" : "none");
      if (data) labels.push(this.drawSeries(series[i], data));
    });
    const { box } = this.frame;
    spread(labels, box.top + 4, box.bottom);
    for (const { label, y } of labels) set(label, "transform", `translate(${box.right},${rounded(y)})`);
    const shown = this.drawn.filter(Boolean).map(({ label, inFocus, x, y }) => ({ label, inFocus, x, y }));
    return { kind: "lines", limits: this.limits, series: shown };
  }

  drawFrame(room, height) {
    const size = Math.max(room, 50 + NARROWEST_PLOT + this.margin);
    const box = { left: 50, top: 34, right: size - this.margin, bottom: 34 + height };
    const { x, y, parts } = drawAxes(this.panel, this.limits, box);
    // a nested svg clips what runs out of the plot
    const [left, width, tall] = [box.left - EDGE, box.right - box.left + 2 * EDGE, box.bottom - box.top];
    const plot = node("svg", { x: left, y: box.top, width, height: tall, viewBox: `${left} ${box.top} ${width} ${tall}` });
    for (const rule of this.panel.rules) {
      const below = y(rule.y) + 20 < box.bottom;
      plot.append(node("path", { class: "rule", d: `M${box.left},${y(rule.y)}H${box.right}` }));
      plot.append(textAt("tick rule-name", box.right - 4, y(rule.y) + (below ? 15 : -5), "end", rule.label));
    }
    this.surface.setAttribute("viewBox", `0 0 ${size} ${box.bottom + 46}`);
    this.surface.replaceChildren(...parts, plot, this.cursor, this.dots, ...this.series.map(({ label }) => label));
    return { x, y, box, plot, paths: new Map(this.series.map((one) => [one, new Map()])) };
  }

  // A series' three paths in this frame, kept by their y: a slider often returns to where it was.
  pathsOf(series, { x: xs, y: ys, middle, places, family, inFocus }) {
    const { x, y, paths } = this.frame;
    const kept = paths.get(series).get(family);
    if (kept?.places === places && kept.inFocus === inFocus) return kept;
    const made = {
      places,
      inFocus,
      thin: ys.length > 1 ? ys.map((row) => lineOf(xs, row, x, y)).join("") : "",
      bold: lineOf(xs, middle, x, y),
      marks: marksOf(series.shape, xs, middle, this.limits[0], x, y),
    };
    paths.get(series).set(family, made);
    return made;
  }

  // Returns where the label wants to stand.
  drawSeries(series, data) {
    const { one, group, label, name } = series;
    const { y, box, plot } = this.frame;
    for (const element of [group, label]) set(element, "class", data.inFocus ? one.color : "aside");
    const paths = this.pathsOf(series, data);
    for (const kind of ["thin", "bold", "marks"]) set(series[kind], "d", paths[kind]);
    const end = y(data.middle.at(-1));
    const text = one.label + (end > box.bottom ? " ↓" : end < box.top ? " ↑" : "");
    if (name.textContent !== text) name.textContent = text;
    if ((data.inFocus && plot.lastChild !== group) || group.parentNode !== plot) plot.append(group); // in front
    return { label, end, y: Math.min(box.bottom, Math.max(box.top, end)) };
  }

  // The series that the reader steps along.
  leader() {
    return this.drawn.find((data) => data?.inFocus) ?? this.drawn.find(Boolean);
  }

  pickAt(px) {
    const lead = this.leader();
    const { x, box } = this.frame;
    if (!lead || px < box.left - 10 || px > box.right + 10) return null;
    return { [this.across]: lead.x[nearest(lead.x.map(x), px)] };
  }

  step(pick, key) {
    const lead = this.leader();
    if (!STRIDES[key] || !lead) return null;
    const next = pick && this.across in pick ? nearest(lead.x, pick[this.across]) + STRIDES[key] : 0;
    return { [this.across]: lead.x[Math.min(lead.x.length - 1, Math.max(0, next))] };
  }

  mark(pick) {
    const place = pick?.[this.across];
    const [low, high] = this.limits[0];
    const inside = place >= low && place <= high;
    this.cursor.setAttribute("display", inside ? "inline" : "none");
    this.dots.replaceChildren();
    if (!inside) return null;
    const { x, box } = this.frame;
    this.cursor.setAttribute("d", `M${rounded(x(place))},${box.top}V${box.bottom}`);
    const said = this.drawn.map((data, i) => data && this.read(data, place, this.panel.series[i])).filter(Boolean);
    return { place: `${this.across} = ${amountText(place, this.panel.x)}`, said };
  }

  // Put a dot on a series at a place, and return its words; null beyond the series' ends.
  read(data, place, { color, mark }) {
    const { x, y, box } = this.frame;
    if (place < data.x[0] - NEAR || place > data.x.at(-1) + NEAR) return null;
    const at = nearest(data.x, place);
    const [cx, cy] = [x(data.x[at]), y(data.middle[at])];
    const kind = `dot ${data.inFocus ? color : "aside"}`;
    if (cy >= box.top && cy <= box.bottom) this.dots.append(node("circle", { class: kind, cx, cy, r: 4 }));
    return { color: data.inFocus ? color : "grey", mark, text: `${data.label} ${this.amounts(data, at)}` };
  }

  // The median and, of a family, its lowest and highest.
  amounts(data, at) {
    const text = (value) => amountText(value, this.panel.y);
    const all = data.y.map((row) => row[at]);
    const range = all.length > 1 ? ` (${text(Math.min(...all))} … ${text(Math.max(...all))})` : "";
    return text(data.middle[at]) + range;
  }

  table() {
    const shown = this.drawn.filter(Boolean);
    const places = [...new Set(shown.flatMap(({ x }) => [...x]))].sort((a, b) => a - b);
    const cell = (data, at) => (at < 0 ? "" : this.amounts(data, at));
    const row = (place) => [amountText(place, this.panel.x), ...shown.map((data) => cell(data, data.x.indexOf(place)))];
    return { head: [this.panel.x.label, ...shown.map(({ label }) => label)], rows: places.map(row) };
  }
}

KINDS.lines = (panel, words) => new Lines(panel, words);
