"""BertViz's views on the site: one copy of d3 and jQuery for all, which a browser fetches when a reader opens a view."""

import html
import shutil
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

from why_attention.pages.bertviz_scripts import OPENER, SCRIPTS, elements, opener

VIEW = '<details class="bertviz"'


def copy_scripts(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.name != "html":
        return
    for script in [*SCRIPTS, OPENER]:
        shutil.copy(script, Path(app.outdir, "_static"))


def share_scripts(_app: Sphinx, _pagename: str, _template: str, context: dict, _doctree: object) -> None:
    """Exchange the copy that each view of a notebook carries for the addresses of the site's."""
    if "body" not in context:  # the search page
        return

    def element(script: Path, attributes: str = "") -> str:
        address = context["pathto"](f"_static/{script.name}", resource=True)
        return f'<script src="{address}"{attributes}></script>'

    body, carried = context["body"], html.escape(elements())
    if VIEW not in body:
        return
    if carried not in body or opener() not in body:
        raise ExtensionError("a view of BertViz carries other scripts than why_attention.pages.bertviz_scripts has")
    body = body.replace(carried, html.escape("".join(map(element, SCRIPTS))))
    context["body"] = body.replace(opener(), element(OPENER, " defer"), 1).replace(opener(), "")


def setup(app: Sphinx) -> dict:
    app.connect("build-finished", copy_scripts)
    app.connect("html-page-context", share_scripts)
    return {"parallel_read_safe": True}
