"""The figure gradient-decay: its frames against torch's own cells and autodiff, its words against its frames."""

import base64
import io
import itertools
import math
import re

import numpy as np
import pytest
import torch
from PIL import Image
from torch import nn
from torch.func import jacrev

from why_attention import rnn
from why_attention.explorable import set_language
from why_attention.explorable.explorable import said
from why_attention.explorable.frames import Frames
from why_attention.explorable.grid import OnGrid
from why_attention.figures import gradient_decay
from why_attention.figures.gradient_decay import LAGS, SEEDS, SIZE, WINDOWS

HALF = 0.01  # half the quantum that frames keep of a norm's decades
FLOAT32 = 1e-3  # decades that float32 may be off, after a thousand steps
FORGET_BIAS = {"LSTM": 0, "LSTM, b=1": 1, "LSTM, b=5": 5}
CELLS = ["RNN", "GRU", *FORGET_BIAS, "LSTM, chrono"]


@pytest.fixture(autouse=True)
def chinese():
    set_language("zh")
    yield
    set_language("zh")


@pytest.fixture(scope="session")
def figure():
    """The figure from the store; where the store has none yet, it is computed, which takes minutes."""
    set_language("zh")
    return gradient_decay.figure()


@pytest.fixture(scope="session")
def grids(figure):
    return {control["name"]: control["values"] for control in figure._spec["controls"]}


@pytest.fixture(scope="session")
def frames(figure, grids):
    return Frames(figure._frames, {name: len(grid) for name, grid in grids.items()})


@pytest.fixture(scope="session")
def read(figure, grids, frames):
    """Return a function that reads x or y of a series, by its place in the panel, at values of the controls."""

    def read(series, axis="y", **values):
        setting = {name: grid.index(values.get(name, figure.trait_values()[name])) for name, grid in grids.items()}
        return frames.array(figure._spec["panels"][0]["series"][series][axis], setting)

    return read


def torch_cell(cell, gain, seed):
    """Return torch's own cell in float64 with the weights of the figure's, the gain and forget bias put in here."""
    ours, _ = gradient_decay.drawn(cell, 1.0, seed)
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
def test_the_lines_start_as_autodiff_through_torchs_own_cells_says(read, cell, gain, scale, seed):
    network = torch_cell(cell, gain, seed)
    x = scale * gradient_decay.drawn(cell, 1.0, seed)[1].double()
    size = 2 * SIZE if cell.startswith("LSTM") else SIZE
    before = last_state(network, x[:-10], torch.zeros(size, dtype=torch.float64)).detach()  # s_{T−10}
    for lag in (1, 2, 10):
        s = last_state(network, x[-10 : len(x) - lag], before)
        J = jacrev(lambda s, lag=lag: last_state(network, x[-lag:], s))(s.detach())
        decades = torch.linalg.matrix_norm(J, ord=2).log10().item()
        drawn = read(CELLS.index(cell), cell=cell, gain=gain, scale=scale)[seed, LAGS.index(lag)]
        assert drawn == pytest.approx(decades, abs=HALF + FLOAT32)


def test_a_whole_line_is_the_measured_decay_within_half_a_quantum(read):
    network, noise = gradient_decay.drawn("GRU", 1.0, seed=2)
    decades = rnn.gradient_decay(network, 0.3 * noise, LAGS)
    drawn = read(CELLS.index("GRU"), cell="GRU", gain=1.0, scale=0.3)[2]
    np.testing.assert_allclose(drawn, decades, atol=HALF + FLOAT32, rtol=0)


def test_every_line_is_drawn_over_its_lags(read, figure):
    for series in range(len(figure._spec["panels"][0]["series"])):
        np.testing.assert_array_equal(read(series, "x"), LAGS)


def test_every_line_starts_at_one(read, grids):
    for cell, gain, scale in itertools.product(CELLS, grids["gain"], grids["scale"]):
        np.testing.assert_array_equal(read(CELLS.index(cell), cell=cell, gain=gain, scale=scale)[:, 0], 0)


def test_the_bound_is_nowhere_below_the_first_seeds_line(read, grids):
    for cell, gain, scale in itertools.product(CELLS, grids["gain"], grids["scale"]):
        values = {"cell": cell, "gain": gain, "scale": scale}
        # one quantum: equal numbers may be rounded to two neighbours of the grid
        assert (read(len(CELLS), **values) >= read(CELLS.index(cell), **values)[0] - 2 * HALF - 1e-9).all(), values


def test_the_bound_is_far_above_the_line_at_the_start(read):
    assert read(len(CELLS))[-1] > 100 + read(0)[0, -1]


def decades_of(text):
    """Return log10 of a number as the sentence writes it."""
    power = re.fullmatch(r"10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)", text)
    return int(power[1].translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))) if power else math.log10(float(text))


