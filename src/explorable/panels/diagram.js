// The Diagram panel: boxes and the arrows between them, which light up as the controls say.

import { symbolSpans, textAt } from "../js/axis.js";
import { node, set } from "../js/elements.js";
import { KINDS } from "../js/kinds.js";
import { fill } from "../js/words.js";

const WIDEST_COLUMN = 140; // pixels
const BESIDE = 8; // pixels around the picture
const ROUND = 7; // pixels: corners of boxes and of arrows
const RADIUS = 11; // pixels: of a circle
const LINE_OF_BOX = 16; // pixels from one line in a box to the next
const HEAD = 7; // pixels: how long an arrow's head is
const [TYPE, LEAST_TYPE] = [13, 11]; // pixels: the type in boxes, which is smaller where the fullest box is narrow
const TOWARDS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

const fixed = (number) => number.toFixed(1);
const point = ([x, y]) => `${fixed(x)},${fixed(y)}`;

// Where the way from a node to a place leaves the node's outline. upright: through its top or its bottom.
function portOf({ x, y, wide, high }, [toX, toY], upright) {
  return upright ? [x, y + (toY > y ? high : -high) / 2] : [x + (toX > x ? wide : -wide) / 2, y];
}

// Whether one of two nodes has its middle within the other's width or height, and which of the two is the smaller.
function alongside(from, to, axis, size) {
  const smaller = from[size] < to[size] ? from : to;
  return Math.abs(from[axis] - to[axis]) <= Math.abs(from[size] - to[size]) / 2 + 1 && smaller;
}

// Where an arrow between two nodes leaves the one and enters the other: straight, where one stands above or beside the
// other; if not, in the direction in which the diagram flows.
function portsOf(from, to, flow) {
  const [above, beside] = [alongside(from, to, "x", "wide"), alongside(from, to, "y", "high")];
  const upright = above || beside ? Boolean(above) : flow === "up";
  const ends = [portOf(from, [to.x, to.y], upright), portOf(to, [from.x, from.y], upright)];
  if (above) for (const end of ends) end[0] = above.x;
  else if (beside) for (const end of ends) end[1] = beside.y;
  return { ends, upright };
}

// A line with rounded corners.
function roundedLine(places) {
  const corner = (i) => {
    const [before, at, after] = [places[i - 1], places[i], places[i + 1]];
    const near = (other) => {
      const length = Math.hypot(other[0] - at[0], other[1] - at[1]);
      return at.map((number, axis) => number + ((other[axis] - number) * Math.min(ROUND, length / 2)) / length);
    };
    return `L${point(near(before))}Q${point(at)} ${point(near(after))}`;
  };
  return `M${point(places[0])}${places
    .slice(1, -1)
    .map((_, i) => corner(i + 1))
    .join("")}L${point(places.at(-1))}`;
}

// An arrow's line, its head, and its middle. The line ends inside the head.
function arrowOf(from, to, corners, flow) {
  const straight = portsOf(from, to, flow);
  const ends = corners.length
    ? [portOf(from, corners[0], Math.abs(corners[0][0] - from.x) < 1), portOf(to, corners.at(-1), Math.abs(corners.at(-1)[0] - to.x) < 1)]
    : straight.ends;
  const places = [ends[0], ...corners, ends[1]];
  const last = places.at(-2);
  const bent = !corners.length && ends[0].every((number, axis) => Math.abs(number - ends[1][axis]) > 1);
  const [dx, dy] = bent
    ? [0, 1].map((axis) => (Boolean(axis) === straight.upright ? ends[1][axis] - last[axis] : 0))
    : [ends[1][0] - last[0], ends[1][1] - last[1]];
  const length = Math.hypot(dx, dy) || 1;
  const [ux, uy] = [dx / length, dy / length];
  const [tipX, tipY] = ends[1];
  const [backX, backY] = [tipX - HEAD * ux, tipY - HEAD * uy];
  const head = `M${point(ends[1])}L${point([backX - 0.45 * HEAD * uy, backY + 0.45 * HEAD * ux])}L${point([backX + 0.45 * HEAD * uy, backY - 0.45 * HEAD * ux])}Z`;
  const stop = [backX + ux, backY + uy];
  const middle = [(places[0][0] + stop[0]) / 2, (places[0][1] + stop[1]) / 2];
  if (!bent) return { line: roundedLine([...places.slice(0, -1), stop]), head, middle: corners.length ? corners[0] : middle };
  const lean = straight.upright ? [0, (stop[1] - places[0][1]) / 2] : [(stop[0] - places[0][0]) / 2, 0];
  const bends = [places[0].map((number, axis) => number + lean[axis]), stop.map((number, axis) => number - lean[axis])];
  return { line: `M${point(places[0])}C${bends.map(point).join(" ")} ${point(stop)}`, head, middle };
}

