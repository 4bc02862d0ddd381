// Products of matrices.

export function products(memory) {
  // made = x y, in blocks of 2 rows and 4 columns, whose sums stay in registers.
  function product(made, x, y, rows, inner, columns, [xi, xk], [yk, yj]) {
    const f = memory.numbers;
    const [blockRows, blockColumns] = [rows & ~1, columns & ~3];
    for (let i = 0; i < blockRows; i += 2)
      for (let j = 0; j < blockColumns; j += 4) {
        let s0 = 0;
        let s1 = 0;
        let s2 = 0;
        let s3 = 0;
        let t0 = 0;
        let t1 = 0;
        let t2 = 0;
        let t3 = 0;
        for (let k = 0, a = x + i * xi, b = y + j * yj; k < inner; k++, a += xk, b += yk) {
          const u = f[a];
          const v = f[a + xi];
          const p = f[b];
          const q = f[b + yj];
          const r = f[b + 2 * yj];
          const w = f[b + 3 * yj];
          s0 += u * p;
          s1 += u * q;
          s2 += u * r;
          s3 += u * w;
          t0 += v * p;
          t1 += v * q;
          t2 += v * r;
          t3 += v * w;
        }
        const o = made + i * columns + j;
        f[o] = s0;
        f[o + 1] = s1;
        f[o + 2] = s2;
        f[o + 3] = s3;
        const below = o + columns;
        f[below] = t0;
        f[below + 1] = t1;
        f[below + 2] = t2;
        f[below + 3] = t3;
      }
    for (let i = 0; i < rows; i++)
      for (let j = i < blockRows ? blockColumns : 0; j < columns; j++) {
        let sum = 0;
        for (let k = 0, a = x + i * xi, b = y + j * yj; k < inner; k++, a += xk, b += yk) sum += f[a] * f[b];
        f[made + i * columns + j] = sum;
      }
  }
  function bmm(x, y) {
    const [batch, rows, inner] = x.shape;
    const columns = y.shape[2];
    const made = memory.empty([batch, rows, columns]);
    for (let b = 0; b < batch; b++) {
      const [o, p, q] = [made.at + b * rows * columns, x.at + b * x.strides[0], y.at + b * y.strides[0]];
      product(o, p, q, rows, inner, columns, x.strides.slice(1), y.strides.slice(1));
    }
    return made;
  }
  function mm(x, y) {
    const made = memory.empty([x.shape[0], y.shape[1]]);
    product(made.at, x.at, y.at, ...x.shape, y.shape[1], x.strides, y.strides);
    return made;
  }
  return { bmm, mm };
}
