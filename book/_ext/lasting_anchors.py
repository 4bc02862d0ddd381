"""Anchors that last: a section has the anchor of its English heading in every edition, so a link survives a change of language.

Without a page of that name in the folder ``en`` a page keeps the anchors that Sphinx gives it.
"""

from pathlib import Path

from docutils import nodes
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.front_matter import front_matter_plugin
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.transforms import SphinxTransform

MARKDOWN = MarkdownIt("commonmark").use(front_matter_plugin).use(dollarmath_plugin)


def anchors(page: str) -> list[str]:
    """Return an anchor for each heading of a page in Markdown, no two alike."""
    tokens = MARKDOWN.parse(page)
    headings = [after for token, after in zip(tokens, tokens[1:]) if token.type == "heading_open"]
    found: list[str] = []
    for heading in headings:
        anchor = nodes.make_id("".join(child.content for child in heading.children))
        others = [one for one in found if one.rstrip("-0123456789") == anchor]
        found.append(f"{anchor}-{len(others) + 1}" if others else anchor)
    return found


class LastingAnchors(SphinxTransform):
    default_priority = 800  # before Sphinx collects the contents and what links lead to

    def apply(self, **kwargs) -> None:
        page = Path(self.env.srcdir).parent / "en" / f"{self.env.docname}.md"
        if not page.exists():
            return
        found = anchors(page.read_text(encoding="utf-8"))
        sections = list(self.document.findall(nodes.section))
        if len(found) != len(sections):
            raise ExtensionError(
                f"{self.env.docname} has {len(sections)} sections, and its English page {len(found)}: both must have the same"
            )
        for section, anchor in zip(sections, found):
            section["ids"] = [anchor]
            self.document.ids[anchor] = section


def setup(app: Sphinx) -> dict:
    app.add_transform(LastingAnchors)
    return {"parallel_read_safe": True}
