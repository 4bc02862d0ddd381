"""The figure time-chain: its rounds against closed forms, its words against its frames, its size."""

import base64
import math
import re

import numpy as np
import pytest
import torch

from why_attention.explorable import set_language
from why_attention.explorable.explorable import said
from why_attention.explorable.frames import Frames
from why_attention.figures import time_chain
from why_attention.figures.time_chain import KERNELS, LENGTHS, TIMED_LENGTHS


@pytest.fixture(scope="module")
def figure():
    set_language("zh")
    return time_chain.figure()


@pytest.fixture(scope="module")
def frames(figure):
    return Frames(figure._frames, {"n": len(LENGTHS), "k": len(KERNELS)})


@pytest.fixture(params=[(n, k) for n in LENGTHS for k in KERNELS], ids=str)
def at(request):
    """Return n, k and their numbers on the grid."""
    n, k = request.param
    return n, k, {"n": LENGTHS.index(n), "k": KERNELS.index(k)}


def test_recurrence_takes_n_rounds_and_the_others_one(frames, at):
    n, _, setting = at
    assert frames.words("recurrence", setting) == str(n)
    assert frames.words("convolution", setting) == frames.words("attention", setting) == "1"


def test_a_value_stands_as_high_as_its_round(figure, frames, at):
    n, _, setting = at
    recurrent, convolved, attended, _ = figure._spec["panels"]
    inputs = [[t, 0, 0] for t in range(1, n + 1)]
    staircase = [[t, t, 1] for t in range(1, n + 1)]
    one_row = [[t, 1, 1] for t in range(1, n + 1)]
    np.testing.assert_array_equal(frames.array(recurrent["nodes"], setting), inputs + staircase)
    for panel in (convolved, attended):
        np.testing.assert_array_equal(frames.array(panel["nodes"], setting), inputs + one_row)


def test_there_are_as_many_edges_as_the_layer_has(figure, frames, at):
    n, k, setting = at
    edges = [len(frames.array(panel["edges"], setting)) for panel in figure._spec["panels"][:3]]
    assert edges == [n + n - 1, sum(min(t, k) for t in range(1, n + 1)), n * n]


def test_the_three_graphs_have_the_same_axes(figure, frames, at):
    setting = at[2]
    for axis in ("x", "y"):
        limits = [frames.array(panel[axis]["limits"], setting).tolist() for panel in figure._spec["panels"][:3]]
        assert limits[0] == limits[1] == limits[2]


@pytest.mark.parametrize("number, slot", list(enumerate(["rnn_ms", "lstm_ms", "convolution_ms", "attention_ms"])))
def test_the_sentence_says_the_median_at_the_longest_length(figure, frames, number, slot):
    setting = {"n": 0, "k": 0}
    series = figure._spec["panels"][3]["series"][number]
    low, median, high = frames.array(series["y"], setting)
    assert (low <= median + 1e-9).all()
    assert (median <= high + 1e-9).all()
    assert math.log10(float(frames.words(slot, setting))) == pytest.approx(median[-1], abs=0.03)  # two digits
    np.testing.assert_allclose(10 ** frames.array(series["x"], setting), TIMED_LENGTHS, rtol=2e-3)


def test_every_time_lies_inside_the_axes(figure, frames):
    setting = {"n": 0, "k": 0}
    panel = figure._spec["panels"][3]
    low, high = frames.array(panel["y"]["limits"], setting)
    for series in panel["series"]:
        y = frames.array(series["y"], setting)
        assert low < y.min() <= y.max() < high


def test_the_machine_is_named(figure, frames):
    sentence = said(figure._spec, frames, {"n": 1, "k": 1})
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


def test_the_payload_and_the_still_picture_are_small(figure):
    assert len(figure._frames) <= 30_000
    page = figure._repr_mimebundle_()[0]["text/html"]
    assert len(base64.b64decode(re.search(r'base64,([^"]+)"', page)[1])) <= 15_000
