"""A figure is readable whatever host shows it, and whatever lies behind it: as a widget, in a saved notebook, on paper."""

import base64
import json

import nbformat
import pytest
from chromium import Visit
from IPython.core.interactiveshell import InteractiveShell
from ipywidgets.embed import dependency_state
from nbconvert import HTMLExporter, SlidesExporter
from small_figures import figure, graph, heatmap, lines
from test_site import luminance
from traitlets.config import Config

from explorable import script
from why_attention.masks import causal_mask
from why_attention.pages.show_source import show_source

HOSTS = {  # the marks of each, and its ground; the last four are those that a figure knows
    "Colab": ('<html theme="dark"><body', "#383838"),
    "MyST": ('<html class="dark"><body', "#1c1917"),
    "VS Code": ('<html><body class="vscode-dark"', "#1f1f1f"),
    "Quarto": ('<html><body class="quarto-dark"', "#222222"),
    "unknown": ("<html><body", "#000000"),
    "light": ("<html><body", "#ffffff"),
    "site": ('<html data-theme="light"><body', "#ffffff"),
    "dark site": ('<html data-theme="dark"><body', "#14181e"),
    "JupyterLab": ('<html><body data-jp-theme-light="true"', "#ffffff"),
    "dark JupyterLab": ('<html><body data-jp-theme-light="false"', "#111111"),
}
MOUNT = """
const { spec, frames, css, shadow } = DATA;
const place = document.querySelector("main");
const el = shadow ? place.attachShadow({ mode: "open" }) : place; // as marimo and MyST mount a widget
const known = { _spec: spec, _frames: Uint8Array.from(atob(frames), (letter) => letter.charCodeAt(0)), n: 1 };
const model = { get: (name) => known[name], set() {}, on() {}, off() {}, send() {}, save_changes() {} };
el.append(Object.assign(document.createElement("style"), { textContent: css }));
const inner = el.appendChild(document.createElement("div"));
const { default: widget } = await import(URL.createObjectURL(new Blob([WIDGET], { type: "text/javascript" })));
await widget.render({ model, el: inner });
globalThis.figure = inner.querySelector("figure");
"""
COLORS = """() => {
  const shown = [...figure.querySelectorAll("*")].filter((one) => one.checkVisibility());
  const colors = (selector, property) => shown.filter((one) => one.matches(selector)).map((one) => getComputedStyle(one)[property]);
  let behind = figure;
  while (getComputedStyle(behind).backgroundColor === "rgba(0, 0, 0, 0)") behind = behind.parentElement ?? behind.getRootNode().host;
  return {
    ground: getComputedStyle(behind).backgroundColor,
    words: [...colors("output, figcaption, summary, .name, .value, .foot a", "color"), ...colors("text", "fill")],
    marks: [getComputedStyle(figure).accentColor, ...colors("path.series", "stroke")],
  };
}"""


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("scheme", ["", "color-scheme: dark"])
@pytest.mark.parametrize("shadow", [False, True])
def test_a_widget_is_readable_in_every_host(browser, host, scheme, shadow):
    start, ground = HOSTS[host]
    known = "data-" in start
    if known and shadow:
        return  # neither mounts a widget so
    made = figure(lines(), heatmap(color="blue"), graph())
    frames = base64.b64encode(made._frames).decode()
    data = json.dumps({"spec": made._spec, "frames": frames, "css": script.STYLE, "shadow": shadow})
    code = f"const WIDGET = {json.dumps(script.WIDGET)}, DATA = {data};\n{MOUNT}".replace("</", "<\\/")
    body = f'<main></main><script type="module">{code}</script>'
    visit = Visit(browser, color_scheme="dark")  # what the system says counts for nothing
    visit.page.set_content(f'{start} style="{scheme}; background: {ground}">{body}')
    visit.page.wait_for_function("globalThis.figure?.dataset.drawn")
    colors = visit.page.evaluate(COLORS)
    behind = luminance(colors["ground"])
    assert (behind < 0.2) == ("dark" in host if known else bool(scheme))
    assert len(colors["words"]) > 10 and len(colors["marks"]) > 1
    for least, which in ((4.5, "words"), (3, "marks")):
        for one in map(luminance, colors[which]):
            assert (max(one, behind) + 0.05) / (min(one, behind) + 0.05) >= least
    visit.close()


@pytest.mark.parametrize("exporter", [HTMLExporter, SlidesExporter])
@pytest.mark.parametrize("saved", [False, True])
def test_a_converted_notebook_shows_the_still_picture_offline(browser, tmp_path, exporter, saved):
    """saved: with the widgets' state, for which nbconvert wants scripts of another host, so the README has it cleared."""
    made = figure()
    data, metadata = made._repr_mimebundle_()
    output = nbformat.v4.new_output("display_data", data=data, metadata=metadata)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(outputs=[output])])
    if saved:
        state = {"version_major": 2, "version_minor": 0, "state": dependency_state([made])}
        notebook.metadata.widgets = {"application/vnd.jupyter.widget-state+json": state}
    config = Config({"ClearMetadataPreprocessor": {"enabled": saved}})
    page = tmp_path / "page.html"
    page.write_text(exporter(config=config).from_notebook_node(notebook)[0], encoding="utf-8")
    visit = Visit(browser)  # which lets no request out
    visit.page.goto(page.as_uri())
    image = visit.page.locator("figure.explorable img.still").first
    image.wait_for()
    assert image.evaluate("(image) => image.naturalWidth") > 400
    visit.context.close()


@pytest.mark.parametrize("exporter", [HTMLExporter, SlidesExporter])
def test_source_is_shown_in_whole_lines_of_one_width(browser, tmp_path, exporter):
    """In nbconvert's pages, which have JupyterLab's rules for outputs."""
    data, metadata = InteractiveShell.instance().display_formatter.format(show_source(causal_mask))
    output = nbformat.v4.new_output("display_data", data=data, metadata=metadata)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(outputs=[output])])
    page = tmp_path / "page.html"
    page.write_text(exporter().from_notebook_node(notebook)[0], encoding="utf-8")
    visit = Visit(browser, viewport={"width": 360, "height": 800})
    visit.page.goto(page.as_uri())
    code = visit.page.locator(".jp-OutputArea-output pre").last
    lines, height, widths = code.evaluate(
        """(pre) => {
          const width = (text) => {
            const one = pre.appendChild(Object.assign(document.createElement("span"), { textContent: text }));
            return [one.getBoundingClientRect().width, one.remove()][0];
          };
          const tall = pre.scrollHeight / parseFloat(getComputedStyle(pre).lineHeight);
          return [pre.textContent.trimEnd().split("\\n").length, tall, [width("iiii"), width("WWWW")]];
        }"""
    )
    assert height == pytest.approx(lines, abs=1.5)
    assert widths[0] == pytest.approx(widths[1])
    visit.context.close()
