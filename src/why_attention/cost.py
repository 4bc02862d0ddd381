"""The cost of one layer that maps n positions of d numbers to n positions of d numbers: one function an architecture.

Each FLOP count is a formula that reads like its layer's equation.  A multiply-add counts as 2 FLOPs.  Elementwise
operations (biases, softmax, gates) are of lower order and not counted, as in ``FlopCounterMode``.  The formulae are
checked against torch's layers (``counted_flops``) and against a search (``dependency_graph``).

Sources: Vaswani et al. 2017, arXiv 1706.03762, Table 1 (complexity, sequential operations, maximum path length) and §4;
van den Oord et al. 2016, arXiv 1609.03499, §2.1 (dilated); Dao et al. 2022, arXiv 2205.14135 (memory when fused).
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch.utils.flop_counter import FlopCounterMode, sdpa_flop_count

from why_attention.checks import check_whole
from why_attention.dependency_graph import DependencyGraph, path_lengths
from why_attention.receptive_field import depth_needed

__all__ = [
    "Cost",
    "rnn",
    "gru",
    "lstm",
    "convolution",
    "dilated_convolution",
    "separable_convolution",
    "attention_core",
    "attention",
    "restricted_attention",
    "costs",
    "crossovers",
    "doubling",
    "counted_flops",
    "searched_path_length",
]


@dataclass(frozen=True)
class Cost:
    """The cost of one layer, and its path length.

    flops: of a forward pass.  steps: sequential operations.  path: the maximum path length between two positions, and
    layers: how many layers it takes.  memory: numbers that a forward pass stores for all positions, without input and
    weights.
    """

    flops: int
    steps: int
    path: int
    layers: int
    memory: int


def rnn(n: int, d: int) -> Cost:
    """Two d × d products a step, W_h h and W_x x.  Stores W_x x and h."""
    return recurrent_cost(n, d, blocks=1)


def gru(n: int, d: int) -> Cost:
    """Three blocks, r, z and n, of two products each."""
    return recurrent_cost(n, d, blocks=3)


def lstm(n: int, d: int) -> Cost:
    """Four blocks, i, f, g and o, of two products each."""
    return recurrent_cost(n, d, blocks=4)


def recurrent_cost(n: int, d: int, blocks: int) -> Cost:
    n, d = check_whole(n=n, d=d)
    return Cost(flops=4 * blocks * n * d**2, steps=n, path=n, layers=1, memory=blocks * n * d + n * d)


def convolution(n: int, d: int, k: int) -> Cost:
    """k products d × d a position; each causal layer reaches k − 1 positions further back."""
    n, d, k = check_whole(n=n, d=d, k=k)
    layers = max(1, depth_needed(n - 1, k))  # ⌈(n − 1)/(k − 1)⌉
    return Cost(flops=2 * k * n * d**2, steps=1, path=layers, layers=layers, memory=n * d)


def dilated_convolution(n: int, d: int, k: int) -> Cost:
    """The same with dilations 1, k, k² …: L layers reach k^L − 1 positions back."""
    n, d, k = check_whole(n=n, d=d, k=k)
    layers = max(1, depth_needed(n - 1, k, growth=k))  # ⌈log_k n⌉
    return Cost(flops=2 * k * n * d**2, steps=1, path=layers, layers=layers, memory=n * d)


def separable_convolution(n: int, d: int, k: int) -> Cost:
    """One kernel for each of the d channels, then one d × d product a position."""
    n, d, k = check_whole(n=n, d=d, k=k)
    layers = max(1, depth_needed(n - 1, k))
    return Cost(flops=2 * k * n * d + 2 * n * d**2, steps=1, path=layers, layers=layers, memory=2 * n * d)


def attention_core(n: int, d: int, heads: int = 1, fused: bool = False) -> Cost:
    """Q Kᵀ and A V.  Stores the scores and weights of every head, unless the kernel is fused."""
    n, d, heads = check_whole(n=n, d=d, heads=heads)
    scores_and_weights = 0 if fused else 2 * heads * n**2
    return Cost(flops=4 * n**2 * d, steps=1, path=1, layers=1, memory=scores_and_weights + n * d)


def attention(n: int, d: int, heads: int = 1, fused: bool = False) -> Cost:
    """The core, and the four projections Q, K, V and output, each d × d."""
    n, d, heads = check_whole(n=n, d=d, heads=heads)
    core = attention_core(n, d, heads, fused)
    return Cost(flops=8 * n * d**2 + core.flops, steps=1, path=1, layers=1, memory=4 * n * d + core.memory)


def restricted_attention(n: int, d: int, r: int, heads: int = 1) -> Cost:
    """Attention in which each query sees r positions, (r − 1)/2 on either side; r must be odd."""
    n, d, r, heads = check_whole(n=n, d=d, r=r, heads=heads)
    layers = max(1, depth_needed(n - 1, r, causal=False))  # ⌈2(n − 1)/(r − 1)⌉
    seen = min(r, n)
    core = 4 * n * seen * d
    return Cost(8 * n * d**2 + core, steps=1, path=layers, layers=layers, memory=5 * n * d + 2 * heads * n * seen)


def costs(n: int, d: int, k: int = 3, heads: int = 1, r: int = 129) -> dict[str, Cost]:
    """Return the whole table, a row an architecture; attention is naive, with n × n weights stored.

    Raises ValueError for numbers below 1, for k = 1 (no depth connects two positions), and for an even r.
    """
    return {
        "RNN": rnn(n, d),
        "GRU": gru(n, d),
        "LSTM": lstm(n, d),
        "convolution": convolution(n, d, k),
        "dilated convolution": dilated_convolution(n, d, k),
        "separable convolution": separable_convolution(n, d, k),
        "attention core": attention_core(n, d, heads),
        "attention": attention(n, d, heads),
        "restricted attention": restricted_attention(n, d, r, heads),
    }


def crossovers(d: int, k: int) -> dict[tuple[str, str], float | None]:
    """Return for some pairs the n above which the first costs more FLOPs than the second; None: at every n."""
    d, k = check_whole(d=d, k=k)
    return {
        ("attention core", "RNN"): d,  # 4n²d = 4nd²
        ("attention core", "convolution"): d * k / 2,  # 4n²d = 2knd²
        ("attention", "GRU"): d,  # 8nd² + 4n²d = 12nd²
        ("attention", "LSTM"): 2 * d,  # 8nd² + 4n²d = 16nd²
        ("attention", "convolution"): d * (k - 4) / 2 if k > 4 else None,  # 8nd² + 4n²d = 2knd²
    }


def doubling(n: int, d: int) -> float:
    """Return the FLOPs of attention at 2n over those at n: 2 for n ≪ d, 4 for n ≫ d.

    All other layers have 2 at any n.
    """
    n, d = check_whole(n=n, d=d)
    return 4 * (d + n) / (2 * d + n)  # (8·2n d² + 4·4n² d) / (8nd² + 4n²d)


@torch.no_grad()
def counted_flops(call: Callable[[], object]) -> int:
    """Return the FLOPs of the matrix products and convolutions that a call runs, as ``FlopCounterMode`` counts them.

    On a CPU the counter misses oneDNN's nn.LSTM and the fused attention kernel: here nn.LSTM runs without oneDNN, and
    the kernel has a formula.  Raises ValueError for a count of 0, which means another kernel that the counter misses.
    """
    fused = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
    counter = FlopCounterMode(display=False, custom_mapping={fused: flops_of_fused_attention})
    with torch.backends.mkldnn.flags(enabled=False, allow_tf32=None), counter:
        call()
    if counter.get_total_flops() == 0:
        raise ValueError("counted 0 FLOPs: the call must run at least 1 matrix product or convolution that is known")
    return counter.get_total_flops()


def flops_of_fused_attention(Q: tuple, K: tuple, V: tuple, *_, **__) -> int:
    """Return the FLOPs of Q Kᵀ and A V from the shapes of Q, K and V."""
    return sdpa_flop_count(Q, K, V)


def searched_path_length(graph: DependencyGraph) -> int | None:
    """Return the maximum path length from the input at one position to the last layer at another, by search.

    Of the two directions the shorter one counts, since a causal layer has only one.  None: two positions have no path.
    """
    top, n = max(graph.nodes)
    index = {node: i for i, node in enumerate(graph.nodes)}
    lengths = {s: path_lengths(graph, (0, s)) for s in range(1, n + 1)}

    def both_ways(s: int, t: int) -> list[int]:
        return [length for length in (lengths[s][index[top, t]], lengths[t][index[top, s]]) if length is not None]

    pairs = [both_ways(s, t) for s in range(1, n + 1) for t in range(s, n + 1)]
    return max(map(min, pairs)) if all(pairs) else None
