// A link that carries the figure's state, and copies itself.

import { element } from "./elements.js";

const SHOWN = 2000; // milliseconds that the answer stands

async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  // pages opened from a file have no clipboard of their own
  const field = element("textarea", {}, text);
  document.body.append(field);
  field.select();
  const copied = document.execCommand("copy");
  field.remove();
  if (!copied) throw new Error("not copied");
}

// addressOf(): the address of the state that is drawn; nothing where there is no page to link to.
export function makeLink(addressOf, words) {
  if (!addressOf()) return { element: element("span", { class: "copy" }, words.unpublished), refresh() {} };
  const link = element("a", { class: "copy", role: "button" }, words.copy);
  let timer;
  link.addEventListener("click", async (event) => {
    event.preventDefault();
    const copied = copy(addressOf()).then(() => words.copied);
    link.textContent = await copied.catch(() => words.uncopied);
    clearTimeout(timer);
    timer = setTimeout(() => (link.textContent = words.copy), SHOWN);
  });
  link.addEventListener("keydown", (event) => {
    if (event.key !== " ") return;
    event.preventDefault(); // a button is pressed by the space bar, and the page stays
    link.click();
  });
  return { element: link, refresh: () => (link.href = addressOf()) };
}
