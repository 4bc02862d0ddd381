// The explorable: puts controls, panels and sentence together, and redraws them when a control moves.

import { fragmentOf } from "./address.js";
import { makeControls } from "./controls.js";
import { numbersOf, unpack } from "./frames.js";
import { graphPanel } from "./graph.js";
import { heatmapPanel } from "./heatmap.js";
import { kernelOf } from "./kernel.js";
import { linesPanel } from "./lines.js";
import { makeLink } from "./link.js";
import { notify, showStill } from "./notice.js";
import { makePicking } from "./picking.js";
import { makeSentence } from "./sentence.js";
import { makeTables } from "./table.js";
import { wordsOf } from "./words.js";

const NARROWEST = { lines: 330, graph: 330, heatmap: 210 }; // pixels: below that, panels stand under each other
const COLUMNS = 6; // of the stage: one, two or three panels in a row take 6, 3 or 2 of them
const GAP = 16; // pixels between two panels, as in explorable.css
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

// The figure that a view stands in: the page's own, or, in hosts that make none, a new one.
function figureOf(el) {
  const own = el.closest("figure.explorable");
  if (own) return [own, el];
  const figure = document.createElement("figure");
  figure.className = "explorable";
  el.append(figure);
  return [figure, figure];
}

// Keys pressed in the figure are the figure's, for JupyterLab has shortcuts on single letters and arrows; those with
// Ctrl or Meta, to save for one, go through. Returns what ends this.
function keepKeys(figure) {
  const free = (event) => event.ctrlKey || event.metaKey;
  const mark = (event) => figure.contains(event.target) && event.target.toggleAttribute("data-lm-suppress-shortcuts", !free(event));
  addEventListener("keydown", mark, true); // on the window, before JupyterLab's own listener on the document
  for (const type of ["keydown", "keypress", "keyup"]) figure.addEventListener(type, (event) => free(event) || event.stopPropagation());
  return () => removeEventListener("keydown", mark, true);
}

// el: where the host wants the figure.  linkOf(state): the address of the page with this figure in a state, a Map of
// those controls that have left their start; a host without such a page leaves it out.
export async function render({ model, el, linkOf }) {
  const spec = model.get("_spec");
  const words = wordsOf(spec.language);
  const [figure, box] = figureOf(el);
  figure.dataset.name = spec.name;
  figure.lang = spec.language;
  figure.setAttribute("aria-label", spec.title);
  showStill(figure, model.get("_still"));
  if (typeof DecompressionStream === "undefined") return notify(figure, words.unable);
  try {
    return mount({ model, figure, box, linkOf, spec, words, numbers: numbersOf(await unpack(model.get("_frames")), spec.controls) });
  } catch (error) {
    console.warn(`figure ${spec.name}: ${error}`);
    figure.querySelectorAll(".controls, .stage, .readout, output, .foot").forEach((part) => part.remove()); // half a figure is none
    notify(figure, words.failed);
  }
}

