"""A copy of the project with one page, to build and to spoil."""

import os
import shutil
from pathlib import Path

from languages import EDITIONS, FIRST, ROOT

HEAD = (ROOT / "book" / FIRST.code / "index.md").read_text(encoding="utf-8").split("\n# ")[0]  # the header of a page


def copy_project(folder: Path) -> Path:
    """Copy the project; the copy's package is its own. Its path has blank and Chinese letters."""
    book = folder / "我的 课程"
    for name in ("book", "src", "tools", "_config.yml", "_toc.yml", "package-lock.json"):
        source = ROOT / name
        shutil.copytree(source, book / name) if source.is_dir() else shutil.copy(source, book)
    (book / "node_modules").symlink_to(ROOT / "node_modules")
    return book


def copy_book(folder: Path) -> Path:
    """Copy the project, with no page and no figure yet."""
    book = copy_project(folder)
    pages = [page for edition in EDITIONS for page in (book / "book" / edition).glob("*.md")]
    figures = (book / "src" / "why_attention" / "figures").glob("[!_]*.py")
    for path in [*pages, *figures]:
        path.unlink()
    (book / "_toc.yml").write_text(f"format: jb-book\nroot: book/{FIRST.code}/index\n", encoding="utf-8")
    return book


def write_page(book: Path, text: str, edition: str = FIRST.code) -> None:
    (book / "book" / edition / "index.md").write_text(f"{HEAD}\n# 页\n\n{text}\n", encoding="utf-8")


def cell(code: str) -> str:
    return f"\n```{{code-cell}} python\n{code.strip()}\n```\n"


def environment(book: Path) -> dict:
    return {**os.environ, "PYTHONPATH": str(book / "src")}
