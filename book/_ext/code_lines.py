"""Each line of code in an element of its own, so that a line too long for its place goes on further in than it began."""

import re
from collections.abc import Iterator

from pygments.formatters import HtmlFormatter
from sphinx.application import Sphinx
from sphinx.highlighting import PygmentsBridge

STEP, DEEPEST = 4, 24  # columns; book.css has a class for each


class Lines(HtmlFormatter):
    """Pygments' HTML with its lines marked by how far they are indented."""

    def wrap(self, source: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
        return super().wrap(map(mark, source))


def mark(piece: tuple[int, str]) -> tuple[int, str]:
    """Return a line in its element; the line break stays outside, or copied code would have two."""
    is_line, html = piece
    if not is_line or not html.strip():
        return piece
    blanks = len(re.match(" *", re.sub("<[^>]*>", "", html))[0])
    indent = min(blanks // STEP * STEP, DEEPEST)
    return is_line, f'<span class="line indent-{indent}">{html.rstrip()}</span>\n'


def setup(app: Sphinx) -> dict:
    PygmentsBridge.html_formatter = Lines
    return {"parallel_read_safe": True}
