// The host of a page without a kernel: gives each figure a model of the data that it brings, and keeps the states of all
// in the page's address.

import { fragmentOf, readAddress, writeAddress } from "./address.js";
import { render } from "./explorable.js";
import { notify } from "./notice.js";
import { wordsOf } from "./words.js";

const DATA = 'script[type="application/vnd.explorable+json"]';
const INTERVAL = 250; // milliseconds between changes of the address, of which browsers refuse too many

// What a widget sees of its model, without a kernel.
function makeModel(spec, values, frames) {
  const known = { ...values, _spec: spec, _frames: Uint8Array.from(atob(frames), (letter) => letter.charCodeAt(0)) };
  const events = new EventTarget();
  return {
    get: (name) => known[name],
    set(name, value) {
      known[name] = value;
      events.dispatchEvent(new Event(`change:${name}`));
    },
    on: (event, handler) => events.addEventListener(event, handler),
    off: (event, handler) => events.removeEventListener(event, handler),
    save_changes() {},
  };
}

// Each figure of the page: its key in the address → {figure, model, brought}; brought: its values as the page brought it.
const figures = new Map();

const controlsOf = ({ model }) => model.get("_spec").controls;

// The controls that have left their start, as the address names them.
function stateOf(own) {
  const moved = controlsOf(own).filter(({ name, start }) => own.model.get(name) !== start);
  return new Map(moved.map(({ name }) => [name, String(own.model.get(name))]));
}

// The number in a text, if a slider takes any and it lies in its range.
function numberIn({ free, values, whole }, text) {
  const number = text ? Number(text) : NaN;
  const within = free && number >= values[0] && number <= values.at(-1) && (!whole || Number.isInteger(number));
  return within ? number : undefined;
}

// Set a figure's controls to what the address says, if they can take it: a control that it leaves out is at its start,
// a figure that it leaves out is as the page brought it.
function follow(own, state) {
  for (const control of controlsOf(own)) {
    const { name, start, values } = control;
    const named = values.find((value) => String(value) === state?.get(name)) ?? numberIn(control, state?.get(name));
    own.model.set(name, state ? (named ?? start) : own.brought[name]);
  }
}

// The states of all figures that have left their start, one figure's first; named: that one also in its start.
function statesFrom(key, named) {
  const states = [...new Set([key, ...figures.keys()])].map((one) => [one, stateOf(figures.get(one))]);
  return new Map(states.filter(([one, state]) => state.size || (named && one === key)));
}

let moved; // the figure whose state is not yet in the address
let timer;

// Write the states into the address, beside the section that it names.
function write() {
  clearTimeout(timer);
  if (moved) writeAddress({ section: readAddress(location.hash).section, states: statesFrom(moved, false) });
  moved = undefined;
}

function writeSoon(key) {
  moved = key;
  clearTimeout(timer);
  timer = setTimeout(write, INTERVAL);
}

async function mountFigure(figure, data, key) {
  try {
    const { spec, values, frames } = JSON.parse(data.textContent);
    const own = { figure, model: makeModel(spec, values, frames), brought: values };
    figures.set(key, own);
    follow(own, readAddress(location.hash).states.get(key));
    const here = location.href.replace(/#.*$/s, "");
    await render({ model: own.model, el: figure, linkOf: () => here + fragmentOf({ section: "", states: statesFrom(key, true) }) });
    for (const { name } of spec.controls) own.model.on(`change:${name}`, () => writeSoon(key));
  } catch (error) {
    console.warn(`figure ${key}: ${error}`);
    notify(figure, wordsOf(figure.lang).failed);
  }
}

// Bring what the address names into view: its section, or else its first figure, which is marked.
function goTo({ section, states }) {
  const [key] = section ? [] : states.keys();
  const linked = figures.get(key)?.figure;
  for (const { figure } of figures.values()) figure.classList.toggle("linked", figure === linked);
  (linked ?? document.getElementById(section))?.scrollIntoView({ behavior: "instant" });
}

// A link within the page names a section alone and leaves all figures as they are; any other address says how each stands.
function followAddress() {
  const address = readAddress(location.hash);
  if (address.section && !address.states.size) {
    [moved] = [...figures.keys()].filter((key) => stateOf(figures.get(key)).size);
    return write();
  }
  for (const [key, own] of figures) follow(own, address.states.get(key));
  moved = undefined; // the address says it already
  goTo(address);
}

async function mountPage() {
  const seen = new Map();
  const mounting = [...document.querySelectorAll(`figure.explorable > ${DATA}`)].map((data) => {
    const figure = data.parentElement;
    const { name } = figure.dataset;
    seen.set(name, (seen.get(name) ?? 0) + 1);
    return mountFigure(figure, data, seen.get(name) > 1 ? `${name}-${seen.get(name)}` : name); // shown twice: two states
  });
  if (!mounting.length) return;
  addEventListener("hashchange", followAddress);
  for (const event of ["pagehide", "click"]) addEventListener(event, write, true); // before a link is followed
  await keepInView(Promise.all(mounting));
}

// The page grows while its figures are mounted and its fonts arrive: what the address names is brought into view again,
// until the reader moves himself. After a reload, or on the way back, the browser knows better where he was.
async function keepInView(mounted) {
  const [{ type } = {}] = performance.getEntriesByType("navigation");
  if (!location.hash || type === "reload" || type === "back_forward") return;
  const moves = new AbortController();
  for (const event of ["wheel", "touchmove", "pointerdown", "keydown"]) {
    addEventListener(event, () => moves.abort(), { passive: true, signal: moves.signal });
  }
  for (const ready of [mounted, document.fonts.ready, new Promise((loaded) => addEventListener("load", loaded))]) {
    await ready;
    if (moves.signal.aborted) return;
    goTo(readAddress(location.hash));
  }
  moves.abort();
}

mountPage(); // a deferred script runs when the page has been read
