"""The figure time-chain: its rounds against closed forms, its words against its frames, its button."""

import math
import re

import numpy as np
import pytest
import torch
from chromium import Visit, page_of, state_of
from figure_reading import Reading

from why_attention.figures import time_chain
from why_attention.figures.time_chain import KERNELS, LENGTHS, TIMED_LENGTHS


@pytest.fixture(scope="module")
def drawn():
    return Reading(time_chain.figure())


@pytest.fixture(params=[{"n": n, "k": k} for n in LENGTHS for k in KERNELS], ids=str)
def values(request):
    return request.param


def test_recurrence_takes_n_rounds_and_the_others_one(drawn, values):
    assert drawn.words("recurrence", **values) == str(values["n"])
    assert drawn.words("others", **values) == "1"


def test_every_value_stands_in_its_layer_and_knows_its_round(drawn, values):
    n = values["n"]
    recurrent, convolved, attended, _ = drawn.panels
    inputs = [[t, 0, 0] for t in range(1, n + 1)]
    chain = [[t, 1, t] for t in range(1, n + 1)]
    at_once = [[t, 1, 1] for t in range(1, n + 1)]
    np.testing.assert_array_equal(drawn.array(recurrent["nodes"], **values), inputs + chain)
    for panel in (convolved, attended):
        np.testing.assert_array_equal(drawn.array(panel["nodes"], **values), inputs + at_once)


@pytest.mark.parametrize("n", LENGTHS)
def test_round_by_round_recurrence_knows_one_value_more(drawn, n):
    rounds = drawn.grids["round"]
    assert [int(drawn.words("done", n=n, round=now)) for now in rounds] == [min(n, now) for now in rounds]
    assert [drawn.figure.at(n=n, round=now)["panels"][0]["now"] for now in rounds] == rounds


def test_the_start_shows_a_recurrence_half_done_and_the_others_done(drawn):
    n, now = drawn.start["n"], drawn.start["round"]
    assert 1 < now < n
    assert f"第 {now} 轮之后，循环才算出 {now} 个" in drawn.sentence()


def test_there_are_as_many_edges_as_the_layer_has(drawn, values):
    n, k = values["n"], values["k"]
    edges = [len(drawn.array(panel["edges"], **values)) for panel in drawn.panels[:3]]
    assert edges == [n + n - 1, sum(min(t, k) for t in range(1, n + 1)), n * n]


def test_the_three_graphs_have_the_same_axes(drawn, values):
    for axis in ("x", "y"):
        limits = [drawn.array(panel[axis]["limits"], **values).tolist() for panel in drawn.panels[:3]]
        assert limits[0] == limits[1] == limits[2]


@pytest.mark.parametrize("number, slot", list(enumerate(["rnn_ms", "lstm_ms", "convolution_ms", "attention_ms"])))
def test_the_sentence_says_the_median_at_the_longest_length(drawn, number, slot):
    series = drawn.panels[3]["series"][number]
    low, median, high = drawn.array(series["y"])
    assert (low <= median + 1e-9).all()
    assert (median <= high + 1e-9).all()
    assert math.log10(float(drawn.words(slot))) == pytest.approx(median[-1], abs=0.03)  # two digits
    np.testing.assert_allclose(10 ** drawn.array(series["x"]), TIMED_LENGTHS, rtol=2e-3)


def test_the_machine_is_named(drawn):
    detail = drawn.figure.at(n=LENGTHS[1], k=KERNELS[1])["detail"]
    assert re.search(r"实测：.+，\d+ 个线程，d = 64，读 1024 个 token", detail)


STATES = """(figure) => [...figure.querySelectorAll(".stage > svg")].slice(0, 3).map((graph) =>
  ["hollow:not(.awaited)", "awaited", "new"].map((state) => graph.querySelectorAll(`.node.${state}`).length))"""


@pytest.fixture
def page(browser, tmp_path):
    (tmp_path / "page.html").write_text(page_of([time_chain.figure()]), encoding="utf-8")
    visit = Visit(browser, viewport={"width": 1280, "height": 900})
    yield visit.open((tmp_path / "page.html").as_uri())
    visit.close()


def test_inputs_are_given_what_waits_is_faint_and_the_last_round_stands_out(page):
    figure = page.locator("figure.explorable")
    assert page.locator(".node.given").count() == 3 * 8
    assert figure.evaluate(STATES) == [[0, 4, 1], [0, 0, 0], [0, 0, 0]]
    page.locator('[name="round"]').press("Home")
    assert figure.evaluate(STATES) == 3 * [[0, 8, 0]]
    page.locator('[name="round"]').press("ArrowRight")
    assert figure.evaluate(STATES) == [[0, 7, 1], [0, 0, 8], [0, 0, 8]]


def test_before_a_touch_the_last_position_is_lit_with_all_that_it_waits_for(page):
    lit = """(figure) => [...figure.querySelectorAll(".stage > svg")].slice(0, 3).map((graph) =>
      [...graph.querySelectorAll(".edge.traced")].map((path) => path.getAttribute("d").split("M").length - 1))"""
    assert page.locator("figure.explorable").evaluate(lit) == [[7, 8], [3, 0], [8, 0]]  # there, and still to come


def test_the_button_runs_the_rounds_up_to_n_and_starts_over_at_the_end(page):
    button = page.locator(".play-button")
    assert button.get_attribute("aria-label") == "播放：轮次"
    button.press("Enter")
    assert button.get_attribute("aria-label") == "暂停：轮次"
    page.wait_for_function("document.querySelector('figure').dataset.state.startsWith('round=8;')")
    assert button.get_attribute("aria-label") == "播放：轮次"
    page.wait_for_timeout(700)
    assert state_of(page) == "round=8;n=8;k=3"
    button.click()
    assert state_of(page) == "round=0;n=8;k=3"
    page.wait_for_function("document.querySelector('figure').dataset.state.startsWith('round=2;')")
    button.click()
    page.wait_for_timeout(700)
    assert state_of(page) == "round=2;n=8;k=3"


def test_the_button_gives_way_to_the_reader_and_to_nobody_else(page):
    button, slider = page.locator(".play-button"), page.locator('[name="round"]')
    button.click()
    page.locator('[name="n"]').press("ArrowRight")
    assert button.get_attribute("aria-label") == "暂停：轮次"
    slider.press("Home")
    assert button.get_attribute("aria-label") == "播放：轮次"
    page.wait_for_timeout(700)
    assert state_of(page) == "round=0;n=12;k=3"


def test_times_are_measured_from_the_layers_named(monkeypatch):
    seen = []
    time_chain.times.cache_clear()
    monkeypatch.setattr(time_chain, "forward_times", lambda calls, rounds: seen.append(calls) or _raise(StopIteration))
    with pytest.raises(StopIteration):
        time_chain.times()
    shapes = {name: [type(call.func).__name__, tuple(call.args[0].shape)] for name, call in seen[0].items()}
    assert shapes == {
        "rnn": ["RNN", (1, 8, 64)],
        "lstm": ["LSTM", (1, 8, 64)],
        "convolution": ["Convolution", (1, 8, 64)],
        "attention": ["MultiHeadAttention", (1, 8, 64)],
    }
    assert {torch.get_num_threads()} == {time_chain.machine().threads}


def _raise(error):
    raise error
