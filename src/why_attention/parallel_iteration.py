"""A nonlinear recurrence in parallel rounds: Jacobi iteration over the time steps.

The states s_1 … s_T solve T equations, s_t = cell(x_t, s_{t-1}).  Start from a guess, and in each round evaluate all
equations in parallel, with the states of the previous round:

    s_t^(0) = 0,    s_t^(r) = cell(x_t, s_{t-1}^(r-1)),    t = 1 … T

Round r makes s_1 … s_r exact, so T rounds always suffice.  If the recurrence contracts, the error of the guess shrinks
from step to step, and a few rounds are enough; if it expands, the error grows, and almost T rounds are needed.

Sources: Lim et al. 2024, arXiv 2309.12252 (DEER: the same equations by Newton's method, with a scan in each round);
Gonzalez et al. 2025, arXiv 2508.16817 (few rounds are enough where the largest Lyapunov exponent is negative).
"""

import torch
from torch import Tensor

from why_attention.checks import check_real, check_result, check_whole
from why_attention.rnn import Cell, check_inputs

__all__ = ["jacobi_iteration", "rounds_needed"]


def jacobi_iteration(cell: Cell, x: Tensor, rounds: int) -> Tensor:
    """Return s_1 … s_T after a number of rounds, from s_0 = 0.

    x: (T, d) or (T, batch, d).  Returns (T, S) or (T, batch, S).
    Raises as ``unroll`` does, and ValueError for rounds < 0.
    """
    (rounds,) = check_whole(least=0, rounds=rounds)
    return check_result(iterate(cell, *check_inputs(cell, x, None), rounds))


def iterate(cell: Cell, x: Tensor, s_0: Tensor, rounds: int) -> Tensor:
    """Return what ``jacobi_iteration`` does from a state s_0 on, without its checks of numbers."""
    s = guess(x, s_0)
    for _ in range(rounds):
        s = next_round(cell, x, s, s_0)
    return s


@torch.no_grad()
def rounds_needed(cell: Cell, x: Tensor, tolerance: float = 1e-6) -> int:
    """Return the number of rounds, at most T, after which one more changes the states by at most ``tolerance``.

    Use float64 for a tolerance near 1e-6: rounding in float32 is as large.
    Raises as ``unroll`` does, and ValueError for a negative tolerance.
    """
    (tolerance,) = check_real(least=0, tolerance=tolerance)
    x, s_0 = check_inputs(cell, x, None)
    s = guess(x, s_0)
    for rounds in range(len(x)):
        before, s = s, next_round(cell, x, s, s_0)
        if (s - before).abs().max() <= tolerance:
            return rounds
    return len(x)


def guess(x: Tensor, s_0: Tensor) -> Tensor:
    """Return s_t = 0 for all t."""
    return x.new_zeros(len(x), *s_0.shape)


def next_round(cell: Cell, x: Tensor, s: Tensor, s_0: Tensor) -> Tensor:
    """Return cell(x_t, s_{t-1}) for all t in parallel."""
    return cell(x, torch.cat([s_0.unsqueeze(0), s[:-1]]))
