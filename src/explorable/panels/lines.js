// The Lines panel: families of lines over two axes, each named where it runs.

import { AFTER_PLOT, drawAxes, plainSymbol, textAt } from "../js/axis.js";
import { element, node, renew, set } from "../js/elements.js";
import { STRIDES } from "../js/keys.js";
import { KINDS } from "../js/kinds.js";
import { placeLabels } from "../js/labels.js";
import { nearest } from "../js/nearest.js";
import { amountText } from "../js/numbers.js";
import { drawSpans, SPAN } from "../js/spans.js";
import { Trace } from "../js/trace.js";
import LOOK from "../look.json" with { type: "json" };

const MARKS_A_LINE = { wide: 6, narrow: 3 };
const NEAR = 1e-9; // places that differ by less are one
const LOWEST = 9999; // pixels: far below any plot, where −∞ is drawn; further down, what measures the page runs out of memory
const SMALL = 200; // pixels of a panel below which letters are small and marks few
const NARROWEST_PLOT = 60; // pixels; with less room the whole picture shrinks
const EDGE = 5; // pixels beside the plot, so that a mark on its limit is whole
const OVER_PLOT = 10; // pixels above the plot where a label may stand
const LETTERS = { wide: 13, narrow: 11 }; // pixels: the size of labels
const LEFT = { wide: 46, narrow: 38 }; // pixels for the numbers of the y axis
const UNNAMED = 10; // pixels there without them
const ASIDE = 0.88; // of it, the size of those out of focus
const ARROW = 14; // pixels
const RING = "m-5.5,0a5.5,5.5 0 1,0 11,0a5.5,5.5 0 1,0 -11,0z"; // around a place that is marked

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

// A series of one place is a spot, "now" for example; an upright line, a corner, or a level grey line is a guide to the
// eye; any other is a line.
function kindOf({ color }, places, ys) {
  if (places.length === 1) return "spot";
  const upright = places.some((place, i) => i > 0 && place === places[i - 1]);
  const level = places.length === 2 && ys[0] === ys[1];
  return upright || (level && color === "grey") ? "guide" : "line";
}

// What is on screen of a series, cut to the limits of the x axis; null if that is nothing, or not computed.
function seriesAt(one, view, [low, high]) {
  const [x, y] = [one.x, one.y].map(view.at);
  if (!isShown(one, view) || !x || !y) return null;
  const from = x.values.findIndex((place) => place >= low);
  const to = x.values.findLastIndex((place) => place <= high) + 1;
  if (from < 0 || to <= from) return null;
  const rows = y.shape.length === 1 ? 1 : y.shape[0];
  const whole = medianOf(y.values, rows);
  const focused = inFocus(one, view);
  const start = (row) => row * x.values.length;
  const lines = focused
    ? Array.from({ length: rows }, (_, row) => y.values.subarray(start(row) + from, start(row) + to))
    : [whole.subarray(from, to)];
  return {
    label: one.label,
    inFocus: focused,
    kind: kindOf(one, x.values, whole),
    x: x.values.subarray(from, to),
    y: lines,
    middle: whole.subarray(from, to),
    places: x.values,
    family: y.values,
  };
}

// The elements of one series, made once and changed at every drawing: two paths, their marks over all paths, and a label.
function makeSeries(one) {
  const shape = LOOK.marks[one.mark].path;
  const path = (kind) => node("path", { class: `series ${kind}` });
  const [thin, bold, marks] = [path("thin"), path(one.dashed ? "bold dashed" : "bold"), path("mark")];
  const group = node("g", {}, thin, bold);
  const [name, sign] = [node("text", { class: "label" }), node("path", { class: `series mark ${one.mark}`, d: `M5,-4.5${shape}` })];
  return { one, shape, group, thin, bold, marks, label: node("g", { class: "named" }, sign, name), name, sign };
}

const rounded = (number) => Math.round(10 * number) / 10;

function lineOf(xs, ys, x, y) {
  let path = "";
  for (let i = 0; i < xs.length; i++) path += `${i ? "L" : "M"}${rounded(x(xs[i]))},${Math.min(LOWEST, rounded(y(ys[i])))}`;
  return path;
}

