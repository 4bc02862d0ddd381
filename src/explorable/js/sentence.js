// The sentence: its words once, and an element for each slot, whose text follows the controls.

import { valueWords } from "./controls.js";

const PAUSE = 400; // milliseconds after the last change, so that a slider's way is announced once

// computed: the names of the slots that a function fills; the others show a control's value.
export function makeSentence(spec, computed) {
  const controls = new Map(spec.controls.map((control) => [control.name, control]));
  const element = document.createElement("output");
  element.setAttribute("aria-live", "polite");
  element.setAttribute("aria-atomic", "true"); // announced whole
  const slots = [];
  for (const [text, slot] of spec.sentence.parts) {
    element.append(text);
    if (slot !== null) slots.push([slot, element.appendChild(document.createElement("b"))]);
  }
  let timer;

  function wordsOf(slot, view) {
    if (!computed.includes(slot)) return valueWords(controls.get(slot), view.value(slot));
    const words = view.at(slot);
    return Object.hasOwn(spec.sentence.choices, slot) ? spec.sentence.choices[slot][Number(words)] : words;
  }
  function say(view) {
    for (const [slot, element] of slots) {
      const words = wordsOf(slot, view);
      if (element.textContent !== words) element.textContent = words;
    }
    if (element.textContent) {
      element.setAttribute("aria-busy", "true"); // a screen reader waits until the reader pauses
      clearTimeout(timer);
      timer = setTimeout(() => element.setAttribute("aria-busy", "false"), PAUSE);
    }
    return element.textContent;
  }
  return { element, needs: computed, say };
}
