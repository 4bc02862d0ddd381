// The sentence: its words once, and an element for each slot, whose text follows the controls.

import { valueWords } from "./controls.js";
import { element } from "./elements.js";
import { longest } from "./words.js";

const PAUSE = 400; // milliseconds after the last change, so that a slider's way is announced once

// said: its words and slots.  computed: the texts of each slot that a function fills, by its name; the others show a
// control's value.  tag: of its element; an output is announced whole.
export function makeSentence(said, specs, computed, tag = "output") {
  const controls = new Map(specs.map((control) => [control.name, control]));
  const output = element(tag, tag === "output" ? { "aria-live": "polite", "aria-atomic": true } : { class: "said" });
  const room = element("div", { class: "room", "aria-hidden": true }); // its longest words, unseen, so that nothing shifts
  const slots = [];
  for (const [text, slot] of said.parts) {
    output.append(text);
    room.append(text);
    if (slot === null) continue;
    const tag = computed.has(slot) && !said.choices[slot] ? "b" : "span"; // what was measured stands out
    slots.push([slot, output.appendChild(element(tag))]);
    room.append(element(tag, {}, longest(textsOf(slot))));
  }
  let timer;

  function textsOf(slot) {
    return computed.get(slot) ? (said.choices[slot] ?? computed.get(slot)) : controls.get(slot).words;
  }
  function textOf(slot, view) {
    if (!computed.has(slot)) return valueWords(controls.get(slot), view.value(slot));
    const words = view.at(slot);
    return Object.hasOwn(said.choices, slot) ? said.choices[slot][Number(words)] : words;
  }
  function say(view) {
    for (const [slot, shown] of slots) {
      const text = textOf(slot, view);
      if (shown.textContent !== text) shown.textContent = text;
    }
    output.setAttribute("aria-busy", true); // a screen reader waits until the reader pauses
    clearTimeout(timer);
    timer = setTimeout(() => output.setAttribute("aria-busy", false), PAUSE);
    return output.textContent;
  }
  return { element: element("div", { class: "sentence" }, room, output), needs: [...computed.keys()], say };
}
