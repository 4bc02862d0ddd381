"""Frames on disk, so that every later figure draws the very same numbers without computing them.

A kept block's name holds a digest of what computed it: a change of any line of the figure's module or of those that it
imports, or of a data file, computes it afresh. Versions of libraries do not count, so that frames serve whoever gets them.
"""

import ast
import hashlib
import warnings
import zlib
from collections.abc import Callable, Iterable
from importlib.util import resolve_name
from pathlib import Path
from uuid import uuid4

__all__ = ["Cache"]


class Cache:
    """A folder that keeps the frames of the figures of one module.

    folder: where they are kept; None keeps nothing.  module: the name of the module that makes the figures
    (``__name__``).  roots: the folders of the packages whose source counts; all JSON files in the module's own package
    count too.
    Raises ValueError for a module that is in none of the roots, such as a notebook: nobody could tell when it changes.
    """

    def __init__(self, folder: str | Path | None, module: str, roots: Iterable[Path]):
        self.folder, self.module = folder, module
        self.roots = {root.name: root for root in map(Path, roots)}
        if self.file_of(module) is None:
            raise ValueError(
                f"module {module!r} is in none of the packages {list(self.roots)}, so no change of it is seen"
            )

    def load(self, name: str, compute: Callable[[], bytes]) -> bytes:
        """Return the block (zlib) of that name, or compute it and keep it.

        Where it cannot be read or kept, it is computed all the same, with a warning that says why.
        """
        if self.folder is None:
            return compute()
        path = Path(self.folder) / f"{name}-{self.digest()}.frames"
        try:
            block = path.read_bytes()
            if is_whole(block):
                return block
            warn(f"{path} is damaged, so {name} is computed anew")
        except FileNotFoundError:
            pass
        except OSError as error:
            warn(f"{path} cannot be read ({error}), so {name} is computed anew")
        block = compute()
        try:
            keep(block, path)
            for outdated in path.parent.glob(f"{name}-{'[0-9a-f]' * 16}.frames"):
                if outdated != path:
                    outdated.unlink(missing_ok=True)
        except OSError as error:
            warn(f"{name} cannot be kept in {path.parent} ({error}), so it will be computed anew every time")
        return block

    def digest(self) -> str:
        """Return a digest of what the module computes with: source and data files (JSON), the same on every system."""
        digest = hashlib.sha256()
        files = self.sources() | set(self.roots[self.module.partition(".")[0]].rglob("*.json"))
        around = {path: next(root for root in self.roots.values() if root in path.parents) for path in files}
        named = {path.relative_to(root.parent).as_posix(): path for path, root in around.items()}
        for name, path in sorted(named.items()):
            digest.update(name.encode() + path.read_text(encoding="utf-8").encode())  # as text: with any ends of lines
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


def is_whole(block: bytes) -> bool:
    """Return whether a block is a zlib stream, to its end and no further; it holds a checksum of its own."""
    stream = zlib.decompressobj()
    try:
        stream.decompress(block)
    except zlib.error:
        return False
    return stream.eof and not stream.unused_data


def keep(block: bytes, path: Path) -> None:
    """Write a file whole or not at all, also where others write it, full disks included."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(f".{uuid4().hex}")  # a process's number may be another's, in another container
    try:
        unfinished.write_bytes(block)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def warn(sentence: str) -> None:
    warnings.warn(sentence, RuntimeWarning, stacklevel=5)
