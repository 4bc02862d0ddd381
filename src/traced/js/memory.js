// The memory of a run: every number of every tensor in one array of floats. A tensor is {shape, strides, at}: at is where
// its first number lies. Views share numbers, so nothing is ever written twice, but for what an operation fills itself.

export const count = (shape) => shape.reduce((n, size) => n * size, 1);
export const axisOf = (x, d) => (d < 0 ? d + x.shape.length : d);
export const replaced = (list, d, value) => list.map((old, i) => (i === d ? value : old));
export const viewOf = (x, shape, strides, at = x.at) => ({ shape, strides, at });

// The strides of numbers that lie one after another.
export function dense(shape) {
  const strides = new Array(shape.length);
  let stride = 1;
  for (let d = shape.length - 1; d >= 0; d--) {
    strides[d] = stride;
    stride *= shape[d];
  }
  return strides;
}

export class Memory {
  top = 0; // the first that is free

  constructor(Float) {
    this.numbers = new Float(1 << 14);
  }

  empty(shape) {
    const at = this.top;
    this.top += count(shape);
    if (this.top > this.numbers.length) {
      const more = new this.numbers.constructor(Math.max(this.top, 2 * this.numbers.length));
      more.set(this.numbers);
      this.numbers = more;
    }
    return { shape, strides: dense(shape), at };
  }

  full(shape, value) {
    const made = this.empty(shape);
    this.numbers.fill(value, made.at, this.top);
    return made;
  }

  tensor(x) {
    return typeof x === "number" ? this.full([], x) : x;
  }

  copy(x, made = this.empty(x.shape)) {
    const f = this.numbers;
    each(made.shape, [made, x], (n, [o, a], [i, j]) => {
      for (; n; n--, o += i, a += j) f[o] = f[a];
    });
    return made;
  }
}

// The strides of x for a shape that it broadcasts to: 0 along an axis that it has not.
export function spread(x, shape) {
  const more = shape.length - x.shape.length;
  return shape.map((size, d) => (d < more || x.shape[d - more] !== size ? 0 : x.strides[d - more]));
}

// The shape to which tensors broadcast.
export function broadcast(tensors) {
  const shape = [];
  for (const x of tensors)
    for (let d = 1; d <= x.shape.length; d++) {
      const size = x.shape.at(-d);
      const known = shape[d - 1] ?? 1;
      if (known !== 1 && size !== 1 && known !== size)
        throw new Error(`shapes that do not match: ${tensors.map((one) => one.shape.join(" × "))}`);
      shape[d - 1] = known === 1 ? size : known;
    }
  return shape.reverse();
}

// Call row(n, places, steps) for every row of a shape, its innermost loop over n numbers of each tensor, with axes joined
// where all strides allow.
export function each(shape, tensors, row, strides = tensors.map((x) => spread(x, shape))) {
  const axes = []; // [size, steps], the innermost first
  for (let d = shape.length - 1; d >= 0; d--) {
    if (shape[d] === 0) return;
    if (shape[d] === 1) continue;
    const steps = strides.map((one) => one[d]);
    const last = axes.at(-1);
    if (last && steps.every((step, i) => step === last[1][i] * last[0])) last[0] *= shape[d];
    else axes.push([shape[d], steps]);
  }
  const [n, steps] = axes.shift() ?? [1, tensors.map(() => 0)];
  const places = tensors.map((x) => x.at);
  (function along(d) {
    if (d < 0) return row(n, places, steps);
    const [size, outer] = axes[d];
    for (let s = 0; s < size; s++) {
      along(d - 1);
      for (let i = 0; i < places.length; i++) places[i] += outer[i];
    }
    for (let i = 0; i < places.length; i++) places[i] -= size * outer[i];
  })(axes.length - 1);
}
