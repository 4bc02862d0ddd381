"""The package's own source on a page, set by Sphinx like all code of the book: its HTML is for notebooks."""

from docutils import nodes
from sphinx.application import Sphinx

SOURCE = '<div class="highlight source">'


def drop_html(_app: Sphinx, doctree: nodes.document) -> None:
    for form in list(doctree.findall(lambda node: getattr(node, "attributes", {}).get("mime_type") == "text/html")):
        if SOURCE in form.astext():
            form.parent.remove(form)


def setup(app: Sphinx) -> dict:
    app.connect("doctree-read", drop_html)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
