"""The Lines panel: its ticks by their own texts, and in the browser its names, marks, guides and movement."""

import json
import re

import numpy as np
import pytest
from chromium import Visit, move, page_of
from node import evaluate
from small_figures import UNIT, figure

from explorable import Axis, Control, Lines, Rule, Series, script, set_language

TICKS = script.join(script.FOLDER / "js" / "ticks.js")
AXES = [  # log10, limits
    *(
        (True, limits)
        for limits in [(-50, 40), (-8, 1.5), (0.85, 3.05), (-0.05, 3.15), (0.3, 1.2), (0.31, 0.33), (4.9, 7)]
    ),
    *((False, limits) for limits in [(0, 1.05), (0, 1000), (-20, 20), (-0.3, 8.3), (0, 0.0004), (-1e300, 1e300)]),
]


def number_of(text):
    """Return the number that a tick says: 0.5, 10⁻⁴⁰, −2×10⁵."""
    sign, plain, first, power = re.fullmatch(r"(−?)(?:([\d.]+)|(?:([\d.]+)×)?10([⁻⁰¹²³⁴-⁹]+))", text).groups()
    size = float(plain or first or 1) * 10.0 ** int(
        (power or "0").translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))
    )
    return -size if sign else size


@pytest.mark.parametrize("pixels", [60, 130, 400, 900])
@pytest.mark.parametrize(("log10", "limits"), AXES)
def test_an_axis_has_two_ticks_at_least_apart_and_each_says_where_it_stands(log10, limits, pixels):
    call = (
        f"ticksOf({json.dumps({'log10': log10})}, {json.dumps(limits)}, {pixels}, (a, b) => 4 * (a.length + b.length))"
    )
    ticks = evaluate(TICKS, call)
    assert len(ticks) >= 2
    for tick in ticks:
        number = 10 ** tick["at"] if log10 else tick["at"]
        assert number_of(tick["text"]) == pytest.approx(number, rel=1e-3, abs=1e-12), tick
    scale = pixels / (limits[1] - limits[0])
    gaps = [(b["at"] - a["at"]) * scale / (4 * len(a["text"] + b["text"])) for a, b in zip(ticks, ticks[1:])]
    assert len(ticks) == 2 or min(gaps) >= 1 - 1e-9
    if log10 and limits[1] - limits[0] >= 3:
        assert all(float(tick["at"]).is_integer() for tick in ticks)  # whole powers of ten


# In the browser

X = np.arange(9)
MARKS = ["circle", "square", "triangle", "wedge", "diamond", "cross"]
NAMES = """(names) => names
  .filter((name) => name.checkVisibility({ visibilityProperty: true }))
  .map((name) => [name.textContent, name.getBoundingClientRect().toJSON()])"""
SHOWN = "figure .stage :is(.label, .rule-name)"


def crowded(narrow=False):
    """Twelve lines, some upon each other, some that leave the plot, a rule, a guide and a spot, for two controls."""
    span = Axis("size of the thing", (-3, 3), symbol="s", log10=True, resolution=0.01)
    colors = ["vermilion", "green", "blue"]

    def line(i):
        return lambda n, slope: (0.25 * slope * X if i > 8 else (i - 4) * 0.1 * slope * X) + n / 20 - 0.5

    lines = [
        Series(line(i), X, f"line {i}", colors[i % 3], MARKS[i % 6], dashed=i % 2 == 1, focus=("chosen", i % 3))
        for i in range(12)
    ]
    guide = Series([-3, 3], lambda n: [n / 5, n / 5], "n", "grey")
    spot = Series(lambda slope: [slope / 4], [4], "now", "grey")
    panel = Lines(
        "crowded", Axis("place", (0, 9), symbol="p"), span, [*lines, guide, spot], [Rule(1, "a rule")], narrow=narrow
    )
    controls = [
        Control("n", list(range(0, 21, 2)), label="n"),
        Control("slope", [-4, -1, 0, 1, 4], label="slope", start=1),
        Control("chosen", [0, 1, 2], label="chosen"),
    ]
    return figure(*(3 * [panel] if narrow else [panel]), controls=controls)


@pytest.fixture
def visit(browser, request):
    visit = Visit(browser, **getattr(request, "param", {"reduced_motion": "reduce"}))
    yield visit
    visit.close()


def show(visit, folder, one, width=1280):
    visit.page.set_viewport_size({"width": width, "height": 900})
    (folder / "page.html").write_text(page_of([one], "en"), encoding="utf-8")
    return visit.open((folder / "page.html").as_uri())


def lines_of(*series):
    return Lines("lines", Axis("place", (0, 8)), UNIT, list(series))


def overlaps(boxes):
    """Return pairs of texts whose boxes lie more than 2 pixels over each other; a letter's box has some air above it."""
    air = 2

    def shared(a, b):
        across = min(a["right"], b["right"]) - max(a["left"], b["left"])
        return across > 2 and min(a["bottom"], b["bottom"]) - max(a["top"], b["top"]) - 2 * air > 2

    return [(a, b) for i, (a, p) in enumerate(boxes) for b, q in boxes[i + 1 :] if shared(p, q)]


@pytest.mark.parametrize(("narrow", "width"), [(False, 320), (False, 390), (False, 1280), (True, 390)])
def test_no_name_is_cut_or_over_another_wherever_the_lines_go(visit, tmp_path, narrow, width):
    set_language("en")
    page = show(visit, tmp_path, crowded(narrow), width)
    for chosen in range(3):
        for slope in range(5):
            for _ in range(10):
                move(page, "n")
                boxes = page.locator(SHOWN).evaluate_all(NAMES)
                assert not overlaps(boxes), (chosen, slope)
                assert all(-2 <= box["left"] and box["right"] <= width + 2 for _, box in boxes)
            page.locator("[name=n]").press("Home")
            move(page, "slope")
        page.locator("[name=slope]").press("Home")
        move(page, "chosen")


