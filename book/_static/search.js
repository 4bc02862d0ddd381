// What a query finds in search-index.js. MiniSearch ranks the sections that have all pieces of a word; those pieces are
// words of letters, and every two neighbouring characters of Chinese, which needs no dictionary.

(() => {
  const { normalize, occurrences, pieces } = window.bookSearch;
  const { sections } = window.searchIndex;
  const HAN = /^\p{Script=Han}/u;
  const PUNCTUATION = /^[\p{Pi}\p{Pf}"']+|[\p{Pi}\p{Pf}"'.,;:!?。、]+$/gu; // of the sentence around a word
  const pairs = (run) => Array.from({ length: Math.max(1, run.length - 1) }, (_, i) => run.slice(i, i + 2));

  // A row of a table has no heading: what stands in bold in it is a sentence.
  const documents = sections.map(({ title, text, code, row, terms = [] }, id) => {
    return row ? { id, title: "", text: `${title} ${text}`, code, terms } : { id, title, text, code, terms };
  });
  const normalized = documents.map(({ title, text, code, terms }) => ({
    title: normalize(title),
    whole: normalize([title, text, code].join("\n")),
    terms: terms.map(normalize),
  }));

  const index = new window.MiniSearch({
    fields: ["title", "terms", "text", "code"],
    extractField: (document, field) => (field === "terms" ? document.terms.join("\n") : document[field]),
    // the last character of a run begins no pair; a word with underscores is found by its parts, too
    tokenize: (text) =>
      pieces(text).flatMap((piece) => {
        if (HAN.test(piece)) return piece.length > 1 ? [...pairs(piece), piece.at(-1)] : [piece];
        return piece.includes("_") ? [piece, ...piece.split("_").filter(Boolean)] : [piece];
      }),
    processTerm: (term) => normalize(term).replace(/([a-z]{3})s$/, "$1"), // gradients are a gradient
    searchOptions: {
      tokenize: (word) => pieces(word).flatMap((piece) => (HAN.test(piece) ? pairs(piece) : [piece])),
      boost: { title: 4, terms: 2, code: 0.2 },
    },
  });
  index.addAll(documents);

  // The sections that hold a word: Map from section to its score, with the words that it has there.
  function holding(word) {
    const matches = (options) => new Map(index.search(word, options).map(({ id, score, terms }) => [id, { score, words: terms }]));
    if (isPlain(word)) {
      const found = matches({ prefix: word.length > 2 });
      return found.size ? found : matches({ fuzzy: word.length > 3 && 0.2 }); // misspelt
    }
    const filter = ({ id }) => normalized[id].whole.includes(word); // as it was typed
    const found = pieces(word).length
      ? matches({ filter, prefix: word.length === 1 })
      : new Map(documents.filter(filter).map(({ id }) => [id, { score: 1 }])); // a sign, such as ∂
    for (const match of found.values()) match.words = [word];
    return found;
  }

  const isPlain = (word) => !HAN.test(word) && pieces(word)[0] === word;

  // The words of a part of a query, as it was typed where that stands somewhere; else its pieces, and of Chinese the words
  // that the browser knows.
  function wordsOf(part) {
    if (isPlain(part) || holding(part).size || !pieces(part).length) return [part];
    return pieces(part).flatMap((piece) => (isPlain(piece) || holding(piece).size ? [piece] : segment(piece)));
  }

  function segment(run) {
    const segments = Intl.Segmenter ? new Intl.Segmenter("zh", { granularity: "word" }).segment(run) : [];
    const words = [...segments].map((one) => one.segment).filter((word) => word.length > 1);
    return words.length ? words : [run];
  }

  function weigh(id, query, asked, matches) {
    const held = matches.map((match) => match.get(id)).filter(Boolean);
    const { title, whole, terms } = normalized[id];
    let score = held.reduce((sum, match) => sum + match.score, 0) * (held.length / matches.length) ** 2;
    if (whole.includes(query)) score *= 2; // its words side by side
    if (title.includes(query)) score *= 2;
    if (terms.includes(query)) score *= 10;
    if (title === query) score *= 100;
    const words = [...new Set(matches.flatMap((match, i) => match.get(id)?.words ?? asked[i]))];
    return { ...sections[id], score, all: held.length === matches.length, words };
  }

  // The sections that hold all words of a query, best first; of a page that has them only in several, the best one.
  function find(text) {
    const parts = normalize(text)
      .split(/\s+/)
      .map((part) => part.replace(PUNCTUATION, ""))
      .filter(Boolean);
    const query = parts.join(" ");
    const asked = [...new Set(parts.flatMap(wordsOf))];
    const matches = asked.map(holding);
    const hits = [...new Set(matches.flatMap((match) => [...match.keys()]))].map((id) => weigh(id, query, asked, matches));
    hits.sort((a, b) => b.score - a.score);
    const pagesOf = matches.map((match) => new Set([...match.keys()].map((id) => sections[id].page)));
    const whole = new Set(hits.filter(({ all }) => all).map(({ page }) => page));
    return hits.filter(({ page, all }) => {
      if (all) return true;
      const first = !whole.has(page) && pagesOf.every((pages) => pages.has(page));
      whole.add(page);
      return first;
    });
  }

  // What a section says around the first of some words, in pieces: [text, whether it is one of the words].
  function excerpt({ text, code, words }) {
    const source = [text, code].find((one) => occurrences(one, words).length) ?? (text || code);
    const first = occurrences(source, words)[0]?.[0] ?? 0;
    const space = source.lastIndexOf(" ", Math.max(0, first - 30));
    const start = first < 40 ? 0 : space > first - 50 ? space + 1 : first - 30; // at a word, where blanks part them
    const shown = (start ? "…" : "") + source.slice(start, start + 180) + (start + 180 < source.length ? "…" : "");
    const found = [];
    let end = 0;
    for (const [from, to] of occurrences(shown, words)) {
      found.push([shown.slice(end, from), false], [shown.slice(from, to), true]);
      end = to;
    }
    return [...found, [shown.slice(end), false]];
  }

  Object.assign(window.bookSearch, { find, excerpt });
})();
