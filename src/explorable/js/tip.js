// The tip: what the pointer is on, beside the pointer, or above the finger.

import LOOK from "../look.json" with { type: "json" };
import { element, node } from "./elements.js";

const OFF_POINTER = 14; // pixels from the pointer
const ABOVE_FINGER = 44; // pixels above a finger, which covers what is nearer
const RIM = 4; // pixels to the window's edges, at least

// A small picture of a series' mark, in its colour; nothing for words without one.
function markOf({ color, mark }) {
  if (!color || !mark) return "";
  const shape = node("path", { class: `series mark ${mark}`, d: `M0,0${LOOK.marks[mark].path}` });
  return node("svg", { class: color, viewBox: "-5 -5 10 10", width: 10, height: 10 }, shape);
}

function groupOf({ place: head, said }) {
  return [element("b", {}, head), ...said.map((one) => element("div", {}, markOf(one), one.text))];
}

// Where a tip begins that lies between two edges if it can: after the point or, without room there, before it.
function beside(point, size, [low, high]) {
  const after = point + OFF_POINTER;
  return after + size <= high || point - OFF_POINTER - size < low ? after : point - OFF_POINTER - size;
}

const keepIn = (start, size, room) => Math.max(RIM, Math.min(start, room - size - RIM));

// stage: what the tip belongs to; it lies in the same box.
export function makeTip(stage) {
  const tip = element("div", { class: "tip", "aria-hidden": true, hidden: "" });
  let written = "";

  // marks: what panels say about the place, [{place, said}].
  function write(marks) {
    const text = JSON.stringify(marks);
    if (text === written) return;
    written = text;
    tip.replaceChildren(...marks.flatMap(groupOf));
  }
  // Show it at a pointer, or above a finger.
  function show({ clientX, clientY, pointerType }) {
    tip.hidden = !written || written === "[]";
    if (tip.hidden) return;
    const { width, height } = tip.getBoundingClientRect();
    const edges = stage.getBoundingClientRect();
    const room = document.documentElement;
    let [left, top] = [beside(clientX, width, [RIM, Math.min(edges.right, room.clientWidth - RIM)]), clientY - ABOVE_FINGER - height];
    if (pointerType === "touch" && top >= RIM) left = clientX - width / 2;
    if (pointerType !== "touch") top = beside(clientY, height, [RIM, Math.min(edges.bottom, innerHeight - RIM)]);
    const box = tip.offsetParent.getBoundingClientRect();
    const at = [keepIn(left, width, room.clientWidth) - box.left, keepIn(top, height, innerHeight) - box.top];
    tip.style.transform = `translate(${at.map((number) => `${Math.round(number)}px`).join()})`;
  }
  return { element: tip, write, show, hide: () => (tip.hidden = true) };
}
