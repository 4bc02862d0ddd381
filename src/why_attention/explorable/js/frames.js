// Frames: unpacks the block that frames.py packs. Its docstring describes the format.

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

// Which entry of a table belongs to a setting: the last control moves fastest.
function entry(table, setting, sizes) {
  return table.at[table.controls.reduce((at, name) => at * sizes[name] + setting[name], 0)];
}

// The numbers of source `number` at a setting: {values: Float64Array, shape}. −Infinity is an exact zero's logarithm.
export function arrayAt(frames, number, setting, sizes) {
  const at = entry(frames.tables[number], setting, sizes);
  if (!frames.decoded.has(at)) frames.decoded.set(at, decode(frames.body, frames.frames[at]));
  return frames.decoded.get(at);
}

function decode(body, [start, size, shape, origin, step]) {
  const codes = new CODES[size](body, start, shape.reduce((a, b) => a * b, 1));
  return { shape, values: Float64Array.from(codes, (code) => (code === 0 ? -Infinity : origin + step * (code - 1))) };
}

export function wordsAt(frames, slot, setting, sizes) {
  const table = frames.slots[slot];
  return table.words[entry(table, setting, sizes)];
}
