"""Two editions: which page of the other one stands for this page."""

import posixpath

from sphinx.application import Sphinx

NAMES = {"zh_CN": "中文", "en": "English"}


def add_context(app: Sphinx, pagename: str, template: str, context: dict, doctree: object) -> None:
    """Tell the templates where this page is in the other edition: nowhere in a build of one edition alone."""
    context["edition_names"] = NAMES
    context["other_page"] = None
    if app.config.other_edition:
        here = app.builder.get_target_uri(pagename)
        target = posixpath.join(app.config.other_edition, here)
        context["other_page"] = posixpath.relpath(target, posixpath.dirname(here) or ".")


def setup(app: Sphinx) -> dict:
    app.add_config_value("other_edition", "", "html")  # path from this edition's root to the other's
    app.connect("html-page-context", add_context, priority=100)  # before the theme drops templates that come out empty
    return {"parallel_read_safe": True}