// Some marks along a line, evenly over the width of the plot, from a share of their distance on, so that lines that lie on
// each other show the marks of both; one on a line that ends before the first of these.
function marksOf(shape, xs, ys, [low, high], x, y, { count, share }) {
  const thresholds = Array.from({ length: count }, (_, k) => low + ((k + share) / count) * (high - low));
  const reached = thresholds.map((threshold) => xs.findIndex((place) => place >= threshold)).filter((i) => i >= 0);
  const marked = [...new Set(reached.length ? reached : [xs.length - 1])].filter((i) => ys[i] > -Infinity);
  return marked.map((i) => `M${rounded(x(xs[i]))},${rounded(y(ys[i]))}${shape}`).join("");
}

// The trace of a line, and of one that runs outside the plot only, of its shadow on the plot's edge.
function traceOf(xs, ys, x, y, box) {
  const within = (low, high, value) => Math.min(high, Math.max(low, value));
  const points = Array.from(xs, (place, i) => [x(place), within(-LOWEST, LOWEST, y(ys[i]))]);
  const trace = new Trace(points, box);
  if (trace.samples.length) return trace;
  return new Trace(
    points.map(([px, py]) => [within(box.left, box.right, px), within(box.top, box.bottom, py)]),
    box,
  );
}

class Lines {
  constructor(panel, words) {
    this.panel = panel;
    this.words = words;
    this.series = panel.series.map(makeSeries);
    this.rules = panel.rules.map(({ y, label }) => ({
      y,
      label,
      line: node("path", { class: "rule" }),
      name: textAt("tick rule-name", 0, 0, "start", label),
    }));
    this.axes = node("g");
    [this.lines, this.marks, this.tints, this.brackets] = [node("g"), node("g"), node("g"), node("g")];
    this.plot = node("svg", {}, this.tints, ...this.rules.map(({ line }) => line), this.lines, this.marks); // it clips what runs out of the plot
    this.cursor = node("path", { class: "cursor" });
    this.dots = node("g", { class: "picked" });
    const names = [...this.rules.map(({ name }) => name), ...this.series.map(({ label }) => label)];
    this.element = this.surface = node("svg", {}, this.axes, this.plot, this.brackets, this.cursor, ...names, this.dots);
    this.across = plainSymbol(panel.x);
    this.narrowest = panel.narrow ? 105 : 330;
    if (panel.narrow) this.beside = (first) => (this.isBare(first) ? UNNAMED : LEFT.narrow) + AFTER_PLOT;
    this.frame = { key: "" }; // axes and rules, drawn again when limits or size change
    this.kept = new Map(); // where each name stands
    this.ruler = element("canvas").getContext("2d"); // for the widths of names
  }

  // What is drawn first, and the grey lines that may follow.
  needs(view) {
    const { x, y, series, spans } = this.panel;
    const shown = series.filter((one) => isShown(one, view));
    const parts = (focused) => shown.filter((one) => inFocus(one, view) === focused).flatMap((one) => [one.x, one.y]);
    const focuses = shown.map((one) => one.focus).filter((focus) => typeof focus === "number");
    const named = spans.flatMap(({ ends, number }) => [ends, number]);
    return { now: [x.limits, y.limits, ...focuses, ...named, ...parts(true)], later: parts(false) };
  }

  // Whether the panel at the left end of its line names the y axis for it.
  isBare({ panel: first }) {
    const { y, narrow } = this.panel;
    const nameOf = (axis) => JSON.stringify([axis?.label, axis?.symbol, axis?.fixed]);
    return narrow && first !== this.panel && y.fixed !== null && nameOf(y) === nameOf(first.y);
  }

  draw(view, { width: size, height, first = this }) {
    const { panel } = this;
    this.limits = [panel.x, panel.y].map((axis) => view.at(axis.limits).values);
    this.drawn = panel.series.map((one) => seriesAt(one, view, this.limits[0]));
    const bare = this.isBare(first);
    const key = `${this.limits} ${size} ${height} ${bare}`;
    if (this.frame.key !== key) this.frame = { key, ...this.drawFrame(size, height, bare) };
    this.order();
    this.series.forEach((series, i) => {
      const data = this.drawn[i];
      set(series.label, "display", data ? "inline" : "none");
      if (data) this.drawSeries(series, data);
    });
    this.drawNames();
    const { tints, brackets } = drawSpans(panel.spans, view, this.frame);
    this.tints.replaceChildren(...tints);
    this.brackets.replaceChildren(...brackets);
    const shown = this.drawn.filter(Boolean).map(({ label, inFocus, x, y }) => ({ label, inFocus, x, y }));
    return { kind: "lines", limits: this.limits, series: shown };
  }

