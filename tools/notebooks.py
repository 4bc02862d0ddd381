"""Derive a notebook from every page of both editions, into _notebooks/: `python tools/notebooks.py`

The same pages give the same notebooks, byte for byte; they hold no outputs. A notebook that a reader has changed is
never lost: it stays as long as its page does, and is set aside when the page has changed.
"""

import hashlib
import re
from pathlib import Path

import jupytext
import nbformat

ROOT = Path(__file__).parents[1]
NOTEBOOKS = ROOT / "_notebooks"
EDITIONS = ("zh", "en")
LINK = re.compile(r"(\]\((?!\w+:)[^)\s#]+)\.md(?=[)#])")  # to another page of the book
# A line break in Chinese text, which JupyterLab would show as a space: after full-width punctuation, before text that
# goes on in the same paragraph (and the same quotation).
BREAK = re.compile(r"(?<=[。？！；：，、）”])\n(?:> )?(?=[^\s#>|*+<`$\d-]|\*\*|`(?!``)|\$(?!\$)|\d+[^.\d])")


def derive(page: Path, edition: str) -> str:
    """Return a page as a notebook's text."""
    notebook = jupytext.read(page, fmt="md:myst")
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"  # jupytext draws them at random
        if cell.cell_type == "markdown":
            cell.source = LINK.sub(r"\1.ipynb", cell.source)
            if edition == "zh":
                cell.source = BREAK.sub("", cell.source)
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
        return nbformat.read(notebook, as_version=4).metadata["why_attention"]["derived"]
    except (nbformat.reader.NotJSONError, nbformat.ValidationError, KeyError):
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
