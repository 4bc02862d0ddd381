"""The browser's half, joined into one script and one style sheet, for a widget and for a page without a kernel."""

import json
import re
from pathlib import Path

from .look import COLORS, GROUND, LOOK, STAGE
from .panels import KINDS
from .text import OWN_WORDS

__all__ = ["PAGE", "STYLE", "WIDGET"]

FOLDER = Path(__file__).parent
IMPORT = re.compile(r'^import .* from "(\..*\.js)";$', re.MULTILINE)
DATA = f"const LOOK = {json.dumps(LOOK)};\nconst WORDS = {json.dumps(OWN_WORDS, ensure_ascii=False)};\n"
DARK = 'html[data-theme="dark"] .explorable,\nbody[data-jp-theme-light="false"] .explorable'


def modules(*entries: Path) -> list[Path]:
    """Return the modules that some need, each after those that it imports, and these themselves."""
    found: list[Path] = []
    for entry in entries:
        needed = [entry.parent / name for name in IMPORT.findall(entry.read_text(encoding="utf-8"))]
        found += [path for path in [*modules(*map(Path.resolve, needed)), entry] if path not in found]
    return found


def join(*entries: Path) -> str:
    """Return modules as one: without imports and exports, since all names share one scope, and without comments."""
    source = "\n".join(path.read_text(encoding="utf-8") for path in modules(*map(Path.resolve, entries)))
    source = re.sub(r"^import .*\n|^ *//.*\n", "", source, flags=re.MULTILINE)
    return DATA + re.sub(r"^export (?=function|async|const|class)", "", source, flags=re.MULTILINE)


def colors(tint: str) -> str:
    return " ".join(f"--{name}: {tints[tint]};" for name, tints in (COLORS | GROUND).items())


PANELS = [FOLDER / "panels" / f"{panel.kind}.js" for panel in KINDS]
WIDGET = join(*PANELS, FOLDER / "js" / "explorable.js") + "\nexport default { render };\n"
# classic, not a module: a page opened from a file may not load modules
PAGE = f"(() => {{\n{join(*PANELS, FOLDER / 'js' / 'page.js')}\n}})();\n"
STYLE = (
    f".explorable {{ {colors('light')} --columns: {STAGE['columns']}; --gap: {STAGE['gap']}px; }}\n"
    f"{DARK} {{ {colors('dark')} }}\n"
    + "".join(f".explorable .{name} {{ --color: var(--{name}); }}\n" for name in COLORS)
    + (FOLDER / "explorable.css").read_text(encoding="utf-8")
)
