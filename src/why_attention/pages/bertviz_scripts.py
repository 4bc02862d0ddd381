"""The scripts that BertViz draws with, d3 and jQuery, as npm has installed them.

A separate module, because the build of the site needs them without torch.
"""

from pathlib import Path

__all__ = ["SCRIPTS", "elements"]

MODULES = Path(__file__).parents[3] / "node_modules"
SCRIPTS = [MODULES / "d3" / "dist" / "d3.min.js", MODULES / "jquery" / "dist" / "jquery.min.js"]


def elements() -> str:
    """Return the scripts as <script> elements."""
    return "".join(f"<script>{script.read_text(encoding='utf-8')}</script>" for script in SCRIPTS)