def test_small_panels_stand_three_in_a_row_on_a_phone_and_the_first_names_the_axis(visit, tmp_path):
    set_language("en")
    page = show(visit, tmp_path, crowded(narrow=True), 390)
    panels = page.locator("figure .stage > svg").all()
    boxes = [panel.bounding_box() for panel in panels]
    assert len({round(box["y"]) for box in boxes}) == 1
    plots = [panel.locator("svg").bounding_box()["width"] for panel in panels]
    assert max(plots) - min(plots) < 1 and min(plots) > 70
    named = [panel.locator(".axis-name").all_text_contents() for panel in panels]
    assert [len(names) for names in named] == [2, 1, 1]
    assert len({panel.locator(".tick").count() for panel in panels[1:]}) == 1
    assert panels[0].locator(".tick").count() > panels[1].locator(".tick").count()


def test_lines_that_lie_on_each_other_show_the_marks_of_both(visit, tmp_path):
    x = np.linspace(0, 8, 200)
    looks = (("a", "blue", "circle"), ("b", "green", "cross"))
    both = [Series(lambda n: n / 8 + 0 * x, x, name, color, mark) for name, color, mark in looks]
    page = show(visit, tmp_path, figure(lines_of(*both)))
    places = page.locator("figure svg svg path.mark").evaluate_all(
        "(paths) => paths.map((path) => [...path.getAttribute('d').matchAll(/M([\\d.]+),/g)].map((match) => Number(match[1])))"
    )
    assert [len(one) for one in places] == [6, 6]
    assert min(abs(a - b) for a in places[0] for b in places[1]) > 20


def test_a_spot_and_a_guide_are_no_lines(visit, tmp_path):
    series = [
        Series(lambda n: X / 16 * n, X, "line", "blue"),
        Series([0.5], lambda n: [n], "now", "grey"),
        Series([0, 1], lambda n: [n, n], "upright", "grey"),
        Series([0.2, 0.2], [0, 8], "level", "grey"),
        Series([0.3, 0.3], [0, 8], "two points", "green"),
    ]
    page = show(visit, tmp_path, figure(lines_of(*series), controls=[Control("n", [1, 2], label="n")]))
    signs = page.locator("figure .named").evaluate_all(
        "(all) => all.map((one) => [one.textContent, one.querySelector('path').checkVisibility()])"
    )
    assert dict(signs) == {"line": True, "now": False, "upright": False, "level": False, "two points": True}
    page.locator("figure .stage svg").first.focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    assert "line" in page.locator(".readout").inner_text()


def test_a_line_that_leaves_the_plot_says_whither(visit, tmp_path):
    series = [
        Series(lambda n: 1.5 * X - 4 * n, X, "up"),
        Series(-X, X, "down", "green"),
        Series(0 * X - 9, X, "below", "blue"),
    ]
    page = show(visit, tmp_path, figure(lines_of(*series)))
    assert page.locator("figure .label").all_text_contents() == ["up ↑", "down ↓", "below ↓"]


MOTION = {"reduced_motion": "no-preference"}
HALFWAY = """async (name) => {
  const path = document.querySelector("figure path.bold");
  await new Promise((done) => setTimeout(done, 300));  // the last change is over
  const input = document.querySelector(`[name=${name}]`);
  const before = getComputedStyle(path).d;
  input.value = Number(input.value) === Number(input.max) ? input.min : Number(input.value) + 1;
  input.dispatchEvent(new Event("input", { bubbles: true }));
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const running = path.getAnimations();
  running.forEach((one) => { one.pause(); one.currentTime = 75; });
  const halfway = getComputedStyle(path).d;
  running.forEach((one) => one.finish());
  return [before, halfway, getComputedStyle(path).d, running.length];
}"""


@pytest.mark.parametrize("visit", [MOTION], indirect=True)
def test_a_line_moves_to_its_next_place_and_one_of_other_points_is_there_at_once(visit, tmp_path):
    moving = [Series(lambda n: X / 8 * n / 2, X, "line")]
    page = show(visit, tmp_path, figure(lines_of(*moving), controls=[Control("n", [1, 2], label="n")]))
    before, halfway, after, running = page.evaluate(HALFWAY, "n")
    assert running == 1 and len({before, halfway, after}) == 3
    growing = [Series(lambda n: X[: 4 * n] / 8, lambda n: X[: 4 * n], "line")]
    page = show(visit, tmp_path, figure(lines_of(*growing), controls=[Control("n", [1, 2], label="n")]))
    before, halfway, after, running = page.evaluate(HALFWAY, "n")
    assert halfway == after != before


def test_names_stay_where_they_are_while_a_line_hardly_moves(visit, tmp_path):
    series = [Series(lambda n: 0.3 + 0.001 * n + 0 * X, X, "one"), Series(lambda n: 0.5 + 0.02 * X, X, "two", "green")]
    page = show(visit, tmp_path, figure(lines_of(*series), controls=[Control("n", list(range(9)), label="n")]))
    places = []
    for _ in range(8):
        places.append([box["left"] for _, box in page.locator(SHOWN).evaluate_all(NAMES)])
        move(page, "n")
    assert len({str(np.round(place)) for place in places}) == 1
