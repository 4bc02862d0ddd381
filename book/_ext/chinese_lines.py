"""Chinese text without the space that a line break in the source would leave between two sentences."""

import re

from docutils import nodes
from sphinx.application import Sphinx

HAN = "\u2e80-\u9fff\u3000-\u303f\uff00-\uffef\u201c\u201d"  # characters, and the punctuation of Chinese text
WIDE = re.compile(f"[{HAN}]")
FULL = re.compile("[。？！；：，、）”]")  # carries its own white space, so none need follow it


def join_lines(app: Sphinx, doctree: nodes.document) -> None:
    """Remove each line break that stands after full-width punctuation, or between two Chinese characters."""
    if not app.config.language.startswith("zh"):
        return  # the closing quotation mark of English is the same character, and has no width to spare
    for text in list(doctree.findall(lambda node: isinstance(node, nodes.Text) and node == "\n")):
        siblings = text.parent.children
        place = next(i for i, node in enumerate(siblings) if node is text)
        before = "".join(node.astext() for node in siblings[:place])[-1:]
        after = "".join(node.astext() for node in siblings[place + 1 :])[:1]
        if FULL.match(before) or (WIDE.match(before) and WIDE.match(after)):
            text.parent.remove(text)


def setup(app: Sphinx) -> dict:
    app.connect("doctree-read", join_lines)
    return {"parallel_read_safe": True}
