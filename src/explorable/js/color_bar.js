// Colour scales: a number's colour, and the bar below a row of panels, one for all that share a scale.

import { axisName, scaleBetween, textAt } from "./axis.js";
import { element, node } from "./elements.js";
import { ticksOf, tickWidth } from "./ticks.js";
import { widthOf } from "./words.js";

const SHADES = 33; // colours of the bar
const WIDEST = 420; // pixels: a longer bar tells no more
const IN_A_LINE = 300; // pixels that a bar needs beside its name
const THICK = 10; // pixels
const OVER = 3; // pixels that a number at the bar's end may stand beyond it
const SWATCH = 34; // pixels beside the words of the key: the swatch and the gaps

const channelsOf = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
const channels = new Map(); // colormap → the channels of its colours

// A number's colour on a colour scale, as [r, g, b].
export function colorAt(colormap, [low, high], value) {
  if (!channels.has(colormap)) channels.set(colormap, colormap.map(channelsOf));
  const colors = channels.get(colormap);
  const place = Math.min(1, Math.max(0, (value - low) / (high - low))) * (colors.length - 1);
  const [a, b] = [colors[Math.floor(place)], colors[Math.ceil(place)]];
  return a.map((channel, i) => Math.round(channel + (b[i] - channel) * (place % 1)));
}

// Panels in order, those beside each other that share a scale together: [{panels, limits, from}].
function runsOf(row, view) {
  const runs = [];
  row.forEach((panel, from) => {
    const { scale } = panel.panel;
    if (!scale) return;
    const limits = view.at(scale.limits).values;
    const key = JSON.stringify([scale.symbol, scale.label, scale.unit, scale.log10, [...limits]]);
    const last = runs.at(-1);
    if (last?.key === key && last.from + last.panels.length === from) last.panels.push(panel);
    else runs.push({ key, limits, from, panels: [panel] });
  });
  return runs;
}

// The bar, its name, on the same line where there is room, and its numbers below. Returns the svg, and where the key of
// so many pixels fits: beside the bar, above it or below.
function drawBar({ scale, colormap }, limits, { width, key }) {
  const name = widthOf(scale.symbol.replace(/[_{}]/g, "") + scale.label + scale.unit) + 12;
  const inALine = width >= name + IN_A_LINE + key;
  const [left, top] = inALine ? [name, 2] : [0, 22];
  const right = Math.max(left + 1, Math.min(inALine ? width - key : width, left + WIDEST)); // a stage may have no width yet
  const x = scaleBetween(limits, [left, right]);
  const at = scaleBetween([0, SHADES - 1], limits);
  const wide = (right - left) / SHADES;
  const color = (i) => `rgb(${colorAt(colormap, limits, at(i))})`;
  const piece = (_, i) => node("rect", { x: left + i * wide, y: top, width: wide + 0.5, height: THICK, fill: color(i) });
  const parts = Array.from({ length: SHADES }, piece);
  const apart = (a, b) => Math.max(45, (tickWidth(a) + tickWidth(b)) / 2 + 8);
  for (const { at: number, text } of ticksOf(scale, limits, right - left, apart)) {
    const half = tickWidth(text) / 2; // a number at the bar's end stays inside
    parts.push(textAt("tick", Math.min(right + OVER - half, Math.max(left + half - OVER, x(number))), top + THICK + 15, "middle", text));
  }
  const box = { width: right, height: top + THICK + 20 };
  const words = axisName(scale, 0, inALine ? 12 : 13, "start");
  const kind = inALine ? "in-a-line" : name + key <= width ? "above" : "below";
  return { kind, svg: node("svg", { ...box, viewBox: `0 0 ${box.width} ${box.height}` }, ...parts, words) };
}

// What the hatched cells mean: seen while there are any.
const makeKey = (words, seen) =>
  element("span", { class: seen ? "no-path" : "no-path unseen" }, element("span", { class: "hatched" }), words.none);

// The bars of a row of panels. Returns their elements and draw(view, placeOf); placeOf(from, count) tells where the bar of
// some of the panels stands: {area, left, right}, its area of the grid, and where in this it begins and ends, in pixels.
export function makeColorBars(row, words) {
  const bars = row.filter(({ panel }) => panel.scale).map(() => ({ element: element("div", { class: "color-bar" }), drawn: "" }));
  function draw(view, placeOf) {
    const runs = runsOf(row, view);
    bars.forEach((bar, i) => {
      bar.element.hidden = i >= runs.length;
      if (!bar.element.hidden) drawRun(bar, runs[i], placeOf(runs[i].from, runs[i].panels.length));
    });
  }
  function drawRun(bar, { key, limits, panels }, { area, left, right }) {
    const zeros = panels.some(({ panel }) => panel.zeros);
    const seen = panels.some(({ values }) => values?.includes(-Infinity));
    const drawn = `${key} ${area} ${left} ${right} ${zeros} ${seen}`;
    if (bar.drawn === drawn) return;
    bar.drawn = drawn;
    bar.element.style.cssText = `grid-area: ${area}; margin-left: ${left - OVER}px; padding-left: ${OVER}px`;
    const { kind, svg } = drawBar(panels[0].panel, limits, { width: right - left, key: zeros ? widthOf(words.none) + SWATCH : 0 });
    bar.element.className = `color-bar ${kind}`;
    bar.element.replaceChildren(svg, ...(zeros ? [makeKey(words, seen)] : []));
  }
  return { elements: bars.map(({ element }) => element), draw };
}
