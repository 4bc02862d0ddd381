"""The table of the book's editions, as its tools read it."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "tools"))
from editions import EDITIONS, FIRST  # noqa: E402

__all__ = ["EDITIONS", "FIRST", "ROOT", "folder_of"]


def folder_of(edition: str) -> str:
    """Return the folder of an edition as addresses of the site begin with it."""
    folder = EDITIONS[edition].folder
    return f"/{folder}" if folder else ""
