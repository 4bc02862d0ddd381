// The explorable: puts controls, panels and sentence together, and redraws them when a control moves.

import { makeControls } from "./controls.js";
import { unpack, wordsAt } from "./frames.js";
import { graphPanel } from "./graph.js";
import { heatmapPanel } from "./heatmap.js";
import { linesPanel } from "./lines.js";
import { wordsOf } from "./words.js";

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

// The sentence at a setting, as pieces: [text, is it a measured or chosen value].
function sentencePieces(spec, frames, setting, sizes) {
  const controls = new Map(spec.controls.map((control) => [control.name, control]));
  return spec.sentence.parts.flatMap(([text, slot]) => {
    if (slot === null) return [[text, false]];
    const choices = Object.hasOwn(spec.sentence.choices, slot) ? spec.sentence.choices[slot] : null;
    const words = Object.hasOwn(frames.slots, slot) ? wordsAt(frames, slot, setting, sizes) : controls.get(slot).words[setting[slot]];
    return [[text, false], [choices ? choices[Number(words)] : words, true]];
  });
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
  const sentence = document.createElement("output");
  sentence.setAttribute("aria-live", "polite");
  const controls = makeControls(
    spec.controls,
    (name, index) => {
      model.set(name, spec.controls.find((control) => control.name === name).values[index]);
      model.save_changes();
    },
    words,
  );

  function draw() {
    const drawn = panels.map((panel) => panel.draw(setting, value, Math.max(240, panel.element.parentElement.clientWidth / (stage.clientWidth > 700 ? panels.length : 1))));
    const pieces = sentencePieces(spec, frames, setting, sizes);
    sentence.replaceChildren(...pieces.map(([text, isValue]) => (isValue ? Object.assign(document.createElement("b"), { textContent: text }) : text)));
    controls.show(setting);
    const all = { sentence: sentence.textContent, panels: drawn };
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
  el.append(controls.element, stage, sentence);
  figure.append(caption);
  figure.classList.add("live");
  let width = stage.clientWidth;
  draw();
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
