"""Diagrams: what the kind refuses, what it lights and writes, and how the browser draws it."""

import importlib

import numpy as np
import pytest
from chromium import Visit, move, numbers_of, page_of
from languages import EDITIONS
from small_figures import N, figure

from explorable import Diagram, Edge, Node, set_language

SCHEMATICS = ["one_query", "unrolled_rnn", "sliding_window", "gates", "transformer_block"]
A, B, C = Node("a", 0, 0, symbol="x_1", color="green"), Node("b", 1, 0, label="dog"), Node("c", 1, 1, shape="circle")


CHAIN = (Edge("a", "b"), Edge("b", "c"))


def diagram(nodes=(A, B, C), edges=CHAIN, lit=lambda n: {"a": 1 / n}, **options):
    return Diagram(list(nodes), list(edges), "diagram", lit, **options)


@pytest.mark.parametrize(
    "panel, words",
    [
        (diagram([A, A]), r"diagram 'diagram' has nodes \['a'\] more than once"),
        (diagram([Node("a", 0, 0, shape="star")], []), "node 'a', has shape 'star'"),
        (diagram([Node("a", 0, 0, align="left")], []), "align 'left'"),
        (diagram([Node("a", 0, 0, color="red")], []), "node 'a', has color 'red'"),
        (diagram(flow="down"), "flow 'down'"),
        (diagram(edges=[Edge("a", "d"), Edge("e", "a")]), r"end at nodes \['d', 'e'\]"),
        (diagram(edges=[Edge("a", "b"), Edge("a", "b")]), r"edges \[\('a', 'b'\)\] more than once"),
        (diagram(lit=lambda n: {"d": 1}), r"lit names \['d'\]"),
        (diagram(lit=lambda n: {("b", "a"): 1}), r"lit names \[\('b', 'a'\)\]"),
        (diagram(lit=lambda n: {"a": n}), r"lit gave \[2.0\]"),
        (diagram(lit=lambda n: {"a": -1}), r"lit gave \[-1.0\]"),
        (diagram(lit=lambda m: {}), r"depends on \['m'\]"),
        (diagram(written=lambda n: {"a": n}), r"written gave \[1\]"),
        (diagram(written=lambda n: {"a": "1\t2"}), "without a tab"),
        (diagram(written=lambda n: {"d": "1"}), r"written names \['d'\]"),
        (diagram(moved=lambda n: {("a", "b"): (0, 0)}), r"moved names \[\('a', 'b'\)\]"),
    ],
)
def test_a_diagram_that_could_not_be_drawn_is_refused_by_name(panel, words):
    with pytest.raises(ValueError, match=words):
        figure(panel, controls=[N])


def test_what_functions_name_is_lit_written_and_moved_and_the_rest_is_not():
    panel = diagram(
        lit=lambda n: {"a": 1 / n, ("a", "b"): 0.5, "c": None},
        written=lambda n: {"b": f"{n}\n½"},
        moved=lambda n: {"c": (0.5, n)},
    )
    (shown,) = figure(panel, controls=[N]).at(n=4)["panels"]
    assert shown["lit"].tolist() == [0.25, 0, -np.inf, 0.5, 0]
    assert shown["written"] == ["", "4\n½", "", "", ""]
    assert shown["places"].tolist() == [[0, 0], [1, 0], [0.5, 4]]


def test_its_limits_hold_all_boxes_and_corners():
    panel = diagram([A, B, Node("c", 1, 2, size=(3, 1))], [Edge("a", "c", via=((-2, 0), (-2, 2)))])
    assert panel.limits == [[-2, 2.5], [-0.3, 2.5]]


# In the browser


@pytest.fixture
def visit(browser):
    visit = Visit(browser, viewport={"width": 700, "height": 700})
    yield visit
    visit.close()


def show(visit, folder, *figures, language="en"):
    (folder / "page.html").write_text(page_of(list(figures), language), encoding="utf-8")
    return visit.open((folder / "page.html").as_uri())


def picked(page):
    """Return the words of the picked boxes, and how many arrows are picked."""
    texts = page.locator(".piece.picked").all_text_contents()
    return texts, page.locator(".arrow.picked").count()