// The elements of a node: its outline in grey, the same in its colour, which shows as far as it is lit, and its lines.
function makePart(part) {
  const outline = (kind) => node("rect", { class: kind });
  const shapes = part.shape === "text" ? [] : [outline("outline"), outline("outline glow")];
  const text = node("text", { "text-anchor": part.align });
  return { part, shapes, text, group: node("g", { class: `piece ${part.shape} ${part.color}` }, ...shapes, text) };
}

function makeArrow({ color, dashed }) {
  const path = (kind) => node("path", { class: kind });
  const both = (kind) => [path(`way ${kind} ${dashed ? "dashed" : ""}`), path(`head ${kind}`)];
  const [plain, glow] = [both(""), both("glow")];
  return { plain, glow, group: node("g", { class: `arrow ${color}` }, ...plain, ...glow), label: textAt("tick written", 0, 0, "middle") };
}

function sizeOf({ shape, size: [wide, high], widest, texts }, column, row) {
  if (shape === "text") return { wide: widest + 8, high: texts * LINE_OF_BOX + 4 };
  return shape === "circle" ? { wide: 2 * RADIUS, high: 2 * RADIUS } : { wide: wide * column, high: high * row };
}

function placePart({ part, shapes, group }, { x, y, wide, high }) {
  group.style.transform = `translate(${fixed(x)}px, ${fixed(y)}px)`;
  const outline = { x: -wide / 2, y: -high / 2, width: wide, height: high, rx: part.shape === "circle" ? RADIUS : ROUND };
  for (const shape of shapes) for (const [name, number] of Object.entries(outline)) shape.setAttribute(name, fixed(number));
}

function placeArrow({ plain, glow, label }, { line, head, middle: [x, y] }) {
  for (const [way, tip] of [plain, glow]) {
    set(way, "d", line);
    set(tip, "d", head);
  }
  label.setAttribute("x", fixed(x));
  label.setAttribute("y", fixed(y + 4));
}

// Show how strongly a part or an arrow is lit, where that has changed: nothing where it is not there.
function light(one, lit, elements, glow) {
  if (one.lit === lit) return;
  one.lit = lit;
  for (const element of elements) set(element, "display", lit >= 0 ? "inline" : "none");
  for (const element of glow) element.style.setProperty("--lit", Math.max(0, lit));
}

function lightPart(one, lit, written) {
  const { part, shapes, text, group } = one;
  light(one, lit, [group], shapes.slice(1));
  group.classList.toggle("unlit", lit < 0.02);
  if (one.written === written) return;
  one.written = written;
  const texts = [...titleOf(part), ...(written ? written.split("\n").map((words) => [words]) : [])];
  const line = (words, i) => node("tspan", { x: 0, y: fixed(4.5 + (i - (texts.length - 1) / 2) * LINE_OF_BOX) }, ...words);
  text.replaceChildren(...texts.map(line));
}

function lightArrow(one, lit, written) {
  light(one, lit, [one.group, one.label], one.glow);
  if (one.label.textContent !== written) one.label.textContent = written;
}

// The lines of a node's symbol and label: two, or one where they stand beside a column.
function titleOf({ symbol, label, align }) {
  const spans = symbolSpans(symbol);
  const both = [spans, label ? [label] : []].filter((words) => words.length);
  if (align === "middle" || both.length < 2) return both;
  const raise = spans.at(-1).getAttribute("dy") === "0.25em" ? "-0.19em" : 0; // back from a subscript
  return [[...spans, node("tspan", { dy: raise }, ` ${label}`)]];
}

