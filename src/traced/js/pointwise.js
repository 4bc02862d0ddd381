// Operations on each number, or on the numbers at one place of two or three tensors. Of plain numbers, which are sizes, they
// make plain numbers.

import { broadcast, each } from "./memory.js";

const power = (a, b) => (b === 2 ? a * a : b === 0.5 ? Math.sqrt(a) : a ** b);
const ONE = {
  exp: Math.exp,
  log: Math.log,
  tanh: Math.tanh,
  sigmoid: (a) => 1 / (1 + Math.exp(-a)),
  sin: Math.sin,
  cos: Math.cos,
  floor: Math.floor,
};
const TWO = {
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  mul: (a, b) => a * b,
  div: (a, b) => a / b,
  pow: power,
  maximum: Math.max,
  minimum: Math.min,
  eq: (a, b) => +(a === b),
  ne: (a, b) => +(a !== b),
  lt: (a, b) => +(a < b),
  le: (a, b) => +(a <= b),
};

export function pointwise(memory) {
  // A loop of its own for each operation, so that the engine compiles each for itself.
  const over = (operation, expression) => (operation.length === 1 ? one(operation, expression) : two(operation, expression));
  const one = (f) => (x) => {
    if (typeof x === "number") return f(x);
    const made = memory.empty(x.shape);
    const m = memory.numbers;
    each(made.shape, [made, x], (n, [o, a], [i, j]) => {
      for (; n; n--, o += i, a += j) m[o] = f(m[a]);
    });
    return made;
  };
  const two = (f) => (x, y) => {
    if (typeof x === "number" && typeof y === "number") return f(x, y);
    const [a, b] = [memory.tensor(x), memory.tensor(y)];
    const made = memory.empty(broadcast([a, b]));
    const m = memory.numbers;
    each(made.shape, [made, a, b], (n, [o, p, q], [i, j, k]) => {
      for (; n; n--, o += i, p += j, q += k) m[o] = f(m[p], m[q]);
    });
    return made;
  };
  const made = {};
  for (const [name, f] of Object.entries({ ...ONE, ...TWO })) made[name] = over(f);
  made.where = (condition, x, y) => {
    const all = [condition, x, y].map((part) => memory.tensor(part));
    const chosen = memory.empty(broadcast(all));
    const m = memory.numbers;
    each(chosen.shape, [chosen, ...all], (n, [o, c, p, q], [i, l, j, k]) => {
      for (; n; n--, o += i, c += l, p += j, q += k) m[o] = m[c] ? m[p] : m[q];
    });
    return chosen;
  };
  return made;
}
