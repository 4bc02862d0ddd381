"""Where the frames of the chapter's figures are kept, and what makes them outdated."""

from importlib.util import find_spec
from pathlib import Path

from explorable import Cache

__all__ = ["figure_cache"]

# in the package, so that a wheel and the branch of notebooks carry them and no reader waits; git does not
FRAMES = Path(__file__).parent / "figures" / "frames"


def figure_cache(module: str) -> Cache:
    """Return the cache of a figure's module."""
    # found, not imported: a figure without traces does not depend on `traced`
    specs = map(find_spec, ("why_attention", "explorable", "traced"))
    return Cache(FRAMES, module, [Path(spec.origin).parent for spec in specs if spec and spec.origin])