class Diagram {
  constructor(panel, words) {
    this.panel = panel;
    this.words = words;
    this.element = this.surface = node("svg");
    this.narrowest = 280;
    this.parts = panel.parts.map(makePart);
    this.arrows = panel.edges.map(makeArrow);
    this.ring = node("rect", { class: "ring" });
    const frames = this.parts.filter(({ part }) => part.shape === "frame");
    const others = this.parts.filter(({ part }) => part.shape !== "frame");
    const groups = [...frames, ...this.arrows, ...others].map(({ group }) => group);
    this.all = node("g", { class: "parts plot" }, ...groups, ...this.arrows.map(({ label }) => label), this.ring);
    this.surface.replaceChildren(this.all);
  }

  needs() {
    const { places, lit, written } = this.panel;
    return { now: [places, lit, written], later: [] };
  }

  draw(view, { width, height }) {
    const { panel } = this;
    const { values } = view.at(panel.places);
    const [lit, written] = [view.at(panel.lit).values, view.at(panel.written).split("\t")];
    const [resized, moved] = [this.size !== `${width} ${height}`, this.values !== values];
    this.all.classList.toggle("settled", !resized); // only then may it tween
    this.lit = lit;
    if (resized || moved) this.place(values, width, height);
    this.parts.forEach((one, i) => lightPart(one, lit[i], written[i]));
    this.arrows.forEach((one, i) => lightArrow(one, lit[panel.parts.length + i], written[panel.parts.length + i]));
    Object.assign(this, { size: `${width} ${height}`, values, written });
    return { kind: "diagram", limits: panel.limits, places: this.places, lit, written };
  }

  // Put parts and arrows where they belong, those that are not there yet.
  place(values, width, height) {
    const { panel } = this;
    const [[left, right], [low, high]] = panel.limits;
    const column = Math.min(WIDEST_COLUMN, (width - 2 * BESIDE) / (right - left));
    const row = height / (high - low);
    this.places = panel.parts.map((_, i) => [values[2 * i], values[2 * i + 1]]);
    // a text may rise above the highest row
    const rise = ({ shape, texts }, i) => (shape === "text" ? (texts * LINE_OF_BOX) / 2 + 2 - (high - this.places[i][1]) * row : 0);
    const top = Math.max(BESIDE, ...panel.parts.map(rise));
    const at = ([across, up]) => [width / 2 + (across - (left + right) / 2) * column, top + (high - up) * row];
    set(this.surface, "viewBox", `0 0 ${fixed(width)} ${fixed(top + height + BESIDE)}`);
    const before = this.boxes;
    this.boxes = panel.parts.map((part, i) => ({ ...sizeOf(part, column, row), x: at(this.places[i])[0], y: at(this.places[i])[1] }));
    const moved = this.boxes.map((box, i) => Object.keys(box).some((side) => box[side] !== before?.[i][side]));
    const fits = panel.parts.map(({ shape, widest }, i) => (shape === "box" && widest ? (this.boxes[i].wide - 6) / widest : 1));
    this.surface.style.setProperty("--type", `${fixed(Math.max(LEAST_TYPE, TYPE * Math.min(1, ...fits)))}px`);
    this.parts.forEach((one, i) => moved[i] && placePart(one, this.boxes[i]));
    panel.edges.forEach(({ ends, via }, i) => {
      const [from, to] = ends.map((end) => this.boxes[end]);
      if (ends.some((end) => moved[end])) placeArrow(this.arrows[i], arrowOf(from, to, via.map(at), panel.flow));
    });
  }

  // Whether a node can be picked: it is there, and there is something to say of it.
  isThere(i) {
    const drawn = this.lit[i] >= 0 && !["frame", "text"].includes(this.panel.parts[i].shape);
    return drawn && (this.nameOf(i) !== "" || this.saidOf(i).length > 0);
  }

  // The edges that are there and enter a node.
  entering(to) {
    const { edges, parts } = this.panel;
    return edges.map((_, i) => i).filter((i) => edges[i].ends[1] === to && this.lit[parts.length + i] >= 0);
  }

