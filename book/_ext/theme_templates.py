"""What our templates change in the theme's: each change fails the build once the theme has nothing left to change."""

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.locale import _


def translate_attribute(html: str, name: str, words: str) -> str:
    """Return a template of the theme with one attribute in the edition's language; the theme has it in English only."""
    english = f'{name}="{words}"'
    if html.strip() and english not in html:  # it may have nothing to show on this page
        raise ExtensionError(
            f"the theme's template has no {english} any more: see what it says now, and change book/_templates"
        )
    return html.replace(english, f'{name}="{_(words)}"')


def drop_lines(html: str, mark: str) -> str:
    """Return a template of the theme without the lines that hold a mark."""
    lines = html.splitlines()
    kept = [line for line in lines if mark not in line]
    if len(kept) == len(lines):
        raise ExtensionError(
            f"the theme's template has no line with {mark!r} any more: see what it loads now, and change book/_templates"
        )
    return "\n".join(kept)


def add_functions(app: Sphinx, pagename: str, template: str, context: dict, doctree: object) -> None:
    context["translate_attribute"] = translate_attribute
    context["drop_lines"] = drop_lines


def setup(app: Sphinx) -> dict:
    app.connect("html-page-context", add_functions, priority=100)  # before the theme tries its templates
    return {"parallel_read_safe": True}
