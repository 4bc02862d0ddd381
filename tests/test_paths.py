"""Graphs: the path to a node, all that it comes from, lights up; a pointer means the nearest node in both coordinates."""

import pytest
from chromium import Visit, move, page_of
from small_figures import N, figure

from explorable import Axis, Graph, set_language

# two chains over each other that meet at the top, and a node beside them
NODES = [[0, 0, 1], [1, 1, 1], [2, 0, 1], [2, 2, 1], [3, 0, 1], [3, 3, 1]]
EDGES = [[0, 1, 1], [1, 3, 1], [2, 3, 1], [3, 5, 0.5]]


@pytest.fixture
def show(browser, tmp_path):
    visits = []

    def show(**options):
        set_language("en")
        across, upwards = Axis("place", (-1, 4), symbol="t"), Axis("round", (-1, 4))
        panel = Graph(lambda n: NODES[: n + 2], lambda n: EDGES[:n], "graph", across, upwards, **options)
        page = page_of([figure(panel, controls=[N])], "en")
        (tmp_path / "page.html").write_text(page, encoding="utf-8")
        visits.append(Visit(browser, viewport={"width": 900, "height": 700}))
        page = visits[-1].open((tmp_path / "page.html").as_uri())
        move(page, "n"), move(page, "n")  # n = 4: all of it
        return page

    yield show
    for visit in visits:
        visit.close()


def lit(page):
    """Return how many edges are in colour."""
    return (page.locator(".edge.traced:not(.awaited)").get_attribute("d") or "").count("M")


def off(page):
    return page.locator(".node").evaluate_all("(all) => all.map((node) => node.classList.contains('off'))")


def point_at(page, number, dx=3, dy=-3):
    box = page.locator(".node").nth(number).bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2 + dx, box["y"] + box["height"] / 2 + dy)


def test_a_node_lights_up_all_that_it_comes_from_and_fades_the_rest(show):
    page = show(color="green", mark="square")
    assert lit(page) == 0 and not any(off(page))
    point_at(page, 3)
    assert lit(page) == 3
    assert off(page) == [False, False, False, False, True, True]
    assert (
        page.locator(".edge.traced:not(.awaited)").evaluate("(edge) => getComputedStyle(edge).stroke")
        == "rgb(0, 127, 89)"
    )
    faint = page.locator(".edge:not(.traced)").first
    assert float(faint.evaluate("(edge) => getComputedStyle(edge).opacity")) < 0.5
    assert page.locator(".tip").inner_text().split("\n") == ["t = 2", "graph: round 2, reads 2 values"]


def test_a_pointer_means_the_nearest_node_across_and_upwards(show):
    page = show(color="green")
    for number in range(len(NODES)):
        point_at(page, number)
        assert (
            page.locator(".readout").inner_text().startswith(f"t = {NODES[number][0]}: graph: round {NODES[number][1]}")
        )


def test_keys_walk_across_on_the_nearest_height_and_upwards_at_one_place(show):
    page = show(color="green")
    page.locator("svg[role=application]").focus()
    said = []
    for key in ("Home", "ArrowRight", "ArrowRight", "ArrowDown", "ArrowRight", "ArrowUp", "ArrowUp"):
        page.keyboard.press(key)
        said.append(page.locator(".readout").inner_text().split(", ")[0])
    places = [(0, 0), (1, 1), (2, 0), (2, 0), (3, 0), (3, 3), (3, 3)]
    assert said == [f"t = {t}: graph: round {height}" for t, height in places]


def test_a_lit_graph_shows_the_path_to_its_last_node_until_another_is_picked(show):
    page = show(color="blue", mark="triangle", lit=True)
    assert lit(page) == 4 and not any(off(page))
    point_at(page, 1)
    assert lit(page) == 1 and any(off(page))
    page.locator("svg[role=application]").focus()
    page.keyboard.press("Escape")
    assert lit(page) == 4 and not any(off(page))
