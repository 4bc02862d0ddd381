// The table of a figure's numbers, one a panel, filled when the reader opens it.

import { element } from "./elements.js";

function makeTable({ head, rows }, caption) {
  const headRow = element("tr", {}, ...head.map((text) => element("th", { scope: "col" }, text)));
  const row = ([first, ...others]) =>
    element("tr", {}, element("th", { scope: "row" }, first), ...others.map((text) => element("td", {}, text)));
  return element("table", {}, element("caption", {}, caption), element("thead", {}, headRow), element("tbody", {}, ...rows.map(row)));
}

export function makeTables(panels, specs, words) {
  const box = element("div", { class: "tables", tabindex: 0 }); // focusable because it scrolls
  const details = element("details", { class: "numbers" }, element("summary", {}, words.table), box);
  function refresh() {
    if (details.open) box.replaceChildren(...panels.map((panel, i) => makeTable(panel.table(), specs[i].title)));
  }
  details.addEventListener("toggle", refresh);
  return { element: details, refresh };
}
