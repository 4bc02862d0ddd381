"""Figures on a page without a kernel: one script and one style sheet, and no copy of them in the widgets' state."""

import json
from pathlib import Path

from myst_nb.sphinx_ import NbMetadataCollector
from sphinx.application import Sphinx

from explorable.script import PAGE, STYLE

DROPPED = {"_esm", "_css", "_still", "_dom_classes", "layout", "tabbable", "tooltip"}  # what the page does not need


def write_script(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.format != "html":
        return
    Path(app.outdir, "_static", "explorable.js").write_text(PAGE, encoding="utf-8")
    Path(app.outdir, "_static", "explorable.css").write_text(STYLE, encoding="utf-8")


def slim_state(app: Sphinx, pagename: str, *_: object) -> None:
    """Drop from the page's widget state all models but the figures, and their code, of which the page has one copy."""
    files = NbMetadataCollector.get_js_files(app.env, pagename)
    if "ipywidgets_state" not in files:
        return
    uri, options = files["ipywidgets_state"]
    saved = json.loads(options["body"])
    saved["state"] = {
        name: {**model, "state": {k: v for k, v in model["state"].items() if k not in DROPPED}}
        for name, model in saved["state"].items()
        if model["model_module"] == "anywidget"
    }
    body = json.dumps(saved, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
    files["ipywidgets_state"] = (uri, {**options, "body": body})


def setup(app: Sphinx) -> dict:
    app.add_css_file("explorable.css")
    app.connect("build-finished", write_script)
    app.connect("html-page-context", slim_state, priority=400)  # before myst-nb adds the files, at 500
    return {"parallel_read_safe": True}
