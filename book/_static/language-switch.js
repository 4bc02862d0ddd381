// A switch of the language keeps the section in view and the states of the figures.

const parts = (hash) => hash.replace(/^#/, "").split("&");
const LINE = 160; // pixels from the top, by which the heading of what is read has passed

function fragment() {
  const passed = [...document.querySelectorAll(".bd-article section section[id]")].filter(
    (section) => section.getBoundingClientRect().top < LINE,
  );
  const states = parts(location.hash).filter((part) => part.includes(":"));
  const named = [...passed.slice(-1).map(({ id }) => id), ...states];
  return named.length ? `#${named.join("&")}` : "";
}

for (const link of document.querySelectorAll("a.language-switch")) {
  const page = link.getAttribute("href");
  // before a click, and before a menu or another tab takes the address
  for (const event of ["pointerdown", "click"]) link.addEventListener(event, () => link.setAttribute("href", page + fragment()));
}
