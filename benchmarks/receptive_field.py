"""How long the exact support of a deep stack takes: 500 layers, k = 3, which read all of 1001 inputs.

``support`` follows one output far from both ends of the input, ``cone`` the middle output of 1001 positions, layer by
layer. One warm-up, then rounds, of which the fastest counts.

Run: python benchmarks/receptive_field.py. It exits with status 1 where one of them takes more than 20 ms.
"""

import sys
import time
from functools import partial

from why_attention.receptive_field import Layer, cone, support

DEPTH, K, ROUNDS, TARGET = 500, 3, 20, 20  # layers; kernel; rounds; ms
N = DEPTH * (K - 1) + 1  # inputs that the stack spans


def fastest(function):
    """Return the shortest time in ms over the rounds, after one warm-up."""
    times = []
    for _ in range(1 + ROUNDS):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return 1000 * min(times[1:])


def main():
    """Measure both functions and return the exit status."""
    layers, met = [Layer(K)] * DEPTH, True
    for function in (partial(support, layers), partial(cone, layers, N, N // 2, causal=False)):
        read = int(function().reshape(-1, N)[0].sum())
        took = fastest(function)
        met = met and took <= TARGET and read == N
        verdict = "met" if took <= TARGET else "MISSED"
        print(
            f"{function.func.__name__:8} {DEPTH} layers, {read} of {N} inputs: {took:5.2f} ms  (target {TARGET}: {verdict})"
        )
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
