"""Search in Chinese: every two neighbouring Han characters are a term, in the index and in the query.

So a word of two characters is found wherever it stands, and a longer one by all its pairs; no dictionary decides
what a word is.
"""

import re
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.search.en import SearchEnglish

HAN = "\u3400-\u4dbf\u4e00-\u9fff"
PIECES = re.compile(rf"[{HAN}]+|[^\W{HAN}]+")


def split(text: str) -> list[str]:
    """Return Latin words, and the bigrams of each run of Han characters (a lone character is a term of its own)."""
    terms = []
    for piece in PIECES.findall(text):
        if re.match(f"[{HAN}]", piece):
            terms += [piece[i : i + 2] for i in range(max(1, len(piece) - 1))]
        else:
            terms.append(piece)
    return terms


class BigramSearch(SearchEnglish):
    lang = "zh"
    language_name = "Chinese"
    js_splitter_code = r"""
const HAN = "\u3400-\u4dbf\u4e00-\u9fff";
function splitQuery(query) {
  const pieces = query.match(new RegExp(`[${HAN}]+|(?:(?![${HAN}])[\\p{L}\\p{N}_])+`, "gu")) ?? [];
  return pieces.flatMap((piece) => {
    if (!new RegExp(`[${HAN}]`).test(piece)) return [piece];
    return Array.from({ length: Math.max(1, piece.length - 1) }, (_, i) => piece.slice(i, i + 2));
  });
}
"""

    def split(self, input: str) -> list[str]:
        return split(input)

    def word_filter(self, word: str) -> bool:
        return bool(re.match(f"[{HAN}]", word)) or super().word_filter(word)

    def stem(self, word: str) -> str:
        return word if re.match(f"[{HAN}]", word) else super().stem(word)


def check_splitter(app: Sphinx, exception: Exception | None) -> None:
    """See that the search page splits a query as the index is split."""
    if exception or app.builder.name != "html" or not app.config.language.startswith(BigramSearch.lang):
        return
    if BigramSearch.js_splitter_code not in Path(app.outdir, "_static", "language_data.js").read_text(encoding="utf-8"):
        raise ExtensionError(
            "language_data.js has no splitQuery of ours, so no Chinese query would find a word: Sphinx takes "
            "js_splitter_code of a search language no more, or writes it elsewhere (book/_ext/bigram_search.py)"
        )


def setup(app: Sphinx) -> dict:
    app.add_search_language(BigramSearch)
    app.connect("build-finished", check_splitter)
    return {"parallel_read_safe": True}
