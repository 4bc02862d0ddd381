"""A heatmap's colours go to the next state in a moment: seen, over soon, and not where it would be in the reader's way."""

import numpy as np
import pytest
from chromium import Visit, page_of
from small_figures import UNIT, figure

from explorable import Control, Heatmap

POWER = Control("power", [0.0, 0.5, 1.0], label="power")
SQUARES = Heatmap(lambda power: [[power, power], [-np.inf if power else 0.0, 0.0]], "map", "row", "column", UNIT)

# Set the control to each of some places, then read the colours of the cells, at once and later; and what was drawn at once
SET = """async (places) => {
  const figure = document.querySelector("figure"), input = figure.querySelector("input"), canvas = figure.querySelector("canvas");
  const cells = () => [...canvas.getContext("2d").getImageData(0, 0, 2, 2).data];
  const before = cells();
  for (const place of places) {
    input.value = place;
    input.dispatchEvent(new Event("input", { bubbles: true }));
  }
  const now = { before, cells: cells(), drawn: figure.drawn.panels[0].values.slice(0, 2), state: figure.dataset.state };
  await new Promise((done) => setTimeout(done, 400));
  return { ...now, after: cells() };
}"""


@pytest.fixture
def change(browser, tmp_path):
    def change(*places, **options):
        (tmp_path / "page.html").write_text(page_of([figure(SQUARES, controls=[POWER])]), encoding="utf-8")
        visit = Visit(browser, **options)
        page = visit.open((tmp_path / "page.html").as_uri())
        page.wait_for_timeout(300)  # the first drawing is over
        seen = page.evaluate(SET, places)
        visit.close()
        return seen

    return change


def test_a_change_is_seen_and_over_soon_while_the_numbers_are_there_at_once(change):
    seen = change(2)
    first, last, between = (seen[key][:3] for key in ("before", "after", "cells"))
    assert first != last and between not in (last, [0, 0, 0])
    assert all(min(a, b) - 1 <= c <= max(a, b) + 1 for a, b, c in zip(first, last, between))
    assert seen["drawn"] == [1, 1] and seen["state"] == "power=1"
    clear = 2 * 4 + 3  # of the cell that becomes 0
    assert (seen["before"][clear], seen["after"][clear]) == (255, 0) and 0 < seen["cells"][clear] <= 255
    still = slice(3 * 4, 4 * 4)  # the cell that stays as it is
    assert seen["before"][still] == seen["cells"][still] == seen["after"][still]


@pytest.mark.parametrize("places, options", [((2,), {"reduced_motion": "reduce"}), ((1, 2), {})])
def test_without_motion_and_while_a_slider_is_dragged_fast_a_change_is_there_at_once(change, places, options):
    seen = change(*places, **options)
    assert seen["cells"] == seen["after"] != seen["before"]
    assert seen["drawn"] == [1, 1]
