// The Graph panel: nodes coloured by a number, and the edges between them.

import { colorAt, drawAxes, drawColorBar, node } from "./axis.js";
import { arrayAt } from "./frames.js";

function rowsOf({ shape, values }) {
  return Array.from({ length: shape[0] }, (_, i) => [...values.subarray(i * shape[1], (i + 1) * shape[1])]);
}

export function graphPanel(panel, frames, sizes) {
  const svg = node("svg", { role: "img", "aria-label": panel.title });

  function draw(setting, value, size) {
    const at = (source) => arrayAt(frames, source, setting, sizes);
    const limits = [panel.x, panel.y, panel.scale].map((axis) => at(axis.limits).values);
    const [nodes, edges] = [rowsOf(at(panel.nodes)), rowsOf(at(panel.edges))];
    const box = { left: 46, top: 34, right: size - 66, bottom: Math.round(Math.min(380, Math.max(240, size * 0.5))) - 46 };
    svg.setAttribute("viewBox", `0 0 ${size} ${box.bottom + 46}`);
    const { x, y, parts } = drawAxes(panel, limits, box);
    parts.push(...drawColorBar(panel, limits[2], box));
    const place = ([a, b]) => `${x(a).toFixed(1)},${y(b).toFixed(1)}`;
    for (const [from, to, strength] of edges) parts.push(node("path", { class: "edge", d: `M${place(nodes[from])}L${place(nodes[to])}`, "stroke-width": 0.5 + 1.5 * strength }));
    const radius = Math.max(2, Math.min(9, (0.35 * (box.right - box.left)) / Math.sqrt(nodes.length)));
    for (const [a, b, number] of nodes) parts.push(node("circle", { class: "node", cx: x(a), cy: y(b), r: radius, fill: `rgb(${colorAt(panel.colormap, limits[2], number)})` }));
    svg.replaceChildren(...parts);
    return { kind: "graph", limits, nodes, edges };
  }
  return { element: svg, draw };
}
