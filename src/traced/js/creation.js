// New tensors: constants, ranges, tensors joined.

import { axisOf, count, dense, replaced } from "./memory.js";

export function creation(memory) {
  return {
    full: (shape, value) => memory.full(shape, value),
    // A constant: it lies at the start of the memory.
    weight: (at, shape) => ({ shape, strides: dense(shape), at }),
    arange(start, end, step) {
      const made = memory.empty([Math.ceil((end - start) / step)]);
      for (let i = 0; i < made.shape[0]; i++) memory.numbers[made.at + i] = start + i * step;
      return made;
    },
    cat(all, axis = 0) {
      const parts = all.filter((x) => count(x.shape));
      if (!parts.length) return all[0];
      const d = axisOf(parts[0], axis);
      const length = parts.reduce((n, x) => n + x.shape[d], 0);
      const made = memory.empty(replaced(parts[0].shape, d, length));
      let at = made.at;
      for (const x of parts) {
        memory.copy(x, { ...made, shape: x.shape, at });
        at += x.shape[d] * made.strides[d];
      }
      return made;
    },
    size: (x, d) => (d === undefined ? count(x.shape) : x.shape.at(d)),
    item: (list, n) => list[n],
  };
}
