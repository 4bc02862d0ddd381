"""Figures in a live JupyterLab: the static page's contract, numbers between the grid's, keys, the ends of a kernel."""

import json
import os
import signal
import time
import urllib.request

import nbformat
import numpy as np
import pytest
from chromium import Visit, hash_of, move, page_of, state_of
from live_lab import TOKEN, live_lab
from nbconvert import HTMLExporter
from test_figure_in_browser import X, chain, made_up, triangle
from traitlets.config import Config

from explorable import set_language

CONTROLS = ["n", "power", "kind", "bound"]
START = "n=8;power=0.5;kind=up;bound=false"
SETUP = f"""
import os, sys, time
sys.path.append({os.path.dirname(__file__)!r})
import numpy as np
from ipywidgets import jslink
from test_figure_in_browser import made_up
from explorable import *
from explorable.script import WIDGET
set_language("en")

def lines(*functions, values=[0.0, 1.0, 2.5]):
    series = [Series(function, [0, 1, 2, 3], function.__name__, focus=i and ("kind", "b") or None) for i, function in enumerate(functions)]
    return Explorable(
        "lines", title="Lines", caption="", how_to_read="",
        controls=[Control("x", values, label="x"), Control("kind", {{"a": "A", "b": "B"}}, label="kind")],
        panels=[
            Lines(title="", x=Axis("i", limits=(0, 3)), y=Axis("y", limits=(0, 8)), series=series),
            Heatmap(lambda kind: np.eye(2 + (kind == "b")), title="", rows="i", columns="j", scale=Axis("s", limits=(0, 1))),
        ],
        sentence=Sentence("x = {{x}}."),
    )

def quick(x):
    return np.arange(4) * x

def brittle(x):
    if x == 0.5:
        raise ValueError("one half is beyond me")
    return quick(x)

def wait_for_go():
    end = time.monotonic() + 20
    while not os.path.exists("go") and time.monotonic() < end:
        time.sleep(0.02)

asked, given = [], []
def slow(x):
    if x not in (0, 1, 2.5):
        asked.append(x)
        wait_for_go()
        given.append(x)
    return quick(x)
"""
MADE_UP = "fig = made_up()\nfig"
ALL_LINES = "figure.dataset.state.includes(`power=${argument};`) && figure.drawn.panels[0].series.length === 2"


@pytest.fixture(scope="module")
def lab(browser, tmp_path_factory):
    with live_lab(browser, tmp_path_factory) as lab:
        yield lab


@pytest.fixture(scope="module")
def shared(lab):
    """A notebook for all tests that leave its kernel alive; its figures have no still picture, which takes longest."""
    notebook = lab.open("shared.ipynb")
    notebook.run(SETUP + 'sys.modules[Explorable.__module__].still_picture = lambda *_: "data:,"', cell=1)
    return notebook


@pytest.fixture
def notebook(shared):
    yield shared
    shared.run('set_language("en")', cell=1)


@pytest.fixture
def go(lab):
    """The file that ends ``wait_for_go`` in a kernel, once it has been touched."""
    path = lab.folder / "go"
    yield path
    path.touch()  # also for whoever still waits
    lab.visit.page.wait_for_timeout(100)
    path.unlink()


@pytest.fixture
def own(lab, request):
    """A notebook for this test alone, which may end its kernel."""
    notebook = lab.open(f"{request.node.originalname}.ipynb")
    notebook.run(SETUP, cell=1)
    yield notebook
    notebook.close()


@pytest.fixture(autouse=True)
def nothing_amiss(lab):
    """No test may leave an error of the figure's script or a request to another host."""
    lab.complaints.clear()
    lab.visit.elsewhere.clear()
    yield
    assert lab.complaints == []
    assert lab.visit.elsewhere == []


def drawn(figure):
    """Return ``figure.drawn``, the numbers on screen (JSON turns −Infinity into null)."""
    return json.loads(figure.evaluate("(figure) => JSON.stringify(figure.drawn)"))


