// The table of a figure's numbers, one a panel, filled when the reader opens it.

import { element } from "./controls.js";

function makeTable({ head, rows }, caption) {
  const cells = (tag, texts, scope) => texts.map((text, i) => Object.assign(document.createElement(i ? tag : "th"), { textContent: text, scope: i && tag === "td" ? "" : scope }));
  const body = rows.map((row) => element("tr", {}, ...cells("td", row, "row")));
  return element("table", {}, element("caption", {}, caption), element("thead", {}, element("tr", {}, ...cells("th", head, "col"))), element("tbody", {}, ...body));
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
