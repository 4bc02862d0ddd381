// A figure with a kernel: shows whether one answers, and takes what it has computed.

import { kernelOf } from "./kernel.js";

export class Live {
  constructor(figure, model) {
    this.figure = figure;
    this.kernel = kernelOf(model, this);
  }

  // "alive", "busy", "gone", or nothing if never connected.
  get status() {
    return this.figure.root.dataset.kernel;
  }

  set status(status) {
    this.figure.root.dataset.kernel = status;
    this.figure.controls.offer(status === "alive");
  }

  get on() {
    return this.status === "alive";
  }

  // What the reader should know: nothing, or why the kernel does not answer.
  news() {
    return this.figure.words[this.status] ?? "";
  }

  // parts: what to compute.  spare: the picture can do without them.
  ask(parts, spare) {
    this.kernel.ask({ values: this.figure.state.values, parts, spare });
  }

  // A kernel that has died is noticed before the reader types.
  greet() {
    if (this.status) this.kernel.greet();
  }

  alive() {
    if (this.on) return;
    this.status = "alive";
    this.figure.picking.tell("");
    this.figure.state.follow();
    this.figure.update();
  }

  lost(why) {
    if (!this.status || this.status === why) return; // ignore if never connected
    this.status = why;
    this.figure.update();
    this.figure.picking.tell(this.news());
  }

  answered({ parts, values, spare }, block, error) {
    const { numbers, state, picking, words } = this.figure;
    if (block) numbers.add(parts, values, block);
    else if (spare) numbers.refuse(parts, values);
    else if (state.is(values)) {
      state.set(state.drawn);
      return picking.tell(words.refused + error);
    }
    picking.tell(this.news());
    this.figure.update();
  }
}