def box_of(figure, name):
    return figure.locator(f'.control-with-box:has([name="{name}"]) .box')


def readout(figure):
    return figure.locator(".readout").inner_text()


def wait(figure, condition, argument=None):
    """Wait until a condition on ``figure`` holds in the browser."""
    handle = figure.element_handle()
    figure.page.wait_for_function(f"([figure, argument]) => {condition}", arg=[handle, argument], timeout=15_000)


def wait_for_state(figure, state):
    wait(figure, "figure.dataset.state === argument", state)


def wait_in_kernel(notebook, expression, value):
    """Wait until an expression has a value in the kernel, where a browser's message may arrive late."""
    end = time.monotonic() + 10
    while (found := notebook.python(expression)) != value and time.monotonic() < end:
        time.sleep(0.05)
    assert found == value


def check_numbers(figure, n, power):
    """Check that the figure shows what the functions give, to the precision that it keeps."""
    lines, heatmap, graph = drawn(figure)["panels"]
    matrix = np.array([np.nan if v is None else v for v in heatmap["values"]]).reshape(heatmap["shape"])
    expected = triangle(n, power)
    np.testing.assert_allclose(matrix, np.where(np.isinf(expected), np.nan, expected), atol=0.05)
    np.testing.assert_allclose(lines["series"][0]["y"], np.outer([0.9, 1, 1.1], X * power), atol=0.05)
    np.testing.assert_allclose(graph["nodes"], chain(n), atol=1e-3)
    assert len(graph["edges"]) == n - 1


# The contract


def test_static_page_and_live_figure_draw_the_same_numbers_and_every_control_changes_them(notebook, browser, tmp_path):
    set_language("en")
    path = tmp_path / "page.html"
    path.write_text(page_of([made_up()], "en"), encoding="utf-8")
    live, visit = notebook.show(MADE_UP), Visit(browser, viewport={"width": 1280, "height": 1400})
    page = visit.open(path.as_uri())
    static = page.locator("figure.explorable")
    for host in (page, notebook.panel):
        assert host.locator("figure.explorable").count() == 1 and host.locator("figure figure").count() == 0
    assert live.get_attribute("data-name") == "made-up"
    assert live.locator("output").inner_text() == "n = 8, 7 steps, rising, long."
    assert live.locator("img.still").is_hidden()
    seen = []
    for name in [None, *CONTROLS, *CONTROLS]:
        if name:
            move(page, name)
            move(notebook.panel, name)
        seen.append((state_of(page), hash_of(notebook.panel)))
        assert state_of(notebook.panel) == state_of(page)
        numbers = drawn(static)
        assert len(numbers["panels"]) == 3
        assert drawn(live) == numbers
    assert seen[0][0] == START
    assert all(before != after for pair in zip(seen, seen[1:]) for before, after in zip(*pair))
    visit.close()


# Between the grid's values


def test_values_typed_between_the_grids_draw_what_the_functions_give_there(notebook):
    figure = notebook.show(MADE_UP)
    assert figure.locator(".box:visible").count() == 2
    assert figure.locator(".control .value:visible").count() == 0
    assert box_of(figure, "n").get_attribute("aria-label") == "length: type any value"
    for name, typed, n in (("power", "0.77", 8), ("n", "5", 5)):
        box_of(figure, name).fill(typed)
        wait_for_state(figure, f"n={n};power=0.77;kind=up;bound=false")
        check_numbers(figure, n, 0.77)
        assert figure.locator("output").inner_text().startswith(f"n = {n}, {n - 1} steps, rising, ")
        assert figure.locator(f'[name="{name}"]').get_attribute("aria-valuetext") == typed
        assert notebook.python("[fig.n, fig.power]") == [n, 0.77]
    wait(figure, ALL_LINES, "0.77")  # the grey one too
    np.testing.assert_allclose(drawn(figure)["panels"][0]["series"][1]["y"], [-X * 0.77], atol=0.05)


