"""Frames on disk, so that both editions of the book, and every later build, draw the very same numbers.

The store is the folder named by the environment variable FIGURE_CACHE; without it nothing is kept, nor is what a
module outside the package computes, such as a reader's notebook, whose code may change at any time. A stored
block's name holds a fingerprint of what computed it, so a change of any line of the figure's module or of those that it
imports, of a stored result, or of torch or numpy, computes it afresh.
"""

import ast
import hashlib
import os
from collections.abc import Callable
from importlib.metadata import version
from importlib.util import resolve_name
from pathlib import Path

__all__ = ["stored"]

PACKAGE = Path(__file__).parents[1]
NAME = __name__.partition(".")[0]  # of the package


def fingerprint(module: str) -> str:
    """Return a digest of what a module computes with: source, stored results (JSON), and the versions of libraries."""
    digest = hashlib.sha256(f"torch {version('torch')} numpy {version('numpy')}".encode())
    for path in sorted([*sources_of(module), *PACKAGE.rglob("*.json")]):
        digest.update(path.relative_to(PACKAGE).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def sources_of(module: str) -> set[Path]:
    """Return the files of the package that a module is made of: its own and, in turn, those of all that it imports."""
    files, left = set(), [module]
    while left:
        name = left.pop()
        path = file_of(name)
        if path is None or path in files:
            continue
        files.add(path)
        left.append(name.rpartition(".")[0])  # to import a module runs the packages around it
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                left += [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                around = name if path.stem == "__init__" else name.rpartition(".")[0]
                base = resolve_name("." * node.level + (node.module or ""), around)
                left += [
                    base,
                    *(f"{base}.{alias.name}" for alias in node.names),
                ]  # names of modules, or of what is in them
    return files


def file_of(name: str) -> Path | None:
    """Return the file of a module of the package, or None where a name is none."""
    first, *parts = name.split(".")
    path = PACKAGE.joinpath(*parts)
    found = [file for file in (path.with_suffix(".py"), path / "__init__.py") if first == NAME and file.exists()]
    return found[0] if found else None


def stored(name: str, compute: Callable[[], bytes], module: str) -> bytes:
    """Return the block of that name from the store, or compute it and keep it there; module: where it is computed."""
    if not (folder := os.environ.get("FIGURE_CACHE")) or not sources_of(module):
        return compute()
    path = Path(folder) / f"{name}-{fingerprint(module)}.frames"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        for outdated in path.parent.glob(f"{name}-{'[0-9a-f]' * 16}.frames"):
            outdated.unlink(missing_ok=True)
        unfinished = path.with_suffix(f".{os.getpid()}")
        unfinished.write_bytes(compute())
        unfinished.replace(path)  # whole or not at all, also when two builds run side by side
    return path.read_bytes()
