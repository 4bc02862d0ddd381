"""The scripts that BertViz draws with, d3 and jQuery, as npm or the wheel has them, and the one that opens a view.

A separate module, because the build of the site needs them without torch.
"""

from pathlib import Path

__all__ = ["COPIES", "OPENER", "SCRIPTS", "elements", "opener"]

MODULES = Path(__file__).parents[3] / "node_modules"
FROM_NPM = [MODULES / "d3" / "dist" / "d3.min.js", MODULES / "jquery" / "dist" / "jquery.min.js"]
COPIES = Path(__file__).with_name("scripts")  # which tools/branch.py makes for the wheel
SCRIPTS = [script if script.exists() else COPIES / script.name for script in FROM_NPM]
OPENER = Path(__file__).with_name("bertviz_open.js")


def elements() -> str:
    """Return the scripts as <script> elements."""
    return "".join(f"<script>{script.read_text(encoding='utf-8')}</script>" for script in SCRIPTS)


def opener() -> str:
    """Return what opens the views of a page, as a <script> element; a page may hold it many times."""
    return f"<script>{OPENER.read_text(encoding='utf-8')}</script>"