REFUSED = {
    "too large": ("en", "power", "7", "Type a number from 0.5 to 2."),
    "too small": ("zh", "power", "0.4", "请输入 0.5 到 2 之间的数。"),
    "not whole": ("en", "n", "5.5", "Type a whole number from 4 to 12."),
    "whole, too large": ("zh", "n", "13", "请输入 4 到 12 之间的整数。"),
    "nothing": ("en", "n", "", "Type a whole number from 4 to 12."),
}


@pytest.mark.parametrize(("language", "name", "typed", "sentence"), REFUSED.values(), ids=REFUSED)
def test_a_value_that_the_control_cannot_take_is_refused_in_the_figures_language(
    notebook, language, name, typed, sentence
):
    figure = notebook.show(f'set_language("{language}")\n{MADE_UP}')
    before = drawn(figure)
    box_of(figure, name).fill(typed)
    assert readout(figure) == sentence
    assert box_of(figure, name).get_attribute("aria-invalid") == "true"
    figure.locator(".numbers > summary").focus()
    assert box_of(figure, name).input_value() == {"n": "8", "power": "0.5"}[name]
    assert figure.get_attribute("data-state") == START
    assert drawn(figure) == before
    assert notebook.python("[fig.n, fig.power]") == [8, 0.5]


def test_a_slider_over_whole_floats_takes_a_fraction_as_python_does(notebook):
    figure = notebook.show("fig = lines(quick, values=[0.0, 1.0, 2.0])\nfig")
    notebook.run("fig.x = 0.5", cell=1)
    wait_for_state(figure, "x=0.5;kind=a")
    box_of(figure, "x").fill("1.5")
    wait_for_state(figure, "x=1.5;kind=a")


def test_a_value_that_the_function_refuses_leaves_the_picture_says_so_and_the_next_is_drawn(notebook):
    figure = notebook.show("fig = lines(brittle)\nfig")
    box_of(figure, "x").fill("1.5")
    wait_for_state(figure, "x=1.5;kind=a")
    before = figure.get_attribute("data-drawn")
    box_of(figure, "x").fill("0.5")
    wait(figure, "figure.querySelector('.readout').textContent.includes('one half is beyond me')")
    assert readout(figure).startswith("The kernel cannot compute this value, so the figure stays as it was: ")
    assert figure.get_attribute("data-drawn") == before
    assert figure.get_attribute("data-state") == "x=1.5;kind=a"
    assert figure.get_attribute("aria-busy") == "false"
    assert figure.locator('[name="x"]').get_attribute("aria-valuetext") == "1.5"
    wait_in_kernel(notebook, "fig.x", 1.5)
    box_of(figure, "x").fill("0.25")
    wait_for_state(figure, "x=0.25;kind=a")
    assert drawn(figure)["panels"][0]["series"][0]["y"] == [pytest.approx([0, 0.25, 0.5, 0.75], abs=1e-3)]


def test_a_grey_line_that_the_function_refuses_keeps_no_other_line_away(notebook):
    figure = notebook.show("def other(x): return quick(x)\nfig = lines(quick, brittle, other)\nfig")
    box_of(figure, "x").fill("0.5")
    wait_for_state(figure, "x=0.5;kind=a")
    notebook.page.wait_for_timeout(500)
    assert "stays as it was" not in readout(figure)
    assert [series["label"] for series in drawn(figure)["panels"][0]["series"]] == ["quick", "other"]


# A slow function


def compute_slowly(notebook):
    """Show a figure and type what its kernel computes until the file ``go`` is there."""
    figure = notebook.show("asked.clear(), given.clear()\nfig = lines(slow)\nfig")
    box_of(figure, "x").fill("0.5")
    wait(figure, "figure.getAttribute('aria-busy') === 'true'")
    return figure


