// The host of a page without a kernel: gives each figure a model of the data that it brings, and keeps the states of all
// in the page's address.

import { fragmentOf, readAddress, writeAddress } from "./address.js";
import { render } from "./explorable.js";
import { notify } from "./notice.js";
import { wordsOf } from "./words.js";

const DATA = 'script[type="application/vnd.explorable+json"]';
const INTERVAL = 250; // milliseconds between changes of the address, of which browsers refuse too many

// What a widget sees of its model, without a kernel.
function makeModel({ spec, values, frames }) {
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

// Set the controls to what the address says, if their grids offer it.
function applyAddress(model, key) {
  const state = readAddress(location.hash).get(key);
  for (const { name, values } of model.get("_spec").controls) {
    const index = values.findIndex((value) => String(value) === state?.get(name));
    if (index >= 0) model.set(name, values[index]);
  }
}

// The address's states with this figure's own, which is left out if nothing has left its start.
function statesWith(key, state) {
  const states = readAddress(location.hash);
  states.delete(key);
  return state.size ? states.set(key, state) : states;
}

async function mountFigure(figure, data, key) {
  try {
    const model = makeModel(JSON.parse(data.textContent));
    applyAddress(model, key);
    await render({ model, el: figure, linkOf: (state) => location.href.replace(/#.*$/s, "") + fragmentOf(statesWith(key, state)) });
    addEventListener("hashchange", () => applyAddress(model, key));
    let timer;
    figure.addEventListener("explorable-change", ({ detail }) => {
      clearTimeout(timer);
      timer = setTimeout(() => writeAddress(statesWith(key, detail)), INTERVAL);
    });
  } catch (error) {
    console.warn(`figure ${key}: ${error}`);
    notify(figure, wordsOf(figure.lang).failed);
  }
}

function mountPage() {
  const seen = new Map();
  for (const data of document.querySelectorAll(`figure.explorable > ${DATA}`)) {
    const figure = data.parentElement;
    const { name } = figure.dataset;
    seen.set(name, (seen.get(name) ?? 0) + 1);
    mountFigure(figure, data, seen.get(name) > 1 ? `${name}-${seen.get(name)}` : name); // a figure shown twice has two states
  }
}

mountPage(); // a deferred script runs when the page has been read
