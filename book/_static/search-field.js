// The search fields of the page, in the theme's dialog and on the search page: what they find is shown below, as it is typed.
// Index and engine are loaded at the first use, as scripts, which a page opened from a file may load, too.

(() => {
  const ROOT = document.documentElement.dataset.content_root;
  let loading;

  function load() {
    loading ??= ["minisearch", "search-index", "search"].reduce((before, name) => before.then(() => loadScript(name)), Promise.resolve());
    return loading;
  }

  function loadScript(name) {
    return new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = `${ROOT}_static/${name}.js`;
      script.onload = resolve;
      script.onerror = reject;
      document.head.append(script);
    });
  }

  function element(name, options, ...children) {
    const made = Object.assign(document.createElement(name), options);
    made.append(...children);
    return made;
  }

  function linkTo(hit) {
    const address = `${ROOT}${hit.page}?highlight=${hit.words.map(encodeURIComponent).join("+")}#${encodeURIComponent(hit.anchor)}`;
    const said = window.bookSearch.excerpt(hit).map(([text, found]) => (found ? element("mark", {}, text) : text));
    const page = hit.title === hit.of ? [] : [element("span", { className: "found-page" }, hit.of)];
    const title = element("span", { className: "found-title" }, hit.title);
    return element("a", { href: address }, title, ...page, element("span", { className: "found-text" }, ...said));
  }

  function show(results, query) {
    const { say } = window.searchIndex;
    const hits = query ? window.bookSearch.find(query) : [];
    const count = hits.length === 1 ? say.one : say.many.replace("{n}", hits.length);
    results.querySelector("p").textContent = query && (hits.length ? count : say.nothing);
    const glossary = element("a", { href: `${ROOT}glossary.html` }, element("span", { className: "found-title" }, say.glossary));
    const links = query && !hits.length ? [glossary] : hits.map(linkTo);
    results.querySelector("ul").replaceChildren(...links.map((link) => element("li", {}, link)));
  }

  function connect(form) {
    const field = form.querySelector("input[name=q]");
    const popup = form.closest("dialog, .search-button__search-container"); // the second: the older theme's (Python 3.10)
    const results = element("section", { className: "found" }, element("p", { role: "status" }), element("ul"));
    form.after(results);

    async function update() {
      try {
        await load();
      } catch {
        for (const sentence of document.querySelectorAll(".search-failed")) sentence.hidden = false;
        return;
      }
      show(results, field.value.trim());
      if (!popup) history.replaceState(history.state, "", field.value ? `?q=${encodeURIComponent(field.value)}` : location.pathname);
    }

    field.addEventListener("focus", () => load().catch(() => {}), { once: true });
    field.addEventListener("input", (event) => event.isComposing || update()); // the letters of an input method are no query yet
    field.addEventListener("compositionend", update);
    form.parentElement.addEventListener("keydown", (event) => {
      const stops = [field, ...results.querySelectorAll("a")];
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      const next = stops[stops.indexOf(document.activeElement) + step];
      if (!step || !next) return;
      next.focus();
      event.preventDefault();
    });
    results.addEventListener("click", (event) => event.target.closest("a") && popup?.close?.());

    const asked = popup ? null : new URLSearchParams(location.search).get("q");
    if (!popup) field.focus();
    if (asked) {
      field.value = asked;
      update();
    }
  }

  document.querySelectorAll("form.bd-search").forEach(connect);
})();