def test_while_the_kernel_computes_the_figure_says_so_and_another_control_is_drawn_with_the_answer(notebook, go):
    figure = compute_slowly(notebook)
    assert readout(figure) == (
        "The kernel is computing this value; meanwhile the figure stays as it was, and the sliders work."
    )
    assert figure.get_attribute("data-state") == "x=0;kind=a"
    assert drawn(figure)["panels"][0]["series"][0]["y"] == [[0, 0, 0, 0]]
    move(notebook.panel, "kind")
    assert figure.locator('[name="kind"]').input_value() == "1"
    go.touch()
    wait_for_state(figure, "x=0.5;kind=b")
    assert drawn(figure)["panels"][1]["shape"] == [3, 3]
    assert figure.get_attribute("aria-busy") == "false"
    assert not readout(figure).startswith("The kernel")


def test_while_the_kernel_computes_a_slider_goes_back_to_the_grid_at_once(notebook, go):
    figure = compute_slowly(notebook)
    figure.locator('[name="x"]').press("End")
    assert figure.get_attribute("data-state") == "x=2.5;kind=a"
    assert figure.get_attribute("aria-busy") == "false"
    assert not readout(figure).startswith("The kernel")
    go.touch()
    wait_in_kernel(notebook, "given", [0.5])
    notebook.page.wait_for_timeout(200)
    assert figure.get_attribute("data-state") == "x=2.5;kind=a"  # the late answer changes nothing


def test_ten_values_typed_quickly_cost_two_computations_and_end_at_the_last(notebook, go):
    figure = compute_slowly(notebook)
    for value in range(51, 61):
        box_of(figure, "x").fill(f"0.{value}")
    go.touch()
    wait_for_state(figure, "x=0.6;kind=a")
    assert notebook.python("asked") == [0.5, 0.6]


# Python and other figures


def test_a_moved_slider_and_a_typed_value_call_pythons_observer(notebook):
    figure = notebook.show('seen = []\nfig = made_up()\nfig.observe(lambda change: seen.append(change.new), "n")\nfig')
    move(notebook.panel, "n")
    wait_in_kernel(notebook, "seen", [12])
    box_of(figure, "n").fill("5")
    wait_in_kernel(notebook, "seen", [12, 5])


def test_values_set_in_python_are_drawn(notebook):
    figure = notebook.show(MADE_UP)
    for n, power in ((12, 0.5), (9, 1.9)):  # on the grid, and between the values of both
        notebook.run(f"fig.n, fig.power = {n}, {power}", cell=1)
        wait_for_state(figure, f"n={n};power={power};kind=up;bound=false")
        check_numbers(figure, n, power)


def test_linked_figures_move_together(notebook):
    notebook.run(
        'left, right = made_up("left"), made_up("right")\njslink((left, "n"), (right, "n"))\ndisplay(left, right)'
    )
    left, right = (notebook.panel.locator(f'[data-name="{name}"][data-kernel=alive]') for name in ("left", "right"))
    right.wait_for()
    for n in (12, 5):  # on the grid and between its values
        box_of(left, "n").fill(str(n))
        for figure in (left, right):
            wait_for_state(figure, f"n={n};power=0.5;kind=up;bound=false")
            check_numbers(figure, n, 0.5)
        wait_in_kernel(notebook, "[left.n, right.n]", [n, n])


def test_one_figure_shown_twice_keeps_both_views_alike(notebook):
    notebook.run("fig = made_up()\ndisplay(fig, fig)")
    figures = notebook.panel.locator("figure.explorable[data-kernel=alive]")
    figures.nth(1).wait_for()
    box_of(figures.nth(0), "power").fill("0.77")
    wait_for_state(figures.nth(1), "n=8;power=0.77;kind=up;bound=false")
    wait_for_state(figures.nth(0), "n=8;power=0.77;kind=up;bound=false")
    for figure in (figures.nth(0), figures.nth(1)):
        check_numbers(figure, 8, 0.77)


