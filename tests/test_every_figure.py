"""What every figure of the chapter promises; a new one is found and asked without being listed.

The browser must show what ``figure.at`` gives: both read the frames by themselves.
"""

import base64
import importlib
import io
import math
import pkgutil
import re
from functools import cache

import numpy as np
import pytest
from chromium import Visit, hash_of, move, numbers_of, page_of, state_of
from languages import EDITIONS, ROOT
from PIL import Image

from explorable import set_language
from why_attention import figures
from why_attention.one_thread import one_thread

FIGURES = [module.name for module in pkgutil.iter_modules(figures.__path__) if module.name != "__main__"]
PAYLOAD = 60_000  # bytes
MORE = {"attention_map": 80_000, "influence": 150_000}  # those that show matrices at many settings
STILL = 15_000
# panels that lines leave on purpose, by place
LEAVES = {"gradient_decay": [0], "influence": [3], "recall": [0, 1, 2], "receptive_field": [1]}
FAMILIES = {"vermilion circle": "RNN recurrence", "green square": "CNN convolution", "blue triangle": "attention"}
LOOKS = {label: tuple(look.split()) for look, labels in FAMILIES.items() for label in labels.split()}
CHINESE = re.compile("[一-鿿，。；：]")
pytestmark = [pytest.mark.slow, pytest.mark.parametrize("name", FIGURES)]  # slow where no frames are kept


@cache
def made(name, language="zh"):
    set_language(language)
    return importlib.import_module(f"why_attention.figures.{name}").figure()


@pytest.fixture
def figure(name):
    return made(name)


def beside(control, value):
    """Return the values a step away."""
    at = control.grid.index(value)
    return [control.grid[i] for i in (at - 1, at + 1) if 0 <= i < len(control.grid)]


def plain(shown):
    """Return what a figure shows as lists, so that two can be compared."""
    if isinstance(shown, dict):
        return {key: plain(part) for key, part in shown.items()}
    if isinstance(shown, list):
        return [plain(part) for part in shown]
    return shown.tolist() if isinstance(shown, np.ndarray) else shown


def test_all_editions_show_it_under_its_name(figure, name):
    assert figure._spec["name"] == name.replace("_", "-")
    for edition in EDITIONS:
        pages = [path.read_text(encoding="utf-8") for path in (ROOT / "book" / edition).glob("*.md")]
        assert any(re.search(rf"^from why_attention\.figures import .*\b{name}\b", page, re.M) for page in pages)


def test_torch_computes_it_with_one_thread(figure):
    assert figure._within is one_thread


def test_every_control_moved_one_step_changes_what_it_shows(figure):
    start = plain(figure.at())
    for control in figure._controls.values():
        for value in beside(control, control.first):
            assert plain(figure.at(**{control.name: value})) != start, (control.name, value)


def computed(name, language):
    """Return what a figure shows at the start, computed anew by a page in a language."""
    figure = made(name, language)
    set_language(language)
    start = {control.name: control.first for control in figure._controls.values()}
    return figure._compute(start, [*range(len(figure._sources)), *figure._slots])


def test_frames_know_no_language_and_only_chinese_has_chinese_words(figure, name):
    for edition in EDITIONS:
        assert computed(name, edition) == computed(name, "zh")
        if edition != "zh":
            spec = made(name, edition)._spec
            assert not CHINESE.search(str(spec))
            assert not [
                key for key in ("title", "caption", "how_to_read", "sentence") if spec[key] == figure._spec[key]
            ]
    assert not CHINESE.search(str([slot["words"] for slot in figure._kept.header["slots"].values()]))


def test_it_is_light_and_so_is_its_still_picture(figure, name):
    assert len(figure._frames) <= MORE.get(name, PAYLOAD)
    png = base64.b64decode(figure._picture()["src"].partition(",")[2])
    assert len(png) <= STILL
    assert Image.open(io.BytesIO(png)).convert("L").getextrema()[0] < 150  # decodes, and is not blank


def coordinates(panel):
    """Yield the sources of the x and y of each series or of the nodes, and the columns in which these stand."""
    yield from ((series["x"], ..., series["y"], ...) for series in panel.get("series", []))
    if "nodes" in panel:
        yield panel["nodes"], (..., 0), panel["nodes"], (..., 1)


def test_lines_and_nodes_lie_inside_their_axes(figure, name):
    """At every setting; −∞ is an exact 0, or a point that is not there."""
    panels = [panel for i, panel in enumerate(figure._spec["panels"]) if i not in LEAVES.get(name, [])]
    for panel, (x_source, x_column, y_source, y_column) in [
        (one, parts) for one in panels for parts in coordinates(one)
    ]:
        axes = [panel[axis]["limits"] for axis in "xy"]
        for view in figure._kept.views(x_source, y_source, *axes):
            x, y = view.array(x_source)[x_column], view.array(y_source)[y_column]
            there = np.isfinite(x) & np.isfinite(y)
            for (low, high), numbers in zip(map(view.array, axes), np.broadcast_arrays(x, y)):
                inside = (low - 1e-9 <= numbers) & (numbers <= high + 1e-9)
                assert inside[there].all(), (panel["title"], view.setting)


