// Controls: native inputs over the grid of values, so that keyboard, touch and screen readers work as everywhere.
// Where a kernel or the page computes any value, a slider has a box to type into; where the page does, it stops everywhere.

import { element } from "./elements.js";
import { nearest } from "./nearest.js";
import { makePlayButton } from "./play_button.js";
import { fill, widthOf } from "./words.js";

const STICKY = 0.08; // of the way from one value of a slider to the next, where it sticks to the value
const HALF = 140; // pixels for words beside a checkbox, where two controls share the line of a phone

// A control's value as the reader sees it.
export function valueWords({ values, words }, value) {
  const index = values.indexOf(value);
  return index < 0 ? String(value) : words[index];
}

function withUnit(control, value) {
  return control.unit ? `${valueWords(control, value)} ${control.unit}` : valueWords(control, value);
}

// Each kind below makes {element, input, read, show, offer}: read() gives the value that the reader has set, show(value)
// sets one, offer(any, atOnce) says whether somebody computes any value, and whether as fast as a slider is dragged.

function makeSelect({ name, words, values }, title) {
  const input = element("select", { name }, ...words.map((text, i) => element("option", { value: i }, text)));
  const label = element("label", { class: "control" }, title, input);
  return { element: label, input, read: () => values[input.value], show: (value) => (input.value = values.indexOf(value)), offer() {} };
}

function makeCheckbox({ name }, title) {
  const input = element("input", { name, type: "checkbox" });
  const long = widthOf(title.textContent) > HALF; // on a phone such a one has a line of its own
  const label = element("label", { class: long ? "control long" : "control" }, input, title);
  return { element: label, input, read: () => input.checked, show: (value) => (input.checked = value), offer() {} };
}

function makeSlider(control, title, { changed, refuse, valueNow, words }) {
  const { name, values } = control;
  const input = element("input", { name, type: "range", min: 0, max: values.length - 1, step: 1 });
  let free = false; // whether it stops between its values, too
  const text = element("span", { class: "value", "aria-hidden": true }); // the input itself says it
  text.style.minWidth = `${Math.max(...values.map((one) => withUnit(control, one).length))}ch`; // so that nothing shifts
  const label = element("label", { class: "control" }, title, text, input);
  const box = control.continuous ? makeBox(control, { changed, refuse, words }) : null;
  let current;
  const end = () => (control.until ? valueNow(control.until) : values.at(-1));
  const button = control.plays ? makePlayButton(control, { now: () => current, end, go: (value) => changed(name, value), words }) : null;
  let before; // what it was when a finger came down
  input.addEventListener("pointerdown", () => (before = current));
  input.addEventListener("pointercancel", () => changed(name, before)); // the finger scrolls the page: it meant no slider
  // From a typed value an arrow leads to the next one of the grid on its side; the slider itself stands on the nearest.
  input.addEventListener("keydown", (event) => {
    const next = { 1: values.find((value) => value > current), "-1": values.filter((value) => value < current).at(-1) }[ARROWS[event.key]];
    if (next === undefined || (values.includes(current) && !free)) return;
    event.preventDefault();
    input.value = values.indexOf(next);
    input.dispatchEvent(new Event("input", { bubbles: true }));
  });
  function show(value) {
    current = value;
    input.value = free ? placeOf(values, value) : nearest(values, value);
    text.textContent = withUnit(control, value);
    input.setAttribute("aria-valuetext", text.textContent);
    box?.show(value);
    button?.follow(value);
  }
  function offer(any, atOnce) {
    if (!box) return;
    free = atOnce;
    input.step = free ? "any" : 1;
    box.element.hidden = !any;
    text.hidden = any;
  }
  // a label names one input only, so box and button stand beside it
  const beside = [button, label, box].filter(Boolean).map((part) => part.element ?? part);
  const all = beside.length > 1 ? element("span", { class: "control-with-box" }, ...beside) : label;
  return { element: all, input, read: () => (free ? valueAt(control, input.valueAsNumber) : values[input.value]), show, offer };
}

// Where a value stands on a slider, whose places are the numbers of its grid's values.
function placeOf(values, value) {
  const after = values.findIndex((one) => one >= value);
  if (after < 1) return after < 0 ? values.length - 1 : 0;
  const [low, high] = [values[after - 1], values[after]];
  return after - 1 + (value - low) / (high - low);
}

// The value at a place of a slider: that of the grid, if it is near.
function valueAt({ values, whole }, place) {
  const near = Math.round(place);
  if (Math.abs(place - near) < STICKY) return values[near];
  const [low, high] = [values[Math.floor(place)], values[Math.ceil(place)]];
  const value = low + (high - low) * (place % 1);
  return whole ? Math.round(value) : Number(value.toPrecision(3));
}

const ARROWS = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 };

// The box of a slider, hidden where nobody computes any value. refuse(sentence) says why a value is not taken.
function makeBox({ name, label, values, whole }, { changed, refuse, words }) {
  const [low, high] = [values[0], values.at(-1)];
  const box = element("input", { class: "box", type: "number", min: low, max: high, step: whole ? 1 : "any", hidden: "" });
  box.setAttribute("aria-label", fill(words.typed, { label }));
  const takes = (value) => value >= low && value <= high && (!whole || Number.isInteger(value)); // not NaN, an empty box
  let current;
  function show(value) {
    current = value;
    if (box.valueAsNumber !== value) box.value = value; // not while it is being typed
    box.setAttribute("aria-invalid", false);
  }
  box.addEventListener("input", () => {
    const value = box.valueAsNumber;
    box.setAttribute("aria-invalid", !takes(value));
    if (takes(value)) changed(name, value);
    else refuse(fill(whole ? words.outside_whole : words.outside, { low, high }));
  });
  box.addEventListener("blur", () => show(current));
  return { element: box, show };
}

const MAKERS = { select: makeSelect, checkbox: makeCheckbox, range: makeSlider };

function makeControl(control, handlers) {
  const symbol = control.symbol ? [element("i", {}, control.symbol), " "] : [];
  const title = element("span", { class: "name" }, ...symbol, control.label);
  const made = MAKERS[control.kind](control, title, handlers);
  made.input.addEventListener("input", () => handlers.changed(control.name, made.read()));
  return made;
}

// handlers: changed(name, value) when the reader moves a control; refuse(sentence) when a typed value cannot be computed;
// and the words.
export function makeControls(specs, handlers) {
  let shown = new Map();
  const valueNow = (name) => shown.get(name);
  const made = new Map(specs.map((control) => [control.name, makeControl(control, { ...handlers, valueNow })]));
  const [all, more] = [element("div", { class: "controls" }), element("div", { class: "controls" })];
  for (const { name, advanced } of specs) (advanced ? more : all).append(made.get(name).element);
  const folded = element("details", { class: "more" }, element("summary", {}, handlers.words.more), more);
  if (more.hasChildNodes()) all.append(folded);
  function show(values) {
    const before = shown;
    shown = values;
    for (const { name, start, advanced } of specs) {
      const value = values.get(name);
      if (value === before.get(name)) continue;
      made.get(name).show(value);
      if (advanced && value !== start) folded.open = true; // what has left its start is seen
    }
  }
  // byKernel, byPage(control): whether they compute its values off the grid.
  const offer = (byKernel, byPage) =>
    specs.forEach((control) => made.get(control.name).offer(byKernel || byPage(control), byPage(control)));
  return { element: all, show, offer };
}
