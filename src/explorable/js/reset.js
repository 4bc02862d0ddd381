// The way back to the start: one button for all controls.

import { element } from "./elements.js";

export function makeReset(state, words) {
  const button = element("button", { class: "reset", type: "button" }, words.reset);
  button.addEventListener("click", () => state.set(state.controls.map(({ name, start }) => [name, start])));
  return { element: button, refresh: () => (button.disabled = !state.moved().size) };
}
