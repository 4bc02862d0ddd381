"""Figures are computed with one thread, and nothing else is."""

import pytest
import torch
from small_figures import N, figure, lines

from why_attention.one_thread import one_thread


@pytest.fixture(autouse=True)
def three():
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield
    torch.set_num_threads(before)


def test_one_thread_computes_and_then_as_many_as_before_whatever_happened():
    with pytest.raises(ZeroDivisionError), one_thread():
        assert torch.get_num_threads() == 1
        1 / 0  # noqa: B018
    assert torch.get_num_threads() == 3


def test_what_a_figure_computes_ahead_and_between_the_grids_values_is_within():
    threads = []
    made = figure(lines(lambda n: threads.append(torch.get_num_threads()) or [0, n]), within=one_thread)
    made.at(n=3)
    assert set(threads) == {1} and len(threads) == len(N.grid) + 1
    assert torch.get_num_threads() == 3
