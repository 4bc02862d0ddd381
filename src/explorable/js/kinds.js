// The kinds of panels: kind → make(spec, words), which returns a panel. Each file in panels/ adds its own.
//   narrowest: pixels below which panels stand under each other
//   element, surface: what is put on the stage; its SVG, where the reader picks
//   needs(view): {now, later}: the parts to draw, and those that may follow
//   draw(view, {width, height, first}): draws as wide as that, a plot as high as that, and returns the numbers drawn;
//     first: the panel at the left end of its line, itself perhaps
//   square: whether its plot is as high as wide, so that it needs height
//   beside(first): pixels that it needs beside its plot; a kind that has it shares a line so that plots are equally wide
//   box, widest: with a scale of colours, where its plot is, and how far to the right it may lie
//   pickAt(x, y), step(pick, key): the pick at a place; the one that a key leads to; null if there is none
//   mark(pick): marks it, and returns {place, said: [{color, mark, text}]} to read out, or null; color and mark may be null
//   table(): {head, rows} of text
// view: value(name) of a control, at(part): the numbers or words of a part of the figure.

export const KINDS = {};
