"""Numbered formulas in LaTeX, whose number Sphinx would put where LaTeX allows none."""

from docutils import nodes
from sphinx.application import Sphinx


def keep_number(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Set a formula with a number of its own without Sphinx's ``split`` around it."""
    if app.builder.format != "latex":
        return
    for formula in doctree.findall(nodes.math_block):
        if r"\tag" in formula.astext():
            formula["nowrap"] = True
            formula.children = [nodes.Text(rf"\begin{{equation*}}{formula.astext()}\end{{equation*}}")]


def setup(app: Sphinx) -> dict:
    app.connect("doctree-resolved", keep_number)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
