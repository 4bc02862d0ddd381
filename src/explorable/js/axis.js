// Axes: their ticks and names, the same in all panels.

import { node } from "./elements.js";
import { tickText } from "./numbers.js";

// Map numbers between two limits onto pixels between two others.
export function scaleBetween([low, high], [from, to]) {
  const slope = (to - from) / (high - low);
  return (value) => from + (value - low) * slope;
}

// Round numbers between two limits, about `count` of them; whole ones on an axis of decades.
export function ticksBetween([low, high], count, whole) {
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough && (!whole || size >= 1)) ?? 1;
  const ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i++) ticks.push(Number((i * step).toPrecision(12)));
  return ticks;
}

// A symbol like s_{T−l} as tspans: letters italic, what follows _ lowered.
export function symbolSpans(symbol) {
  const spans = [];
  for (const [, lowered, braced, letters, other] of symbol.matchAll(/_(?:\{([^}]*)\}|(.))|([A-Za-z]+)|([^A-Za-z_]+)/gu)) {
    const text = lowered ?? braced ?? letters ?? other;
    const low = lowered !== undefined || braced !== undefined;
    const italic = /[A-Za-z]/.test(text);
    const span = node("tspan", { "font-style": italic ? "italic" : "normal", "font-size": low ? "75%" : "100%" }, text);
    if (low) span.setAttribute("dy", "0.25em");
    else if (spans.at(-1)?.getAttribute("dy") === "0.25em") span.setAttribute("dy", "-0.19em");
    spans.push(span);
  }
  return spans;
}

// Words in a plot. anchor: which end of them is at x.
export const textAt = (kind, x, y, anchor, ...words) => node("text", { class: kind, x, y, "text-anchor": anchor }, ...words);

// An axis's name: symbol, words and unit.
export function axisName(axis, x, y, anchor) {
  return textAt("axis-name", x, y, anchor, ...symbolSpans(axis.symbol), ` ${axis.label}${axis.unit ? ` (${axis.unit})` : ""}`);
}

// A symbol as plain text, for sentences: s_{T−l} without the marks of its index.
export function plainSymbol(axis) {
  return axis.symbol ? axis.symbol.replace(/[_{}]/g, "") : axis.label;
}

// The grid, ticks and names of a plot's two axes. box: {left, top, right, bottom} in pixels.  whole: whole numbers only,
// each of which may have its tick.
export function drawAxes(panel, [xLimits, yLimits], box, whole = false) {
  const [across, upwards] = whole ? [30, 24] : [60, 45]; // pixels from tick to tick, at least
  const x = scaleBetween(xLimits, [box.left, box.right]);
  const y = scaleBetween(yLimits, [box.bottom, box.top]);
  const parts = [];
  for (const tick of ticksBetween(xLimits, (box.right - box.left) / across, whole || panel.x.log10)) {
    parts.push(textAt("tick", x(tick), box.bottom + 18, "middle", tickText(tick, panel.x)));
    parts.push(node("path", { class: "grid", d: `M${x(tick)},${box.bottom}v5` }));
  }
  for (const tick of ticksBetween(yLimits, (box.bottom - box.top) / upwards, whole || panel.y.log10)) {
    parts.push(node("path", { class: "grid", d: `M${box.left},${y(tick)}H${box.right}` }));
    parts.push(textAt("tick", box.left - 6, y(tick) + 4, "end", tickText(tick, panel.y)));
  }
  parts.push(axisName(panel.x, (box.left + box.right) / 2, box.bottom + 38, "middle"), axisName(panel.y, 2, box.top - 12, "start"));
  return { x, y, parts };
}
