"""Closed-form Jacobians against autodiff: how much faster, and how far apart.

Both sides work on the same cell, inputs and states in one run: one warm-up, then interleaved rounds, of which the
fastest counts. Autodiff is vmap(jacrev(cell)) over all steps, in the chunks of steps that suit it best. The whole
of ``gradient_decay`` is one function on both sides; only the Jacobians come from elsewhere.

Run: python benchmarks/jacobians.py. It exits with status 1 when a ratio or a difference misses its target.
"""

import copy
import math
import sys
import time

import torch
from torch.func import jacrev, vmap

from why_attention.rnn import GRUCell, LSTMCell, RNNCell, gradient_decay, unroll

STEPS, SIZE, LAGS, ROUNDS = 1000, 64, 128, 5
CHUNKS = (50, 100, None)  # how many steps autodiff takes at once; None takes all
LARGEST_DIFFERENCE = 1e-10
JACOBIAN_TARGETS = {RNNCell: 2.5, GRUCell: None, LSTMCell: 5.0}  # None: shown, but without a target
WHOLE_TARGET = 1.0


def autodiff(cell, chunk):
    """Return the function (x, s) -> Jacobians that autodiff gives for ``cell``."""
    return vmap(jacrev(cell, argnums=1), chunk_size=chunk)


def with_autodiff(cell, chunk):
    """Return a copy of ``cell`` whose ``jacobian`` is taken by autodiff."""
    twin = copy.deepcopy(cell)
    twin.jacobian = autodiff(cell, chunk)
    return twin


def fastest(rounds, **functions):
    """Return the shortest time in seconds of each function, over interleaved rounds after one warm-up."""
    seconds = dict.fromkeys(functions, math.inf)
    for round_number in range(rounds + 1):
        for name, function in functions.items():
            start = time.perf_counter()
            function()
            if round_number > 0:
                seconds[name] = min(seconds[name], time.perf_counter() - start)
    return seconds


def row(cell_name, what, seconds, target):
    """Print one ratio beside its target and return whether it is met."""
    ratio = seconds["autodiff"] / seconds["closed"]
    met = target is None or ratio >= target
    wanted = "no target" if target is None else f"target {target:.1f}x: {'met' if met else 'MISSED'}"
    times = f"closed {seconds['closed'] * 1e3:7.1f} ms  autodiff {seconds['autodiff'] * 1e3:7.1f} ms"
    print(f"{cell_name:8} {what:14} {times}  ratio {ratio:5.2f}x  ({wanted})")
    return met


def measure(cell_class, lags):
    """Measure one cell and return whether all its targets are met."""
    generator = torch.Generator().manual_seed(0)
    cell = cell_class(SIZE, SIZE, dtype=torch.float64)
    cell.reset_parameters(generator=generator)
    x = torch.randn(STEPS, SIZE, generator=generator, dtype=torch.float64)
    s_0 = torch.zeros(1, cell.state_size, dtype=torch.float64)
    before = torch.cat([s_0, unroll(cell, x)[:-1]])
    name = cell_class.__name__

    # autodiff gets the chunk that suits it best on this machine, or the ratio would flatter us
    chunked = {str(chunk): (lambda chunk=chunk: autodiff(cell, chunk)(x, before)) for chunk in CHUNKS}
    tried = fastest(1, **chunked)
    chunk = min(CHUNKS, key=lambda chunk: tried[str(chunk)])
    twin = with_autodiff(cell, chunk)

    difference = (cell.jacobian(x, before) - twin.jacobian(x, before)).abs().max().item()
    same = difference <= LARGEST_DIFFERENCE
    verdict = "met" if same else "MISSED"
    print(f"{name:8} largest difference {difference:.1e}  (at most {LARGEST_DIFFERENCE:.0e}: {verdict}), chunk {chunk}")

    jacobians = fastest(ROUNDS, closed=lambda: cell.jacobian(x, before), autodiff=lambda: twin.jacobian(x, before))
    whole = fastest(
        ROUNDS, closed=lambda: gradient_decay(cell, x, lags), autodiff=lambda: gradient_decay(twin, x, lags)
    )
    met = [same, row(name, "Jacobians", jacobians, JACOBIAN_TARGETS[cell_class])]
    return all([*met, row(name, "gradient_decay", whole, WHOLE_TARGET)])


@torch.no_grad()
def main():
    """Measure the three cells and return the exit status."""
    print(f"T={STEPS}, H=d={SIZE}, float64, {torch.get_num_threads()} threads, torch {torch.__version__}")
    lags = torch.logspace(0, math.log10(STEPS), LAGS).round().int().tolist()  # the first whole numbers repeat
    results = [measure(cell_class, lags) for cell_class in (RNNCell, GRUCell, LSTMCell)]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
