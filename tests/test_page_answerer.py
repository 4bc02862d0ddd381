"""The page as an answerer: between the values of its grids a figure shows what PyTorch gives, with no kernel."""

import numpy as np
import pytest
import torch
from chromium import Visit, page_of, served, state_of
from small_figures import UNIT

from explorable import Axis, Choice, Control, Explorable, Fixed, Heatmap, Lines, Sentence, Series, set_language
from traced import Choices, Length, Number, Traced

GAINS, LENGTHS = [0.5, 1.0, 2.0, 4.0], [4, 8, 16]


def wave(gain, n, upright):
    """Return a curve, its places, a matrix with exact zeros, the curve's end, and whether that is high."""
    x = torch.arange(n, dtype=torch.float64) / n
    y = torch.tanh(gain * (1 - x if upright else x))
    matrix = torch.ones(n, n, dtype=torch.float64).tril() * y
    return y, x, matrix.log10(), y[-1], 1 * (y[-1] > 0.5)


def traced_figure(**options):
    parts = Traced(wave, Number(GAINS[0], GAINS[-1]), Length(LENGTHS[0], LENGTHS[-1]), Choices([False, True]))
    scale = Axis("weight", (-3, 0), log10=True, resolution=0.001)
    line = Series(parts[0], parts[1], "wave", "blue")
    return Explorable(
        "traced",
        title="Title",
        caption="Caption",
        how_to_read="Reading",
        controls=[
            Control("gain", GAINS, label="gain", start=1.0),
            Control("n", LENGTHS, label="length", start=8),
            Control("upright", [False, True], label="upright"),
            Control("power", [1.0, 2.0], label="power"),
        ],
        panels=[
            Lines("lines", UNIT, Axis("height", (0, 1), resolution=1e-9), [line]),
            Heatmap(parts[2], "matrix", "row", "column", scale),
            Lines("powers", UNIT, UNIT, [Series(lambda power: [0, 1 / power], [0, 1], "power")]),
        ],
        sentence=Sentence("The end is {end}, {size}.", end=Fixed(parts[3], 3), size=Choice(parts[4], ["low", "high"])),
        **options,
    )


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    set_language("en")
    path = tmp_path_factory.mktemp("traced") / "page.html"
    path.write_text(page_of([traced_figure()], "en"), encoding="utf-8")
    set_language("zh")
    return path.as_uri()


@pytest.fixture
def visit(browser):
    made = Visit(browser, viewport={"width": 1280, "height": 900})
    yield made
    made.close()


def box(page, name):
    return page.locator(f".control-with-box:has(input[name={name}]) input.box")


def type_and_wait(page, name, value):
    box(page, name).fill(str(value))
    page.wait_for_selector(f"figure[data-state*='{name}={value}']")


def numbers(values):
    return np.array([-np.inf if value is None else value for value in np.ravel(values)], dtype=float)


def check_against_torch(page, **values):
    """Compare all that the page shows with what the function gives in torch."""
    set_language("en")
    right = traced_figure().at(**values)
    set_language("zh")
    drawn = page.evaluate("document.querySelector('figure').drawn")
    assert drawn["sentence"] == right["sentence"]
    y, x, matrix, *_ = wave(values.get("gain", 1.0), values.get("n", 8), values.get("upright", False))
    line = drawn["panels"][0]["series"][0]
    np.testing.assert_allclose(numbers(line["y"]), y, rtol=1e-12)
    np.testing.assert_allclose(numbers(line["x"]), x, rtol=1e-12)
    np.testing.assert_allclose(numbers(drawn["panels"][1]["values"]), matrix.flatten(), rtol=1e-12)


def test_any_value_may_be_typed_and_is_computed_in_the_page(visit, saved):
    page = visit.open(saved)
    type_and_wait(page, "gain", 0.87)
    check_against_torch(page, gain=0.87)
    type_and_wait(page, "n", 11)
    page.get_by_label("upright").check()
    page.wait_for_selector("figure[data-state*='upright=true']")
    check_against_torch(page, gain=0.87, n=11, upright=True)


def test_a_slider_whose_parts_are_not_all_traced_has_no_box(visit, saved):
    page = visit.open(saved)
    assert box(page, "gain").is_visible() and box(page, "n").is_visible()
    assert not box(page, "power").is_visible()


def test_a_slider_stops_anywhere_and_an_arrow_leads_to_the_grid(visit, saved):
    page = visit.open(saved)
    slider = page.locator("input[name=gain]")
    slider.evaluate("(input) => { input.value = 1.5; input.dispatchEvent(new Event('input', { bubbles: true })); }")
    page.wait_for_selector("figure[data-state*='gain=1.5;']")
    check_against_torch(page, gain=1.5)
    slider.press("ArrowRight")
    page.wait_for_selector("figure[data-state*='gain=2;']")
    slider.press("ArrowLeft")
    page.wait_for_selector("figure[data-state*='gain=1;']")


