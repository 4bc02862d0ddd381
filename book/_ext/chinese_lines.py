"""Chinese text without the space that a line break in the source would leave: one rule for the site and the notebooks.

It imports no Sphinx, for tools/notebooks.py needs none.
"""

import re

HAN = "[\u2e80-\u2fff\u3040-\u9fff]"
PUNCTUATION = "[\u3000-\u303f\uff00-\uffef‘’“”…—·]"  # of Chinese text: it carries its own white space
SPACELESS = re.compile(f"{PUNCTUATION}\n|\n{PUNCTUATION}|{HAN}\n{HAN}")


def needs_no_space(before: str, after: str) -> bool:
    """Return whether Chinese text has no space between two pieces that stand on two lines."""
    return SPACELESS.search(f"{before[-1:]}\n{after[:1]}") is not None


def join_lines(app, doctree) -> None:
    """Remove each line break of a page that would show as a space where none belongs."""
    if not app.config.language.startswith("zh"):
        return  # in English the closing quotation mark is the same character, and a space follows it
    for line_break in list(doctree.findall(lambda node: isinstance(node, str) and node == "\n")):
        siblings = line_break.parent.children
        place = next(i for i, node in enumerate(siblings) if node is line_break)
        before, after = ("".join(node.astext() for node in part) for part in (siblings[:place], siblings[place + 1 :]))
        if needs_no_space(before, after):
            line_break.parent.remove(line_break)


def setup(app) -> dict:
    app.connect("doctree-read", join_lines)
    return {"parallel_read_safe": True}
