"""The figure time-chain: its rounds against closed forms, its words against its frames, its size."""

import math
import re

import numpy as np
import pytest
import torch
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
    assert drawn.words("convolution", **values) == drawn.words("attention", **values) == "1"


def test_a_value_stands_as_high_as_its_round(drawn, values):
    n = values["n"]
    recurrent, convolved, attended, _ = drawn.panels
    inputs = [[t, 0, 0] for t in range(1, n + 1)]
    staircase = [[t, t, 1] for t in range(1, n + 1)]
    one_row = [[t, 1, 1] for t in range(1, n + 1)]
    np.testing.assert_array_equal(drawn.array(recurrent["nodes"], **values), inputs + staircase)
    for panel in (convolved, attended):
        np.testing.assert_array_equal(drawn.array(panel["nodes"], **values), inputs + one_row)


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
    sentence = drawn.sentence(n=LENGTHS[1], k=KERNELS[1])
    assert re.search(r"实测：.+，\d+ 个线程，d = 64，读 1024 个 token", sentence)


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
