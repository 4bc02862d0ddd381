"""The tip at the pointer and the cross-hair: what they say, where they stand, and that they are in nobody's way."""

import numpy as np
import pytest
from chromium import Visit, move, page_of
from small_figures import N, figure

from explorable import Axis, Companion, Heatmap, Lines, Series, set_language

SCALE = Axis("size", limits=(-3, 1), log10=True, resolution=0.005)
PLAIN = Axis("size", limits=(0, 9), resolution=0.005)


def powers(n):
    """A matrix (6, 6) of n − 2 decades, without a path above the diagonal."""
    return np.where(np.tri(6, dtype=bool), n - 2.0, -np.inf)


def panels():
    one = Heatmap(powers, "one", "row", "column", SCALE, color="vermilion", mark="circle")
    beside = Companion(lambda: np.ones((6, 6)), "steps")
    other = Heatmap(np.zeros((6, 6)), "other", "row", "column", SCALE, None, None, beside, "blue", "triangle")
    return [one, other, Lines("plot", PLAIN, PLAIN, [Series([1, 2], [0, 9], "line", "green", "square")])]


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    set_language("en")
    path = tmp_path_factory.mktemp("tip") / "page.html"
    path.write_text(page_of([figure(*panels(), controls=[N], rows=[2, 1])], "en"), encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def visit(browser, request):
    visit = Visit(browser, **getattr(request, "param", {"viewport": {"width": 800, "height": 700}}))
    yield visit
    visit.close()


def cell(page, row, column, panel=0):
    """Return the middle of a cell, counted from 1, in pixels of the window."""
    box = page.locator("canvas").nth(panel).bounding_box()
    return box["x"] + box["width"] * (column - 0.5) / 6, box["y"] + box["height"] * (row - 0.5) / 6


def tip(page):
    return page.locator(".tip")


def test_the_tip_says_what_all_panels_know_of_the_place_each_behind_its_mark(visit, address):
    page = visit.open(address)
    assert tip(page).is_hidden()
    page.mouse.move(*cell(page, 5, 2))
    assert tip(page).inner_text().split("\n") == [
        "row = 5, column = 2",
        "one: size 0.1",
        "other: size 1, steps 1",
    ]
    marks = "(all) => all.map((mark) => [mark.parentNode.getAttribute('class'), mark.getAttribute('class')])"
    assert tip(page).locator("svg path").evaluate_all(marks) == [
        ["vermilion", "series mark circle"],
        ["blue", "series mark triangle"],
    ]
    assert page.locator(".readout").inner_text() == "row = 5, column = 2: one: size 0.1; other: size 1, steps 1"
    page.mouse.move(*cell(page, 2, 5))
    assert "one: exactly 0: no path" in tip(page).inner_text()


def test_the_tip_stands_beside_the_pointer_and_turns_at_the_edges(visit, address):
    page = visit.open(address)
    for row, column, panel in [(2, 2, 0), (5, 5, 0), (2, 5, 1), (6, 6, 1)]:
        x, y = cell(page, row, column, panel)
        page.mouse.move(x, y)
        box = tip(page).bounding_box()
        inside = box["x"] >= 0 and box["y"] >= 0 and box["x"] + box["width"] <= 800 and box["y"] + box["height"] <= 700
        assert inside
        gap = max(box["x"] - x, x - box["x"] - box["width"], box["y"] - y, y - box["y"] - box["height"])
        assert gap == pytest.approx(14, abs=1), (row, column, panel)
    assert box["x"] + box["width"] < x  # at the right edge it stands before the pointer


def test_the_tip_goes_with_the_pointer_and_comes_back_with_it_but_not_for_a_key(visit, address):
    page = visit.open(address)
    x, y = cell(page, 5, 2)
    page.mouse.move(x, y)
    assert tip(page).is_visible()
    assert tip(page).evaluate("(tip) => getComputedStyle(tip).pointerEvents") == "none"
    page.mouse.move(x, y - 400)
    assert tip(page).is_hidden()
    page.mouse.move(x, y)
    assert tip(page).is_visible()
    page.locator("svg[role=application]").first.focus()
    page.keyboard.press("ArrowDown")
    assert tip(page).is_hidden()
    assert page.locator(".readout").inner_text().startswith("row = 6, column = 2: ")


def test_the_tip_follows_the_numbers_while_the_figure_moves(visit, address):
    page = visit.open(address)
    page.mouse.move(*cell(page, 5, 2))
    assert "one: size 0.1" in tip(page).inner_text()
    page.locator("[name=n]").focus()
    move(page, "n")
    assert "one: size 1\n" in tip(page).inner_text()


PHONE = {"viewport": {"width": 390, "height": 700}, "has_touch": True, "is_mobile": True}


@pytest.mark.parametrize("visit", [PHONE], indirect=True)
def test_under_a_finger_the_tip_stands_above_it_until_a_tap_elsewhere(visit, address):
    page = visit.open(address)
    x, y = cell(page, 5, 2)
    page.touchscreen.tap(x, y)
    box = tip(page).bounding_box()
    assert 0 <= box["x"] and box["x"] + box["width"] <= 390
    assert box["y"] + box["height"] <= y - 40
    page.touchscreen.tap(200, page.locator("figcaption").bounding_box()["y"] + 5)
    assert tip(page).is_hidden()


def test_a_cross_hair_marks_row_and_column_in_all_panels_and_leaves_the_cell_free(visit, address):
    page = visit.open(address)
    assert page.locator(".lane:visible").count() == 0
    page.mouse.move(*cell(page, 5, 2))
    for panel in (0, 1):
        picture, ring = page.locator(".layered").nth(panel), page.locator(".layered").nth(panel).locator("rect.ring")
        canvas, lane = picture.locator("canvas").bounding_box(), picture.locator(".lane").last
        box = lane.bounding_box()
        assert box["width"] == pytest.approx(canvas["width"], abs=5)
        assert box["height"] == pytest.approx(canvas["height"], abs=5)
        x, y = (float(ring.get_attribute(name)) + float(ring.get_attribute("width")) / 2 for name in "xy")
        assert not lane.evaluate("(lane, [x, y]) => lane.isPointInStroke(new DOMPoint(x, y))", [x, y])
        assert lane.evaluate("(lane, [x, y]) => lane.isPointInStroke(new DOMPoint(x, y))", [x, y + 40])
    page.keyboard.press("Escape")


def luminance(color):
    parts = [int(part) / 255 for part in color.removeprefix("rgb(").removesuffix(")").split(", ")]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_tip_is_readable_in_light_and_dark(visit, address, theme):
    page = visit.open(address)
    page.evaluate("(theme) => (document.documentElement.dataset.theme = theme)", theme)
    page.mouse.move(*cell(page, 5, 2))
    style = "(tip) => [getComputedStyle(tip).color, getComputedStyle(tip).backgroundColor]"
    ink, paper = sorted(map(luminance, tip(page).evaluate(style)))
    assert (paper + 0.05) / (ink + 0.05) >= 7
