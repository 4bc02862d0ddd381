// The host of a page without a kernel: finds the figures, gives each its model, keeps their states in the address.

import { fragmentOf, readAddress, writeAddress } from "./address.js";
import { render } from "./explorable.js";
import { notify } from "./notice.js";
import { wordsOf } from "./words.js";

const VIEW = 'script[type="application/vnd.jupyter.widget-view+json"]';
const STATE = 'script[type="application/vnd.jupyter.widget-state+json"]';

function bytesOf(base64) {
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
}

// What a widget sees of its kernel's model, with nobody behind it.
function makeModel({ state, buffers = [] }) {
  const values = { ...state };
  for (const { path, data } of buffers) values[path[0]] = bytesOf(data);
  const events = new EventTarget();
  return {
    get: (name) => values[name],
    set(name, value) {
      values[name] = value;
      events.dispatchEvent(new Event(`change:${name}`));
    },
    on: (event, handler) => events.addEventListener(event, handler),
    off: (event, handler) => events.removeEventListener(event, handler),
    save_changes() {},
  };
}

// Put the controls to what the address says, where their grids offer it.
function applyState(model, state) {
  for (const control of model.get("_spec").controls) {
    const index = control.values.findIndex((value) => String(value) === state.get(control.name));
    if (index >= 0) model.set(control.name, control.values[index]);
  }
}

async function mountFigure(view, models, key) {
  const figure = view.closest("figure.explorable");
  const words = wordsOf(document.documentElement.lang);
  const saved = models[JSON.parse(view.textContent).model_id];
  if (!figure) return view.insertAdjacentText("afterend", words.foreign);
  const box = document.createElement("div");
  try {
    const model = makeModel(saved);
    const apply = () => applyState(model, readAddress(location.hash).get(key) ?? new Map());
    // The address's states with this figure's own, which is left out where nothing has left its start.
    const statesWith = (state) => {
      const states = readAddress(location.hash);
      states.delete(key);
      return state.size ? states.set(key, state) : states;
    };
    const linkOf = (state) => location.href.replace(/#.*$/s, "") + fragmentOf(statesWith(state));
    apply();
    figure.prepend(box);
    await render({ model, el: box, linkOf });
    addEventListener("hashchange", apply);
    let timer;
    figure.addEventListener("explorable-change", () => {
      clearTimeout(timer); // browsers refuse too many changes of the address
      timer = setTimeout(() => {
        const moved = model.get("_spec").controls.filter(({ name, start }) => model.get(name) !== start);
        writeAddress(statesWith(new Map(moved.map(({ name }) => [name, String(model.get(name))]))));
      }, 250);
    });
  } catch (error) {
    console.warn(`figure ${key}: ${error}`);
    box.remove(); // half a figure is none
    notify(figure, words.failed);
  }
}

function mountPage() {
  const models = Object.assign({}, ...[...document.querySelectorAll(STATE)].map((script) => JSON.parse(script.textContent).state));
  const seen = new Map();
  for (const view of document.querySelectorAll(VIEW)) {
    const name = view.closest("figure.explorable")?.dataset.name ?? "";
    seen.set(name, (seen.get(name) ?? 0) + 1);
    const key = seen.get(name) > 1 ? `${name}-${seen.get(name)}` : name; // a figure shown twice has two states
    mountFigure(view, models, key);
  }
}

mountPage(); // a deferred script runs when the page has been read