  drawFrame(room, height, bare) {
    const { panel, plot } = this;
    this.size = room < SMALL ? "narrow" : "wide";
    const left = bare ? UNNAMED : LEFT[panel.narrow ? "narrow" : "wide"];
    const top = panel.color ? 54 : 34;
    const size = Math.max(room, left + NARROWEST_PLOT + AFTER_PLOT);
    const box = { left, top, right: size - AFTER_PLOT, bottom: top + height };
    const { x, y, parts } = drawAxes(panel, this.limits, box, { narrow: this.size === "narrow", bare });
    if (panel.color) parts.push(this.heading(left));
    const [from, width] = [box.left - EDGE, box.right - box.left + 2 * EDGE];
    const place = { x: from, y: box.top, width, height, viewBox: `${from} ${box.top} ${width} ${height}` };
    for (const [name, value] of Object.entries(place)) set(plot, name, String(value));
    for (const rule of this.rules) {
      set(rule.line, "d", `M${box.left},${rounded(y(rule.y))}H${box.right}`);
      rule.trace = new Trace(
        [box.left, box.right].map((px) => [px, y(rule.y)]),
        box,
      );
    }
    set(this.surface, "viewBox", `0 0 ${size} ${box.bottom + 46}`);
    set(this.surface, "class", this.size);
    set(this.surface, "width", String(room)); // an svg takes no notice of its margins
    renew(this.axes, parts);
    this.family ??= getComputedStyle(this.surface).fontFamily; // once: to read it costs a layout
    return { x, y, box, size, paths: new Map(this.series.map((one) => [one, new Map()])) };
  }

  // The title in its colour, behind its mark.
  heading(left) {
    const { color, mark, title } = this.panel;
    const sign = node("path", { class: `series mark ${mark}`, d: `M${left + 4},9.5${LOOK.marks[mark].path}` });
    return node("g", { class: color }, sign, textAt("heading", left + 12, 14, "start", title));
  }

  // Those in focus lie above the others. To put an element elsewhere ends its movement, so only where the order changes.
  order() {
    const shown = [...this.series.keys()].filter((i) => this.drawn[i]);
    const inFront = (front) => shown.filter((i) => this.drawn[i].inFocus === front);
    const order = [...inFront(false), ...inFront(true)];
    if (String(order) === this.inOrder) return;
    this.inOrder = String(order);
    this.lines.replaceChildren(...order.map((i) => this.series[i].group));
    this.marks.replaceChildren(...order.map((i) => this.series[i].marks));
  }

  // A series' paths in this frame, kept by their y: a slider often returns to where it was.
  pathsOf(series, { x: xs, y: ys, middle, places, family, inFocus, kind }) {
    const { x, y, box, paths } = this.frame;
    const kept = paths.get(series).get(family);
    if (kept?.places === places && kept.inFocus === inFocus) return kept;
    const along = { count: MARKS_A_LINE[this.size], share: (this.series.indexOf(series) + 0.5) / this.series.length };
    const signs = { line: series.shape, spot: RING, guide: null }[kind];
    const made = {
      places,
      inFocus,
      thin: ys.length > 1 ? ys.map((row) => lineOf(xs, row, x, y)).join("") : "",
      bold: lineOf(xs, middle, x, y),
      marks: signs ? marksOf(signs, xs, middle, this.limits[0], x, y, along) : "",
      trace: traceOf(xs, middle, x, y, box),
      others: ys.length > 1 ? ys.map((row) => traceOf(xs, row, x, y, box)) : [],
    };
    paths.get(series).set(family, made);
    return made;
  }

  drawSeries(series, data) {
    const { one, group, marks, label, name, sign } = series;
    const { y, box } = this.frame;
    const color = data.inFocus ? one.color : "aside";
    set(group, "class", `${color} ${data.kind}`);
    set(marks, "class", `series mark ${data.kind === "spot" ? "spot" : one.mark} ${color}`);
    set(label, "class", `named ${color} ${data.kind}`);
    const paths = this.pathsOf(series, data);
    for (const kind of ["thin", "bold", "marks"]) set(series[kind], "d", paths[kind]);
    const end = y(data.middle.at(-1));
    const arrow = end > box.bottom + 1 ? " ↓" : end < box.top - 1 ? " ↑" : "";
    const shift = data.kind === "line" ? 12 : 0; // a name behind its line's mark
    if (name.textContent !== one.label + arrow) name.textContent = one.label + arrow;
    set(name, "x", String(shift));
    set(sign, "display", shift ? "inline" : "none");
    const [letters, scale] = [LETTERS[this.size], data.inFocus ? 1 : ASIDE];
    Object.assign(series, { trace: paths.trace, others: paths.others });
    series.room = { width: shift + scale * this.widthOf(one.label, letters) + (arrow ? ARROW : 0), height: letters + 2 };
  }

