// Picking: the place that the reader points at, by pointer, touch or arrow keys. All panels that know the place mark it;
// a tip at the pointer and one line below the panels say what is there.

import { element } from "./elements.js";
import { makeTip } from "./tip.js";
import { fill } from "./words.js";

// Let the reader pick on a panel. picked(): the pick now.  choose(pick, event): called with the next, and with the event of
// a pointer.  leave(): called where the pointer is on nothing.
function listen(panel, { picked, choose, leave }) {
  const { surface } = panel;
  function point(event) {
    const { left, top, width } = surface.getBoundingClientRect();
    const scale = surface.viewBox.baseVal.width / width;
    const next = panel.pickAt((event.clientX - left) * scale, (event.clientY - top) * scale);
    if (next) choose(next, event);
    else leave();
  }
  surface.addEventListener("pointermove", point);
  surface.addEventListener("pointerdown", point);
  surface.addEventListener("keydown", (event) => {
    const next = event.key === "Escape" ? null : panel.step(picked(), event.key);
    if (event.ctrlKey || event.metaKey || event.altKey || (!next && event.key !== "Escape")) return;
    event.preventDefault(); // the page must not scroll
    leave(); // the line below speaks for the keyboard
    choose(next);
  });
}

export function makePicking({ element: stage, panels }, specs, words) {
  const reading = element("span");
  const readout = element("p", { class: "readout", "aria-live": "polite" }, reading);
  const tip = makeTip(stage);
  const hint = matchMedia("(hover: none)").matches ? words.hint_touch : words.hint;
  let pick = null; // {coordinate: value}
  let news = ""; // what the figure has to say about itself; replaces the reading

  // Mark the pick again, after the drawing or the pick has changed.
  function refresh() {
    const marks = panels.map((panel) => panel.mark(pick)).filter(Boolean);
    const places = [...new Set(marks.map(({ place }) => place))];
    const there = places.map((place) => ({ place, said: marks.filter((mark) => mark.place === place).flatMap(({ said }) => said) }));
    const said = there.map(({ place, said }) => place + words.colon + said.map(({ text }) => text).join(words.semicolon));
    reading.textContent = news || said.join(words.semicolon) || hint;
    readout.classList.toggle("hint", !news && !said.length);
    readout.classList.toggle("news", news !== "");
    tip.write(there);
  }
  function tell(text) {
    if (text === news) return;
    news = text;
    refresh();
  }
  function choose(next, event) {
    if (JSON.stringify(next) !== JSON.stringify(pick)) {
      pick = next;
      refresh();
    }
    if (event) tip.show(event);
  }

  panels.forEach((panel, i) => {
    panel.surface.setAttribute("tabindex", 0);
    panel.surface.setAttribute("role", "application"); // so that a screen reader leaves the arrow keys to the figure
    panel.surface.setAttribute("aria-label", fill(words.explore, specs[i]));
    listen(panel, { picked: () => pick, choose, leave: tip.hide });
  });
  // What a tap has shown stays when the finger is lifted, until the reader scrolls or taps elsewhere.
  stage.addEventListener("pointerleave", ({ pointerType }) => pointerType !== "touch" && tip.hide());
  stage.addEventListener("pointercancel", tip.hide);
  const elsewhere = ({ target }) => stage.contains(target) || tip.hide();
  addEventListener("pointerdown", elsewhere);
  return { element: readout, tip: tip.element, refresh, tell, close: () => removeEventListener("pointerdown", elsewhere) };
}
