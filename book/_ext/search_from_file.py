"""Search in a book opened from a file: without the summaries of what was found, for a browser fetches no file."""

from sphinx.application import Sphinx

WITHOUT_SUMMARIES = "DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY &&= location.protocol !== 'file:';"


def add_script(app: Sphinx, pagename: str, template: str, context: dict, doctree: object) -> None:
    if pagename == "search":
        app.add_js_file(None, body=WITHOUT_SUMMARIES)


def setup(app: Sphinx) -> dict:
    app.connect("html-page-context", add_script)
    return {"parallel_read_safe": True}
