// Operations on each number, or on the numbers at one place of two or three tensors: a row each, a loop over n numbers of
// the result o and of a, b and c, so that the engine compiles each for itself.

import { broadcast, each } from "./memory.js";

const one =
  (f) =>
  (n, [o, a], [i, j], m) => {
    for (; n; n--, o += i, a += j) m[o] = f(m[a]);
  };
const ROWS = {
  exp: one(Math.exp),
  log: one(Math.log),
  tanh: one(Math.tanh),
  sigmoid: one((a) => 1 / (1 + Math.exp(-a))),
  sin: one(Math.sin),
  cos: one(Math.cos),
  floor: one(Math.floor),
  add: (n, [o, a, b], [i, j, k], m) => {
    for (; n; n--, o += i, a += j, b += k) m[o] = m[a] + m[b];
  },
  sub: (n, [o, a, b], [i, j, k], m) => {
    for (; n; n--, o += i, a += j, b += k) m[o] = m[a] - m[b];
  },
  mul: (n, [o, a, b], [i, j, k], m) => {
    for (; n; n--, o += i, a += j, b += k) m[o] = m[a] * m[b];
  },
  div: (n, [o, a, b], [i, j, k], m) => {
    for (; n; n--, o += i, a += j, b += k) m[o] = m[a] / m[b];
  },
  pow: (n, [o, a, b], [i, j, k], m) => {
    for (; n; n--, o += i, a += j, b += k) m[o] = m[b] === 2 ? m[a] * m[a] : m[b] === 0.5 ? Math.sqrt(m[a]) : m[a] ** m[b];
  },
  maximum: (n, [o, a, b], [i, j, k], m) => {
    for (; n; n--, o += i, a += j, b += k) m[o] = Math.max(m[a], m[b]);
  },
  minimum: (n, [o, a, b], [i, j, k], m) => {
    for (; n; n--, o += i, a += j, b += k) m[o] = Math.min(m[a], m[b]);
  },
  eq: (n, [o, a, b], [i, j, k], m) => {
    for (; n; n--, o += i, a += j, b += k) m[o] = m[a] === m[b];
  },
  ne: (n, [o, a, b], [i, j, k], m) => {
    for (; n; n--, o += i, a += j, b += k) m[o] = m[a] !== m[b];
  },
  lt: (n, [o, a, b], [i, j, k], m) => {
    for (; n; n--, o += i, a += j, b += k) m[o] = m[a] < m[b];
  },
  le: (n, [o, a, b], [i, j, k], m) => {
    for (; n; n--, o += i, a += j, b += k) m[o] = m[a] <= m[b];
  },
  where: (n, [o, a, b, c], [i, j, k, l], m) => {
    for (; n; n--, o += i, a += j, b += k, c += l) m[o] = m[a] ? m[b] : m[c];
  },
};

export function pointwise(memory) {
  const over =
    (row) =>
    (...given) => {
      const start = memory.top;
      const all = given.map((x) => memory.tensor(x));
      const made = memory.empty(broadcast(all));
      const m = memory.numbers;
      each(made.shape, [made, ...all], (n, places, steps) => row(n, places, steps, m));
      if (given.some((x) => typeof x !== "number")) return made;
      memory.top = start; // plain numbers, which are sizes, make a plain number
      return m[made.at];
    };
  return Object.fromEntries(Object.entries(ROWS).map(([name, row]) => [name, over(row)]));
}
