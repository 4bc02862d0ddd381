"""Derive a notebook from every page of both editions, into _notebooks/: `python tools/notebooks.py`

The same pages give the same notebooks, byte for byte; they hold no outputs. A notebook that a reader has changed is
never lost: it stays as long as its page does, and is set aside when the page has changed.
"""

import hashlib
import json
import re
from pathlib import Path

import jupytext
import nbformat
from environment import ROOT
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

NOTEBOOKS = ROOT / "_notebooks"
EDITIONS = ("zh", "en")
LINK = re.compile(r"(\]\((?!\w+:)[^)\s#]+)\.md(?=[)#])")  # to another page of the book
FULL = re.compile("[。？！；：，、）”》…][*_]*$")  # punctuation that carries its own white space, and marks that close
MARKDOWN = MarkdownIt("commonmark").enable("table").use(dollarmath_plugin)


def joined(text: str) -> str:
    """Return Chinese Markdown without the line breaks after full-width punctuation, which JupyterLab shows as spaces."""
    lines = text.split("\n")
    paragraphs = [token for token in MARKDOWN.parse(text) if token.type == "inline" and token.map]
    for token in reversed(paragraphs):
        contents = token.content.split("\n")  # without the marks of a quotation or list, which its lines may begin with
        for number in range(len(contents) - 1, 0, -1):
            if FULL.search(contents[number - 1]) and not contents[number].startswith("$$"):  # which begins a display
                lines[token.map[0] + number - 1] += contents[number]
                del lines[token.map[0] + number]
                contents[number - 1] += contents[number]
    return "\n".join(lines)


def derive(page: Path, edition: str) -> str:
    """Return a page as a notebook's text."""
    notebook = jupytext.read(page, fmt="md:myst")
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"  # jupytext draws them at random
        if cell.cell_type == "markdown":
            cell.source = LINK.sub(r"\1.ipynb", cell.source)
            if edition == "zh":
                cell.source = joined(cell.source)
    del notebook.metadata["jupytext"]  # it speaks of the page, not of the notebook
    notebook.metadata["language_info"] = {"name": "python"}
    text = nbformat.writes(notebook)
    notebook.metadata["why_attention"] = {"derived": digest(text)}
    return nbformat.writes(notebook) + "\n"


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def derived_from(notebook: Path) -> str:
    """Return the digest of the page that a notebook was derived from, whatever a reader has done to it since."""
    try:
        return str(json.loads(notebook.read_bytes())["metadata"]["why_attention"]["derived"])
    except (ValueError, KeyError, TypeError):  # no notebook of ours, or none at all
        return ""


def write(text: str, target: Path) -> None:
    """Write a notebook where there is none of the same page; set aside one of an earlier page."""
    now = nbformat.reads(text, as_version=4).metadata["why_attention"]["derived"]
    if target.exists():
        if derived_from(target) == now:
            return
        aside = next(path for n in range(1, 10**6) if not (path := target.with_suffix(f".before-{n}.ipynb")).exists())
        target.rename(aside)
        print(f"── {target.name} has changed; your notebook of the page as it was is now {aside.name}", flush=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8", newline="\n")


def main(folder: Path = NOTEBOOKS) -> None:
    for edition in EDITIONS:
        for page in sorted((ROOT / "book" / edition).glob("*.md")):
            write(derive(page, edition), folder / edition / f"{page.stem}.ipynb")


if __name__ == "__main__":
    main()