@pytest.mark.parametrize("slot, place", [("low", 0), ("norm", 1), ("high", 2)])
def test_the_sentence_says_what_the_lines_show_at_the_windows_end(read, frames, grids, slot, place):
    for cell, gain, scale, window in itertools.product(CELLS, grids["gain"], grids["scale"], grids["window"]):
        values = {"cell": cell, "gain": gain, "scale": scale, "window": window}
        drawn = np.sort(read(CELLS.index(cell), **values)[:, LAGS.index(window)])[place]
        text = frames.words(slot, {name: grids[name].index(value) for name, value in values.items()})
        rounding = 0.5 if "10" in text and text != "10" else math.log10(1.06)  # whole decades, or two digits
        assert decades_of(text) == pytest.approx(drawn, abs=rounding + HALF), (values, text)


def test_the_factor_a_step_to_the_power_of_the_window_is_the_norm(read, frames, grids):
    for cell, gain, window in itertools.product(CELLS, grids["gain"], grids["window"]):
        values = {"cell": cell, "gain": gain, "scale": 1.0, "window": window}
        median = np.median(read(CELLS.index(cell), **values)[:, LAGS.index(window)])
        factor = float(frames.words("factor", {name: grids[name].index(value) for name, value in values.items()}))
        rounding = 0.0005 + factor * math.log(10) * HALF / window + 1e-6  # three decimals; the quantum of the median
        assert factor == pytest.approx(10 ** (median / window), abs=rounding), values


@pytest.mark.parametrize(
    "cell, gain, scale, verdict",
    [("RNN", 1.0, 1.0, "消失"), ("LSTM, b=5", 1.0, 1.0, "保住"), ("RNN", 2.0, 0.1, "爆炸")],
)
def test_the_verdict_is_that_of_the_text(figure, frames, grids, cell, gain, scale, verdict):
    values = {"cell": cell, "gain": gain, "scale": scale, "window": 1000, "bound": False}
    sentence = said(figure._spec, frames, {name: grid.index(values[name]) for name, grid in grids.items()})
    assert f"梯度{verdict}" in sentence.replace("大体", "")


def drawn_at(figure, frames, grids, values):
    """Return what is on screen: the limits, and the lines of every series, cut to the window."""
    setting = {name: grid.index(values[name]) for name, grid in grids.items()}
    panel = figure._spec["panels"][0]
    low, high = frames.array(panel["x"]["limits"], setting)
    picture = [low, high, *frames.array(panel["y"]["limits"], setting)]
    for series in panel["series"]:
        if series["shown"] is None or values[series["shown"]]:
            x, y = (np.atleast_2d(frames.array(series[axis], setting)) for axis in "xy")
            inside = series["focus"] is None or values[series["focus"][0]] == series["focus"][1]
            rows = y if inside else np.median(y, axis=0, keepdims=True)
            picture.append((series["label"], rows[:, (low <= x[0]) & (x[0] <= high)].tolist()))
    return picture


@pytest.mark.parametrize("name", ["cell", "gain", "window", "scale", "bound"])
def test_every_control_moved_one_step_from_the_start_changes_the_picture(figure, frames, grids, name):
    start = {name: figure.trait_values()[name] for name in grids}
    at, grid = grids[name].index(start[name]), grids[name]
    neighbours = [grid[i] for i in (at - 1, at + 1) if 0 <= i < len(grid)]
    pictures = [drawn_at(figure, frames, grids, start | {name: value}) for value in [start[name], *neighbours]]
    assert all(picture != pictures[0] for picture in pictures[1:])


def test_no_control_is_left_out_of_the_test_above(grids):
    assert list(grids) == ["cell", "gain", "window", "scale", "bound"]


def test_both_editions_have_the_same_frames(monkeypatch):
    monkeypatch.delenv("EXPLORABLE_STORE", raising=False)  # the store would give both the same file
    rng = np.random.default_rng(0)
    made = {cell: torch.tensor(rng.normal(-20, 9, (SEEDS, len(LAGS)))) for cell in CELLS}
    no_grid = {"cell": [], "gain": [], "scale": []}
    monkeypatch.setattr(OnGrid, "compute", lambda self: None)
    monkeypatch.setattr(
        gradient_decay, "decays", OnGrid(lambda cell, gain, scale: gain * scale * made[cell], **no_grid)
    )
    monkeypatch.setattr(
        gradient_decay, "bounds", OnGrid(lambda cell, gain, scale: gain * scale * made[cell][0], **no_grid)
    )
    gradient_decay.at_end.cache_clear()  # of true values
    chinese = gradient_decay.figure()
    set_language("en")
    english = gradient_decay.figure()
    assert chinese._spec["title"] != english._spec["title"]
    assert chinese._frames == english._frames
    gradient_decay.at_end.cache_clear()  # of made-up values


def test_the_still_picture_is_a_png_of_at_most_15_kb(figure):
    page = figure._repr_mimebundle_()[0]["text/html"]
    png = base64.b64decode(re.search(r'src="data:image/png;base64,([^"]+)"', page)[1])
    assert Image.open(io.BytesIO(png)).convert("L").getextrema()[0] < 100  # decodes, and is not blank
    assert len(png) <= 15_000


def test_the_windows_are_lags_that_were_measured():
    assert set(WINDOWS) <= set(LAGS)
