"""The scripts that BertViz draws with, d3 and jQuery, as npm has installed them.

A module of its own, so that a build of the site, which needs nothing else of BertViz, does not import torch.
"""

from pathlib import Path

__all__ = ["SCRIPTS", "elements"]

MODULES = Path(__file__).parents[3] / "node_modules"
SCRIPTS = [MODULES / "d3" / "dist" / "d3.min.js", MODULES / "jquery" / "dist" / "jquery.min.js"]


def elements() -> str:
    """Return the scripts as the elements of a page that holds them."""
    return "".join(f"<script>{script.read_text(encoding='utf-8')}</script>" for script in SCRIPTS)
