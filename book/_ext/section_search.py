"""Search by sections: an index of their words, which a browser loads with the engine, MiniSearch, at the first search.

Index and engine are classic scripts, for a browser fetches nothing for a page that is opened from a file. Sphinx's own
search finds pages, not sections, and takes a word of two letters, so every pair of Han characters, as one that a page
may lack; what it loads on every page is left out.
"""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from bs4 import BeautifulSoup
from bs4.element import NavigableString, Tag
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.locale import _

ENGINE = Path(__file__).parents[2] / "node_modules" / "minisearch" / "dist" / "umd" / "index.js"
OF_SPHINX = ["doctools.js", "language_data.js", "searchtools.js", "sphinx_highlight.js", "translations.js"]
UNREAD = {"annotation", "button", "noscript", "script", "style", "svg"}  # elements
UNREAD_CLASSES = {"headerlink", "katex-html", "linenos"}  # the second: KaTeX sets each formula twice
BLOCKS = {"br", "div", "h1", "h2", "h3", "h4", "li", "p", "pre", "td", "th"}  # where one ends, so does a word
SINGLE = re.compile(r"[^\s+−=/,⋅×()-]*")  # what needs no brackets below a line or a root
INVISIBLE = re.compile("[\u2061-\u2064\u200b]")  # MathML's signs of what is applied or multiplied


def linearize(node: Tag | NavigableString) -> str:
    """Return MathML in one line: √d_k, (a+b)/c, x^2."""
    if isinstance(node, NavigableString):
        return INVISIBLE.sub("", str(node)).strip("\n")
    parts = [linearize(child) for child in node.children if child.name != "annotation"]
    whole = [part if SINGLE.fullmatch(part) else f"({part})" for part in parts]
    if node.name in ("msub", "munder", "msup"):
        return f"{parts[0]}{'^' if node.name == 'msup' else '_'}{whole[1]}"
    if node.name in ("msubsup", "munderover"):
        return f"{parts[0]}_{whole[1]}^{whole[2]}"
    if node.name == "mover":  # a hat, a bar
        return parts[0]
    if node.name == "mfrac":
        return "/".join(whole)
    if node.name == "msqrt":
        inside = "".join(parts)
        return f"√{inside}" if SINGLE.fullmatch(inside) else f"√({inside})"
    return (" " if node.name in ("mtable", "mtr") else "").join(parts)


def own_text(element: Tag, apart: set[int], code: bool = False) -> Iterator[tuple[str, bool]]:
    """Yield the pieces of an element's text and whether each is code; apart: ids of the elements that are left out."""
    for child in element.children:
        if isinstance(child, NavigableString):
            yield str(child), code
        elif child.name in UNREAD or id(child) in apart or not UNREAD_CLASSES.isdisjoint(child.get("class", [])):
            continue
        elif child.name == "math":
            yield linearize(child), code
        elif "explorable" in child.get("class", []):  # its picture tells what the live figure will show
            yield f" {child['data-name']} {child.img['alt']} {child.figcaption.get_text()} ", code
        else:
            yield from own_text(child, apart, code or child.name == "pre")
            if child.name in BLOCKS:
                yield "\n", code


def explained(article: Tag) -> dict[int, list[str]]:
    """Return what each section explains, by its id(): the words in bold of its sentences, the names of its figures."""
    found: dict[int, list[str]] = {}
    for element in article.find_all(["strong", "figure"]):
        section = element.find_parent(["section", "tr"])
        if element.name == "figure" and "data-name" in element.attrs:
            words = element["data-name"].replace("-", " ")
        elif element.name == "strong" and not element.find_parent(["li", "tr", "blockquote", "details"]):
            words = element.get_text()
        else:
            continue
        found.setdefault(id(section), []).append(words)
    return found


def read_sections(html: str) -> list[dict]:
    """Return a page's sections, and the rows of its tables that have an address: what each says, and what it explains."""
    article = BeautifulSoup(html, "html.parser").find("article", "bd-article")
    parts = article.find_all(["section", "tr"], id=True)
    headings = [part.find(["h1", "h2", "h3", "h4"], recursive=False) or part.strong or part.td for part in parts]
    apart = {id(element) for element in parts + headings}
    terms = explained(article)
    found = []
    for part, heading in zip(parts, headings):
        pieces = list(own_text(part, apart))
        texts = {
            "title": "".join(text for text, _code in own_text(heading, apart)),
            "text": "".join(text for text, code in pieces if not code),
            "code": "".join(text for text, code in pieces if code),
        }
        section = {"anchor": part["id"]} | {name: " ".join(text.split()) for name, text in texts.items()}
        found.append(section | ({"row": True} if part.name == "tr" else {"terms": terms.get(id(part), [])}))
    return found


def say() -> dict[str, str]:
    """Return what the search field says, in the language of the edition."""
    return {
        "nothing": _("No page holds all of these words."),
        "glossary": _("All terms and symbols of this book"),
        "one": _("1 place"),
        "many": _("{n} places"),
    }


def write_index(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.name != "html":  # an e-book has a reader's own search
        return
    out = Path(app.outdir)
    sections = []
    for page in sorted(app.env.found_docs):
        path = app.builder.get_target_uri(page)
        read = read_sections((out / path).read_text(encoding="utf-8"))
        sections += [{"page": path, "of": read[0]["title"], **section} for section in read]
    index = json.dumps({"say": say(), "sections": sections}, ensure_ascii=False, separators=(",", ":"))
    (out / "_static" / "search-index.js").write_text(f"window.searchIndex = {index};\n", encoding="utf-8")
    shutil.copy(ENGINE, out / "_static" / "minisearch.js")
    for name in OF_SPHINX:
        (out / "_static" / name).unlink(missing_ok=True)


def replace_sphinx(app: Sphinx) -> None:
    if app.builder.name != "html":
        return
    app.builder.search = False
    app.add_css_file("search.css")
    for name in ("highlight.js", "search-field.js"):
        app.add_js_file(name, defer="defer")


def add_search_page(app: Sphinx) -> Iterator[tuple[str, dict, str]]:
    if app.builder.name == "html":
        yield "search", {"title": _("Search")}, "search.html"


def drop_scripts(app: Sphinx, pagename: str, template: str, context: dict, doctree: object) -> None:
    names = tuple(f"_static/{name}" for name in OF_SPHINX)
    context["script_files"] = [one for one in context["script_files"] if not str(one.filename).startswith(names)]


def setup(app: Sphinx) -> dict:
    if not ENGINE.exists():
        raise ExtensionError(f"{ENGINE} is missing: run `make setup` once")
    app.connect("builder-inited", replace_sphinx)
    app.connect("html-collect-pages", add_search_page)
    app.connect("html-page-context", drop_scripts)
    app.connect("build-finished", write_index)
    return {"parallel_read_safe": True}
