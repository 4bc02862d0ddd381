"""A formula and what touches it, such as the full stop behind it, on one line: browsers would break between them."""

import re

from docutils import nodes
from sphinx.application import Sphinx

BREAKABLE = "\\s\u2014\u2e80-\u2fff\u3040-\u9fff"  # blanks, dashes and Chinese characters, but not their punctuation
BEFORE = re.compile(f"[^{BREAKABLE}]*$")
AFTER = re.compile(f"^[^{BREAKABLE}]*")


def keep_together(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Put every formula into one element with the characters that touch it in the text around."""
    for formula in list(doctree.findall(nodes.math)):
        parent = formula.parent
        place = parent.index(formula)
        whole = nodes.inline(classes=["unbroken"])
        before, after = (parent[i] if 0 <= i < len(parent) else None for i in (place - 1, place + 1))
        first = BEFORE.search(before)[0] if isinstance(before, nodes.Text) else ""
        last = AFTER.search(after)[0] if isinstance(after, nodes.Text) else ""
        if not first and not last:
            continue
        parent.replace(formula, whole)
        whole += [nodes.Text(first), formula, nodes.Text(last)]
        if first:
            parent.replace(before, nodes.Text(before[: len(before) - len(first)]))
        if last:
            parent.replace(after, nodes.Text(after[len(last) :]))


def setup(app: Sphinx) -> dict:
    app.connect("doctree-resolved", keep_together)
    return {"parallel_read_safe": True}
