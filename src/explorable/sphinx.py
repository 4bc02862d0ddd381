"""Figures in a Jupyter Book or any Sphinx site with MyST-NB: ``extensions: [explorable.sphinx]``.

A page that shows figures loads one script and one style sheet of the site's own; the figures bring their data, so what
a notebook saved of their widgets is dropped.
"""

import json
import re
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config

from .script import PAGE, STYLE

FIGURE = '<figure class="explorable"'
BUNDLE = "mime_bundle"  # what MyST-NB calls the forms of an output, of which a builder takes one
# what a figure brings to compute with (traces.py)
HOLDER = re.compile(
    r'(?P<start><script type="text/plain" class="(?:program|trace)" data-name="(?P<name>\w+)"[^>]*)>(?P<text>.*?)</script>',
    re.DOTALL,
)
STATE = "application/vnd.jupyter.widget-state+json"


def prefer_forms(_app: Sphinx, config: Config) -> None:
    """Have MyST-NB show a figure's own HTML on a site and its picture in a book, not its widget, which needs a kernel."""
    sites, books = ("html", "dirhtml", "singlehtml"), ("epub", "latex")
    forms = [(name, "text/html", 1) for name in sites] + [(name, "image/png", 1) for name in books]
    config.nb_mime_priority_overrides = [*config.nb_mime_priority_overrides, *forms]


def describe_pictures(_app: Sphinx, doctree: nodes.document) -> None:
    """Give the picture of a figure its words, for who cannot see it."""
    for bundle in doctree.findall(lambda node: isinstance(node, nodes.container) and node.get("nb_element") == BUNDLE):
        forms = {form["mime_type"]: form for form in bundle.children}
        if {"text/html", "image/png", "text/plain"} <= forms.keys() and FIGURE in forms["text/html"].astext():
            for picture in forms["image/png"].findall(nodes.image):
                picture["alt"] = forms["text/plain"].astext()


def load_script(app: Sphinx, _pagename: str, _template: str, context: dict, _doctree: object) -> None:
    """Load script and style sheet on the pages that show a figure."""
    if FIGURE in context.get("body", ""):
        app.add_js_file("explorable.js", defer="defer")
        app.add_css_file("explorable.css")


def drop_widgets(app: Sphinx, _pagename: str, _template: str, context: dict, _doctree: object) -> None:
    """Drop the saved models of figures, and where no other widget is left, the scripts that would show it."""
    scripts = context["script_files"]
    for script in [script for script in scripts if attributes(script).get("type") == STATE]:
        saved = json.loads(attributes(script)["body"])
        saved["state"] = others(saved["state"])
        attributes(script)["body"] = json.dumps(saved, ensure_ascii=False).replace("</", "<\\/")
        if not saved["state"]:
            context["script_files"] = [
                one for one in scripts if one is not script and str(one.filename) not in app.config.nb_ipywidgets_js
            ]


def attributes(script: object) -> dict:
    return getattr(script, "attributes", {})


def others(models: dict[str, dict]) -> dict[str, dict]:
    """Return the widgets' models that are neither a figure's nor its layout's."""
    figures = {
        name: model["state"]
        for name, model in models.items()
        if model["model_module"] == "anywidget" and "_spec" in model["state"]
    }
    layouts = {state["layout"].removeprefix("IPY_MODEL_") for state in figures.values()}
    return {name: model for name, model in models.items() if name not in figures.keys() | layouts}


def move_traces(app: Sphinx, _pagename: str, _template: str, context: dict, _doctree: object) -> None:
    """Move what figures compute with into files of the site, which a page loads when a reader asks for it."""

    def moved(found: re.Match) -> str:
        name, text = found["name"], found["text"]
        file = f"_static/explorable-{name}.js"
        program = (
            f"(globalThis.explorableFiles ??= {{}})[{json.dumps(name)}] = {json.dumps(text, ensure_ascii=False)};\n"
        )
        Path(app.outdir, file).write_text(program, encoding="utf-8")
        return f'{found["start"]} data-src="{context["pathto"](file, 1)}"></script>'

    if "body" in context:
        context["body"] = HOLDER.sub(moved, context["body"])


def write_files(app: Sphinx) -> None:
    """Write script and style sheet into the site, before its pages, which name them with a digest: a browser keeps no old ones."""
    if app.builder.format == "html":
        Path(app.outdir, "_static").mkdir(parents=True, exist_ok=True)
        for name, text in (("explorable.js", PAGE), ("explorable.css", STYLE)):
            Path(app.outdir, "_static", name).write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict:
    app.setup_extension("myst_nb")
    app.connect("config-inited", prefer_forms)
    app.connect("doctree-read", describe_pictures)
    app.connect("html-page-context", load_script, priority=400)  # before the themes
    app.connect("html-page-context", drop_widgets, priority=900)  # after MyST-NB has added its scripts
    app.connect("html-page-context", move_traces)
    app.connect("builder-inited", write_files)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