// Returns what takes the figure down again.
function mount({ model, figure, box, linkOf, spec, words, numbers }) {
  const names = spec.controls.map(({ name }) => name);
  const starts = new Map(spec.controls.map(({ name, start }) => [name, start]));
  const modelValues = () => new Map(names.map((name) => [name, model.get(name)]));
  let values = modelValues(); // what the controls say
  let drawn = values; // what the picture shows
  let live = false; // whether a kernel answers
  const viewOf = (values) => ({ value: (name) => values.get(name), at: (part) => numbers.at(part, values) });

  const standing = () => (live || !figure.dataset.kernel ? "" : words[figure.dataset.kernel]); // why there is no kernel
  function move(name, value) {
    picking.tell(standing());
    model.set(name, value);
    model.save_changes();
  }
  const controls = makeControls(spec.controls, { changed: move, refuse: (sentence) => picking.tell(sentence), words });
  const panels = spec.panels.map((panel) => PANELS[panel.kind](panel, words));
  const stage = document.createElement("div");
  stage.className = "stage";
  stage.append(...panels.map((panel) => panel.element));
  const sentence = makeSentence(spec, numbers.slots);
  const picking = makePicking(panels, spec.panels, words);
  const tables = makeTables(panels, spec.panels, words);
  const moved = () => new Map(names.filter((name) => drawn.get(name) !== starts.get(name)).map((name) => [name, String(drawn.get(name))]));
  const link = makeLink(() => (linkOf ? linkOf(moved()) : fragmentOf(new Map([[spec.name, moved()]]))), words);

  // How many panels stand side by side where a panel stands: those of its row, if they all have room, else as many as do.
  const rowOf = spec.rows.flatMap((count, row) => Array(count).fill(row));
  const besides = spec.panels.map((_, i) => () => {
    const row = spec.panels.filter((_, other) => rowOf[other] === rowOf[i]);
    const narrowest = Math.max(...row.map(({ kind }) => NARROWEST[kind]));
    return Math.min(row.length, Math.max(1, Math.floor((width + GAP) / (narrowest + GAP))));
  });
  let width = 0; // of the stage, as it was last laid out: to read it anew would cost a layout
  function draw() {
    const view = viewOf(drawn);
    const shown = panels.map((panel, i) => {
      const side = besides[i]();
      const span = `${rowOf[i] === rowOf[i - 1] ? "auto" : 1} / span ${COLUMNS / side}`; // a row begins at the left
      if (panel.element.style.gridColumn !== span) panel.element.style.gridColumn = span;
      return panel.draw(view, Math.max(200, (width + GAP) / side - GAP));
    });
    const all = { sentence: sentence.say(view), panels: shown };
    picking.refresh();
    tables.refresh();
    link.refresh();
    Object.defineProperty(figure, "drawn", { configurable: true, get: () => plain(all) });
    figure.dataset.drawn = (hashOf(all) >>> 0).toString(36);
    figure.dataset.state = names.map((name) => `${name}=${drawn.get(name)}`).join(";");
  }

  // Draw what the controls say, or ask the kernel for what nobody has computed yet; the picture stays meanwhile.
  function update() {
    controls.show(values);
    const view = viewOf(values);
    const needs = panels.map((panel) => panel.needs(view));
    const missing = (parts) => [...new Set(parts)].filter((part) => view.at(part) === undefined);
    const now = missing([...needs.flatMap(({ now }) => now), ...sentence.needs]);
    if (now.length && !live) return snap();
    figure.setAttribute("aria-busy", now.length > 0);
    if (now.length) {
      picking.tell(words.computing);
      return kernel.ask({ values, parts: now });
    }
    drawn = values;
    draw();
    const later = missing(needs.flatMap(({ later }) => later));
    if (later.length && live) kernel.ask({ values, parts: [later[0]], spare: true }); // one at a time, so that a new value need not wait for all
  }

  // Without a kernel there is the grid alone: go to its nearest values.
  function snap() {
    const nearest = ({ values: grid, name }) => grid.reduce((best, one) => (Math.abs(one - values.get(name)) < Math.abs(best - values.get(name)) ? one : best));
    values = new Map(spec.controls.map((control) => [control.name, control.values.includes(values.get(control.name)) ? values.get(control.name) : nearest(control)]));
    update();
  }

  const kernel = kernelOf(model, {
    alive() {
      if (live) return;
      live = true;
      figure.dataset.kernel = "alive";
      picking.tell("");
      controls.offer(true);
      values = modelValues();
      update();
    },
    lost(why) {
      if (!figure.dataset.kernel || figure.dataset.kernel === why) return; // a kernel that was never there is not missed
      live = false;
      figure.dataset.kernel = why;
      controls.offer(false);
      update();
      picking.tell(words[why]);
    },
    answered(request, block, error) {
      if (block) numbers.add(request.parts, request.values, block);
      else if (request.spare) numbers.refuse(request.parts, request.values); // the picture does without it
      else if (names.every((name) => request.values.get(name) === values.get(name))) {
        for (const name of names) if (model.get(name) !== drawn.get(name)) model.set(name, drawn.get(name));
        model.save_changes();
        return picking.tell(words.refused + error);
      }
      picking.tell(standing());
      update();
    },
  });

  const changed = names.map((name) => {
    const handler = () => {
      if (model.get(name) === values.get(name)) return;
      values = new Map(values).set(name, model.get(name));
      update();
      figure.dispatchEvent(new CustomEvent("explorable-change"));
    };
    model.on(`change:${name}`, handler);
    return () => model.off(`change:${name}`, handler);
  });

  const caption = figure.querySelector("figcaption") ?? document.createElement("figcaption");
  caption.textContent = spec.caption;
  const foot = document.createElement("div");
  foot.className = "foot";
  foot.append(tables.element, link.element);
  box.append(controls.element, stage, picking.element, sentence.element);
  figure.append(caption, foot);
  width = stage.clientWidth;
  update();
  const releaseKeys = keepKeys(figure);
  figure.classList.add("live"); // only now may the still picture go
  const greet = () => figure.dataset.kernel && kernel.greet(); // a kernel that has died is found out before the reader types
  figure.addEventListener("pointerenter", greet);
  figure.addEventListener("focusin", greet);
  const observer = new ResizeObserver(() => {
    if (stage.clientWidth === width) return;
    width = stage.clientWidth;
    draw();
  });
  observer.observe(stage);
  return () => {
    observer.disconnect();
    kernel.close();
    releaseKeys();
    changed.forEach((off) => off());
  };
}
