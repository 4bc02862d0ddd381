"""Derive a notebook from every page of both editions, into _notebooks/ or another folder: `python tools/notebooks.py [folder]`

The same pages give the same notebooks, byte for byte; they hold no outputs. Each begins with a folded cell that installs
the package where it is missing, as on Colab, and nothing where it is there. A notebook that a reader has changed is
never lost: it stays as long as its page does, and is set aside when the page has changed.
"""

import hashlib
import json
import re
import sys
from pathlib import Path

import jupytext
import nbformat
from environment import ROOT
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from repository import colab, repository, source

NOTEBOOKS = ROOT / "_notebooks"
EDITIONS = ("zh", "en")
LINK = re.compile(r"\]\(((?!\w+:)[^)\s#]+)\.md(?=[)#])")  # to another page of the book
FULL = re.compile("[。？！；：，、）”》…][*_]*$")  # punctuation that carries its own white space, and marks that close
FIRST = """\
# @title {title} {{ display-mode: "form" }}
import importlib.util
import subprocess
import sys

if importlib.util.find_spec("why_attention") is None:
    {install}
if "google.colab" in sys.modules:
    from google.colab import output

    output.enable_custom_widget_manager()  # the figures are widgets of the chapter's own"""
TITLES = {
    "zh": "准备：缺什么装什么（第一次约一分钟）",
    "en": "Getting ready: installs what is missing (about a minute the first time)",
}
INSTALL = 'subprocess.check_call([sys.executable, "-m", "pip", "install", "-qq", "{source}"])  # what Colab has stays'
NOWHERE = {
    "zh": 'raise ModuleNotFoundError("这里没有 why_attention：请在书的文件夹里运行 pip install .")',
    "en": 'raise ModuleNotFoundError("why_attention is missing: run pip install . in the folder of the book")',
}
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


def first_cell(edition: str, repository: str) -> nbformat.NotebookNode:
    """Return the cell that makes a notebook run where nothing was installed for it."""
    install = INSTALL.format(source=source(repository)) if repository else NOWHERE[edition]
    folded = {"cellView": "form", "jupyter": {"source_hidden": True}}  # as Colab and JupyterLab say it
    return nbformat.v4.new_code_cell(FIRST.format(title=TITLES[edition], install=install), metadata=folded)


def derive(page: Path, edition: str, repository: str = "", on_colab: bool = False) -> str:
    """Return a page as a notebook's text.

    repository: owner/name, from which its first cell installs.  on_colab: whether links to other pages lead to Colab,
    which knows no other files, and not to the notebook beside.
    """
    notebook = jupytext.read(page, fmt="md:myst")
    notebook.cells.insert(0, first_cell(edition, repository))
    beside = colab(repository, f"book/{edition}/") if on_colab else ""
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"  # jupytext draws them at random
        if cell.cell_type == "markdown":
            cell.source = LINK.sub(rf"]({beside}\1.ipynb", cell.source)
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


def main(folder: Path = NOTEBOOKS, on_colab: bool = False) -> None:
    address = repository()
    for edition in EDITIONS:
        for page in sorted((ROOT / "book" / edition).glob("*.md")):
            write(derive(page, edition, address, on_colab), folder / edition / f"{page.stem}.ipynb")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
