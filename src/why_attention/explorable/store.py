"""Frames on disk, so that both editions of the book, and every later build, draw the very same numbers.

The store is the folder named by the environment variable EXPLORABLE_STORE; without it nothing is kept. A stored
block's name holds a fingerprint of the package that computed it, so a change of any of its lines, of a stored result,
or of torch or numpy, computes it afresh.
"""

import hashlib
import os
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

__all__ = ["stored"]

PACKAGE = Path(__file__).parents[1]


def fingerprint() -> str:
    """Return a digest of the package's source and stored results (JSON), and of the versions of what computes."""
    digest = hashlib.sha256(f"torch {version('torch')} numpy {version('numpy')}".encode())
    for path in sorted([*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.json")]):
        digest.update(path.relative_to(PACKAGE).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def stored(name: str, compute: Callable[[], bytes]) -> bytes:
    """Return the block of that name from the store, or compute it and keep it there."""
    if not (folder := os.environ.get("EXPLORABLE_STORE")):
        return compute()
    path = Path(folder) / f"{name}-{fingerprint()}.frames"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        for outdated in path.parent.glob(f"{name}-{'[0-9a-f]' * 16}.frames"):
            outdated.unlink(missing_ok=True)
        unfinished = path.with_suffix(f".{os.getpid()}")
        unfinished.write_bytes(compute())
        unfinished.replace(path)  # whole or not at all, also when two builds run side by side
    return path.read_bytes()
