// The Heatmap panel: a matrix as colours on a canvas, its axes as SVG around it.

import { colorAt, drawColorBar, node, ticksBetween } from "./axis.js";
import { arrayAt } from "./frames.js";

export function heatmapPanel(panel, frames, sizes, words) {
  const element = document.createElement("div");
  element.className = "heatmap";
  const canvas = document.createElement("canvas");
  canvas.setAttribute("aria-hidden", "true");
  const svg = node("svg", { role: "img", "aria-label": panel.title });
  element.append(canvas, svg);

  function paint(matrix, limits) {
    const [rows, columns] = matrix.shape;
    [canvas.width, canvas.height] = [columns, rows]; // one pixel a cell; CSS enlarges it with sharp edges
    const image = new ImageData(columns, rows);
    matrix.values.forEach((value, i) => {
      // −∞, no path, stays clear: the canvas's hatched ground shows
      if (value !== -Infinity) image.data.set([...colorAt(panel.colormap, limits, value), 255], 4 * i);
    });
    canvas.getContext("2d").putImageData(image, 0, 0);
  }

  function draw(setting, value, size) {
    const limits = arrayAt(frames, panel.scale.limits, setting, sizes).values;
    const matrix = arrayAt(frames, panel.matrix, setting, sizes);
    const [rows, columns] = matrix.shape;
    paint(matrix, limits);
    const side = Math.min(size - 110, 420);
    const box = { left: 46, top: 34, right: 46 + side, bottom: 34 + Math.round((side * rows) / columns) };
    Object.assign(canvas.style, { left: `${box.left}px`, top: `${box.top}px`, width: `${side}px`, height: `${box.bottom - box.top}px` });
    svg.setAttribute("viewBox", `0 0 ${size} ${box.bottom + 62}`);
    const parts = drawColorBar(panel, limits, box);
    const cell = side / columns;
    const ticks = (count) => ticksBetween([1, count], side / 60, true).filter((tick) => tick >= 1);
    for (const j of ticks(columns)) parts.push(node("text", { class: "tick", x: box.left + (j - 0.5) * cell, y: box.bottom + 16, "text-anchor": "middle" }, j));
    for (const i of ticks(rows)) parts.push(node("text", { class: "tick", x: box.left - 6, y: box.top + (i - 0.5) * cell + 4, "text-anchor": "end" }, i));
    parts.push(node("text", { class: "axis-name", x: 2, y: box.top - 12 }, panel.rows));
    parts.push(node("text", { class: "axis-name", x: (box.left + box.right) / 2, y: box.bottom + 34, "text-anchor": "middle" }, panel.columns));
    if (matrix.values.includes(-Infinity)) {
      parts.push(node("text", { class: "tick", x: box.left + 16, y: box.bottom + 54 }, words.none));
      parts.push(node("rect", { class: "none", x: box.left, y: box.bottom + 44, width: 11, height: 11 }));
    }
    svg.replaceChildren(...parts);
    return { kind: "heatmap", limits, shape: matrix.shape, values: matrix.values };
  }
  return { element, draw };
}
