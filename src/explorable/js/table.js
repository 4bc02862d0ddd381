// The table of a figure's numbers, one a panel, filled when the reader opens it.

import { element } from "./controls.js";

function makeTable({ head, rows }, caption) {
  const columnHead = (text) => element("th", { scope: "col" }, text);
  const row = ([first, ...others]) => element("tr", {}, element("th", { scope: "row" }, first), ...others.map((text) => element("td", {}, text)));
  return element("table", {}, element("caption", {}, caption), element("thead", {}, element("tr", {}, ...head.map(columnHead))), element("tbody", {}, ...rows.map(row)));
}

export function makeTables(panels, specs, words) {
  const summary = element("summary", {}, words.table);
  const box = element("div", { className: "tables", tabIndex: 0 }); // focusable, for it scrolls
  const details = element("details", { className: "numbers" }, summary, box);
  function refresh() {
    if (details.open) box.replaceChildren(...panels.map((panel, i) => makeTable(panel.table(), specs[i].title)));
  }
  details.addEventListener("toggle", refresh);
  return { element: details, refresh };
}