def test_a_link_leads_to_the_published_page_or_says_that_there_is_none(notebook):
    figure = notebook.show(
        'from explorable import set_address\nset_address("https://example.org/page.html")\nmade_up()'
    )
    box_of(figure, "power").fill("1.9")
    wait_for_state(figure, "n=8;power=1.9;kind=up;bound=false")
    link = "a.copy[href='https://example.org/page.html#made-up:power=1.9']"
    figure.locator(link).wait_for()
    figure = notebook.show('set_address("")\nmade_up()')
    assert figure.locator("a.copy").count() == 0
    assert figure.locator(".copy").inner_text() in ("The book has no public address, so there is no link to copy",)


def test_from_a_typed_value_an_arrow_leads_to_the_next_of_the_grid(notebook):
    figure = notebook.show(MADE_UP)
    for typed, key, reached in (("0.9", "ArrowRight", 1), ("1.9", "ArrowLeft", 1), ("0.6", "ArrowLeft", 0.5)):
        box_of(figure, "power").fill(typed)
        wait_for_state(figure, f"n=8;power={typed};kind=up;bound=false")
        figure.locator("[name=power]").press(key)
        wait_for_state(figure, f"n=8;power={reached};kind=up;bound=false")


# Keys

FOCUS = {
    "slider": '[name="power"]',
    "select": '[name="kind"]',
    "box": ".box >> nth=1",
    "lines": "svg[role=application] >> nth=0",
    "heatmap": "svg[role=application] >> nth=1",
    "graph": "svg[role=application] >> nth=2",
    "more": ".more > summary",
    "table": ".numbers > summary",
}
KEYS = (
    "x d d a b m y c v Shift+M ArrowDown ArrowUp j k Enter Shift+Enter Alt+Enter Delete Backspace Escape x Tab".split()
)


PANEL = "(name) => [...jupyterapp.shell.widgets('main')].find((one) => one.context?.path === name)"


def cells_of(notebook):
    return notebook.js(
        """[
            panel.content.activeCellIndex,
            panel.content.widgets.length,
            panel.content.widgets.map(({ model }) => [model.id, model.type, model.sharedModel.getSource(), model.executionCount ?? 0]),
        ]"""
    )


def test_keys_in_a_figure_never_touch_a_cell(notebook):
    figure = notebook.show(MADE_UP)
    before = cells_of(notebook)
    for place, selector in FOCUS.items():
        figure.locator(selector).focus()
        for key in KEYS:
            notebook.page.keyboard.press(key)
        assert cells_of(notebook) == before and not notebook.page.locator(".jp-Dialog").count(), place


def test_the_same_keys_beside_the_figure_reach_jupyterlab(notebook):
    """Else the test above would pass wherever JupyterLab listens to no key at all."""
    notebook.show(MADE_UP)
    before = cells_of(notebook)
    notebook.js("panel.content.mode = 'command', panel.content.activate()")
    for key, count in (("b", before[1] + 1), ("x", before[1])):
        notebook.page.keyboard.press(key)
        notebook.page.wait_for_function(f"{PANEL}.content.widgets.length === {count}", arg=notebook.name)
    assert cells_of(notebook)[1:] == before[1:]


@pytest.mark.parametrize("place", ["slider", "box"])
def test_control_s_in_a_figure_saves_the_notebook(notebook, place):
    figure = notebook.show(MADE_UP)
    assert notebook.js("panel.context.model.dirty") is True
    figure.locator(FOCUS[place]).focus()
    notebook.page.keyboard.press("Control+s")
    notebook.page.wait_for_function(f"{PANEL}.context.model.dirty === false", arg=notebook.name)


def test_arrows_and_typing_still_work_in_a_figure(notebook):
    figure = notebook.show(MADE_UP)
    figure.locator('[name="n"]').focus()
    notebook.page.keyboard.press("ArrowRight")
    assert figure.get_attribute("data-state") == "n=12;power=0.5;kind=up;bound=false"
    box_of(figure, "power").focus()
    notebook.page.keyboard.press("Control+a")
    notebook.page.keyboard.type("1.5")
    wait_for_state(figure, "n=12;power=1.5;kind=up;bound=false")


# A kernel that is busy, stopped, restarted or ended


