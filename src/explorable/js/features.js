// What the figures need of a browser beside what all have had since 2020: one that lacks any of it is too old.

const FEATURES = [
  () => DecompressionStream,
  () => Array.prototype.findLastIndex,
  () => Object.hasOwn,
  () => Array.prototype.at,
  () => Float64Array.prototype.at,
  () => Element.prototype.replaceChildren,
  () => ResizeObserver,
];

export function lacksFeature() {
  try {
    return !FEATURES.every((feature) => feature());
  } catch {
    return true; // not even its name is known
  }
}
