"""Jacobi iteration against the loop, and its rounds against a bound for contractions."""

import math

import pytest
import torch

from why_attention.parallel_iteration import jacobi_iteration, rounds_needed
from why_attention.rnn import GRUCell, LSTMCell, RNNCell, unroll

each_cell = pytest.mark.parametrize("kind", [RNNCell, GRUCell, LSTMCell])


def random_network(kind, T, *, d=3, H=16, gain=1.0, scale=1.0, batch=(), seed=0):
    """Return a cell and its inputs (T, *batch, d), in float64."""
    generator = torch.Generator().manual_seed(seed)
    cell = kind(d, H, dtype=torch.float64)
    cell.reset_parameters(gain, generator)
    return cell, scale * torch.randn(T, *batch, d, generator=generator, dtype=torch.float64)


def contraction(eta, T):
    """Return an RNN of which no step stretches a difference by more than eta, and its inputs."""
    cell, x = random_network(RNNCell, T)
    with torch.no_grad():
        cell.W_h *= eta / torch.linalg.matrix_norm(cell.W_h, ord=2)
    return cell, x


@each_cell
@pytest.mark.parametrize("batch", [(), (2,)])
@pytest.mark.parametrize("rounds", [1, 7, 20])
def test_a_round_makes_one_more_state_exact(kind, batch, rounds):
    cell, x = random_network(kind, 20, batch=batch)
    states, true = jacobi_iteration(cell, x, rounds), unroll(cell, x)
    torch.testing.assert_close(states[:rounds], true[:rounds], rtol=0, atol=1e-13)
    if rounds == 7:  # and no more than one
        assert (states[rounds] - true[rounds]).abs().max() > 1e-6


def test_no_rounds_leave_the_guess():
    cell, x = random_network(RNNCell, 5)
    assert torch.equal(jacobi_iteration(cell, x, 0), torch.zeros(5, 16, dtype=torch.float64))


@pytest.mark.parametrize("T", [100, 2000])
@pytest.mark.parametrize("eta", [0.1, 0.5, 0.8])
def test_a_contraction_needs_no_more_rounds_than_its_factor_allows(eta, T):
    """Round r + 1 changes a state by at most eta^r √H, for the guess misses a state by at most √H."""
    cell, x = contraction(eta, T)
    rounds = rounds_needed(cell, x, tolerance=1e-6)
    assert 1 < rounds <= math.ceil(math.log(1e-6 / math.sqrt(16)) / math.log(eta))
    with torch.no_grad():
        torch.testing.assert_close(jacobi_iteration(cell, x, rounds), unroll(cell, x), rtol=0, atol=1e-6 / (1 - eta))


def test_the_rounds_are_the_least():
    cell, x = contraction(0.5, 100)
    rounds = rounds_needed(cell, x, tolerance=1e-6)
    with torch.no_grad():
        states = [jacobi_iteration(cell, x, r) for r in range(rounds - 1, rounds + 2)]
    changes = [(after - before).abs().max() for before, after in zip(states, states[1:])]
    assert changes[0] > 1e-6 >= changes[1]


@pytest.mark.parametrize("seed", range(3))
def test_a_recurrence_that_expands_needs_almost_every_round(seed):
    cell, x = random_network(RNNCell, 200, d=64, H=64, gain=3.0, scale=0.1, seed=seed)
    assert rounds_needed(cell, x) > 190


@pytest.mark.parametrize("seed", range(3))
def test_the_rnn_of_the_pages_needs_few_rounds_for_many_steps(seed):
    few, many = (
        rounds_needed(*random_network(RNNCell, T, d=64, H=64, gain=1.0, scale=1.0, seed=seed)) for T in (200, 2000)
    )
    assert many < 50 and many - few <= 5


def test_gradients_flow_through_the_rounds():
    cell, x = random_network(RNNCell, 6)
    gradients = []
    for run in (unroll, lambda cell, x: jacobi_iteration(cell, x, 6)):
        leaf = x.clone().requires_grad_()
        run(cell, leaf).square().sum().backward()
        gradients.append(leaf.grad)
    torch.testing.assert_close(*gradients, rtol=0, atol=1e-13)


def test_what_does_not_fit_is_refused():
    cell, x = random_network(RNNCell, 4)
    with pytest.raises(ValueError, match="^rounds=-1: it must be one whole number, at least 0"):
        jacobi_iteration(cell, x, -1)
    for tolerance in (-1.0, math.nan):
        with pytest.raises(ValueError, match=f"^tolerance={tolerance}: it must be"):
            rounds_needed(cell, x, tolerance)
    for call in (lambda x: jacobi_iteration(cell, x, 1), lambda x: rounds_needed(cell, x)):
        with pytest.raises(ValueError, match=r"^x has T = 0 steps, shape \(0, 3\)"):
            call(x[:0])
        with pytest.raises(ValueError, match="^x has size 2 a step, but the cell reads size 3"):
            call(x[:, :2])
