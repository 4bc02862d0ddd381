// Keys: how far each leads along an axis, and that a figure keeps its own.

export const STRIDES = { ArrowRight: 1, ArrowLeft: -1, PageUp: 10, PageDown: -10, Home: -Infinity, End: Infinity };

// Keys pressed in a figure stay there, because JupyterLab has shortcuts on single letters and arrows; those with Ctrl or
// Meta, such as to save, go through.

const isFree = (event) => event.ctrlKey || event.metaKey;

// Returns a function that ends this.
export function keepKeys(figure) {
  const mark = (event) => figure.contains(event.target) && event.target.toggleAttribute("data-lm-suppress-shortcuts", !isFree(event));
  addEventListener("keydown", mark, true); // on the window, before JupyterLab's own listener on the document
  for (const type of ["keydown", "keypress", "keyup"]) figure.addEventListener(type, (event) => isFree(event) || event.stopPropagation());
  return () => removeEventListener("keydown", mark, true);
}