  // How wide a text is in letters of a size, bold; all of it, whichever its weight.
  widthOf(text, letters) {
    this.ruler.font = `700 ${letters}px ${this.family}`;
    return this.ruler.measureText(text).width;
  }

  // Put the names of lines and rules where they have room: marks and guides first, then lines in focus, rules, the others.
  drawNames() {
    const { box, size } = this.frame;
    const itemOf = (element, traces, room, weight, spare) => ({ element, ...traces, ...room, weight, spare, kept: this.kept.get(element) });
    const items = [];
    const first = ({ kind, inFocus }) => (inFocus ? (kind === "line" ? 1 : 0) : 3);
    this.series.forEach(({ label, trace, others, room }, i) => {
      const data = this.drawn[i];
      if (data) items.push({ rank: first(data), ...itemOf(label, { trace, others }, room, data.inFocus ? 1 : 0.7, !data.inFocus) });
    });
    for (const { name, label, trace } of this.rules) {
      const room = { width: this.widthOf(label, LETTERS[this.size] - 1), height: LETTERS[this.size] + 1 };
      set(name, "display", trace.samples.length ? "inline" : "none");
      if (trace.samples.length) items.push({ rank: 2, ...itemOf(name, { trace, others: [] }, room, 0.5, false) });
    }
    items.sort((a, b) => a.rank - b.rank);
    const places = placeLabels(items, {
      left: box.left + 3,
      right: size - 1,
      top: box.top + (this.panel.spans.length ? this.panel.spans.length * SPAN : -OVER_PLOT),
      bottom: box.bottom - 1,
    });
    items.forEach(({ element, height }, i) => {
      const place = places[i];
      this.kept.set(element, place);
      set(element, "visibility", place ? "visible" : "hidden");
      if (place) element.style.transform = `translate(${rounded(place.box.left)}px,${rounded(place.box.top + 0.8 * height)}px)`;
    });
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
    set(this.cursor, "display", inside ? "inline" : "none");
    this.dots.replaceChildren();
    if (!inside) return null;
    const { x, box } = this.frame;
    set(this.cursor, "d", `M${rounded(x(place))},${box.top}V${box.bottom}`);
    const said = this.drawn.map((data, i) => data && this.read(data, place, this.panel.series[i])).filter(Boolean);
    return { place: `${this.across} = ${amountText(place, this.panel.x)}`, said };
  }

  // Put a dot on a series at a place, and return its colour, mark and words; null beyond the series' ends.
  read(data, place, { color, mark }) {
    const { x, y, box } = this.frame;
    if (data.kind === "guide" || place < data.x[0] - NEAR || place > data.x.at(-1) + NEAR) return null;
    const at = nearest(data.x, place);
    const [cx, cy] = [x(data.x[at]), y(data.middle[at])];
    const shade = data.inFocus ? color : "grey";
    if (cy >= box.top && cy <= box.bottom) this.dots.append(node("circle", { class: `dot ${shade}`, cx, cy, r: 4 }));
    const sign = data.kind === "line" ? { color: shade, mark } : { color: null, mark: null };
    return { ...sign, text: `${data.label} ${this.amounts(data, at)}` };
  }

  // The median and, of a family, its lowest and highest.
  amounts(data, at) {
    const text = (value) => amountText(value, this.panel.y);
    const all = data.y.map((row) => row[at]);
    const range = all.length > 1 ? ` (${text(Math.min(...all))} … ${text(Math.max(...all))})` : "";
    return text(data.middle[at]) + range;
  }

  table() {
    const shown = this.drawn.filter((data) => data && data.kind !== "guide");
    const places = [...new Set(shown.flatMap(({ x }) => [...x]))].sort((a, b) => a - b);
    const cell = (data, at) => (at < 0 ? "" : this.amounts(data, at));
    const row = (place) => [amountText(place, this.panel.x), ...shown.map((data) => cell(data, data.x.indexOf(place)))];
    return { head: [this.panel.x.label, ...shown.map(({ label }) => label)], rows: places.map(row) };
  }
}

KINDS.lines = (panel, words) => new Lines(panel, words);
