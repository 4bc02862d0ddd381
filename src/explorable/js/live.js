// What a kernel adds to a figure: values off the grid, or a sentence that says why it no longer answers.

import { kernelOf } from "./kernel.js";

export function connect(figure, model) {
  const { root, state, numbers, controls, picking, words } = figure;
  const status = () => root.dataset.kernel; // "alive", "busy" or "gone"; nothing if never connected
  const isLive = () => status() === "alive";
  const news = () => words[status()] ?? "";

  function become(next) {
    root.dataset.kernel = next;
    controls.offer(isLive());
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
  function answered({ parts, values, spare }, block, error) {
    if (block) numbers.add(parts, values, block);
    else if (spare) numbers.refuse(parts, values);
    else if (state.is(values)) {
      state.set(state.drawn);
      return picking.tell(words.refused + error);
    }
    picking.tell(news());
    figure.update();
  }
  const kernel = kernelOf(model, { alive, lost, answered });
  // spare: the picture can do without these parts
  const ask = (parts, spare) => kernel.ask({ values: state.values, parts, spare });
  const greet = () => status() && kernel.greet(); // a dead kernel is noticed before the reader types
  return { isLive, news, ask, greet, close: () => kernel.close() };
}
