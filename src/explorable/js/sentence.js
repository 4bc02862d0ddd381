// The sentence: its words once, and an element for each slot, whose text follows the controls.

import { valueWords } from "./controls.js";
import { element } from "./elements.js";

const PAUSE = 400; // milliseconds after the last change, so that a slider's way is announced once

// computed: the names of the slots that a function fills; the others show a control's value.
export function makeSentence(spec, computed) {
  const controls = new Map(spec.controls.map((control) => [control.name, control]));
  const output = element("output", { "aria-live": "polite", "aria-atomic": true }); // announced whole
  const slots = [];
  for (const [text, slot] of spec.sentence.parts) {
    output.append(text);
    if (slot !== null) slots.push([slot, output.appendChild(element("b"))]);
  }
  let timer;

  function textOf(slot, view) {
    if (!computed.includes(slot)) return valueWords(controls.get(slot), view.value(slot));
    const words = view.at(slot);
    return Object.hasOwn(spec.sentence.choices, slot) ? spec.sentence.choices[slot][Number(words)] : words;
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
  return { element: output, needs: computed, say };
}
