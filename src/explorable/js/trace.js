// The trace of a line: what of it shows in a plot, in pixels, so that names can keep off it.

const COLUMN = 4; // pixels: how finely a trace is known
const SAMPLES = 13; // places along it where its name may stand

// The part of a segment that lies in a box, as shares of the segment; null if none does.
function shareInside([x0, y0], [x1, y1], box) {
  let [from, to] = [0, 1];
  for (const [start, change, low, high] of [
    [x0, x1 - x0, box.left, box.right],
    [y0, y1 - y0, box.top, box.bottom],
  ]) {
    if (change === 0 && (start < low || start > high)) return null;
    const ends = change === 0 ? [0, 1] : [(low - start) / change, (high - start) / change].sort((a, b) => a - b);
    [from, to] = [Math.max(from, ends[0]), Math.min(to, ends[1])];
  }
  return from <= to ? [from, to] : null;
}

export class Trace {
  // points: [x, y] in pixels, x rising.
  constructor(points, box) {
    this.box = box;
    this.count = Math.ceil((box.right - box.left) / COLUMN) + 1;
    this.low = new Float32Array(this.count).fill(Infinity); // of each column, the span that the line covers
    this.high = new Float32Array(this.count).fill(-Infinity);
    this.pieces = []; // what shows of it, with the length up to there
    this.length = 0;
    points.forEach((point, i) => this.add(points[Math.max(0, i - 1)], point));
    this.samples = this.sampled();
    const ends = this.pieces.flatMap(({ a, b }) => [a[1], b[1]]);
    [this.top, this.bottom] = [Math.min(...ends), Math.max(...ends)];
  }

  add(before, after) {
    const shares = shareInside(before, after, this.box);
    if (!shares) return;
    const [a, b] = shares.map((share) => [0, 1].map((axis) => before[axis] + share * (after[axis] - before[axis])));
    const slope = b[0] > a[0] ? (b[1] - a[1]) / (b[0] - a[0]) : 0;
    for (let column = this.columnOf(a[0]); column <= this.columnOf(b[0]); column++) {
      const left = Math.max(a[0], this.box.left + column * COLUMN);
      const right = Math.min(b[0], this.box.left + (column + 1) * COLUMN);
      const ends = b[0] > a[0] ? [a[1] + (left - a[0]) * slope, a[1] + (right - a[0]) * slope] : [a[1], b[1]];
      this.low[column] = Math.min(this.low[column], ...ends);
      this.high[column] = Math.max(this.high[column], ...ends);
    }
    this.length += Math.hypot(b[0] - a[0], b[1] - a[1]);
    this.pieces.push({ a, b, upTo: this.length });
  }

  columnOf(px) {
    return Math.min(this.count - 1, Math.max(0, Math.floor((px - this.box.left) / COLUMN)));
  }

  // Places along it, evenly by length: [[x, y]], none where nothing shows.
  sampled() {
    if (!this.pieces.length) return [];
    if (this.length === 0) return [this.pieces[0].a];
    let piece = 0;
    return Array.from({ length: SAMPLES }, (_, i) => {
      const at = (i / (SAMPLES - 1)) * this.length;
      while (this.pieces[piece].upTo < at && piece < this.pieces.length - 1) piece++;
      const { a, b, upTo } = this.pieces[piece];
      const long = Math.hypot(b[0] - a[0], b[1] - a[1]);
      const share = long ? 1 - (upTo - at) / long : 0;
      return [a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])];
    });
  }

  // About how many pixels of the line lie in a box, and a share of those that come near it.
  covered({ left, right, top, bottom }, near) {
    let sum = 0;
    if (right < this.box.left || left > this.box.right || bottom + near < this.top || top - near > this.bottom) return 0;
    for (let column = this.columnOf(left); column <= this.columnOf(right); column++) {
      const inside = Math.min(this.high[column], bottom) - Math.max(this.low[column], top);
      if (inside >= 0) sum += Math.max(COLUMN, inside);
      else if (inside >= -near) sum += COLUMN / 4;
    }
    return sum;
  }

  // The highest and the lowest pixel between two places across.
  span(left, right) {
    let [low, high] = [Infinity, -Infinity];
    for (let column = this.columnOf(left); column <= this.columnOf(right); column++) {
      low = Math.min(low, this.low[column]);
      high = Math.max(high, this.high[column]);
    }
    return [low, high];
  }
}
