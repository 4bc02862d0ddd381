// The Graph panel: nodes, the edges between them, and for a picked node all that it comes from.

import { axisName, drawAxes, plainSymbol, scaleBetween, textAt } from "../js/axis.js";
import { colorAt } from "../js/color_bar.js";
import { node, renew, set } from "../js/elements.js";
import { STRIDES } from "../js/keys.js";
import { KINDS } from "../js/kinds.js";
import { nearest } from "../js/nearest.js";
import { amountText } from "../js/numbers.js";
import { fill, widthOf } from "../js/words.js";
import LOOK from "../look.json" with { type: "json" };

const NEAREST_NODES = 8; // pixels from node to node across, at least; with less room panels stand under each other
const [TOP, TITLED] = [36, 54]; // pixels above the plot
const [BARE, NEAREST_BARE] = [10, 4.4]; // pixels beside a plot without an axis at its left, and from node to node
const REACH = 14; // pixels around the plot, in which a pointer still means a node
const OUTSTANDING = 1.35; // how much larger the nodes of the last round are
const UPWARDS = { ArrowUp: 1, ArrowDown: -1 };

function rowsOf({ shape, values }) {
  return Array.from({ length: shape[0] }, (_, i) => [...values.subarray(i * shape[1], (i + 1) * shape[1])]);
}

const rising = (numbers) => [...new Set(numbers)].sort((a, b) => a - b);

class Graph {
  constructor(panel, words) {
    this.panel = panel;
    this.words = words;
    [this.axes, this.ways, this.dots] = [node("g"), node("g"), node("g")];
    this.traced = node("path", { class: `edge traced ${panel.color ?? ""}` });
    this.awaited = node("path", { class: `edge traced awaited ${panel.color ?? ""}` }); // to nodes still to come
    this.ring = node("circle", { class: "ring" });
    this.element = this.surface = node("svg", {}, this.axes, this.ways, this.traced, this.awaited, this.dots, this.ring);
    [this.across, this.upwards] = [panel.x, panel.y].map(plainSymbol);
    this.narrowest = panel.y_axis ? 50 + NEAREST_NODES * panel.places : 2 * BARE + NEAREST_BARE * panel.places;
  }

  needs() {
    const { x, y, scale, nodes, edges, rounds } = this.panel;
    return { now: [x.limits, y.limits, nodes, edges, ...(scale ? [scale.limits] : []), ...(rounds ? [rounds.now] : [])], later: [] };
  }

  draw(view, { width: size, height }) {
    const { panel } = this;
    const limits = [panel.x, panel.y].map((axis) => view.at(axis.limits).values);
    const shades = panel.scale ? view.at(panel.scale.limits).values : null;
    this.nodes = rowsOf(view.at(panel.nodes));
    this.edges = rowsOf(view.at(panel.edges));
    this.now = panel.rounds ? view.at(panel.rounds.now).values[0] : Infinity;
    const [before, after] = panel.y_axis ? [46, 14] : [BARE, BARE];
    const top = panel.y_axis && panel.color ? TITLED : TOP; // a title stands above the y axis's name
    const box = { left: before, top, right: size - after, bottom: top + height };
    [this.box, this.widest] = [box, box.right];
    set(this.surface, "viewBox", `0 0 ${size} ${box.bottom + 46}`);
    const { x, y, parts } = panel.y_axis ? drawAxes(panel, limits, box, { whole: true }) : this.drawAcross(limits, box);
    this.places = this.nodes.map(([a, b]) => [x(a), y(b)]);
    const across = rising(this.places.map(([a]) => a));
    const gap = Math.min(box.right - box.left, ...across.slice(1).map((a, i) => a - across[i]));
    this.radius = Math.max(1.8, Math.min(7, (panel.rounds ? 0.4 / OUTSTANDING : 0.4) * gap));
    this.shapes = this.nodes.map((_, i) => this.makeNode(i, shades));
    renew(this.axes, [...parts, ...this.title()]);
    renew(this.ways, this.makeEdges());
    this.dots.replaceChildren(...this.shapes);
    return { kind: "graph", limits, nodes: this.nodes, edges: this.edges, ...(panel.rounds ? { now: this.now } : {}) };
  }

