// The Graph panel: nodes, the edges between them, and for a picked node the nodes that it reads.

import { colorAt, drawAxes, drawColorBar, plainSymbol, textAt } from "../js/axis.js";
import { node } from "../js/elements.js";
import { STRIDES } from "../js/keys.js";
import { KINDS } from "../js/kinds.js";
import { amountText } from "../js/numbers.js";
import { fill } from "../js/words.js";
import LOOK from "../look.json" with { type: "json" };

function rowsOf({ shape, values }) {
  return Array.from({ length: shape[0] }, (_, i) => [...values.subarray(i * shape[1], (i + 1) * shape[1])]);
}

const rising = (numbers) => [...new Set(numbers)].sort((a, b) => a - b);

class Graph {
  constructor(panel, words) {
    this.panel = panel;
    this.words = words;
    this.element = this.surface = node("svg");
    this.picked = node("g", { class: "picked" });
    this.coordinate = plainSymbol(panel.x);
    this.narrowest = 330;
  }

  needs() {
    const { x, y, scale, nodes, edges } = this.panel;
    return { now: [x.limits, y.limits, nodes, edges, ...(scale ? [scale.limits] : [])], later: [] };
  }

  draw(view, { width: size, height }) {
    const { panel } = this;
    const limits = [panel.x, panel.y].map((axis) => view.at(axis.limits).values);
    const shades = panel.scale ? view.at(panel.scale.limits).values : null;
    this.nodes = rowsOf(view.at(panel.nodes));
    this.edges = rowsOf(view.at(panel.edges));
    const box = { left: 46, top: 34, right: size - 14, bottom: 34 + height };
    this.surface.setAttribute("viewBox", `0 0 ${size} ${box.bottom + (shades ? 108 : 46)}`);
    const { x, y, parts } = drawAxes(panel, limits, box, true);
    if (panel.color) parts.push(textAt(`heading ${panel.color}`, box.right, box.top - 12, "end", panel.title));
    if (shades) parts.push(...drawColorBar(panel, shades, { ...box, top: box.bottom + 74 }));
    this.places = this.nodes.map(([a, b]) => [x(a), y(b)]);
    const across = rising(this.places.map(([a]) => a));
    const gap = Math.min(box.right - box.left, ...across.slice(1).map((a, i) => a - across[i]));
    this.radius = Math.max(2, Math.min(7, 0.4 * gap));
    const edges = this.edges.map(([from, to, strength]) => this.makeEdge(from, to, { "stroke-width": 0.5 + 1.5 * strength }));
    this.surface.replaceChildren(...parts, ...edges, ...this.nodes.map((_, i) => this.makeNode(i, shades)), this.picked);
    return { kind: "graph", limits, nodes: this.nodes, edges: this.edges };
  }

  makeEdge(from, to, attributes) {
    const place = (i) => this.places[i].map((number) => number.toFixed(1)).join();
    return node("path", { class: "edge", d: `M${place(from)}L${place(to)}`, ...attributes });
  }

  // In a panel of one colour a node has that colour's mark, hollow where its number is 0.
  makeNode(i, shades) {
    const { color, mark, colormap } = this.panel;
    const [[cx, cy], number] = [this.places[i], this.nodes[i][2]];
    const shade = shades && `--color: rgb(${colorAt(colormap, shades, number)})`;
    if (shade) return node("circle", { class: "node", cx, cy, r: this.radius, style: shade });
    const transform = `translate(${cx.toFixed(1)},${cy.toFixed(1)}) scale(${(this.radius / 4).toFixed(2)})`;
    return node("path", { class: `node ${color} ${number === 0 ? "hollow" : ""}`, transform, d: `M0,0${LOOK.marks[mark].path}` });
  }

  // A pick names a place across; it means the highest node there.
  nodeAt(place) {
    return this.nodes.reduce((best, [a, b], i) => (a === place && (best < 0 || b > this.nodes[best][1]) ? i : best), -1);
  }

  pickAt(px, py) {
    const distances = this.places.map(([a, b]) => Math.hypot(a - px, 0.1 * (b - py)));
    return distances.length ? { [this.coordinate]: this.nodes[distances.indexOf(Math.min(...distances))][0] } : null;
  }

  step(pick, key) {
    const all = rising(this.nodes.map(([a]) => a));
    const now = all.indexOf(pick?.[this.coordinate]);
    if (!STRIDES[key] || !all.length) return null;
    return { [this.coordinate]: all[Math.min(all.length - 1, Math.max(0, now < 0 ? 0 : now + STRIDES[key]))] };
  }

  mark(pick) {
    const { panel, words, coordinate } = this;
    this.picked.replaceChildren();
    const at = pick && coordinate in pick ? this.nodeAt(pick[coordinate]) : -1;
    if (at < 0) return null;
    const [cx, cy] = this.places[at];
    const read = this.edges.filter(([, to]) => to === at);
    const edges = read.map(([from, to]) => this.makeEdge(from, to, { class: `edge ${panel.color ?? ""}` }));
    this.picked.append(...edges, node("circle", { class: "ring", cx, cy, r: this.radius + 4 }));
    const said = [`${panel.y.label} ${amountText(this.nodes[at][1], panel.y)}`];
    if (panel.scale) said.push(`${panel.scale.label} ${amountText(this.nodes[at][2], panel.scale)}`);
    said.push(read.length === 1 ? words.reads_one : fill(words.reads, { count: read.length }));
    return { place: `${coordinate} = ${amountText(pick[coordinate], panel.x)}`, text: panel.title + words.is + said.join(words.comma) };
  }

  table() {
    const axes = [this.panel.x, this.panel.y, this.panel.scale].filter(Boolean);
    const readsOf = (i) => this.edges.filter(([, to]) => to === i).length;
    const rows = this.nodes.map((numbers, i) => [...axes.map((axis, k) => amountText(numbers[k], axis)), String(readsOf(i))]);
    return { head: [...axes.map(({ label }) => label), this.words.reads_head], rows };
  }
}

KINDS.graph = (panel, words) => new Graph(panel, words);
