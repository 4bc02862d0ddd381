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
EXPORT = re.compile(r"^export (?:async function|function|const|class) (\w+)", re.MULTILINE)
DATA = f"const LOOK = {json.dumps(LOOK)};\nconst WORDS = {json.dumps(OWN_WORDS, ensure_ascii=False)};\n"
# how hosts that have a ground of their own for a figure, a site and JupyterLab, say which it is
SAID = {
    "light": ('html[data-theme="light"]', 'body[data-jp-theme-light="true"]'),
    "dark": ('html[data-theme="dark"]', 'body[data-jp-theme-light="false"]'),
}


def modules(*entries: Path) -> list[Path]:
    """Return the modules that some need, each after those that it imports, and these themselves."""
    found: list[Path] = []
    for entry in entries:
        needed = [entry.parent / name for name in IMPORT.findall(entry.read_text(encoding="utf-8"))]
        found += [path for path in [*modules(*map(Path.resolve, needed)), entry] if path not in found]
    return found


def join(*entries: Path) -> str:
    """Return modules as one script, without comments: each a scope of its own, whose exports all that follow can see."""
    return DATA + "".join(scope(path.read_text(encoding="utf-8")) for path in modules(*map(Path.resolve, entries)))


def scope(source: str) -> str:
    """Return a module as a scope that gives its exports."""
    source = re.sub(r"^import .*\n|^ *//.*\n", "", source, flags=re.MULTILINE)
    names = ", ".join(EXPORT.findall(source))
    return f"const {{ {names} }} = (() => {{\n{EXPORT.sub(lambda found: found[0][7:], source)}\nreturn {{ {names} }};\n}})();\n"


def colors(form: str) -> str:
    """Return the declarations of all colours; form: "{light}", "{dark}", or what makes one of both."""
    return " ".join(f"--{name}: {form.format(**tints)};" for name, tints in (COLORS | GROUND).items())


def grounds() -> str:
    """Return the rules of a figure's colours.

    A figure brings its own ground, light or dark as the host's color-scheme is (light where a browser cannot tell), so
    that it is readable whatever lies behind it; but where a host says which ground it has, the figure stands on that.
    """
    own = "background: var(--paper); padding: 12px;"
    both = "light-dark({light}, {dark})"
    rules = f".explorable {{ {colors('{light}')} {own} color-scheme: light; }}\n"
    rules += f"@supports (color: {both.format(light='red', dark='red')}) {{ .explorable {{ {colors(both)} color-scheme: inherit; }} }}\n"
    for tint, hosts in SAID.items():
        figures = ",\n".join(f"{host} .explorable" for host in hosts)
        rules += f"{figures} {{ {colors(f'{{{tint}}}')} background: none; padding: 0; color-scheme: inherit; }}\n"
    return rules


PANELS = [FOLDER / "panels" / f"{panel.kind}.js" for panel in KINDS]
WIDGET = join(*PANELS, FOLDER / "js" / "explorable.js") + "\nexport default { render };\n"
# classic, not a module: a page opened from a file may not load modules
PAGE = f"(() => {{\n{join(*PANELS, FOLDER / 'js' / 'page.js')}\n}})();\n"
STYLE = (
    f"{grounds()}.explorable {{ --columns: {STAGE['columns']}; --gap: {STAGE['gap']}px; }}\n"
    + "".join(f".explorable .{name} {{ --color: var(--{name}); }}\n" for name in COLORS)
    + (FOLDER / "explorable.css").read_text(encoding="utf-8")
)