def test_off_the_grid_it_is_computed_or_refused_with_a_sentence(figure):
    values = {}
    for control in figure._controls.values():
        if control.kind == "range" and control.continuous:
            middle = (control.first + beside(control, control.first)[-1]) / 2
            values[control.name] = int(middle) if control.whole else middle
    try:
        shown = figure.at(**values)
    except ValueError as error:  # such as an even kernel, which has no middle
        refused = re.match(r"(\w+)=(\w+) ", str(error))
        assert values.pop(refused[1]) == int(refused[2])
        shown = figure.at(**values)
    assert all(len(panel["limits"]) == 2 for panel in shown["panels"]) and shown["sentence"]


def test_each_family_of_layers_keeps_its_colour_and_mark_and_no_two_lines_look_alike(name):
    """The same through the whole book; colour never tells alone."""
    for panel in made(name, "en")._spec["panels"]:
        lines = panel.get("series", [])
        for one in [*lines, *([panel | {"label": panel["title"]}] if panel.get("color") else [])]:
            assert (one["color"], one["mark"]) == LOOKS.get(one["label"], (one["color"], one["mark"]))
        looks = [(line["color"], line["mark"], line["dashed"]) for line in lines]
        assert len(set(looks)) == len(looks)


# In the browser


@pytest.fixture
def page(browser, figure, tmp_path):
    (tmp_path / "page.html").write_text(page_of([figure]), encoding="utf-8")
    visit = Visit(browser, viewport={"width": 1280, "height": 900})
    yield visit.open((tmp_path / "page.html").as_uri())
    visit.close()


def agree(page, shown):
    """Assert that the numbers and words on the page are those that Python shows."""
    drawn = numbers_of(page)
    assert page.locator("output").inner_text() == drawn["sentence"] == shown["sentence"]
    assert drawn["detail"] == shown["detail"]
    assert len(drawn["panels"]) == len(shown["panels"])
    for browser, python in zip(drawn["panels"], shown["panels"]):
        if "matrix" in python:
            assert browser.pop("shape") == list(python["matrix"].shape)
            browser["matrix"] = np.reshape(browser.pop("values"), python["matrix"].shape).tolist()
        compare(browser, plain(python))


def compare(browser, python):
    """Compare lists, dicts, words and numbers; −∞ is null in JSON."""
    if isinstance(python, dict | list):
        assert len(browser) == len(python)
        for key in python if isinstance(python, dict) else range(len(python)):
            compare(browser[key], python[key])
    elif isinstance(python, float):
        assert math.isclose(browser if browser is not None else -math.inf, python, rel_tol=1e-12, abs_tol=1e-12)
    else:
        assert browser == python


def state_text(values):
    """Return values of controls as ``data-state`` has them."""
    texts = {name: str(value).lower() if isinstance(value, bool) else f"{value}" for name, value in values.items()}
    return ";".join(f"{name}={re.sub(r'[.]0$', '', text)}" for name, text in texts.items())


def test_the_browser_shows_the_numbers_of_python_while_every_control_moves_a_step(page, figure):
    values = {control.name: control.first for control in figure._controls.values()}
    shown = figure.at()
    assert state_of(page) == state_text(values)
    agree(page, shown)
    for control in figure._controls.values():
        before, hash_before = plain(shown), hash_of(page)
        move(page, control.name)
        at = control.grid.index(values[control.name])
        step = -1 if control.kind == "range" and at + 1 == len(control.grid) else 1
        values[control.name] = control.grid[(at + step) % len(control.grid)]
        shown = figure.at(**values)
        assert state_of(page) == state_text(values)
        assert (hash_of(page) != hash_before) == (plain(shown) != before), control.name
        agree(page, shown)


def test_its_parts_are_what_readers_and_their_tools_know(page, figure):
    """Native inputs with a label, words for a slider's value, a sentence that is announced, names for its pictures."""
    root = page.locator("figure.explorable")
    assert root.count() == 1 and root.get_attribute("data-name") == figure._spec["name"]
    assert root.get_attribute("aria-label") == figure._spec["title"]
    assert root.locator(".title").inner_text() == figure._spec["title"]
    assert root.locator("figcaption").inner_text() == figure._spec["caption"]
    for key in ("how_to_read", "limits"):
        assert root.locator(f".{key} > p").all_text_contents() == [words for words in [figure._spec[key]] if words]
    alt = root.locator("img.still").get_attribute("alt")
    assert alt == f"{figure._spec['title']}. {figure.at()['sentence']}"
    assert root.locator("output").get_attribute("aria-live") == "polite"
    for control in figure._spec["controls"]:
        native = root.locator(f'[name="{control["name"]}"]')
        tag, kind = native.evaluate("(input) => [input.tagName, input.type]")
        assert (tag, kind) == (("SELECT", "select-one") if control["kind"] == "select" else ("INPUT", control["kind"]))
        assert control["label"] in native.evaluate("(input) => input.labels[0].textContent")
        if control["kind"] == "range":
            words = control["words"][control["values"].index(control["start"])]
            assert native.get_attribute("aria-valuetext") == f"{words} {control['unit']}".strip()
    pictures = root.locator("svg[role=application]")
    assert pictures.count() == len(figure._panels)
    labels = pictures.evaluate_all("(all) => all.map((one) => one.getAttribute('aria-label'))")
    assert all(panel["title"] in label for panel, label in zip(figure._spec["panels"], labels))