def test_a_slider_near_a_value_of_its_grid_sticks_to_it(visit, saved):
    page = visit.open(saved)
    slider = page.locator("input[name=gain]")
    slider.evaluate("(input) => { input.value = 2.05; input.dispatchEvent(new Event('input', { bubbles: true })); }")
    page.wait_for_selector("figure[data-state*='gain=2;']")


def test_the_address_keeps_the_value_and_opens_with_it(visit, saved):
    page = visit.open(saved)
    type_and_wait(page, "gain", 3.3)
    page.wait_for_function("location.hash.includes('3.3')")
    fresh = visit.context.new_page()
    fresh.goto(page.url)
    fresh.wait_for_selector("figure[data-state*='gain=3.3']")
    check_against_torch(fresh, gain=3.3)


@pytest.mark.parametrize("value", ["9", "0.2", "1e9", "-1"])
def test_what_lies_outside_is_refused_with_a_sentence_and_the_picture_stays(visit, saved, value):
    page = visit.open(saved)
    before = state_of(page)
    box(page, "gain").fill(value)
    page.wait_for_selector(".readout.news")
    assert "0.5" in page.locator(".readout").inner_text() and "4" in page.locator(".readout").inner_text()
    assert state_of(page) == before


def test_an_address_outside_the_range_opens_at_the_start(visit, saved):
    page = visit.open(saved + "#fig=traced&traced.gain=40")
    assert "gain=1;" in state_of(page)


@pytest.mark.parametrize(
    "lost", ["delete window.Worker", "window.Worker = class { constructor() { throw new Error('no'); } }"]
)
def test_without_workers_the_grid_remains(visit, saved, lost):
    visit.page.add_init_script(lost)
    page = visit.open(saved)
    slider = page.locator("input[name=gain]")
    if box(page, "gain").is_visible():  # that a worker cannot start is known when one is first wanted
        box(page, "gain").fill("0.87")
        page.wait_for_function("!document.querySelector('input.box:not([hidden])')")
    slider.press("ArrowRight")
    page.wait_for_selector("figure[data-state*='gain=2;']")
    assert not box(page, "gain").is_visible()


def test_a_worker_from_a_blob_is_all_that_a_policy_must_allow(visit, saved, tmp_path):
    text = page_of([traced_figure()], "en")
    policy = (
        "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; worker-src blob:"
    )
    (tmp_path / "page.html").write_text(
        text.replace("<head>", f'<head><meta http-equiv="Content-Security-Policy" content="{policy}">'),
        encoding="utf-8",
    )
    page = visit.open((tmp_path / "page.html").as_uri(), figures=False)
    page.wait_for_selector("figure[data-drawn]")
    type_and_wait(page, "gain", 0.87)
    check_against_torch(page, gain=0.87)


def test_while_it_is_dragged_only_the_last_answer_counts(visit, saved):
    page = visit.open(saved)
    page.evaluate("""async () => {
      const input = document.querySelector("input[name=gain]");
      for (let i = 0; i < 60; i++) {
        input.value = 0.2 + (i * 2.5) / 60;
        input.dispatchEvent(new Event("input", { bubbles: true }));
        await new Promise(requestAnimationFrame);
      }
    }""")
    last = page.evaluate("document.querySelector('.control-with-box input.box').value")
    page.wait_for_selector(f"figure[data-state*='gain={last};']")
    check_against_torch(page, gain=float(last))


def test_on_the_site_what_computes_is_fetched_when_it_is_first_wanted(browser, site_folder):
    made = Visit(browser, viewport={"width": 1280, "height": 900})
    fetched = lambda: [answer.url for answer in made.answers if "_static/explorable-" in answer.url]  # noqa: E731
    with served(site_folder) as site:
        page = made.open(f"{site}/en/attention.html")
        assert fetched() == []
        figure = page.locator("figure[data-name=attention-map]")
        figure.locator("input[name=scale]").press("ArrowRight")
        page.wait_for_selector("figure[data-name=attention-map][data-state*='scale=2;']")
        assert fetched() == []
        figure.locator(".control-with-box:has(input[name=scale]) input.box").fill("3.3")
        page.wait_for_selector("figure[data-name=attention-map][data-state*='scale=3.3']")
        assert len(fetched()) == 2  # the interpreter and the trace
        assert "<script" not in page.locator("script.trace").first.inner_text()
    made.close()
