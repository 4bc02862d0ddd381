"""Closed-form Jacobians against autodiff: the ratio of times, and the largest difference.

Both sides have the same cell, inputs and states: one warm-up, then interleaved rounds in random order, of which the
fastest counts. Autodiff is vmap(jacrev(cell)) over all steps ("plain") or over chunks of steps, which are often faster;
the targets hold against the best chunk. ``gradient_decay`` is measured with the Jacobians of either side.

Run: python benchmarks/jacobians.py. It exits with status 1 when a ratio or a difference misses its target.
"""

import copy
import math
import sys
from functools import partial

import torch
from fastest import fastest
from torch.func import jacrev, vmap

from why_attention.rnn import GRUCell, LSTMCell, RNNCell, gradient_decay, unroll

STEPS, SIZE, LAGS, ROUNDS = 1000, 64, 128, 7
CHUNKS = {"plain": None, "chunks of 100": 100, "chunks of 50": 50}
LARGEST_DIFFERENCE = 1e-10
JACOBIAN_TARGETS = {RNNCell: 2.5, GRUCell: None, LSTMCell: 5.0}  # None: no target
WHOLE_TARGET = 1.0


def with_autodiff(cell, chunk):
    """Return a copy of ``cell`` whose ``jacobian`` is by autodiff, ``chunk`` steps at a time."""
    twin = copy.deepcopy(cell)
    twin.jacobian = vmap(jacrev(cell, argnums=1), chunk_size=chunk)
    return twin


def report(what, closed, autodiff, target):
    """Print the ratio of two times and its target, and return whether it is met."""
    ratio = autodiff / closed
    met = target is None or ratio >= target
    verdict = "no target" if target is None else f"target {target:.1f}x: {'met' if met else 'MISSED'}"
    print(f"  {what:31} {closed * 1e3:7.1f} ms against {autodiff * 1e3:7.1f} ms: {ratio:5.2f}x  ({verdict})")
    return met


def measure(cell_class, lags):
    """Measure one cell and return whether all its targets are met."""
    print(cell_class.__name__)
    generator = torch.Generator().manual_seed(0)
    cell = cell_class(SIZE, SIZE, dtype=torch.float64)
    cell.reset_parameters(generator=generator)
    x = torch.randn(STEPS, SIZE, generator=generator, dtype=torch.float64)
    before = torch.cat([torch.zeros(1, cell.state_size, dtype=torch.float64), unroll(cell, x)[:-1]])
    twins = {name: with_autodiff(cell, chunk) for name, chunk in CHUNKS.items()}

    difference = (cell.jacobian(x, before) - twins["plain"].jacobian(x, before)).abs().max().item()
    same = difference <= LARGEST_DIFFERENCE
    print(f"  largest difference {difference:.1e}  (target {LARGEST_DIFFERENCE:.0e}: {'met' if same else 'MISSED'})")

    jacobian_of = {"closed form": cell, **twins}
    seconds = fastest({name: partial(owner.jacobian, x, before) for name, owner in jacobian_of.items()}, ROUNDS)
    closed = seconds.pop("closed form")
    best = min(seconds, key=seconds.get)
    report("Jacobians, plain", closed, seconds["plain"], None)
    fast = report(f"Jacobians, best ({best})", closed, seconds[best], JACOBIAN_TARGETS[cell_class])

    wholes = {name: partial(gradient_decay, jacobian_of[name], x, lags) for name in ("closed form", best)}
    seconds = fastest(wholes, ROUNDS)
    return all([same, fast, report("gradient_decay, best", seconds["closed form"], seconds[best], WHOLE_TARGET)])


@torch.no_grad()
def main():
    """Measure the three cells and return the exit status."""
    print(f"T={STEPS}, H=d={SIZE}, float64, threads {torch.get_num_threads()}, torch {torch.__version__}")
    lags = torch.logspace(0, math.log10(STEPS), LAGS).round().int().tolist()  # the first whole numbers repeat
    results = [measure(cell_class, lags) for cell_class in JACOBIAN_TARGETS]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
