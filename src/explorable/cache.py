"""Frames on disk, so that every later build draws the very same numbers without computing them.

A kept block's name holds a digest of what computed it: a change of any line of the figure's module or of those that it
imports, of a data file, or of a library's version computes it afresh.
"""

import ast
import hashlib
import os
from collections.abc import Callable, Iterable
from importlib.metadata import version
from importlib.util import resolve_name
from pathlib import Path

__all__ = ["Cache"]


class Cache:
    """A folder that keeps the frames of the figures of one module.

    folder: where they are kept; None keeps nothing.  module: the name of the module that makes the figures
    (``__name__``).  roots: the folders of the packages whose source counts; all JSON files in the module's own package
    count too.  versions: the libraries whose versions count.
    Raises ValueError for a module that is in none of the roots, such as a notebook: nobody could tell when it changes.
    """

    def __init__(self, folder: str | Path | None, module: str, roots: Iterable[Path], versions: Iterable[str] = ()):
        self.folder, self.module, self.versions = folder, module, list(versions)
        self.roots = {root.name: root for root in map(Path, roots)}
        if self.file_of(module) is None:
            raise ValueError(
                f"module {module!r} is in none of the packages {list(self.roots)}, so no change of it is seen"
            )

    def load(self, name: str, compute: Callable[[], bytes]) -> bytes:
        """Return the block of that name, or compute it and keep it."""
        if self.folder is None:
            return compute()
        path = Path(self.folder) / f"{name}-{self.digest()}.frames"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            for outdated in path.parent.glob(f"{name}-{'[0-9a-f]' * 16}.frames"):
                outdated.unlink(missing_ok=True)
            unfinished = path.with_suffix(f".{os.getpid()}")
            unfinished.write_bytes(compute())
            unfinished.replace(path)  # whole or not at all, also when two builds run side by side
        return path.read_bytes()

    def digest(self) -> str:
        """Return a digest of what the module computes with: source, data files (JSON), and the versions of libraries."""
        digest = hashlib.sha256(" ".join(f"{name} {version(name)}" for name in self.versions).encode())
        root = self.roots[self.module.partition(".")[0]]
        for path in sorted([*self.sources(), *root.rglob("*.json")]):
            digest.update(path.relative_to(root.parent).as_posix().encode() + path.read_bytes())
        return digest.hexdigest()[:16]

    def sources(self) -> set[Path]:
        """Return the files that the module is made of: its own and, in turn, those of all that it imports."""
        files: set[Path] = set()
        left = [self.module]
        while left:
            name = left.pop()
            path = self.file_of(name)
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
                    # names of modules, or of what is in them
                    left += [base, *(f"{base}.{alias.name}" for alias in node.names)]
        return files

    def file_of(self, name: str) -> Path | None:
        """Return the file of a module, or None if it is in no root."""
        first, *parts = name.split(".")
        if first not in self.roots:
            return None
        path = self.roots[first].joinpath(*parts)
        return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.exists()), None)
