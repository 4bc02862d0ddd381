// The ticks of an axis or a colour scale: where they stand, and what is written there. axis.py does the same for still pictures.

import { numberText, powerOfTen } from "./numbers.js";

const PLAIN = [-2, 4]; // powers of ten that an axis writes out: 0.01 … 10000
const FACTORS = [1, 2, 5];
const FEW = 3; // decades: an axis of fewer has ticks between its powers of ten
const DIGIT = 7; // pixels: how wide a letter of a tick is, at most

export const tickWidth = (text) => DIGIT * text.length;

// The multiples of a step between two limits.
function multiples([low, high], step) {
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i++) found.push(Number((i * step).toPrecision(12)));
  return found;
}

// Steps of 1, 2 and 5 times powers of ten, from one that gives about fifty ticks to one that gives one or none.
function steps([low, high], least) {
  const first = Math.floor(Math.log10((high - low) / 50));
  const all = [0, 1, 2].flatMap((more) => FACTORS.map((factor) => Number(`${factor}e${first + more}`)));
  return all.filter((step) => step >= least);
}

const plainTicks = (limits, step) => multiples(limits, step).map((at) => ({ at, text: numberText(at) }));

// Ticks at whole powers of ten, `step` decades apart: 1, 10, 100, or 10⁻²⁰, 1, 10²⁰.
function decades(limits, step) {
  const powers = multiples(limits, step);
  const plain = powers.every((power) => power >= PLAIN[0] && power <= PLAIN[1]);
  return powers.map((at) => ({ at, text: plain || at === 0 ? numberText(10 ** at) : powerOfTen(at) }));
}

// Ticks at 1, 2 and 5 times every power of ten.
function between([low, high]) {
  const powers = multiples([Math.floor(low), high], 1);
  const numbers = powers.flatMap((power) => FACTORS.map((factor) => Number(`${factor}e${power}`)));
  const all = numbers.map((number) => ({ at: Math.log10(number), text: numberText(number) }));
  return all.filter(({ at }) => at >= low - 1e-9 && at <= high + 1e-9);
}

// Sets of ticks that an axis of decades may have, the closest first; plain numbers where it shows no two of them.
function setsOfDecades(limits) {
  const wide = limits[1] - limits[0];
  const sets = steps(limits, 1).map((step) => decades(limits, step));
  if (wide < FEW) sets.unshift(between(limits));
  if (sets.some((ticks) => ticks.length > 1)) return sets;
  const numbers = limits.map((power) => 10 ** power);
  const logs = (ticks) => ticks.map(({ at, text }) => ({ at: Math.log10(at), text }));
  return steps(numbers, 0).map((step) => logs(plainTicks(numbers, step)));
}

// The ticks between an axis's limits, [{at, text}], as many as its pixels have room for, and two at least.
// apart(a, b): pixels that two neighbours with these texts need from each other.  whole: whole numbers only.
export function ticksOf(axis, limits, pixels, apart, whole = false) {
  const scale = pixels / (limits[1] - limits[0]);
  const fit = (ticks) => ticks.every(({ at, text }, i) => i === 0 || (at - ticks[i - 1].at) * scale >= apart(ticks[i - 1].text, text));
  const sets = axis.log10 ? setsOfDecades(limits) : steps(limits, whole ? 1 : 0).map((step) => plainTicks(limits, step));
  const several = sets.filter((ticks) => ticks.length > 1);
  const ends = several.map((ticks) => [ticks[0], ticks.at(-1)]);
  return [...several, ...ends].find(fit) ?? ends[0] ?? sets[0] ?? [];
}
