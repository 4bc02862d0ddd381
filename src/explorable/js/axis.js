// Axes: their ticks and names, the same in all panels.

import { node } from "./elements.js";
import { ticksOf, tickWidth } from "./ticks.js";
import { widthOf } from "./words.js";

export const NAME = 16; // pixels from the upper axis name to the plot: the highest tick stands between
export const AFTER_PLOT = 14; // pixels from the plot to the end of its panel: room for half of the last tick

// Map numbers between two limits onto pixels between two others.
export function scaleBetween([low, high], [from, to]) {
  const slope = (to - from) / (high - low);
  return (value) => from + (value - low) * slope;
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

// An axis's name: symbol, words and unit; the symbol alone where they have no room.
export function axisName(axis, x, y, anchor, room = Infinity) {
  const words = ` ${axis.label}${axis.unit ? ` (${axis.unit})` : ""}`;
  const cut = axis.symbol && widthOf(plainSymbol(axis) + words) > room;
  return textAt("axis-name", x, y, anchor, ...symbolSpans(axis.symbol), cut ? "" : words);
}

// A symbol as plain text, for sentences: s_{T−l} without the marks of its index.
export function plainSymbol(axis) {
  return axis.symbol ? axis.symbol.replace(/[_{}]/g, "") : axis.label;
}

// The grid, ticks and names of a plot's two axes. box: {left, top, right, bottom} in pixels.  whole: whole numbers only,
// each of which may have its tick.  narrow: names without room are symbols, and ticks stand closer.  bare: the y axis has
// its grid only, for a panel to the left names it.
export function drawAxes(panel, [xLimits, yLimits], box, { whole = false, narrow = false, bare = false } = {}) {
  const x = scaleBetween(xLimits, [box.left, box.right]);
  const y = scaleBetween(yLimits, [box.bottom, box.top]);
  const least = whole ? 30 : narrow ? 0 : 56; // pixels from tick to tick
  const up = whole ? 24 : Math.max(28, Math.min(44, (box.bottom - box.top) / 4));
  const across = (a, b) => Math.max(least, (tickWidth(a) + tickWidth(b)) / 2 + 8);
  const end = box.right + AFTER_PLOT;
  const parts = [];
  for (const { at, text } of ticksOf(panel.x, xLimits, box.right - box.left, across, whole)) {
    const inside = Math.min(x(at), end - tickWidth(text) / 2);
    parts.push(textAt("tick", inside, box.bottom + 18, "middle", text));
    parts.push(node("path", { class: "grid", d: `M${x(at)},${box.bottom}v5` }));
  }
  for (const { at, text } of ticksOf(panel.y, yLimits, box.bottom - box.top, () => up, whole)) {
    parts.push(node("path", { class: "grid", d: `M${box.left},${y(at)}H${box.right}` }));
    if (!bare) parts.push(textAt("tick", box.left - 6, y(at) + 4, "end", text));
  }
  const middle = (box.left + box.right) / 2;
  const [below, above] = narrow ? [2 * (end - middle), end] : [Infinity, Infinity];
  parts.push(axisName(panel.x, middle, box.bottom + 38, "middle", below));
  if (!bare) parts.push(axisName(panel.y, 2, box.top - NAME, "start", above));
  return { x, y, parts };
}
