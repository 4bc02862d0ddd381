"""Search in a book opened from a file: without the summaries of what was found, for a browser fetches no file."""

from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

FILES = ("documentation_options.js", "searchtools.js")
OPTION = "SHOW_SEARCH_SUMMARY"
WITHOUT_SUMMARIES = f"DOCUMENTATION_OPTIONS.{OPTION} &&= location.protocol !== 'file:';"


def add_script(app: Sphinx, pagename: str, template: str, context: dict, doctree: object) -> None:
    if pagename == "search":
        app.add_js_file(None, body=WITHOUT_SUMMARIES)


def check_option(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.name != "html":
        return
    if not all(OPTION in Path(app.outdir, "_static", name).read_text("utf-8") for name in FILES):
        raise ExtensionError(
            f"Sphinx's {' and '.join(FILES)} have no {OPTION} any more, so search in a book opened from a file would wait "
            "for summaries for ever: see what decides on them now (book/_ext/search_from_file.py)"
        )


def setup(app: Sphinx) -> dict:
    app.connect("html-page-context", add_script)
    app.connect("build-finished", check_option)
    return {"parallel_read_safe": True}
