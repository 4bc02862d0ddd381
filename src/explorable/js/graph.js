// The Graph panel: nodes, the edges between them, and for a picked node the nodes that it reads.

import { colorAt, drawAxes, drawColorBar, node, plainSymbol } from "./axis.js";
import { MARKS } from "./marks.js";
import { amountText } from "./numbers.js";

function rowsOf({ shape, values }) {
  return Array.from({ length: shape[0] }, (_, i) => [...values.subarray(i * shape[1], (i + 1) * shape[1])]);
}

export function graphPanel(panel, words) {
  const svg = node("svg");
  const picked = node("g", { class: "picked" });
  const coordinate = plainSymbol(panel.x);
  const needs = [panel.x.limits, panel.y.limits, panel.nodes, panel.edges, ...(panel.scale ? [panel.scale.limits] : [])];
  let [nodes, edges, places, radius] = [[], [], [], 0];

  function draw(view, size) {
    const limits = [panel.x, panel.y].map((axis) => view.at(axis.limits).values);
    const shades = panel.scale ? view.at(panel.scale.limits).values : null;
    [nodes, edges] = [rowsOf(view.at(panel.nodes)), rowsOf(view.at(panel.edges))];
    const box = { left: 46, top: 34, right: size - 14, bottom: Math.round(Math.min(380, Math.max(240, size * 0.5))) - 46 };
    svg.setAttribute("viewBox", `0 0 ${size} ${box.bottom + (shades ? 108 : 46)}`);
    const { x, y, parts } = drawAxes(panel, limits, box, true);
    if (panel.color) parts.push(node("text", { class: `heading ${panel.color}`, x: box.right, y: box.top - 12, "text-anchor": "end" }, panel.title));
    if (shades) parts.push(...drawColorBar(panel, shades, { ...box, top: box.bottom + 74 }));
    places = nodes.map(([a, b]) => [x(a), y(b)]);
    const across = [...new Set(places.map(([a]) => a))].sort((a, b) => a - b);
    const gap = Math.min(box.right - box.left, ...across.slice(1).map((a, i) => a - across[i]));
    radius = Math.max(2, Math.min(7, 0.4 * gap));
    for (const [from, to, strength] of edges) parts.push(node("path", { class: "edge", d: pathOf(from, to), "stroke-width": 0.5 + 1.5 * strength }));
    nodes.forEach(([, , number], i) => parts.push(makeNode(i, shades && `rgb(${colorAt(panel.colormap, shades, number)})`)));
    svg.replaceChildren(...parts, picked);
    return { kind: "graph", limits, nodes, edges };
  }

  function pathOf(from, to) {
    const place = (i) => places[i].map((number) => number.toFixed(1)).join();
    return `M${place(from)}L${place(to)}`;
  }

  // A node of a panel that keeps one colour has that colour's mark; number 0 leaves it hollow.
  function makeNode(i, color) {
    const [cx, cy] = places[i];
    if (panel.scale) return node("circle", { class: "node", cx, cy, r: radius, style: `--color: ${color}` });
    const hollow = nodes[i][2] === 0 ? "hollow" : "";
    return node("path", { class: `node ${panel.color} ${hollow}`, transform: `translate(${cx.toFixed(1)},${cy.toFixed(1)}) scale(${(radius / 4).toFixed(2)})`, d: `M0,0${MARKS[panel.mark]}` });
  }

  // A pick names a place across; it means the highest node there.
  function nodeAt(place) {
    return nodes.reduce((best, [a, b], i) => (a === place && (best < 0 || b > nodes[best][1]) ? i : best), -1);
  }

  function pickAt(px, py) {
    const near = places.map(([a, b]) => Math.hypot(a - px, 0.1 * (b - py)));
    return near.length ? { [coordinate]: nodes[near.indexOf(Math.min(...near))][0] } : null;
  }

  function step(pick, key) {
    const all = [...new Set(nodes.map(([a]) => a))].sort((a, b) => a - b);
    const now = all.indexOf(pick?.[coordinate]);
    const next = { ArrowRight: now + 1, ArrowLeft: now < 0 ? 0 : now - 1, Home: 0, End: all.length - 1 }[key];
    return next === undefined ? null : { [coordinate]: all[Math.min(all.length - 1, Math.max(0, next))] };
  }

  function mark(pick) {
    const at = pick && coordinate in pick ? nodeAt(pick[coordinate]) : -1;
    picked.replaceChildren();
    if (at < 0) return null;
    const read = edges.filter(([, to]) => to === at);
    picked.append(...read.map(([from, to]) => node("path", { class: `edge ${panel.color ?? ""}`, d: pathOf(from, to) })));
    picked.append(node("circle", { class: "ring", cx: places[at][0], cy: places[at][1], r: radius + 4 }));
    const value = panel.scale ? `${words.comma}${panel.scale.label} ${amountText(nodes[at][2], panel.scale)}` : "";
    const text = `${panel.title}${words.is}${panel.y.label} ${amountText(nodes[at][1], panel.y)}${value}${words.comma}${words.reads(read.length)}`;
    return { place: `${coordinate} = ${amountText(pick[coordinate], panel.x)}`, text };
  }

  function table() {
    const head = [panel.x.label, panel.y.label, ...(panel.scale ? [panel.scale.label] : []), words.readsHead];
    const counts = nodes.map((_, i) => edges.filter(([, to]) => to === i).length);
    return { head, rows: nodes.map(([a, b, number], i) => [amountText(a, panel.x), amountText(b, panel.y), ...(panel.scale ? [amountText(number, panel.scale)] : []), String(counts[i])]) };
  }
  return { element: svg, surface: svg, needs: () => ({ now: needs, later: [] }), draw, pickAt, step, mark, table };
}
