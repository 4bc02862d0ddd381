"""Pages of an e-book, which are XHTML: what HTML leaves open is closed, and no page asks for a script or another edition."""

import html
import re

from sphinx.application import Sphinx
from sphinx.config import Config

import why_attention

VOID = re.compile(r"<(area|br|col|hr|img|input|source|wbr)\b([^<>]*?)\s*/?>")
ENTITY = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)[a-zA-Z]\w*;")  # XML knows these five
HANDLER = re.compile(r'\son\w+="[^"]*"')  # of an event
NEEDS_SCRIPT = re.compile(r"<(iframe|script)\b.*?</\1>", re.DOTALL)


def to_xhtml(body: str) -> str:
    """Return the body of a page in HTML as XHTML without scripts."""
    tags = re.sub(r"<[a-z][^<>]*>", lambda tag: HANDLER.sub("", tag[0]), NEEDS_SCRIPT.sub("", body))
    return ENTITY.sub(lambda entity: html.unescape(entity[0]), VOID.sub(r"<\1\2 />", tags))


def change_page(app: Sphinx, pagename: str, template: str, context: dict, doctree: object) -> None:
    if app.builder.name == "epub":
        context["body"] = to_xhtml(context.get("body", ""))
        context["other_editions"] = []


def name_book(_app: Sphinx, config: Config) -> None:
    """Give the title and the version that an e-book asks for."""
    config.project, config.version = config.html_title, why_attention.__version__


def setup(app: Sphinx) -> dict:
    app.connect("config-inited", name_book)
    app.connect("html-page-context", change_page, priority=900)  # after all that write into a page
    return {"parallel_read_safe": True, "parallel_write_safe": True}
