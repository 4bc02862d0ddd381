// Picking: the place that the reader points at, by pointer, touch or arrow keys. All panels that know the place mark it,
// and one line below them reads out what is there.

import { element } from "./elements.js";
import { fill } from "./words.js";

// Let the reader pick on a panel. picked(): the pick now.  choose(pick): called with the next.
function listen(panel, picked, choose) {
  const { surface } = panel;
  function point(event) {
    const { left, top, width } = surface.getBoundingClientRect();
    const scale = surface.viewBox.baseVal.width / width;
    const next = panel.pickAt((event.clientX - left) * scale, (event.clientY - top) * scale);
    if (next) choose(next);
  }
  surface.addEventListener("pointermove", point);
  surface.addEventListener("pointerdown", point);
  surface.addEventListener("keydown", (event) => {
    const next = event.key === "Escape" ? null : panel.step(picked(), event.key);
    if (event.ctrlKey || event.metaKey || event.altKey || (!next && event.key !== "Escape")) return;
    event.preventDefault(); // the page must not scroll
    choose(next);
  });
}

export function makePicking(panels, specs, words) {
  const reading = element("span");
  const readout = element("p", { class: "readout", "aria-live": "polite" }, reading);
  let pick = null; // {coordinate: value}
  let news = ""; // what the figure has to say about itself; replaces the reading

  // Mark the pick again, after the drawing or the pick has changed.
  function refresh() {
    const marks = panels.map((panel) => panel.mark(pick)).filter(Boolean);
    const places = [...new Set(marks.map(({ place }) => place))];
    const textsAt = (place) =>
      marks.filter((mark) => mark.place === place).flatMap(({ said, text }) => said?.map((one) => one.text) ?? text);
    const said = places.map((place) => place + words.colon + textsAt(place).join(words.semicolon));
    reading.textContent = news || said.join(words.semicolon) || words.hint;
    readout.classList.toggle("hint", !news && !said.length);
    readout.classList.toggle("news", news !== "");
  }
  function tell(text) {
    if (text === news) return;
    news = text;
    refresh();
  }
  function choose(next) {
    if (JSON.stringify(next) === JSON.stringify(pick)) return;
    pick = next;
    refresh();
  }

  panels.forEach((panel, i) => {
    panel.surface.setAttribute("tabindex", 0);
    panel.surface.setAttribute("role", "application"); // so that a screen reader leaves the arrow keys to the figure
    panel.surface.setAttribute("aria-label", fill(words.explore, specs[i]));
    listen(panel, () => pick, choose);
  });
  return { element: readout, refresh, tell };
}
