"""Chinese text without the space that a line break in the source would leave between two sentences."""

import re

from docutils import nodes
from sphinx.application import Sphinx

WIDE = "\u2e80-\u9fff\u3000-\u303f\uff00-\uffef\u201c\u201d"  # Han characters, and the punctuation of Chinese text
BREAK = re.compile(rf"(?<=[{WIDE}])\n(?=[{WIDE}])|(?<=[。？！；：，）])\n")


def join_lines(app: Sphinx, doctree: nodes.document) -> None:
    for text in list(doctree.findall(nodes.Text)):
        if BREAK.search(text) and not isinstance(text.parent, nodes.FixedTextElement | nodes.literal | nodes.raw):
            text.parent.replace(text, nodes.Text(BREAK.sub("", text)))


def setup(app: Sphinx) -> dict:
    app.connect("doctree-read", join_lines)
    return {"parallel_read_safe": True}
