"""The interpreter: js/ joined into one script, which defines a function ``traced``."""

import re
from pathlib import Path

__all__ = ["SCRIPT"]

MODULES = ["memory", "pointwise", "reductions", "products", "views", "creation", "indexing", "scan", "traced"]
FOLDER = Path(__file__).parent / "js"


def source(name: str) -> str:
    """Return a module without comments, imports, exports and margins: all modules share one scope."""
    text = (FOLDER / f"{name}.js").read_text(encoding="utf-8")
    return re.sub(r"^import .*\n|^ *//.*\n|^ +|^export ", "", text, flags=re.MULTILINE)


SCRIPT = "".join(map(source, MODULES))
