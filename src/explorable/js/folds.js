// What is folded below a figure: how it is read, what it does not show, more of what was measured, its numbers.

import { element } from "./elements.js";

// kind: the name of its words, and its class.  A host that shows page.py's html has the texts already.
export function makeFold(root, kind, words, ...content) {
  const there = root.querySelector(`.foot > .${kind}`);
  return there ?? element("details", { class: kind }, element("summary", {}, words[kind]), ...content);
}
