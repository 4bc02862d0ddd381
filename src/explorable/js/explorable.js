// The explorable: puts controls, panels and sentence together, and redraws them when a control moves.

import { fragmentOf } from "./address.js";
import { makeControls } from "./controls.js";
import { publish } from "./drawn.js";
import { element } from "./elements.js";
import { lacksFeature } from "./features.js";
import { makeFold } from "./folds.js";
import { numbersOf, unpack } from "./frames.js";
import { keepKeys } from "./keys.js";
import { makeStage } from "./layout.js";
import { makeLink } from "./link.js";
import { connect } from "./live.js";
import { notify, showStill } from "./notice.js";
import { makePicking } from "./picking.js";
import { makeReset } from "./reset.js";
import { makeSentence } from "./sentence.js";
import { State } from "./state.js";
import { makeTables } from "./table.js";
import { wordsOf } from "./words.js";

class Figure {
  constructor(root, { model, linkOf, spec, words, numbers }) {
    Object.assign(this, { root, spec, words, numbers });
    this.state = new State(model, spec.controls);
    this.stage = makeStage(spec, words);
    this.sentence = makeSentence(spec.sentence, spec.controls, numbers.slots);
    this.detail = spec.detail && makeSentence(spec.detail, spec.controls, numbers.slots, "p");
    this.picking = makePicking(this.stage, spec.panels, words);
    this.tables = makeTables(this.stage.panels, spec.panels, words);
    this.link = makeLink(() => linkOf(this.state), words);
    this.reset = makeReset(this.state, words);
    const changed = (name, value) => {
      this.picking.tell(this.kernel.news());
      this.state.set([[name, value]]);
    };
    this.controls = makeControls(spec.controls, { changed, refuse: this.picking.tell, words });
    this.kernel = connect(this, model);
  }

  // Put the figure in the page and keep it up to date. Returns a function that ends this.
  mount() {
    const { root, spec, words, state, stage, kernel } = this;
    const title = root.querySelector(".title") ?? element("p", { class: "title" }, spec.title);
    const play = element("div", { class: "play" }, this.controls.element, this.sentence.element, stage.element, this.picking.tip);
    root.prepend(title, play, this.picking.element);
    const figcaption = root.querySelector("figcaption") ?? element("figcaption", {}, spec.caption);
    const foot = root.querySelector(".foot") ?? element("div", { class: "foot" });
    foot.append(
      ...["how_to_read", "limits"].filter((kind) => spec[kind]).map((kind) => makeFold(root, kind, words, element("p", {}, spec[kind]))),
      ...(this.detail ? [makeFold(root, "detail", words, this.detail.element)] : []),
      this.tables.element,
      element("span", { class: "acts" }, this.reset.element, this.link.element),
    );
    root.append(figcaption, foot);
    stage.measure();
    this.update();
    root.classList.add("live"); // only now may the still picture go
    for (const event of ["pointerenter", "focusin"]) root.addEventListener(event, kernel.greet);
    const ends = [state.listen(() => this.update()), stage.watch(() => this.draw()), keepKeys(root), this.picking.close, kernel.close];
    return () => ends.forEach((end) => end());
  }

  // Draw what the controls say, or ask for what nobody has computed yet; the picture stays meanwhile.
  update() {
    const { state, numbers, kernel } = this;
    this.controls.show(state.values);
    const needs = this.stage.panels.map((panel) => panel.needs(numbers.view(state.values)));
    const missing = numbers.missing([...needs.flatMap(({ now }) => now), ...this.sentence.needs], state.values);
    if (missing.length && !kernel.answers(missing)) {
      state.snap();
      return this.update();
    }
    this.root.setAttribute("aria-busy", missing.length > 0);
    if (missing.length) {
      if (!this.root.dataset.drawn) this.drawNearest();
      if (kernel.isLive()) this.picking.tell(this.words.computing);
      return kernel.ask(missing);
    }
    state.drawn = state.values;
    this.draw();
    const later = numbers.missing(
      needs.flatMap(({ later }) => later),
      state.values,
    );
    if (later.length && kernel.isLive()) kernel.ask(later.slice(0, 1), true); // one by one: a new value need not wait for all
  }

  // Until what is wanted first is there, the nearest that is.
  drawNearest() {
    const { state } = this;
    const wanted = state.values;
    state.snap();
    state.drawn = state.values;
    this.draw();
    state.values = wanted;
  }

  draw() {
    const view = this.numbers.view(this.state.drawn);
    const drawn = { panels: this.stage.draw(view), sentence: this.sentence.say(view), detail: this.detail?.say(view) ?? "" };
    for (const part of [this.picking, this.tables, this.link, this.reset]) part.refresh();
    publish(this.root, drawn, this.state.drawn);
  }
}

// The address of a figure's state on the page that its notebook was derived from; nothing where that is not published.
function publishedLink({ name, address }, state) {
  return address && address + fragmentOf({ section: "", states: new Map([[name, state.moved()]]) });
}

// el: where the host wants the figure, or the page's own.  linkOf(state): the address of a page with this figure in its
// state, left out where the page is not one of ours.
export async function render({ model, el, linkOf }) {
  const spec = model.get("_spec");
  const words = wordsOf(spec.language);
  const root = el.matches("figure.explorable") ? el : el.appendChild(element("figure", { class: "explorable" }));
  root.dataset.name = spec.name;
  root.lang = spec.language;
  root.setAttribute("aria-label", spec.title);
  showStill(root, model.get("_still"));
  if (lacksFeature()) return notify(root, words.unable);
  const numbers = await unpack(model.get("_frames")).then((block) => numbersOf(block, spec.controls), warn);
  if (!numbers) return notify(root, words.failed);
  try {
    const link = linkOf ?? ((state) => publishedLink(spec, state));
    return new Figure(root, { model, linkOf: link, spec, words, numbers }).mount();
  } catch (error) {
    warn(error);
    root.classList.remove("live");
    root.querySelectorAll(".play, .readout, .detail, .numbers, .acts").forEach((part) => part.remove()); // half a figure is none
    notify(root, words.unable);
  }
}

function warn(error) {
  console.warn(`explorable: ${error}`);
}
