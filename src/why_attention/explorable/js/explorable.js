// The explorable: puts controls, panels and sentence together, and redraws them when a control moves.

import { makeControls } from "./controls.js";
import { unpack, wordsAt } from "./frames.js";
import { graphPanel } from "./graph.js";
import { heatmapPanel } from "./heatmap.js";
import { linesPanel } from "./lines.js";
import { wordsOf } from "./words.js";

const NARROWEST_PANEL = 340; // pixels: below that, panels stand under each other
const PANELS = { lines: linesPanel, heatmap: heatmapPanel, graph: graphPanel };

// A short number for what was drawn (FNV-1a over its numbers and words), so that a test can see a picture change.
function hashOf(drawn, hash = 0x811c9dc5) {
  if (typeof drawn === "number") return Math.imul(hash ^ Math.round(drawn * 1e4), 0x01000193);
  if (typeof drawn === "string") return hashOf(new TextEncoder().encode(drawn), hash);
  if (typeof drawn === "boolean") return hashOf(Number(drawn), hash);
  for (const part of ArrayBuffer.isView(drawn) ? drawn : Object.values(drawn)) hash = hashOf(part, hash);
  return hash;
}

// The numbers on screen as plain arrays, for whoever asks.
function plain(drawn) {
  if (ArrayBuffer.isView(drawn)) return Array.from(drawn);
  if (Array.isArray(drawn)) return drawn.map(plain);
  if (typeof drawn === "object") return Object.fromEntries(Object.entries(drawn).map(([name, part]) => [name, plain(part)]));
  return drawn;
}

function stateText(controls, setting) {
  return controls.map((control) => `${control.name}=${control.values[setting[control.name]]}`).join(";");
}

// The sentence: its words once, and an element for each slot, whose text follows the setting.
function makeSentence(spec, frames, sizes) {
  const controls = new Map(spec.controls.map((control) => [control.name, control]));
  const element = document.createElement("output");
  element.setAttribute("aria-live", "polite");
  const slots = [];
  for (const [text, slot] of spec.sentence.parts) {
    element.append(text);
    if (slot !== null) slots.push([slot, element.appendChild(document.createElement("b"))]);
  }
  function wordsOf(slot, setting) {
    if (!Object.hasOwn(frames.slots, slot)) return controls.get(slot).words[setting[slot]];
    const words = wordsAt(frames, slot, setting, sizes);
    return Object.hasOwn(spec.sentence.choices, slot) ? spec.sentence.choices[slot][Number(words)] : words;
  }
  function say(setting) {
    for (const [slot, element] of slots) {
      const words = wordsOf(slot, setting);
      if (element.textContent !== words) element.textContent = words;
    }
    return element.textContent;
  }
  return { element, say };
}

export async function render({ model, el }) {
  const spec = model.get("_spec");
  const words = wordsOf(spec.language);
  let figure = el.closest("figure.explorable");
  if (!figure) {
    figure = document.createElement("figure");
    figure.className = "explorable";
    el.append(figure);
    el = figure;
  }
  figure.dataset.name = spec.name;
  figure.lang = spec.language;
  figure.setAttribute("aria-label", spec.title);
  if (typeof DecompressionStream === "undefined") return notify(figure, words.unable);
  let frames;
  try {
    frames = await unpack(model.get("_frames"));
  } catch (error) {
    console.warn(`figure ${spec.name}: ${error}`);
    return notify(figure, words.failed);
  }

  const sizes = Object.fromEntries(spec.controls.map((control) => [control.name, control.values.length]));
  const setting = Object.fromEntries(spec.controls.map((control) => [control.name, control.values.indexOf(model.get(control.name))]));
  const value = (name) => spec.controls.find((control) => control.name === name).values[setting[name]];
  const panels = spec.panels.map((panel) => PANELS[panel.kind](panel, frames, sizes, words));
  const stage = document.createElement("div");
  stage.className = "stage";
  stage.append(...panels.map((panel) => panel.element));
  const sentence = makeSentence(spec, frames, sizes);
  const controls = makeControls(
    spec.controls,
    (name, index) => {
      model.set(name, spec.controls.find((control) => control.name === name).values[index]);
      model.save_changes();
    },
    words,
  );

  let width = 0; // of the stage, as it was last laid out: to read it anew would cost a layout
  function draw() {
    const columns = Math.min(panels.length, Math.max(1, Math.floor(width / NARROWEST_PANEL)));
    if (stage.style.getPropertyValue("--columns") !== String(columns)) stage.style.setProperty("--columns", columns);
    const drawn = panels.map((panel) => panel.draw(setting, value, Math.max(240, width / columns)));
    const said = sentence.say(setting);
    controls.show(setting);
    const all = { sentence: said, panels: drawn };
    Object.defineProperty(figure, "drawn", { configurable: true, get: () => plain(all) });
    figure.dataset.drawn = (hashOf(all) >>> 0).toString(36);
    figure.dataset.state = stateText(spec.controls, setting);
  }
  const changed = spec.controls.map(({ name, values }) => {
    const handler = () => {
      const index = values.indexOf(model.get(name));
      if (index < 0 || index === setting[name]) return;
      setting[name] = index;
      draw();
      figure.dispatchEvent(new CustomEvent("explorable-change", { detail: { name, index } }));
    };
    model.on(`change:${name}`, handler);
    return () => model.off(`change:${name}`, handler);
  });

  const caption = figure.querySelector("figcaption") ?? document.createElement("figcaption");
  caption.textContent = spec.reading;
  el.append(controls.element, stage, sentence.element);
  figure.append(caption);
  width = stage.clientWidth;
  draw();
  figure.classList.add("live"); // only now may the still picture go
  const observer = new ResizeObserver(() => {
    if (stage.clientWidth === width) return;
    width = stage.clientWidth;
    draw();
  });
  observer.observe(stage);
  return () => {
    observer.disconnect();
    changed.forEach((off) => off());
  };
}

// Say in the page's language why the figure does not move; the still picture stays.
export function notify(figure, text) {
  const notice = document.createElement("p");
  notice.className = "notice";
  notice.setAttribute("role", "status");
  notice.textContent = text;
  figure.prepend(notice);
}
