// A recurrence: the body of a scan, run for every row of its inputs.

import { viewOf } from "./memory.js";

export function scanning(memory, { run, select }) {
  const parts = new Map(); // of every body: its nodes that vary from step to step, and those that do not

  function partsOf(body, firsts) {
    if (!parts.has(body)) {
      const varies = new Set(Array.from({ length: firsts }, (_, i) => String(i)));
      const names = (a) => (typeof a === "string" ? [a] : Array.isArray(a) ? a.flatMap(names) : []);
      const [fixed, varying] = [[], []];
      body.nodes.forEach((node, n) => {
        const moves = node
          .slice(1)
          .flatMap(names)
          .some((name) => varies.has(name));
        if (moves) varies.add(String(body.inputs + n));
        (moves ? varying : fixed).push(n);
      });
      parts.set(body, { fixed, varying });
    }
    return parts.get(body);
  }

  // [...state, ...stacked] of body(...state, ...row of the xs, ...more) for every row.
  function scan(body, init, xs, more) {
    const steps = xs[0].shape[0];
    const count = init.length;
    const { fixed, varying } = partsOf(body, count + xs.length);
    const values = [];
    more.forEach((x, i) => (values[count + xs.length + i] = x));
    run(body, values, fixed);
    const state = init.map((x) => memory.copy(memory.tensor(x))); // its own memory, for every step writes there
    let stacked;
    for (let t = 0; t < steps; t++) {
      state.forEach((x, i) => (values[i] = x));
      xs.forEach((x, i) => (values[count + i] = select(x, 0, t)));
      const mark = memory.top;
      run(body, values, varying);
      const results = body.outputs.map((name) => memory.tensor(values[name]));
      const outs = results.slice(count);
      stacked ??= outs.map((x) => memory.empty([steps, ...x.shape]));
      outs.forEach((x, i) => memory.copy(x, select(stacked[i], 0, t)));
      const next = results.slice(0, count).map((x) => memory.copy(x)); // a state may be made of another
      next.forEach((x, i) => memory.copy(viewOf(x, state[i].shape, x.strides), state[i]));
      if (t) memory.top = mark; // the first step's end holds what is stacked
    }
    return [...state, ...stacked];
  }
  return { scan };
}
