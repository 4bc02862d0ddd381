// What the book's pages do beside their figures. No page has a script or a handler of ours inside.

// Whatever scrolls sideways can be reached by keyboard, also where the browser does not see to it.
const SCROLLERS = ".bd-article :is(.katex-display, pre, .pst-scrollable-table-container, .output.text_html)";
function reach() {
  for (const box of document.querySelectorAll(SCROLLERS)) {
    if (box.scrollWidth > box.clientWidth + 1) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
}
addEventListener("load", reach);
addEventListener("resize", reach);
addEventListener("toggle", reach, true); // folded parts measure nothing until they are opened

// The page's contents step aside where a wide figure reaches over them.
const contents = document.querySelector(".bd-sidebar-secondary");
if (contents) {
  const figures = [...document.querySelectorAll("figure.explorable")];
  const stepAside = () => {
    const { left, bottom } = contents.getBoundingClientRect();
    const covers = (box) => box.right > left && box.top < bottom && box.bottom > 0;
    contents.classList.toggle(
      "aside",
      figures.some((figure) => covers(figure.getBoundingClientRect())),
    );
  };
  for (const event of ["scroll", "resize", "load"]) addEventListener(event, stepAside, { passive: true });
}

// The menu "Run" closes on Escape, which returns to its button, and on a click elsewhere.
const menu = document.querySelector("details.launch");
if (menu) {
  addEventListener("keydown", ({ key }) => {
    if (key !== "Escape" || !menu.open) return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });
  addEventListener("click", ({ target }) => {
    if (!menu.contains(target)) menu.open = false;
  });
  // A browser opens what lies beside a page of files instead of saving it.
  menu.querySelector(".from-file").hidden = location.protocol !== "file:";
}

// Paper is white: a dark page prints as a light one.
let shown;
matchMedia("print").addEventListener("change", ({ matches }) => {
  const { dataset } = document.documentElement;
  if (matches) shown = dataset.theme;
  dataset.theme = matches ? "light" : shown;
});
