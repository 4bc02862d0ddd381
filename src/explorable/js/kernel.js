// The messages to and from a kernel: asks for what is off the grid, one request at a time.

import { unpack } from "./frames.js";

const PATIENCE = 20000; // milliseconds without an answer, after which the kernel counts as busy

// heard.alive(): the kernel has answered.  heard.lost(why): it cannot be reached ("gone") or does not answer ("busy").
// heard.answered(request, block, error): the answer to a request, as an unpacked block or as an error's words.
export const kernelOf = (model, heard) => new Kernel(model, heard);

class Kernel {
  view = Math.random().toString(36).slice(2); // views of one figure share its kernel's messages
  count = 0;
  inFlight = null;
  gone = false;

  constructor(model, heard) {
    Object.assign(this, { model, heard });
    model.on("msg:custom", this.receive);
    model.on("comm_live_update", this.revive);
    this.greet(); // nobody waits for the answer: a busy kernel may take long
  }

  // request: {values, parts}. One request in flight; update() retries.
  ask(request) {
    if (this.inFlight) return;
    this.inFlight = { ...request, id: ++this.count };
    this.send({ type: "frames", id: this.count, values: Object.fromEntries(request.values), parts: request.parts });
  }

  greet() {
    this.send({ type: "hello" });
  }

  send(message) {
    this.wait();
    try {
      this.model.send({ ...message, view: this.view });
    } catch {
      // the kernel has died, or this is a page, whose model cannot send
      clearTimeout(this.timer);
      [this.inFlight, this.gone] = [null, true];
      this.heard.lost("gone");
    }
  }

  wait() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.heard.lost("busy"), PATIENCE);
  }

  receive = async (message, buffers) => {
    if (message.view !== this.view || this.gone) return;
    clearTimeout(this.timer);
    if (this.inFlight && message.id !== this.inFlight.id) this.wait(); // its answer is still to come
    this.heard.alive();
    if (message.type === "hello" || message.id !== this.inFlight?.id) return;
    const request = this.inFlight;
    const block = message.type === "frames" ? await unpack(buffers[0]).catch(() => null) : null;
    this.inFlight = null;
    this.heard.answered(request, block, message.error ?? "");
  };

  // A new kernel: nothing that was asked of the last one will be answered.
  revive = () => {
    [this.inFlight, this.gone] = [null, false];
    this.greet();
  };

  close() {
    clearTimeout(this.timer);
    this.model.off("msg:custom", this.receive);
    this.model.off("comm_live_update", this.revive);
  }
}