def point_at(figure):
    """Point at the figure, from outside it."""
    figure.page.mouse.move(1, 1)
    figure.hover()


def grid_still_works(figure):
    """Check that the sliders move the picture over the grid."""
    for name, key, part in (("power", "End", "power=2;"), ("n", "Home", "n=4;"), ("n", "End", "n=12;")):
        figure.locator(f'[name="{name}"]').press(key)
        assert part in figure.get_attribute("data-state")


def test_a_running_cell_keeps_neither_sliders_nor_boxes_from_working(notebook, go):
    figure = notebook.show(MADE_UP)
    notebook.run("wait_for_go()", cell=1, wait=False)
    notebook.panel.locator(".jp-InputPrompt").nth(1).filter(has_text="[*]:").wait_for()
    box_of(figure, "power").fill("0.77")
    wait_for_state(figure, "n=8;power=0.77;kind=up;bound=false")
    check_numbers(figure, 8, 0.77)
    grid_still_works(figure)
    assert notebook.panel.locator(".jp-InputPrompt").nth(1).inner_text() == "[*]:"


HASTY = 'Explorable._esm = WIDGET.replace("PATIENCE = 20000", "PATIENCE = 1500")\n' + MADE_UP


def test_a_kernel_that_does_not_answer_takes_the_boxes_away_until_it_does(own):
    assert own.python('"PATIENCE = 20000" in WIDGET')
    figure = own.show(HASTY)
    kernel = own.python("os.getpid()")
    box_of(figure, "power").fill("1.2")
    wait(figure, ALL_LINES, "1.2")  # every question to the kernel has been answered
    os.kill(kernel, signal.SIGSTOP)
    try:
        box_of(figure, "power").fill("0.77")
        wait(figure, "figure.dataset.kernel === 'busy'")
        assert figure.locator(".box:visible").count() == 0
        assert readout(figure).startswith("The kernel is busy and does not answer; the figure still moves")
        assert figure.get_attribute("aria-busy") == "false"
        assert figure.get_attribute("data-state") == "n=8;power=1;kind=up;bound=false"  # the nearest
        grid_still_works(figure)
    finally:
        os.kill(kernel, signal.SIGCONT)
    wait(figure, "figure.dataset.kernel === 'alive'")
    assert figure.locator(".box:visible").count() == 2
    box_of(figure, "power").fill("1.3")
    wait_for_state(figure, "n=12;power=1.3;kind=up;bound=false")


def test_a_restarted_kernel_leaves_the_picture_and_takes_the_boxes_away_until_the_cell_runs_again(own):
    figure = own.show(MADE_UP)
    box_of(figure, "power").fill("0.77")
    wait(figure, ALL_LINES, "0.77")
    own.js("kernel.restart()")
    point_at(figure)
    wait(figure, "figure.dataset.kernel === 'gone'")
    assert figure.locator(".box:visible").count() == 0
    assert readout(figure).startswith("The kernel is gone or was restarted; the figure still moves")
    check_numbers(figure, 8, 0.77)
    move(own.panel, "n")  # nobody has computed n = 12 there, so the figure goes back to the grid
    assert figure.get_attribute("data-state") == "n=12;power=1;kind=up;bound=false"
    grid_still_works(figure)
    own.run(SETUP, cell=1)
    figure = own.show(MADE_UP)
    assert figure.locator(".box:visible").count() == 2
    box_of(figure, "power").fill("0.77")
    wait_for_state(figure, "n=8;power=0.77;kind=up;bound=false")


