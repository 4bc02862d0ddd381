"""The browser's half: the modules of js/ joined into one script, for a widget and for a page without a kernel."""

import re
from pathlib import Path

__all__ = ["WIDGET", "PAGE", "STYLE"]

FOLDER = Path(__file__).parent
# each module after those that it imports
WIDGET_MODULES = [
    "words",
    "address",
    "frames",
    "marks",
    "numbers",
    "axis",
    "lines",
    "heatmap",
    "graph",
    "controls",
    "sentence",
    "picking",
    "table",
    "link",
    "notice",
    "kernel",
    "explorable",
]
PAGE_MODULES = ["page"]


def joined(names: list[str]) -> str:
    """Return the modules as one: without imports and exports, since all names share one scope, and without comments."""
    source = "\n".join((FOLDER / "js" / f"{name}.js").read_text(encoding="utf-8") for name in names)
    source = re.sub(r"^import .*\n|^ *//.*\n", "", source, flags=re.MULTILINE)
    return re.sub(r"^export (?=function|async|const|class)", "", source, flags=re.MULTILINE)


WIDGET = joined(WIDGET_MODULES) + "\nexport default { render };\n"
# classic, not a module: a page opened from a file may not load modules
PAGE = f"(() => {{\n{joined(WIDGET_MODULES + PAGE_MODULES)}\n}})();\n"
STYLE = (FOLDER / "explorable.css").read_text(encoding="utf-8")
