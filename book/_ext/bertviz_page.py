"""BertViz's views on the site: one copy of d3 and jQuery for all, which a browser fetches when a reader opens a view."""

import html
import shutil
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

from why_attention.pages.bertviz_scripts import SCRIPTS, elements

VIEW = '<details class="bertviz"'


def copy_scripts(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.name != "html":
        return
    for script in SCRIPTS:
        shutil.copy(script, Path(app.outdir, "_static"))


def share_scripts(_app: Sphinx, _pagename: str, _template: str, context: dict, _doctree: object) -> None:
    """Exchange the copy that each view of a notebook carries for the addresses of the site's."""
    if "body" not in context:  # the search page
        return
    addresses = [context["pathto"](f"_static/{script.name}", resource=True) for script in SCRIPTS]
    shared = "".join(f'<script src="{address}"></script>' for address in addresses)
    body, carried = context["body"], html.escape(elements())
    if VIEW in body and carried not in body:
        raise ExtensionError("a view of BertViz carries other scripts than why_attention.pages.bertviz_scripts has")
    context["body"] = body.replace(carried, html.escape(shared))


def setup(app: Sphinx) -> dict:
    app.connect("build-finished", copy_scripts)
    app.connect("html-page-context", share_scripts)
    return {"parallel_read_safe": True}
