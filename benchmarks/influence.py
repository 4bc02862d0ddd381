"""An influence matrix, n = 64, d = 16, one layer, against one backward pass per number of the output.

One warm-up, then interleaved rounds, of which the fastest counts; float32, one thread.

Run: python benchmarks/influence.py. It exits with status 1 where a target is missed.
"""

import sys
from functools import partial

import torch
from fastest import fastest

from why_attention.attention import MultiHeadAttention
from why_attention.convolution import Convolution
from why_attention.influence import influence_matrix
from why_attention.rnn import RNNCell, unroll

N, D, ROUNDS, LONGEST = 64, 16, 5, 100  # LONGEST: ms a matrix


def attend(layer, x):
    return layer(x, need_weights=True)[0]


def one_by_one(layer, x):
    """Return the matrix by one backward pass per number of the output."""
    x = x.clone().requires_grad_()
    y = layer(x)
    rows = [torch.autograd.grad(number, x, retain_graph=True)[0].square().sum(-1) for number in y.flatten()]
    return torch.stack(rows).unflatten(0, y.shape).sum(1).sqrt()


LAYERS = {  # the layer, and the least speedup over one by one
    "recurrence": (partial(unroll, RNNCell(D, D)), 10),
    "convolution": (Convolution(D, 3), 10),
    "attention": (partial(attend, MultiHeadAttention(D, 1)), 2),
}


def main():
    """Measure all layers and return the exit status."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    x, met = torch.randn(N, D), True
    for name, (layer, target) in LAYERS.items():
        torch.testing.assert_close(influence_matrix(layer, x), one_by_one(layer, x).double())
        seconds = fastest({way.__name__: partial(way, layer, x) for way in (influence_matrix, one_by_one)}, ROUNDS)
        ours, ratio = 1000 * seconds["influence_matrix"], seconds["one_by_one"] / seconds["influence_matrix"]
        met = met and ours <= LONGEST and ratio >= target
        verdict = "met" if ours <= LONGEST and ratio >= target else "MISSED"
        print(f"{name:11} {ours:5.1f} ms (at most {LONGEST}), {ratio:5.1f} times faster (at least {target}): {verdict}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
