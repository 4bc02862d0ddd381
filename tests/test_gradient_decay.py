"""The figure gradient-decay: its frames against torch's own cells and autodiff, its words against its frames."""

import math
import re

import numpy as np
import pytest
import torch
from figure_reading import Reading
from torch import nn
from torch.func import jacrev

from why_attention import rnn
from why_attention.figures import gradient_decay
from why_attention.figures.gradient_decay import LAGS, SIZE

pytestmark = pytest.mark.slow  # where no frames are kept
HALF = 0.0025  # half the resolution that frames keep of a norm's decades
FLOAT32 = 1e-3  # decades that float32 may be off, after a thousand steps
FORGET_BIAS = {"LSTM": 0, "LSTM, b=1": 1, "LSTM, b=5": 5}
CELLS = ["RNN", "GRU", *FORGET_BIAS, "LSTM, chrono"]


@pytest.fixture(scope="session")
def drawn():
    """The figure from the store; where the store has none yet, it is computed, which takes minutes."""
    return Reading(gradient_decay.figure())


def torch_cell(cell, gain, seed):
    """Return torch's own cell in float64 with the weights of the figure's, the gain and forget bias put in here."""
    ours, _ = gradient_decay.random_network(cell, 1.0, seed)
    theirs = getattr(nn, type(ours).__name__)(SIZE, SIZE, dtype=torch.float64)
    bias = torch.zeros_like(theirs.bias_ih)
    if cell in FORGET_BIAS:
        bias[SIZE : 2 * SIZE] = FORGET_BIAS[cell]
    if cell == "LSTM, chrono":  # b_f = log u and b_i = −b_f, u as it was drawn
        bias[:] = ours.b.detach()
        assert torch.equal(bias[:SIZE], -bias[SIZE : 2 * SIZE])
    weights = {"weight_ih": ours.W_x, "weight_hh": gain * ours.W_h, "bias_ih": bias, "bias_hh": 0 * bias}
    theirs.load_state_dict({name: weight.detach().double() for name, weight in weights.items()})
    return theirs


def last_state(cell, x, s):
    """Run torch's cell over x (steps, d) from the state s = h or [h; c] and return the last state."""
    for x_t in x:
        s = torch.cat(cell(x_t, s.chunk(2))) if isinstance(cell, nn.LSTMCell) else cell(x_t, s)
    return s


# gates or saturation pull these trajectories together, so that float32 and float64 follow the same one
@pytest.mark.parametrize("seed", [0, 2])
@pytest.mark.parametrize(
    "cell, gain, scale",
    [("RNN", 1.0, 1.0), ("GRU", 1.0, 0.3), ("LSTM", 1.5, 0.3), ("LSTM, b=1", 0.5, 0.1), ("LSTM, chrono", 1.0, 1.0)],
)
def test_the_lines_start_as_autodiff_through_torchs_own_cells_says(drawn, cell, gain, scale, seed):
    network = torch_cell(cell, gain, seed)
    x = scale * gradient_decay.random_network(cell, 1.0, seed)[1].double()
    size = 2 * SIZE if cell.startswith("LSTM") else SIZE
    before = last_state(network, x[:-10], torch.zeros(size, dtype=torch.float64)).detach()  # s_{T−10}
    for lag in (1, 2, 10):
        s = last_state(network, x[-10 : len(x) - lag], before)
        J = jacrev(lambda s, lag=lag: last_state(network, x[-lag:], s))(s.detach())
        decades = torch.linalg.matrix_norm(J, ord=2).log10().item()
        found = drawn.series(0, CELLS.index(cell), cell=cell, gain=gain, scale=scale)[seed, LAGS.index(lag)]
        assert found == pytest.approx(decades, abs=HALF + FLOAT32)


def test_a_whole_line_is_the_measured_decay_within_half_a_quantum(drawn):
    network, noise = gradient_decay.random_network("GRU", 1.0, seed=2)
    decades = rnn.gradient_decay(network, 0.3 * noise, LAGS)
    line = drawn.series(0, CELLS.index("GRU"), cell="GRU", gain=1.0, scale=0.3)[2]
    np.testing.assert_allclose(line, decades, atol=HALF + FLOAT32, rtol=0)


def test_every_line_is_drawn_over_its_lags(drawn):
    for series in range(len(drawn.panels[0]["series"])):
        np.testing.assert_array_equal(drawn.series(0, series, "x"), LAGS)


def test_the_bound_is_nowhere_below_the_first_seeds_line(drawn):
    for values in drawn.settings("cell", "gain", "scale"):
        bound, line = (drawn.series(0, number, **values) for number in (len(CELLS), CELLS.index(values["cell"])))
        # one resolution: equal numbers may be rounded to two neighbours of the grid
        assert (bound >= line[0] - 2 * HALF - 1e-9).all(), values


def test_the_bound_is_far_above_the_line_at_the_start(drawn):
    assert drawn.series(0, len(CELLS))[-1] > 100 + drawn.series(0, 0)[0, -1]


def decades_of(text):
    """Return log10 of a number as the sentence writes it."""
    first, power = re.fullmatch(r"(?:([\d.]+)(?:×|$))?(?:10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+))?", text).groups()
    return math.log10(float(first or 1)) + int((power or "⁰").translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")))


@pytest.mark.parametrize("slot, place", [("low", 0), ("norm", 1), ("high", 2)])
def test_the_sentence_says_what_the_lines_show_at_the_windows_end(drawn, slot, place):
    for values in drawn.settings("cell", "gain", "scale", "window"):
        line = drawn.series(0, CELLS.index(values["cell"]), **values)
        norm = np.sort(line[:, LAGS.index(values["window"])])[place]
        text = drawn.words(slot, **values)
        rounding = math.log10(1.05)  # two digits
        assert decades_of(text) == pytest.approx(norm, abs=rounding + HALF), (values, text)


def test_the_factor_a_step_to_the_power_of_the_window_is_the_norm(drawn):
    for values in drawn.settings("cell", "gain", "window"):
        window = values["window"]
        values |= {"scale": 1.0}
        median = np.median(drawn.series(0, CELLS.index(values["cell"]), **values)[:, LAGS.index(window)])
        factor = float(drawn.words("factor", **values))
        rounding = 0.0005 + factor * math.log(10) * HALF / window + 1e-6  # three decimals; the resolution of the median
        assert factor == pytest.approx(10 ** (median / window), abs=rounding), values


@pytest.mark.parametrize(
    "cell, gain, scale, verdict",
    [
        ("RNN", 1.0, 1.0, "消失"),
        ("LSTM, chrono", 1.0, 1.0, "保住"),
        ("LSTM, b=5", 1.0, 1.0, "增长"),
        ("RNN", 2.0, 0.1, "增长"),
    ],
)
def test_the_verdict_is_that_of_the_text(drawn, cell, gain, scale, verdict):
    values = {"cell": cell, "gain": gain, "scale": scale, "window": 1000, "bound": False}
    assert f"梯度{verdict}" in drawn.sentence(**values)


def test_every_line_starts_at_one_and_no_gradient_is_0_for_a_path_leads_to_every_step(drawn):
    for values in drawn.settings("cell", "gain", "scale"):
        for number in range(len(CELLS) + 1):
            line = drawn.series(0, number, **values)
            assert np.isfinite(line).all() and not line[..., 0].any(), (number, values)
