"""Derive a notebook from every page of every edition, into _notebooks/ or another folder: `python tools/notebooks.py [folder]`

The same pages give the same notebooks, byte for byte; they hold no outputs. Each begins by saying how to run all its cells;
then comes a folded cell that installs the package where it is missing, as on Colab, and nothing where it is there. A
notebook that a reader has changed is never lost: it stays as long as its page does, and is set aside when the page has
changed. One that they have only run is replaced.
"""

import hashlib
import json
import re
import shutil
import sys
from pathlib import Path

import jupytext
import nbformat
from address import edition_address
from editions import EDITIONS, Edition
from environment import ROOT, say
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from repository import colab, repository, source

sys.path.append(str(ROOT / "book" / "_ext"))  # where the site's rules are
from chinese_lines import needs_no_space  # noqa: E402

NOTEBOOKS = ROOT / "_notebooks"
RUN_ALL = "First run all cells, for a figure appears once its cell has run: in JupyterLab **Run → Run All Cells**, on Colab **Runtime → Run all**."
LINK = re.compile(r"\]\(((?!\w+:)[^)\s#]+)\.md(?=[)#])")  # to another page of the book
FIRST_CELL = """\
# @title {title} {{ display-mode: "form" }}
import importlib.util
import subprocess
import sys

if importlib.util.find_spec("why_attention") is None:
    {install}
if "google.colab" in sys.modules:
    from google.colab import output

    output.enable_custom_widget_manager()  # the figures are widgets of the chapter's own"""
LINKS = """

from explorable import set_address

set_address("{}")  # where a link to a figure's state leads"""
TITLE = "Getting ready: installs what is missing (about a minute the first time)"
NOWHERE = "why_attention is missing: run pip install . in the folder of the book"
INSTALL = """\
command = [sys.executable, "-m", "pip", "install", "-qq", "{source}"]
    if subprocess.run(command).returncode != 0:  # what Colab has stays
        raise ModuleNotFoundError("{failed}")"""
FAILED = "why_attention could not be installed: see whether this machine reaches the network, then run this cell again"
MARKDOWN = MarkdownIt("commonmark").enable("table").use(dollarmath_plugin)


def join_lines(text: str) -> str:
    """Return Chinese Markdown without the line breaks that JupyterLab would show as a space where none belongs."""
    lines = text.split("\n")
    paragraphs = [token for token in MARKDOWN.parse(text) if token.type == "inline" and token.map]
    for paragraph in reversed(paragraphs):
        contents = paragraph.content.split("\n")  # without the marks of a quotation or list, which lines may begin with
        for number in range(len(contents) - 1, 0, -1):
            before = read_lines(contents)
            if len(before) != len(contents):
                break  # code that goes over lines
            if contents[number].startswith("$$") or not needs_no_space(before[number - 1], before[number]):
                continue
            joined = [*contents[: number - 1], contents[number - 1] + contents[number], *contents[number + 1 :]]
            if "".join(read_lines(joined)) == "".join(before):  # else marks would mean something else: **甲。**乙
                lines[paragraph.map[0] + number - 1] += contents[number]
                del lines[paragraph.map[0] + number]
                contents = joined
    return "\n".join(lines)


def read_lines(contents: list[str]) -> list[str]:
    """Return the lines of a paragraph as they are read, without marks; what is no mere break ends in a blank."""
    (paragraph,) = MARKDOWN.parseInline("\n".join(contents))
    breaks = {"softbreak": "\n", "hardbreak": " \n "}
    return "".join(breaks.get(child.type, child.content) for child in paragraph.children).split("\n")


def first_cell(edition: Edition, repository: str, public: str) -> nbformat.NotebookNode:
    """Return the cell that makes a notebook run where nothing was installed for it. public: the page's address, if any."""
    if repository:
        install = INSTALL.format(source=source(repository), failed=edition.translate(FAILED))
    else:
        install = f'raise ModuleNotFoundError("{edition.translate(NOWHERE)}")'
    folded = {"cellView": "form", "jupyter": {"source_hidden": True}}  # as Colab and JupyterLab say it
    code = FIRST_CELL.format(title=edition.translate(TITLE), install=install) + (LINKS.format(public) if public else "")
    return nbformat.v4.new_code_cell(code, metadata=folded)


def derive(page: Path, edition: str, repository: str = "", on_colab: bool = False) -> str:
    """Return a page as a notebook's text.

    repository: owner/name, from which its first cell installs.  on_colab: whether links to other pages lead to Colab,
    which knows no other files, and not to the notebook beside.
    """
    notebook = jupytext.read(page, fmt="md:myst")
    run_all = nbformat.v4.new_markdown_cell(EDITIONS[edition].translate(RUN_ALL))
    public = edition_address(EDITIONS[edition])
    public = f"{public}{page.stem}.html" if public else ""
    notebook.cells[:0] = [run_all, first_cell(EDITIONS[edition], repository, public)]
    beside = colab(repository, f"book/{edition}/") if on_colab else ""
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"  # jupytext draws them at random
        if cell.cell_type == "markdown":
            cell.source = LINK.sub(rf"]({beside}\1.ipynb", cell.source)
            if EDITIONS[edition].language.startswith("zh"):
                cell.source = join_lines(cell.source)
    del notebook.metadata["jupytext"]  # it speaks of the page, not of the notebook
    notebook.metadata["language_info"] = {"name": "python"}
    notebook.metadata["why_attention"] = {"cells": digest_cells(notebook)}
    notebook.metadata["why_attention"] |= {"derived": digest(nbformat.writes(notebook))}
    return nbformat.writes(notebook) + "\n"


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def digest_cells(notebook: nbformat.NotebookNode) -> str:
    """Return a digest of what a reader reads and writes: no outputs, no metadata, no empty cell, as JupyterLab puts at the end."""
    return digest(json.dumps([[cell.cell_type, cell.source] for cell in notebook.cells if cell.source.strip()]))


def read_digests(notebook: Path) -> tuple[str, bool]:
    """Return the digest of the page that a notebook was derived from, and whether a reader has changed its cells since."""
    try:
        read = nbformat.read(notebook, as_version=4)
        made = read.metadata["why_attention"]
        return made["derived"], made.get("cells") != digest_cells(read)
    except Exception:  # no notebook of ours, or none at all: nbformat raises whatever its parts do
        return "", True


def write(text: str, target: Path) -> None:
    """Write a notebook where there is none of the same page; set aside what a reader has made of one of an earlier page."""
    aside = None
    if target.exists():
        derived, changed = read_digests(target)
        if derived == nbformat.reads(text, as_version=4).metadata["why_attention"]["derived"]:
            return
        if changed:
            aside = next(
                path for n in range(1, 10**6) if not (path := target.with_suffix(f".before-{n}.ipynb")).exists()
            )
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_suffix(".unfinished")
    try:
        unfinished.write_text(text, encoding="utf-8", newline="\n")
        if aside:
            shutil.copy2(target, aside)
        unfinished.replace(target)  # whole or not at all
    finally:
        unfinished.unlink(missing_ok=True)
    if aside:
        say(f"{target.name} has changed; your notebook of the page as it was is now {aside.name}")


def main(folder: Path = NOTEBOOKS, on_colab: bool = False) -> None:
    address = repository()
    for edition in EDITIONS:
        for page in sorted((ROOT / "book" / edition).glob("*.md")):
            write(derive(page, edition, address, on_colab), folder / edition / f"{page.stem}.ipynb")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
