// What a figure shows, for tests and other scripts: figure.drawn, and in its attributes the state and a hash.

// FNV-1a over numbers and words.
function hashOf(drawn, hash = 0x811c9dc5) {
  if (typeof drawn === "number") return Math.imul(hash ^ Math.round(drawn * 1e4), 0x01000193);
  if (typeof drawn === "string") return hashOf(new TextEncoder().encode(drawn), hash);
  if (typeof drawn === "boolean") return hashOf(Number(drawn), hash);
  let sum = hash;
  for (const part of ArrayBuffer.isView(drawn) ? drawn : Object.values(drawn)) sum = hashOf(part, sum);
  return sum;
}

// The same with plain arrays.
function plain(drawn) {
  if (ArrayBuffer.isView(drawn) || Array.isArray(drawn)) return Array.from(drawn, plain);
  return typeof drawn === "object" ? Object.fromEntries(Object.entries(drawn).map(([name, part]) => [name, plain(part)])) : drawn;
}

export function publish(figure, drawn, state) {
  Object.defineProperty(figure, "drawn", { configurable: true, get: () => plain(drawn) });
  figure.dataset.drawn = (hashOf(drawn) >>> 0).toString(36);
  figure.dataset.state = [...state].map(([name, value]) => `${name}=${value}`).join(";");
}
