// Highlights on a page the words of the search that led here: recurrence.html?highlight=LSTM+遗忘门#section
// The CSS Custom Highlight API changes no element, so formulas and figures stay what they are.

window.bookSearch = (() => {
  const HAN = "\\p{Script=Han}";
  const WORD = `\\d+(?:[.,]\\d+)+|(?:(?!${HAN})[\\p{L}\\p{M}\\p{N}_])+`;

  // The pieces of a text that are words: runs of Chinese characters, numbers, words of letters.
  const pieces = (text) => text.match(new RegExp(`${HAN}+|${WORD}`, "gu")) ?? [];
  const normalize = (text) => text.normalize("NFKC").toLowerCase();

  // Where a text has one of some words, as pairs of indices: a Chinese word or a sign anywhere, any other from its start,
  // and one or two letters alone.
  function occurrences(text, words) {
    const beginnings = words.filter((word) => new RegExp(`^(?:${WORD})$`, "u").test(word));
    const literal = words.filter((word) => !beginnings.includes(word)).sort((a, b) => b.length - a.length);
    const escaped = literal.map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"));
    const found = [];
    for (const { 0: piece, index } of text.matchAll(new RegExp([...escaped, WORD].join("|"), "giu"))) {
      const parts = [normalize(piece), ...normalize(piece).split("_")]; // causal_mask is found as mask, too
      const begins = (part) => beginnings.some((word) => (word.length > 2 ? part.startsWith(word) : part === word));
      if (parts.some((part) => literal.includes(part) || begins(part))) {
        found.push([index, index + piece.length]);
      }
    }
    return found;
  }

  const SKIPPED = ".katex, .headerlink, .explorable > :not(figcaption), script, style, button, noscript";
  const BLOCKS = "p, li, td, th, h1, h2, h3, h4, figcaption, pre, summary, caption, div";

  // The text nodes of an element, those of one block together: a word may go through several.
  function blocks(root) {
    const found = new Map();
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, (node) => {
      if (node.nodeType === Node.TEXT_NODE) return NodeFilter.FILTER_ACCEPT;
      return node.matches(SKIPPED) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_SKIP;
    });
    while (walker.nextNode()) {
      const block = walker.currentNode.parentElement.closest(BLOCKS) ?? root;
      found.set(block, [...(found.get(block) ?? []), walker.currentNode]);
    }
    return [...found.values()];
  }

  function ranges(nodes, words) {
    const text = nodes.map((node) => node.data).join("");
    const place = (offset) => {
      let before = 0;
      for (const node of nodes) {
        if (offset <= before + node.length) return [node, offset - before];
        before += node.length;
      }
    };
    return occurrences(text, words).map(([start, end]) => {
      const range = new Range();
      range.setStart(...place(start));
      range.setEnd(...place(end));
      return range;
    });
  }

  // Opens what is folded, such as an answer, where the section that the address names has the words nowhere else.
  function unfold(found) {
    const [anchor] = new URLSearchParams(location.hash.slice(1)).keys(); // #section&figure:k=5
    const section = document.getElementById(anchor);
    const elements = found.map((range) => range.startContainer.parentElement).filter((element) => section?.contains(element));
    const folds = elements.map((element) => !element.closest("summary") && element.closest("details:not([open])"));
    if (folds.length && folds.every(Boolean)) folds[0].open = true;
  }

  function highlight() {
    const words = (new URLSearchParams(location.search).get("highlight") ?? "").split(" ").filter(Boolean).map(normalize);
    const article = document.querySelector("article.bd-article");
    if (!words.length || !article || !window.Highlight) return;
    const find = () => blocks(article).flatMap((nodes) => ranges(nodes, words));
    const mark = () => CSS.highlights.set("found", new Highlight(...find()));
    mark();
    unfold(find());
    const redrawn = new MutationObserver(mark); // a figure that comes to life writes its caption anew
    for (const caption of article.querySelectorAll("figcaption")) redrawn.observe(caption, { childList: true });
    const button = document.createElement("button");
    button.className = "clear-highlights";
    button.append(document.querySelector("#clear-highlights").content.cloneNode(true));
    document.body.append(button);

    function clear() {
      redrawn.disconnect();
      CSS.highlights.delete("found");
      button.remove();
      document.removeEventListener("keydown", onKey);
      const address = new URL(location);
      address.searchParams.delete("highlight"); // a reload is to show none; the fragment, which figures write, stays
      history.replaceState(history.state, "", address.pathname + address.search + location.hash);
    }

    const onKey = (event) => event.key === "Escape" && !document.querySelector("dialog[open]") && clear();
    button.addEventListener("click", clear);
    document.addEventListener("keydown", onKey);
  }

  if (globalThis.document) highlight();
  return { normalize, occurrences, pieces };
})();
