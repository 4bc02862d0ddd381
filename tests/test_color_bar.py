"""The colour bar: one for all panels of a row that share a scale, with the hatched key of what has no path."""

import numpy as np
import pytest
from chromium import Visit, move, page_of
from small_figures import N, figure, lines

from explorable import Axis, Heatmap, set_language

DECADES = Axis("size", limits=(-6, 1), symbol="a_{ij}", log10=True, resolution=0.01)
OTHER = Axis("weight", limits=(0, 1), resolution=0.01)


def full(n):
    return -np.ones((n, n))


def triangle(n):
    return np.where(np.tri(n, dtype=bool), -1.0, -np.inf)


def later(n):
    """Nothing is 0 at first, n being 1."""
    return triangle(n)


def square(matrix, title, scale=DECADES):
    return Heatmap(matrix, title, "row", "column", scale, color="green", mark="square")


@pytest.fixture
def show(browser, tmp_path):
    visits = []

    def show(*panels, width=1000, **options):
        set_language("en")
        page = page_of([figure(*panels, controls=[N], **options)], "en")
        (tmp_path / "page.html").write_text(page, encoding="utf-8")
        visits.append(Visit(browser, viewport={"width": width, "height": 800}, forced_colors="none"))
        return visits[-1].open((tmp_path / "page.html").as_uri())

    yield show
    for visit in visits:
        visit.close()


def bars(page):
    return page.locator(".color-bar:visible")


@pytest.mark.parametrize("width", [390, 1000])
def test_panels_of_one_scale_share_one_bar_below_them(show, width):
    page = show(square(full, "a"), square(triangle, "b"), square(full, "c"), width=width)
    assert bars(page).count() == 1
    boxes = [canvas.bounding_box() for canvas in page.locator("canvas").all()]
    assert len({box["y"] for box in boxes}) == 1  # side by side, on a phone too
    assert max(box["width"] for box in boxes) - min(box["width"] for box in boxes) <= 1
    assert min(box["width"] for box in boxes) > (100 if width == 390 else 250)
    bar = bars(page).locator("svg").bounding_box()
    assert bar["y"] >= max(box["y"] + box["height"] for box in boxes)
    assert bar["x"] == pytest.approx(boxes[0]["x"], abs=1)
    texts = bars(page).locator(".tick").all_text_contents()
    assert texts[0] == "10⁻⁶" and texts[-1] == "10¹"
    assert bars(page).locator(".axis-name").text_content() == "aij size"


def test_panels_of_two_scales_have_a_bar_each_below_their_own(show):
    page = show(square(full, "a"), square(full, "b", OTHER), square(full, "c", OTHER))
    assert bars(page).count() == 2
    names = [bar.locator(".axis-name").text_content().strip() for bar in bars(page).all()]
    assert names == ["aij size", "weight"]
    starts = [bar.locator("svg").bounding_box()["x"] for bar in bars(page).all()]
    squares = [canvas.bounding_box()["x"] for canvas in page.locator("canvas").all()]
    assert starts == pytest.approx(squares[:2], abs=40)  # the second's margin is left to its row numbers


def test_a_row_of_which_one_has_a_scale_has_a_bar_below_that(show):
    page = show(lines(), square(full, "a"))
    assert bars(page).count() == 1
    assert bars(page).locator("svg").bounding_box()["x"] > 480


def test_there_is_a_key_where_any_setting_has_no_path_and_nothing_shifts(show):
    assert show(square(full, "a")).locator(".no-path").count() == 0
    page = show(square(later, "a"), square(full, "b"))
    assert page.locator(".no-path").count() == 1 and not page.locator(".no-path").is_visible()  # its room is kept
    height = page.locator("figure").bounding_box()["height"]
    move(page, "n")
    assert page.locator("figure").bounding_box()["height"] == height
    assert page.locator(".no-path:visible").inner_text() == "exactly 0: no path"


def test_the_key_is_hatched_as_the_matrix_is_also_in_forced_colours(show):
    page = show(square(triangle, "a"))
    grounds = "(all) => all.map((one) => getComputedStyle(one).backgroundImage)"
    for forced in ("none", "active"):
        page.emulate_media(forced_colors=forced)
        canvas, key = page.locator(".hatched").evaluate_all(grounds)
        assert canvas == key and "repeating-linear-gradient" in key, forced


def test_only_the_first_of_a_row_numbers_rows_and_no_text_overlaps(show):
    page = show(square(full, "a"), square(triangle, "b"), square(full, "c"), width=390)
    assert page.locator(".axis-name").all_text_contents().count("row") == 1
    move(page, "n")
    boxes = "(all) => all.map((text) => text.getBoundingClientRect()).map(({ x, y, right, bottom }) => [x, y, right, bottom])"
    texts = page.locator(".stage text").evaluate_all(boxes)
    for i, (left, top, right, bottom) in enumerate(texts):
        for other_left, other_top, other_right, other_bottom in texts[:i]:
            across = min(right, other_right) - max(left, other_left)
            down = min(bottom, other_bottom) - max(top, other_top)
            assert min(across, down) <= 3
