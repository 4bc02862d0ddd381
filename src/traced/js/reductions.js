// Operations along axes, of which they leave one number.

import { axisOf, each, viewOf } from "./memory.js";

export function reductions(memory) {
  // axes: none for all.  keep: whether they stay, of size 1.
  const along =
    (first, row) =>
    (x, axes, keep = 0) => {
      const list = axes === undefined || axes === null ? [] : [axes].flat();
      const gone = list.length ? list.map((d) => axisOf(x, d)) : x.shape.map((_, d) => d);
      const made = memory.full(
        x.shape.map((size, d) => (gone.includes(d) ? 1 : size)),
        first,
      );
      const strides = made.strides.map((stride, d) => (gone.includes(d) ? 0 : stride));
      each(x.shape, [made, x], row, [strides, x.strides]);
      const left = (_, d) => keep || !gone.includes(d);
      return viewOf(made, made.shape.filter(left), made.strides.filter(left));
    };
  return {
    sum: along(0, (n, [o, a], [i, j]) => {
      const m = memory.numbers;
      if (i) for (; n; n--, o += i, a += j) m[o] += m[a];
      else {
        let sum = m[o];
        for (; n; n--, a += j) sum += m[a];
        m[o] = sum;
      }
    }),
    amax: along(-Infinity, (n, [o, a], [i, j]) => {
      const m = memory.numbers;
      for (; n; n--, o += i, a += j) m[o] = Math.max(m[o], m[a]);
    }),
  };
}
