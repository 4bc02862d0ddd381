"""Statements of the first pages, as their cells print them, against oracles that share no code with the cells."""

import contextlib
import io
import itertools
import re

import numpy as np
import pytest
import torch
from test_pages import cells

from why_attention.receptive_field import Layer, support
from why_attention.rnn import RNNCell

slow_page = pytest.mark.sweep  # the cells of recurrence.md take half a minute


@pytest.fixture(scope="module")
def printed():
    """Return a function that runs the cells of an English page, figures left out, and returns what they print."""
    outputs = {}

    def run(page):
        if page not in outputs:
            code = "\n".join(cell for cell in cells("en", page) if ".figure()" not in cell)
            with contextlib.redirect_stdout(io.StringIO()) as text:
                exec(code, {"__name__": "page"})
            outputs[page] = text.getvalue()
        return outputs[page]

    return run


def numbers(pattern, text):
    """Return the numbers of the one line that starts with the pattern, after it."""
    (rest,) = re.findall(rf"^{pattern}(.*)$", text, re.M)
    return [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", rest)]


def test_a_state_has_as_many_values_as_floats_from_minus_1_to_1(printed):
    below_1 = 126 * 2**23 + 2**23 - 1  # normal floats above 0, 2^23 for each exponent, and the subnormal ones
    states = (2 * (below_1 + 1) + 1) ** 64
    longest = max(n for n in range(1, 200) if 30_000**n <= states)
    assert numbers("there are enough states for all texts of", printed("two-roads.md")) == [longest]


@pytest.mark.parametrize("k, both", [(3, False), (4, True), (8, False)])
def test_a_window_of_4_may_see_the_swap_and_may_not(k, both):
    changes = set()
    for seed in range(20):
        torch.manual_seed(seed)
        kernel, (first, second), gap = torch.randn(64, 64, k), torch.randn(2, 64, 20), torch.zeros(64, 2)
        maxima = []
        for clauses in ([first, gap, second, gap], [second, gap, first, gap]):
            x = torch.nn.functional.pad(torch.cat(clauses, dim=1), (k - 1, 0))
            maxima.append(torch.conv1d(x[None], kernel).amax(-1))
        changes.add(not torch.allclose(*maxima))
    assert changes == ({True, False} if both else {k > 4})


@slow_page
def test_the_scan_does_3_operations_a_join_and_the_loop_2_a_step(printed):
    text = printed("recurrence.md")
    assert numbers("loop:", text) == [2.0]
    for T in (64, 512, 4096):
        joins = sum(T - s for s in (1 << r for r in range(T)) if s < T)
        assert numbers(f"scan, {T:4} steps:", text) == pytest.approx([3 * joins / T], abs=0.05)


@slow_page
def test_iteration_needs_few_rounds_at_gain_1_and_all_at_gain_3(printed):
    rounds = [numbers(f"gain {gain}:", printed("recurrence.md"))[0] for gain in (0.5, 1.0, 3.0)]
    assert rounds[0] < rounds[1] < 100
    assert rounds[2] == 1000


@slow_page
@pytest.mark.parametrize(
    "name, least, most", [("b = 0", -250, -150), ("b = 1", -100, -60), ("b = 5", 1, 10), ("chrono", -1, 1)]
)
def test_what_an_initialisation_keeps_at_one_input_scale_large_inputs_take_away(printed, name, least, most):
    (row,) = re.findall(rf"^{name} +\d+ \.\.\..*$", printed("recurrence.md"), re.M)
    *_, small, large = (float(power) for power in re.findall(r"10\^([+-][\d.]+)", row))
    assert least < small < most
    assert large < -5


@slow_page
def test_on_the_fixed_point_the_norm_is_that_of_powers_of_W_and_off_it_is_not(printed):
    text = printed("recurrence.md")
    radii = []
    for seed in range(8):
        cell = RNNCell(64, 64)
        cell.reset_parameters(1.5, torch.Generator().manual_seed(seed))
        radii.append(np.abs(np.linalg.eigvals(cell.W_h.detach().double().numpy())).max())
    powers = sorted(1000 * np.log10(radii))  # of ‖W^1000‖, up to a factor that does not grow with the power
    at_0 = numbers(r"gain 1\.5, σ =  0\.0:", text)
    assert at_0 == pytest.approx(powers, abs=3)
    (off,) = re.findall(r"^gain 1\.5:(.*)‖h‖", text, re.M)
    assert max(map(float, off.split())) < 60 < min(at_0)


@slow_page
def test_growth_or_decay_at_gain_3_is_decided_by_the_inputs(printed):
    text = printed("recurrence.md")
    assert min(numbers(r"gain 3\.0, σ =  1\.0:", text)) > 10
    assert max(numbers(r"gain 3\.0, σ = 10\.0:", text)) < -10


def reached(k, dilations):
    """Return the offsets that sums of one tap a layer reach."""
    return {sum(taps) for taps in itertools.product(*(range(0, k * d, d) for d in dilations))}


def test_the_page_counts_the_inputs_that_sums_of_taps_reach(printed):
    for dilations in [(1, 3, 9), (1, 4, 16), (1, 1, 4), (1, 2, 7), (1, 2, 4, 13)]:
        *_, span, read = numbers(re.escape(str(dilations)), printed("convolution.md"))
        assert (span, read) == (1 + 2 * sum(dilations), len(reached(3, dilations)))


@pytest.mark.parametrize("k", [2, 3, 4])
def test_there_are_no_holes_exactly_where_each_dilation_is_at_most_the_field_below(k):
    for dilations in itertools.combinations_with_replacement(range(1, 11), 3):  # none smaller than the one below
        fields = [1 + (k - 1) * sum(dilations[:below]) for below in range(4)]
        full = all(d <= field for d, field in zip(dilations, fields))
        assert full == (len(reached(k, dilations)) == fields[-1]), dilations
        assert full == support([Layer(k, d) for d in dilations]).all(), dilations