  pickAt(px, py) {
    const inside = ({ x, y, wide, high }, i) => this.isThere(i) && Math.abs(px - x) < wide / 2 + 5 && Math.abs(py - y) < high / 2 + 5;
    const at = this.boxes.findIndex(inside);
    return at < 0 ? null : { node: at };
  }

  // An arrow key leads to the nearest node on its side.
  step(pick, key) {
    if (!TOWARDS[key]) return null;
    const all = this.boxes.map((_, i) => i).filter((i) => this.isThere(i));
    if (!all.includes(pick?.node)) return all.length ? { node: all[0] } : null;
    const [right, down] = TOWARDS[key];
    const from = this.boxes[pick.node];
    const costs = all.map((i) => {
      const [dx, dy] = [this.boxes[i].x - from.x, this.boxes[i].y - from.y];
      const ahead = right * dx + down * dy;
      return ahead < 1 ? Infinity : ahead + 3 * Math.abs(right * dy + down * dx);
    });
    const least = Math.min(...costs);
    return least === Infinity ? pick : { node: all[costs.indexOf(least)] };
  }

  nameOf(i) {
    const { symbol, label } = this.panel.parts[i];
    return [symbol.replace(/[_{}]/g, ""), label].filter(Boolean).join(" ");
  }

  mark(pick) {
    const { panel, ring, boxes } = this;
    const at = pick && "node" in pick && this.isThere(pick.node) ? pick.node : -1;
    const way = at < 0 ? { nodes: new Set(), edges: new Set() } : this.wayTo(at);
    this.parts.forEach(({ group }, i) => group.classList.toggle("picked", way.nodes.has(i)));
    this.arrows.forEach(({ group }, i) => group.classList.toggle("picked", way.edges.has(i)));
    set(ring, "display", at < 0 ? "none" : "inline");
    if (at < 0) return null;
    const { x, y, wide, high } = boxes[at];
    const around = { x: x - wide / 2 - 4, y: y - high / 2 - 4, width: wide + 8, height: high + 8, rx: ROUND + 4 };
    for (const [name, number] of Object.entries(around)) ring.setAttribute(name, fixed(number));
    const said = this.saidOf(at).map((text) => ({ color: null, mark: null, text }));
    return { place: this.nameOf(at) || panel.title, said };
  }

  // All that a node is computed from, and the arrows on the way.
  wayTo(at) {
    const [nodes, edges, left] = [new Set([at]), new Set(), [at]];
    while (left.length) {
      for (const edge of this.entering(left.pop())) {
        const [from] = this.panel.edges[edge].ends;
        edges.add(edge);
        if (!nodes.has(from)) left.push(from);
        nodes.add(from);
      }
    }
    return { nodes, edges };
  }

  // What is written on a node, and which nodes it reads; of one that reads none, which read it.
  saidOf(at) {
    const { panel, words, lit, written } = this;
    const reads = this.entering(at).map((i) => panel.edges[i].ends[0]);
    const readers = panel.edges.filter(({ ends }, i) => ends[0] === at && lit[panel.parts.length + i] >= 0).map(({ ends }) => ends[1]);
    const said = written[at] ? [written[at].replaceAll("\n", " = ")] : [];
    const names = (all) => ({ names: all.map((i) => this.nameOf(i)).join(words.comma) });
    if (reads.length) said.push(fill(words.reads_names, names(reads)));
    else if (readers.length) said.push(fill(words.read_by, names(readers)));
    return said;
  }

  table() {
    const { words, panel, written } = this;
    const all = panel.parts.map((_, i) => i).filter((i) => this.isThere(i));
    const reads = (i) => this.entering(i).map((edge) => this.nameOf(panel.edges[edge].ends[0]));
    const rows = all.map((i) => [this.nameOf(i), written[i].replaceAll("\n", " = "), reads(i).join(words.comma)]);
    return { head: [words.part, words.number, words.reads_from], rows };
  }
}

KINDS.diagram = (panel, words) => new Diagram(panel, words);
