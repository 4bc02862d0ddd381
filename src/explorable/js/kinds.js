// The kinds of panels: kind → make(spec, words), which returns a panel. Each file in panels/ adds its own.
//   narrowest: pixels below which panels stand under each other
//   element, surface: what is put on the stage; its SVG, where the reader picks
//   needs(view): {now, later}: the parts to draw, and those that may follow
//   draw(view, {width, height}): draws as wide as that, a plot as high as that, and returns the numbers drawn
//   pickAt(x, y), step(pick, key): the pick at a place; the one that a key leads to; null if there is none
//   mark(pick): marks it, and returns {place, text} to read out, or null
//   table(): {head, rows} of text
// view: value(name) of a control, at(part): the numbers or words of a part of the figure.

export const KINDS = {};
