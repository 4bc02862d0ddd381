// Numbers picked by an index, and put where an index says.

import { axisOf, broadcast, count, dense, each, replaced, spread, viewOf } from "./memory.js";

// The place along an axis of this size at an index, which may count from the end.
function placed(index, size) {
  if (!(index >= -size && index < size)) throw new RangeError(`index ${index} of ${size}`);
  return index < 0 ? index + size : index;
}

export function indexing(memory) {
  // Call visit(place in x, place in other) for every number of an index along an axis of x.
  function picked(x, axis, index, other, visit) {
    const d = axisOf(x, axis);
    const rest = replaced(x.strides, d, 0);
    each(
      index.shape,
      [x, index, other],
      (n, [a, b, c], [i, j, k]) => {
        for (; n; n--, a += i, b += j, c += k) visit(a + placed(memory.numbers[b], x.shape[d]) * x.strides[d], c);
      },
      [rest, index.strides, spread(other, index.shape)],
    );
  }

  // What indices, one an axis or null for all of it, say of x: the shape of the result, and visit(place in x, number of the
  // place in the result) for every place. The first axes with an index come first, as torch has it where they stand together.
  function indexed(x, indices) {
    const axes = indices.map((index, d) => (index ? d : -1)).filter((d) => d >= 0);
    const shape = broadcast(axes.map((d) => indices[d]));
    const rows = axes.map((d) => {
      const row = memory.copy(viewOf(indices[d], shape, spread(indices[d], shape)));
      return { at: row.at, stride: x.strides[d], size: x.shape[d] };
    });
    const before = axes[0];
    const left = x.shape.map((_, d) => d).filter((d) => !axes.includes(d));
    const outer = left.filter((d) => d < before);
    const inner = left.filter((d) => d > before);
    const sizes = (some) => some.map((d) => x.shape[d]);
    const part = (some) => ({ shape: sizes(some), strides: some.map((d) => x.strides[d]) });
    const offsets = (number) => rows.reduce((sum, { at, stride, size }) => sum + placed(memory.numbers[at + number], size) * stride, 0);
    return { shape: [...sizes(outer), ...shape, ...sizes(inner)], count: count(shape), outer: part(outer), inner: part(inner), offsets };
  }

  // Call visit(view of x, view of y) for every index; y has the shape of the result.
  function pairs(x, indices, yOf, visit) {
    const { shape, count: many, outer, inner, offsets } = indexed(x, indices);
    const y = yOf(shape);
    const first = outer.shape.length;
    const [outerStrides, innerStrides] = [y.strides.slice(0, first), y.strides.slice(y.strides.length - inner.shape.length)];
    const step = dense(shape.slice(first)).at(shape.length - first - inner.shape.length - 1) ?? 1;
    for (let number = 0; number < many; number++) {
      visit(
        { shape: [...outer.shape, ...inner.shape], strides: [...outer.strides, ...inner.strides], at: x.at + offsets(number) },
        { shape: [...outer.shape, ...inner.shape], strides: [...outerStrides, ...innerStrides], at: y.at + number * step },
      );
    }
    return y;
  }

  function addTo(made, x) {
    const m = memory.numbers;
    each(made.shape, [made, x], (n, [o, a], [i, j]) => {
      for (; n; n--, o += i, a += j) m[o] += m[a];
    });
  }

  return {
    gather(x, axis, index) {
      const made = memory.empty(index.shape);
      picked(x, axis, index, made, (from, to) => (memory.numbers[to] = memory.numbers[from]));
      return made;
    },
    scatter(x, axis, index, value) {
      const made = memory.copy(x);
      picked(made, axis, index, memory.tensor(value), (to, from) => (memory.numbers[to] = memory.numbers[from]));
      return made;
    },
    index: (x, indices) =>
      pairs(
        x,
        indices,
        (shape) => memory.empty(shape),
        (from, to) => memory.copy(from, to),
      ),
    index_put(x, indices, values, accumulate = 0) {
      const made = memory.copy(x);
      const given = (shape) => memory.copy(viewOf(values, shape, spread(values, shape)));
      pairs(made, indices, given, (to, from) => (accumulate ? addTo(to, from) : memory.copy(from, to)));
      return made;
    },
  };
}
