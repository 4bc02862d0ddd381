// The explorable: puts controls, panels and sentence together, and redraws them when a control moves.

import { fragmentOf } from "./address.js";
import { makeControls } from "./controls.js";
import { publish } from "./drawn.js";
import { element } from "./elements.js";
import { numbersOf, unpack } from "./frames.js";
import { keepKeys } from "./keys.js";
import { Stage } from "./layout.js";
import { makeLink } from "./link.js";
import { Live } from "./live.js";
import { notify, showStill } from "./notice.js";
import { makePicking } from "./picking.js";
import { makeSentence } from "./sentence.js";
import { State } from "./state.js";
import { makeTables } from "./table.js";
import { wordsOf } from "./words.js";

class Figure {
  constructor(root, { model, linkOf, spec, words, numbers }) {
    Object.assign(this, { root, spec, words, numbers });
    this.state = new State(model, spec.controls);
    this.stage = new Stage(spec, words);
    this.sentence = makeSentence(spec, numbers.slots);
    this.picking = makePicking(this.stage.panels, spec.panels, words);
    this.tables = makeTables(this.stage.panels, spec.panels, words);
    this.link = makeLink(() => linkOf(this.state.moved()), words);
    this.controls = makeControls(spec.controls, { changed: (name, value) => this.move(name, value), refuse: this.picking.tell, words });
    this.live = new Live(this, model);
  }

  move(name, value) {
    this.picking.tell(this.live.news());
    this.state.set([[name, value]]);
  }

  // Put the figure in the page and keep it up to date. box: where all but the caption goes. Returns a function that ends this.
  mount(box) {
    const { root, state, stage, live } = this;
    const caption = root.querySelector("figcaption") ?? element("figcaption");
    caption.textContent = this.spec.caption;
    box.append(this.controls.element, stage.element, this.picking.element, this.sentence.element);
    root.append(caption, element("div", { class: "foot" }, this.tables.element, this.link.element));
    stage.measure();
    this.update();
    root.classList.add("live"); // only now may the still picture go
    for (const event of ["pointerenter", "focusin"]) root.addEventListener(event, () => live.greet());
    const changed = () => {
      this.update();
      root.dispatchEvent(new CustomEvent("explorable-change", { detail: state.moved() }));
    };
    const ends = [state.listen(changed), stage.watch(() => this.draw()), keepKeys(root), () => live.kernel.close()];
    return () => ends.forEach((end) => end());
  }

  // Draw what the controls say, or ask the kernel for what nobody has computed yet; the picture stays meanwhile.
  update() {
    const { state, stage, live } = this;
    this.controls.show(state.values);
    const needs = stage.needs(this.numbers.view(state.values));
    const missing = this.numbers.missing([...needs.now, ...this.sentence.needs], state.values);
    if (missing.length && !live.on) {
      state.snap();
      return this.update();
    }
    this.root.setAttribute("aria-busy", missing.length > 0);
    if (missing.length) {
      this.picking.tell(this.words.computing);
      return live.ask(missing);
    }
    state.drawn = state.values;
    this.draw();
    const later = this.numbers.missing(needs.later, state.values);
    if (later.length && live.on) live.ask(later.slice(0, 1), true); // one by one: a new value need not wait for all
  }

  draw() {
    const view = this.numbers.view(this.state.drawn);
    const drawn = { panels: this.stage.draw(view), sentence: this.sentence.say(view) };
    this.picking.refresh();
    this.tables.refresh();
    this.link.refresh();
    publish(this.root, drawn, this.state.drawn);
  }
}

// The figure around a view, and where it is to be drawn; hosts that make no figure get one.
function figureAt(el) {
  const own = el.closest("figure.explorable");
  if (own) return [own, el];
  const made = element("figure", { class: "explorable" });
  el.append(made);
  return [made, made];
}

// el: where the host wants the figure.  linkOf(state): the address of the page with this figure in a state, a Map of
// those controls that have left their start; without a page, the fragment only.
export async function render({ model, el, linkOf }) {
  const spec = model.get("_spec");
  const words = wordsOf(spec.language);
  const [root, box] = figureAt(el);
  root.dataset.name = spec.name;
  root.lang = spec.language;
  root.setAttribute("aria-label", spec.title);
  showStill(root, model.get("_still"));
  if (typeof DecompressionStream === "undefined") return notify(root, words.unable);
  try {
    const numbers = numbersOf(await unpack(model.get("_frames")), spec.controls);
    const ownLink = (state) => fragmentOf(new Map([[spec.name, state]]));
    return new Figure(root, { model, linkOf: linkOf ?? ownLink, spec, words, numbers }).mount(box);
  } catch (error) {
    console.warn(`figure ${spec.name}: ${error}`);
    root.querySelectorAll(".controls, .stage, .readout, output, .foot").forEach((part) => part.remove()); // half a figure is none
    notify(root, words.failed);
  }
}
