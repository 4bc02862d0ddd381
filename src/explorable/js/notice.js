// What replaces a figure that cannot move: its still picture, and a sentence that says why.

import { element } from "./elements.js";

// The picture comes with the page; where a host shows none (JupyterLab), it comes with the model.
export function showStill(figure, still) {
  if (figure.querySelector("img.still") || !still?.src) return;
  figure.append(element("img", { class: "still", src: still.src, alt: still.alt }));
}

export function notify(figure, text) {
  figure.prepend(element("p", { class: "notice", role: "status" }, text));
}
