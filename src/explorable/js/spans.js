// Spans: parts of the x axis that a bracket at the top of the plot names, one under another.

import { textAt } from "./axis.js";
import { node } from "./elements.js";

export const SPAN = 22; // pixels that each takes of the plot
const [ITS_WORDS, ITS_LINE, ITS_TIPS] = [12, 17, 5]; // pixels below its top: its words and its line; and how far its tips hang down

// Their brackets and the tints below them.  x: the scale.  box: the plot.
export function drawSpans(spans, view, { x, box }) {
  const places = spans.map((span, i) => ({ ...span, ends: [...view.at(span.ends).values].map(x), top: box.top + i * SPAN }));
  const tints = places.filter(({ tinted }) => tinted).map((span) => makeTint(span, box.bottom));
  return { tints, brackets: places.map((span) => makeBracket(span, view)) };
}

function makeTint({ color, ends: [left, right], top }, bottom) {
  const [y, width] = [top + ITS_LINE, Math.max(1, right - left)];
  return node("rect", { class: `tint ${color}`, x: left, y, width, height: bottom - y });
}

function makeBracket({ color, label, number, ends: [left, right], top }, view) {
  const line = node("path", {
    class: "series",
    d: `M${left},${top + ITS_LINE + ITS_TIPS}V${top + ITS_LINE}H${right}V${top + ITS_LINE + ITS_TIPS}`,
  });
  return node(
    "g",
    { class: `named ${color}` },
    line,
    textAt("label", (left + right) / 2, top + ITS_WORDS, "middle", label + view.at(number)),
  );
}
