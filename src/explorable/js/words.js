// The words that every figure needs besides its own.

import WORDS from "../words.json" with { type: "json" };

// word → text. A language without words takes those of its primary subtag (zh for zh-CN), or English ones.
export function wordsOf(language) {
  const [primary] = language.split("-");
  return Object.fromEntries(Object.entries(WORDS).map(([word, texts]) => [word, texts[language] ?? texts[primary] ?? texts.en]));
}

// A text with its {slots} filled.
export function fill(text, slots) {
  return text.replace(/\{(\w+)\}/g, (_, slot) => slots[slot]);
}

// About how wide a text is, in pixels: a Chinese character is as wide as two letters.
export const widthOf = (text) => [...text].reduce((sum, letter) => sum + (letter > "⺀" ? 14 : 8), 0);

export const longest = (texts) => texts.reduce((one, other) => (widthOf(other) > widthOf(one) ? other : one));
