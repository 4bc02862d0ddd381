// Frames: unpacks the block that frames.py packs (its docstring describes the format), and looks numbers up in it.

const CODES = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array }; // by bytes a code

// bytes: ArrayBuffer or any view of one. Rejects where the block is damaged.
export async function unpack(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const data = await new Response(stream).arrayBuffer();
  const length = new DataView(data).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, length)));
  const body = data.slice(4 + length); // a copy, so that frames start at multiples of their item's size
  return { ...header, body, decoded: new Map() };
}

// The numbers of one frame: {values: Float64Array, shape}. −Infinity is an exact zero's logarithm.
function frameAt(block, number) {
  if (!block.decoded.has(number)) block.decoded.set(number, decode(block.body, block.frames[number]));
  return block.decoded.get(number);
}

function decode(body, [start, size, shape, offset, step]) {
  const length = shape.reduce((a, b) => a * b, 1);
  const codes = new CODES[size](body, start, length);
  return { shape, values: Float64Array.from(codes, (code) => (code === 0 ? -Infinity : step * (offset + code - 1))) };
}

// All the numbers of a figure: those of the grid, and those off the grid that a kernel has computed.
// A part of a figure is a source (its number) or a slot of the sentence (its name); values: Map from control to value.
export function numbersOf(block, controls) {
  const grids = new Map(controls.map(({ name, values }) => [name, values]));
  const offGrid = new Map();
  const tableOf = (part) => (typeof part === "number" ? block.tables[part] : block.slots[part]);
  const keyOf = (part, values) => JSON.stringify([part, ...tableOf(part).controls.map((name) => values.get(name))]);
  const read = (from, table, entry) => (table.words ? table.words[table.at[entry]] : frameAt(from, table.at[entry]));

  // The part at these values; undefined if nobody has computed it, null if the kernel could not.
  function at(part, values) {
    const table = tableOf(part);
    const places = table.controls.map((name) => grids.get(name).indexOf(values.get(name)));
    if (places.includes(-1)) return offGrid.get(keyOf(part, values));
    const entry = table.controls.reduce((sum, name, i) => sum * grids.get(name).length + places[i], 0); // the last control moves fastest
    return read(block, table, entry);
  }

  // Keep a kernel's answer: a block of these parts at these values only.
  function add(parts, values, answer) {
    const sources = parts.filter((part) => typeof part === "number");
    for (const part of parts) {
      const table = typeof part === "number" ? answer.tables[sources.indexOf(part)] : answer.slots[part];
      offGrid.set(keyOf(part, values), read(answer, table, 0));
    }
  }
  // Keep what was computed otherwise: made(part) gives its numbers or its words.
  const keep = (parts, values, made) => parts.forEach((part) => offGrid.set(keyOf(part, values), made(part)));
  const refuse = (parts, values) => parts.forEach((part) => offGrid.set(keyOf(part, values), null));
  const missing = (parts, values) => [...new Set(parts)].filter((part) => at(part, values) === undefined);
  const view = (values) => ({ value: (name) => values.get(name), at: (part) => at(part, values) });
  return { at, add, keep, refuse, missing, view, slots: new Map(Object.entries(block.slots).map(([name, { words }]) => [name, words])) };
}
