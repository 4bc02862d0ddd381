"""Where the frames of the chapter's figures are kept, and what makes them outdated."""

from pathlib import Path

import explorable
import traced
from explorable import Cache

__all__ = ["figure_cache"]

# in the package, so that a wheel and the branch of notebooks carry them and no reader waits; git does not
FRAMES = Path(__file__).parent / "figures" / "frames"


def figure_cache(module: str) -> Cache:
    """Return the cache of a figure's module."""
    files = [__file__, explorable.__file__, traced.__file__]
    return Cache(FRAMES, module, [Path(file).parent for file in files if file])