  // The axis below alone.
  drawAcross([xLimits, yLimits], box) {
    const [x, y] = [scaleBetween(xLimits, [box.left, box.right]), scaleBetween(yLimits, [box.bottom, box.top])];
    const [first, last] = [Math.ceil(xLimits[0]), Math.floor(xLimits[1])];
    const by = [1, 2, 5, 10].find((step) => x(first + step) - x(first) >= 18) ?? last - first;
    const ticks = Array.from({ length: Math.floor((last - first) / by) + 1 }, (_, i) => first + i * by);
    const parts = ticks.map((tick) => textAt("tick", x(tick), box.bottom + 18, "middle", tick));
    return { x, y, parts: [...parts, axisName(this.panel.x, (box.left + box.right) / 2, box.bottom + 38, "middle")] };
  }

  // Where a panel has a colour, its title behind its mark, and what hollow nodes are behind theirs.
  title() {
    const { color, mark, title, hollow } = this.panel;
    if (!color) return [];
    const sign = (kind, x) => node("path", { class: `${kind} ${mark}`, d: `M${x},-4.5${LOOK.marks[mark].path}` });
    const next = 14 + widthOf(title) + 12;
    const key = hollow ? [sign(`node hollow ${color}`, next), textAt("tick", next + 9, 0, "start", hollow)] : [];
    const place = `translate(${this.box.left - BARE},14)`;
    return [node("g", { class: color, transform: place }, sign("series mark", 5), textAt("heading", 14, 0, "start", title), ...key)];
  }

  lineOf([from, to]) {
    const place = (i) => this.places[i].map((number) => number.toFixed(1)).join();
    return `M${place(from)}L${place(to)}`;
  }

  // One path for all edges of one strength.
  makeEdges() {
    const alike = (strength) => this.edges.filter((edge) => edge[2] === strength).map((edge) => this.lineOf(edge));
    const strengths = rising(this.edges.map(([, , strength]) => strength));
    return strengths.map((strength) => node("path", { class: "edge", d: alike(strength).join(""), "stroke-width": 0.5 + 1.5 * strength }));
  }

  // In a panel of one colour a node has that colour's mark, hollow where its number is 0 or a round still to come; what is given before the first round is grey.
  makeNode(i, shades) {
    const { color, mark, colormap } = this.panel;
    const [[cx, cy], number] = [this.places[i], this.nodes[i][2]];
    const shade = shades && `--color: rgb(${colorAt(colormap, shades, number)})`;
    if (shade) return node("circle", { class: "node", cx, cy, r: this.radius, style: shade });
    const size = number === this.now && number > 0 ? OUTSTANDING * this.radius : this.radius;
    const transform = `translate(${cx.toFixed(1)},${cy.toFixed(1)}) scale(${(size / 4).toFixed(2)})`;
    return node("path", { class: `node ${color} ${this.stateOf(number)}`, transform, d: `M0,0${LOOK.marks[mark].path}` });
  }

  stateOf(number) {
    if (number > this.now) return "hollow awaited";
    if (number === 0) return this.panel.rounds ? "given" : "hollow";
    return number === this.now ? "new" : "";
  }

  pickOf([a, b]) {
    return { [this.across]: a, [this.upwards]: b };
  }

  // The heights of the nodes at a place across, rising.
  heightsAt(place) {
    return rising(this.nodes.filter(([a]) => a === place).map(([, b]) => b));
  }

  // The node that a pick means: at its place across, that of its height or else the highest.
  nodeAt(pick) {
    const heights = pick && this.across in pick ? this.heightsAt(pick[this.across]) : [];
    const height = heights.includes(pick?.[this.upwards]) ? pick[this.upwards] : heights.at(-1);
    return this.nodes.findIndex(([a, b]) => a === pick?.[this.across] && b === height);
  }

