"""The exact support of a deep stack: 500 layers, k = 3, which read all of 1001 inputs.

``support`` follows one output far from the ends of the input, ``cone`` the middle output of 1001 positions, layer by
layer. One warm-up, then rounds, of which the fastest counts.

Run: python benchmarks/receptive_field.py. It exits with status 1 if one of them takes more than 20 ms.
"""

import sys
from functools import partial

from fastest import fastest

from why_attention.receptive_field import Layer, cone, support

DEPTH, K, ROUNDS, TARGET = 500, 3, 20, 20  # layers; kernel; rounds; ms
N = DEPTH * (K - 1) + 1  # inputs that the stack spans


def main():
    """Measure both functions and return the exit status."""
    layers, met = [Layer(K)] * DEPTH, True
    functions = {"support": partial(support, layers), "cone": partial(cone, layers, N, N // 2, causal=False)}
    for name, seconds in fastest(functions, ROUNDS).items():
        read, took = int(functions[name]().reshape(-1, N)[0].sum()), 1000 * seconds
        met = met and took <= TARGET and read == N
        verdict = "met" if took <= TARGET else "MISSED"
        print(f"{name:8} {DEPTH} layers, {read} of {N} inputs: {took:5.2f} ms  (target {TARGET}: {verdict})")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
