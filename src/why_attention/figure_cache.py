"""Where the frames of the chapter's figures are kept, and what makes them outdated."""

import os
from pathlib import Path

import explorable
from explorable import Cache

__all__ = ["figure_cache"]


def figure_cache(module: str) -> Cache:
    """Return the cache of a figure's module: the folder that the environment variable FIGURE_CACHE names, if any."""
    roots = [Path(__file__).parent, Path(explorable.__file__).parent]
    return Cache(os.environ.get("FIGURE_CACHE"), module, roots, versions=["torch", "numpy"])