  pickAt(px, py) {
    const { left, top, right, bottom } = this.box;
    const outside = px < left - REACH || px > right + REACH || py < top - REACH || py > bottom + REACH;
    if (outside || !this.nodes.length) return null;
    const distances = this.places.map(([a, b]) => Math.hypot(a - px, b - py));
    return this.pickOf(this.nodes[distances.indexOf(Math.min(...distances))]);
  }

  step(pick, key) {
    const at = this.nodeAt(pick);
    if (!(STRIDES[key] || UPWARDS[key]) || !this.nodes.length) return null;
    const all = rising(this.nodes.map(([a]) => a));
    if (at < 0) return { [this.across]: all[0] };
    const [a, b] = this.nodes[at];
    const walk = (places, now, by) => places[Math.min(places.length - 1, Math.max(0, places.indexOf(now) + by))];
    if (UPWARDS[key]) return this.pickOf([a, walk(this.heightsAt(a), b, UPWARDS[key])]);
    const next = walk(all, a, STRIDES[key]);
    const heights = this.heightsAt(next);
    return this.pickOf([next, heights[nearest(heights, b)]]);
  }

  // All nodes that a node comes from, with itself, and the edges between them.
  pathTo(at) {
    const nodes = new Set([at]);
    const edges = [];
    for (const one of nodes) {
      for (const edge of this.edges) {
        if (edge[1] !== one) continue;
        edges.push(edge);
        nodes.add(edge[0]); // which this loop reaches later
      }
    }
    return { nodes, edges };
  }

  // Light a node's path: its edges in colour, the others faint; while the reader picks, so are the nodes off it.
  light(at, picked) {
    const { nodes, edges } = at < 0 ? { nodes: new Set(), edges: [] } : this.pathTo(at);
    const toCome = ([, to]) => this.nodes[to][2] > this.now;
    const pathOf = (some) => some.map((edge) => this.lineOf(edge)).join("");
    set(this.traced, "d", pathOf(edges.filter((edge) => !toCome(edge))));
    set(this.awaited, "d", pathOf(edges.filter(toCome)));
    this.surface.classList.toggle("tracing", at >= 0);
    this.shapes.forEach((shape, i) => shape.classList.toggle("off", picked && !nodes.has(i)));
    set(this.ring, "display", picked ? "inline" : "none");
    if (!picked) return;
    const [cx, cy] = this.places[at];
    for (const [name, value] of Object.entries({ cx, cy, r: this.radius + 4 })) this.ring.setAttribute(name, value);
  }

  mark(pick) {
    const { panel, words } = this;
    const at = this.nodeAt(pick);
    this.light(at < 0 && panel.lit ? this.nodes.length - 1 : at, at >= 0);
    if (at < 0) return null;
    const [a, b, number] = this.nodes[at];
    const read = this.edges.filter(([, to]) => to === at).length;
    const said = panel.y_axis ? [`${panel.y.label} ${amountText(b, panel.y)}`] : [];
    if (panel.rounds) said.push(`${panel.rounds.label} ${number}`);
    if (panel.scale) said.push(`${panel.scale.label} ${amountText(number, panel.scale)}`);
    said.push(read === 1 ? words.reads_one : fill(words.reads, { count: read }));
    const text = panel.title + words.is + said.join(words.comma);
    return { place: `${this.across} = ${amountText(a, panel.x)}`, said: [{ color: panel.color, mark: panel.mark, text }] };
  }

  table() {
    const { x, y, scale, rounds } = this.panel;
    const axes = [x, y, scale ?? rounds].filter(Boolean);
    const readsOf = (i) => this.edges.filter(([, to]) => to === i).length;
    const rows = this.nodes.map((numbers, i) => [...axes.map((axis, k) => amountText(numbers[k], axis)), String(readsOf(i))]);
    return { head: [...axes.map(({ label }) => label), this.words.reads_head], rows };
  }
}

KINDS.graph = (panel, words) => new Graph(panel, words);