def test_an_ended_kernel_takes_the_boxes_away_until_there_is_another(own, lab):
    figure = own.show(HASTY)
    address = f"{lab.address}/api/kernels/{own.js('kernel.id')}"
    urllib.request.urlopen(
        urllib.request.Request(address, method="DELETE", headers={"Authorization": f"token {TOKEN}"})
    )
    point_at(figure)
    wait(figure, "['gone', 'busy'].includes(figure.dataset.kernel)")
    assert figure.locator(".box:visible").count() == 0
    assert readout(figure).startswith("The kernel is ")
    grid_still_works(figure)
    own.js("jupyterapp.serviceManager.sessions.refreshRunning()")
    own.js("panel.sessionContext.changeKernel({ name: 'python3' }).then(() => {})")
    own.run(SETUP, cell=1)
    figure = own.show(MADE_UP)
    assert figure.locator(".box:visible").count() == 2
    # what ipywidgets itself says of every slider whose kernel has ended
    lab.complaints[:] = [text for text in lab.complaints if "Could not send widget sync message" not in text]


# Saved and opened again


@pytest.fixture(scope="module")
def saved(lab):
    """The path of a notebook that was saved with one figure at n = 12 and one at power = 0.77, and closed."""
    notebook = lab.open("saved.ipynb")
    notebook.run(SETUP, cell=1)
    notebook.run('display(made_up("grid"), made_up("between"))')
    figures = notebook.panel.locator("figure.explorable[data-kernel=alive]")
    figures.nth(1).wait_for()
    figures.nth(0).locator('[name="n"]').press("End")
    box_of(figures.nth(1), "power").fill("0.77")
    wait_for_state(figures.nth(1), "n=8;power=0.77;kind=up;bound=false")
    notebook.save()
    notebook.close()
    return notebook.path


def test_a_saved_figure_moves_before_any_cell_has_run(lab, saved):
    notebook = lab.open(saved.name)
    figure = notebook.panel.locator('[data-name="grid"].live')
    figure.wait_for()
    assert figure.get_attribute("data-state") == "n=12;power=0.5;kind=up;bound=false"
    assert figure.locator("img.still").is_hidden()
    assert figure.locator(".box:visible").count() == 0
    check_numbers(figure, 12, 0.5)
    grid_still_works(figure)
    between = notebook.panel.locator('[data-name="between"].live')
    assert between.get_attribute("data-state") == "n=8;power=1;kind=up;bound=false"  # the nearest on the grid
    grid_still_works(between)
    notebook.close()


@pytest.mark.parametrize("state", [False, True])
def test_an_untrusted_notebook_shows_the_still_picture(lab, saved, state):
    someone_elses = nbformat.read(saved, as_version=4)
    someone_elses.cells[0].outputs[0].metadata["by"] = "someone else"  # so that it is not the one that was signed
    if not state:
        del someone_elses.metadata["widgets"]
    nbformat.write(someone_elses, saved.with_name(f"untrusted-{state}.ipynb"))
    notebook = lab.open(f"untrusted-{state}.ipynb")
    assert notebook.js("panel.content.model.cells.get(0).trusted") is False
    image = notebook.panel.locator("figure.explorable img.still").first
    image.wait_for()
    assert image.evaluate("(image) => image.naturalWidth") > 400
    assert "A test figure. n = 8, 7 steps, rising, long." in image.get_attribute("alt")
    caption = notebook.panel.locator("figure.explorable figcaption").first.inner_text()
    assert caption == "Lines, a matrix and a chain."
    notebook.close()


# nbconvert


@pytest.mark.parametrize("state", [False, True])
def test_a_notebook_converted_to_html_shows_the_still_picture_offline(browser, saved, tmp_path, tool, state):
    notebook = nbformat.read(saved, as_version=4)
    if not state:
        del notebook.metadata["widgets"]
    config = Config()
    if state:  # as `make lab` saves notebooks; its server exports them so
        config.NbConvertBase.display_data_priority = tool("lab").EXPORTED
    page = tmp_path / "page.html"
    page.write_text(HTMLExporter(config=config).from_notebook_node(notebook)[0], encoding="utf-8")
    visit = Visit(browser)  # which lets no request out; what nbconvert's own template asks for is not the figure's
    visit.page.goto(page.as_uri())
    image = visit.page.locator("figure.explorable img.still").first
    image.wait_for()
    assert image.evaluate("(image) => image.naturalWidth") > 400
    visit.context.close()