def test_a_picked_node_shows_its_way_and_says_what_it_reads(visit, tmp_path):
    set_language("en")
    page = show(visit, tmp_path, figure(diagram(written=lambda n: {"c": f"{n}"}), controls=[N]))
    page.locator(".piece.circle").hover()
    assert picked(page) == (["x1", "dog", "1"], 2)
    assert page.locator(".readout").inner_text() == "diagram: 1; reads dog"  # it has no name of its own
    page.locator("svg[role=application]").press("ArrowDown")
    assert picked(page) == (["x1", "dog"], 1)
    assert page.locator(".readout").inner_text() == "dog: reads x1"
    page.keyboard.press("ArrowLeft")
    assert page.locator(".readout").inner_text() == "x1: is read by dog"
    page.keyboard.press("Escape")
    assert picked(page) == ([], 0)


def test_a_part_that_is_not_there_is_neither_drawn_nor_picked(visit, tmp_path):
    panel = diagram(
        [A, B, C, Node("d", 2, 0)], lit=lambda n: {"b": None, ("b", "c"): None}, written=lambda n: {"c": "1"}
    )
    page = show(visit, tmp_path, figure(panel, controls=[N]))
    boxes = page.locator(".piece")
    assert [box.is_visible() for box in boxes.all()] == [True, False, True, True]
    page.locator("svg[role=application]").press("ArrowRight")  # first
    page.keyboard.press("ArrowRight")
    assert page.locator(".piece.picked").all_text_contents() == ["1"]
    page.keyboard.press("ArrowDown")  # of the node on the right there is nothing to say
    assert page.locator(".piece.picked").all_text_contents() == ["x1"]
    rows = page.locator("details.numbers")
    rows.locator("summary").click()
    rows.locator("tbody th").first.wait_for()
    assert rows.locator("tbody th").all_text_contents() == ["x1", ""]  # the circle has no name


@pytest.mark.parametrize("colored, strength", [("a", 1), ("b", 0)])
def test_a_glow_is_as_strong_as_its_part_is_lit(visit, tmp_path, colored, strength):
    page = show(visit, tmp_path, figure(diagram(lit=lambda n: {"a": 1 / n}), controls=[N]))
    glow = page.locator(".piece .glow").nth(["a", "b"].index(colored))
    assert float(glow.evaluate("(one) => getComputedStyle(one).opacity")) == strength
    move(page, "n")
    page.wait_for_timeout(300)  # the tween
    assert float(glow.evaluate("(one) => getComputedStyle(one).opacity")) == strength / 2


# Whether every text lies inside its box, and no two texts over each other; every box inside the picture
BAD = """(figure) => {
  const bad = [];
  const svg = figure.querySelector("svg[role=application]").getBoundingClientRect();
  const texts = [];
  for (const part of figure.querySelectorAll(".piece, .written")) {
    if (part.getAttribute("display") === "none" || !part.textContent) continue;
    const text = (part.querySelector("text") ?? part).getBoundingClientRect();
    const box = part.matches(".piece.box") ? part.querySelector(".outline").getBoundingClientRect() : svg;
    if (text.left < box.left - 0.5 || text.right > box.right + 0.5 || text.top < box.top - 2 || text.bottom > box.bottom + 2)
      bad.push(`${part.textContent} leaves its box by ${Math.round(Math.max(box.left - text.left, text.right - box.right))} px`);
    const size = parseFloat(getComputedStyle(part.querySelector("text") ?? part).fontSize);
    if (size < 11) bad.push(`${part.textContent} is ${size} px`);
    for (const [other, words] of texts)
      if (Math.min(text.right, other.right) - Math.max(text.left, other.left) > 2 && Math.min(text.bottom, other.bottom) - Math.max(text.top, other.top) > 2)
        bad.push(`${part.textContent} over ${words}`);
    texts.push([text, part.textContent]);
  }
  return bad;
}"""


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("name", SCHEMATICS)
def test_no_word_leaves_its_box_or_lies_over_another_at_any_setting(browser, tmp_path, name, width, edition):
    set_language(edition)
    made = importlib.import_module(f"why_attention.figures.{name}").figure()
    visit = Visit(browser, viewport={"width": width, "height": 900}, reduced_motion="reduce")
    page = show(visit, tmp_path, made, language=edition)
    for control in made._controls.values():
        for _ in control.grid:
            assert page.locator("figure").evaluate(BAD) == [], numbers_of(page)["sentence"]
            move(page, control.name)
    visit.close()
