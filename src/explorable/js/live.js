// Who answers for a figure what no grid holds: a kernel, which may say why it no longer does, or else the page itself.

import { kernelOf } from "./kernel.js";
import { PageAnswerer } from "./page_answerer.js";

export function connect(figure, model) {
  const { root, spec, state, numbers, controls, picking, words } = figure;
  const status = () => root.dataset.kernel; // "alive", "busy" or "gone"; nothing if never connected
  const isLive = () => status() === "alive";
  // Any value may be typed where somebody can compute it.
  const offer = () => controls.offer(isLive(), ({ free }) => free && page.works);
  const news = () => words[status()] ?? "";

  function become(next) {
    root.dataset.kernel = next;
    offer();
  }
  function alive() {
    if (isLive()) return;
    become("alive");
    picking.tell("");
    state.follow();
    figure.update();
  }
  function lost(why) {
    if (!status() || status() === why) return; // ignore if never connected
    become(why);
    figure.update();
    picking.tell(news());
  }
  const keepBlock = (parts, values, block) => numbers.add(parts, values, block);
  // refused: the words before an error's.
  const answered = (keep, refused) => (request, answer, error) => {
    const { parts, values, spare } = request;
    if (answer) keep(parts, values, answer);
    else if (spare) numbers.refuse(parts, values);
    else if (state.is(values)) {
      state.set(state.drawn);
      return picking.tell(refused + error);
    }
    picking.tell(news());
    figure.update();
  };
  const kernel = kernelOf(model, { alive, lost, answered: answered(keepBlock, words.refused) });
  const forsaken = () => {
    offer();
    figure.update();
  };
  const page = new PageAnswerer(root, spec.traced, { answered: answered(numbers.keep, words.uncomputed), lost: forsaken });
  offer();
  // Whether somebody can compute these parts.
  const answers = (parts) => isLive() || page.offers(parts);
  // spare: the picture can do without these parts
  const ask = (parts, spare) => (isLive() ? kernel : page).ask({ values: state.values, parts, spare });
  const greet = () => status() && kernel.greet(); // a dead kernel is noticed before the reader types
  const close = () => [kernel, page].forEach((one) => one.close());
  return { isLive, answers, news, ask, greet, close };
}
