// The kernel behind a figure, if there is one: asked for frames between the grid's values, one request at a time.

import { unpack } from "./frames.js";

const PATIENCE = 20000; // milliseconds without an answer, after which the kernel counts as busy

// alive(): the kernel has answered.  lost(why): it cannot be reached ("gone") or does not answer ("busy").
// answered(request, block, error): the answer to a request, as an unpacked block or as an error's words.
export function kernelOf(model, { alive, lost, answered }) {
  if (!model.send) return { ask: () => {}, greet: () => {}, close: () => {} }; // a page has no kernel
  const me = Math.random().toString(36).slice(2); // two views of one figure share their kernel's messages
  let [count, flying, timer, ended] = [0, null, 0, false];

  function wait() {
    clearTimeout(timer);
    timer = setTimeout(() => lost("busy"), PATIENCE);
  }

  function send(message) {
    wait();
    try {
      model.send({ ...message, view: me });
    } catch {
      clearTimeout(timer);
      [flying, ended] = [null, true];
      lost("gone");
    }
  }

  // request: {values, parts}. Nothing is sent while another request flies: whoever asks looks again when it has landed.
  function ask(request) {
    if (flying) return;
    flying = { ...request, id: ++count };
    send({ type: "frames", id: count, values: Object.fromEntries(request.values), parts: request.parts });
  }

  async function receive(message, buffers) {
    if (message.view !== me || ended) return; // to another view, or from a kernel that is gone
    clearTimeout(timer);
    if (flying && message.id !== flying.id) wait(); // an answer to a greeting, while more is still to come
    alive();
    if (message.type === "hello" || message.id !== flying?.id) return;
    const request = flying;
    const block = message.type === "frames" ? await unpack(buffers[0]).catch(() => null) : null;
    flying = null;
    answered(request, block, message.error ?? "");
  }

  const greet = () => send({ type: "hello" });
  const revived = () => {
    [flying, ended] = [null, false]; // what flies was asked of a kernel before this one
    greet();
  };
  model.on("msg:custom", receive);
  model.on("comm_live_update", revived);
  greet(); // a busy kernel may answer late, so nobody waits for it
  return {
    ask,
    greet,
    close() {
      clearTimeout(timer);
      model.off("msg:custom", receive);
      model.off("comm_live_update", revived);
    },
  };
}
