"""The words and links of an edition: which page of each other edition stands for this page."""

import posixpath

from sphinx.application import Sphinx
from sphinx.locale import _


def add_context(app: Sphinx, pagename: str, template: str, context: dict, doctree: object) -> None:
    """Tell the templates where this page is in the other editions: nowhere in a build of one edition alone."""
    here = app.builder.get_target_uri(pagename)
    folder = posixpath.dirname(here) or "."
    context["other_editions"] = [
        {**other, "page": posixpath.relpath(posixpath.join(other["path"], here), folder)}
        for other in app.config.other_editions
    ]
    context["theme_search_bar_text"] = _("Search this book")


def load_switch(app: Sphinx) -> None:
    if app.config.other_editions and app.builder.format == "html":
        app.add_js_file("language-switch.js", loading_method="defer")


def setup(app: Sphinx) -> dict:
    # of each other edition: name, tag (its language in HTML), path (from this edition's root to its own)
    app.add_config_value("other_editions", [], "html")
    app.connect("builder-inited", load_switch)
    app.connect("html-page-context", add_context, priority=100)  # before the theme drops templates that come out empty
    return {"parallel_read_safe": True}
