// Views: the same numbers under another shape.

import { axisOf, count, dense, replaced, spread, viewOf } from "./memory.js";

const without = (list, d) => list.filter((_, e) => e !== d);

export function views(memory) {
  return {
    permute: (x, axes) =>
      viewOf(
        x,
        axes.map((d) => x.shape.at(d)),
        axes.map((d) => x.strides.at(d)),
      ),
    unsqueeze(x, d) {
      const at = d < 0 ? d + x.shape.length + 1 : d;
      const put = (list, value) => [...list.slice(0, at), value, ...list.slice(at)];
      return viewOf(x, put(x.shape, 1), put(x.strides, 0));
    },
    squeeze(x, axes = x.shape.map((_, d) => d)) {
      const gone = [axes].flat().map((d) => axisOf(x, d));
      const left = (_, d) => !(gone.includes(d) && x.shape[d] === 1);
      return viewOf(x, x.shape.filter(left), x.strides.filter(left));
    },
    expand(x, sizes) {
      const more = sizes.length - x.shape.length;
      const shape = sizes.map((size, d) => (size === -1 ? x.shape[d - more] : size));
      return viewOf(x, shape, spread(x, shape));
    },
    select(x, axis, n) {
      const d = axisOf(x, axis);
      return viewOf(x, without(x.shape, d), without(x.strides, d), x.at + (n < 0 ? n + x.shape[d] : n) * x.strides[d]);
    },
    slice(x, axis = 0, from = 0, to = null, step = 1) {
      const d = axisOf(x, axis);
      const size = x.shape[d];
      const within = (n) => Math.min(Math.max(n < 0 ? n + size : n, 0), size);
      const start = within(from ?? 0);
      const length = Math.ceil((Math.max(within(to ?? size), start) - start) / step);
      return viewOf(x, replaced(x.shape, d, length), replaced(x.strides, d, x.strides[d] * step), x.at + start * x.strides[d]);
    },
    diagonal(x, offset = 0, axis1 = 0, axis2 = 1) {
      const [d, e] = [axisOf(x, axis1), axisOf(x, axis2)];
      const [down, right] = [Math.max(-offset, 0), Math.max(offset, 0)];
      const length = Math.max(0, Math.min(x.shape[d] - down, x.shape[e] - right));
      const rest = (list, last) => [...list.filter((_, f) => f !== d && f !== e), last];
      const at = x.at + down * x.strides[d] + right * x.strides[e];
      return viewOf(x, rest(x.shape, length), rest(x.strides, x.strides[d] + x.strides[e]), at);
    },
    flip: (x, axes) =>
      axes
        .map((d) => axisOf(x, d))
        .reduce((y, d) => viewOf(y, y.shape, replaced(y.strides, d, -y.strides[d]), y.at + Math.max(0, y.shape[d] - 1) * y.strides[d]), x),
    view(x, sizes) {
      const known = -count(sizes); // positive where a −1 stands for what is left
      const shape = known > 0 ? sizes.map((size) => (size === -1 ? count(x.shape) / known : size)) : sizes;
      const isDense = dense(x.shape).every((stride, d) => stride === x.strides[d] || x.shape[d] === 1);
      return viewOf(isDense ? x : memory.copy(x), shape, dense(shape), isDense ? x.at : undefined);
    },
  };
}
