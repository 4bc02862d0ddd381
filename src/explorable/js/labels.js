// Names on lines: each beside its own line, off the other lines and names, and where it stood before if it can.

const FROM_LINE = 4; // pixels from a line to its name
const CLOSE = 6; // pixels: a line so near to another's name may be taken for its own
const BETWEEN = 2; // pixels between two names
const STAY = 24; // pixels of another line that a name may cover before it leaves its place
const LIFT = 14; // pixels that a name keeps off the bends of its own line, at most
// where a name may stand beside a place of its line: which of its own sides, across and down, is there (0 left or top, 1 right or bottom)
const SIDES = [
  [1, 1],
  [1, 0],
  [0.5, 1],
  [0.5, 0],
  [0, 1],
  [0, 0],
  [0, 0.5],
  [1, 0.5],
];

const meet = (a, b, apart) => a.left < b.right + apart && b.left < a.right + apart && a.top < b.bottom + apart && b.top < a.bottom + apart;

// The box of a name at a side of a place, off the bends of its own line.
function boxAt([px, py], [across, down], { width, height, trace }) {
  const left = px - across * width + (down === 0.5 ? (1 - 2 * across) * (FROM_LINE + 3) : 0);
  let top = py - down * height;
  if (down !== 0.5) {
    const [low, high] = trace.span(left, left + width);
    top += down ? -FROM_LINE - Math.min(LIFT, Math.max(0, py - low)) : FROM_LINE + Math.min(LIFT, Math.max(0, high - py));
  }
  return { left, right: left + width, top, bottom: top + height };
}

// Boxes all over a room, for a name that has no place beside its line.
function boxesIn(room, { width, height }) {
  const boxes = [];
  for (let top = room.top; top + height <= room.bottom; top += 8) {
    for (let left = room.left; left + width <= room.right; left += 16) boxes.push({ left, right: left + width, top, bottom: top + height });
  }
  return boxes;
}

// How much a name in a box hides of a line, and of the thin ones around it: its own line it may touch.
function covered({ trace, others, weight }, box, own) {
  const bold = own ? 0.7 * trace.covered(box, 0) : weight * trace.covered(box, CLOSE);
  return others.reduce((sum, one) => sum + 0.2 * one.covered(box, 0), bold);
}

// items: [{width, height, trace, others, weight, kept, spare}] in the order in which they choose; weight: how much it matters
// that another's name lies on its line; kept: what it got here before; spare: leave it out where there is no good place.
// trace, others: of its line, and of those around it.  Returns for each {box, at, side}, or null.
export function placeLabels(items, room) {
  const placed = [];
  const cost = (item, box) => {
    if (box.left < room.left || box.right > room.right || box.top < room.top || box.bottom > room.bottom) return Infinity;
    if (placed.some((one) => one && meet(one.box, box, BETWEEN))) return Infinity;
    return items.reduce((sum, other) => sum + covered(other, box, other === item), 0);
  };
  for (const item of items) {
    let [best, least] = [null, item.spare ? 0.5 * item.width : Infinity];
    const last = item.trace.samples.length - 1;
    item.trace.samples.forEach((place, at) => {
      SIDES.forEach((turn, side) => {
        const stays = item.kept && item.kept.at === at && item.kept.side === side;
        const taste = (1 - at / last || 0) * 12 + side - (stays ? STAY : 0);
        if (taste >= least) return;
        const box = boxAt(place, turn, item);
        const all = taste + cost(item, box);
        if (all < least) [best, least] = [{ box, at, side }, all];
      });
    });
    if (!best && !item.spare) {
      const [px, py] = item.trace.samples.at(-1) ?? [room.right, room.bottom];
      for (const box of boxesIn(room, item)) {
        const far = Math.hypot((box.left + box.right) / 2 - px, (box.top + box.bottom) / 2 - py);
        const all = far + cost(item, box);
        if (all < least) [best, least] = [{ box, at: -1, side: -1 }, all];
      }
    }
    placed.push(best);
  }
  return placed;
}
