"""Our attention against torch's own layer: the ratio of times, and the memory of n × n weights.

Times: both sides have the same weights and tokens; one warm-up, then interleaved rounds in random order, of which the
fastest counts. Forward without gradients and forward with backward have the same target. Memory: each path runs in a
fresh process (Linux only).

Run: python benchmarks/attention.py. It exits with status 1 when a ratio, a difference or a peak misses its target.
"""

import subprocess
import sys
import time
from functools import partial

import torch
from fastest import fastest
from torch import nn

from why_attention.attention import MultiHeadAttention, fused_attention, scaled_dot_product_attention
from why_attention.peak_memory import peak_of

N, D, HEADS, ROUNDS = 1024, 256, 4, 50
LARGEST_DIFFERENCE = 1e-5
TIME_TARGETS = {True: 1.3, False: 1.1}  # need_weights: the largest ratio to torch's time
LONG = 8192  # n where memory is measured
MEMORY_TARGETS = {"fused core": 16, "layer without weights": 64, "naive core": None}  # MiB; None: no target
MIB = 2**20


def torch_twin(ours):
    """Return torch's own layer with the weights of ours."""
    theirs = nn.MultiheadAttention(D, HEADS, bias=False, batch_first=True)
    W_qkv = torch.cat([W.weight for W in (ours.W_q, ours.W_k, ours.W_v)])
    theirs.load_state_dict({"in_proj_weight": W_qkv, "out_proj.weight": ours.W_o.weight})
    return theirs


def forward(layer, x):
    """One pass without gradients."""
    with torch.no_grad():
        return layer(x)


def forward_and_back(layer, x):
    """One pass with gradients, back to the tokens and the weights."""
    layer(x)[0].sum().backward()


def compare_times(need_weights):
    """Measure one kind of call and return whether its targets are met."""
    torch.manual_seed(0)
    ours = MultiHeadAttention(D, HEADS)
    theirs = torch_twin(ours).eval()  # eval enables torch's fast path
    x = torch.randn(1, N, D, requires_grad=True)

    def call_ours(x):
        return ours(x, need_weights=need_weights)

    def call_theirs(x):  # weights of each head, as ours gives them
        return theirs(x, x, x, need_weights=need_weights, average_attn_weights=False)

    differences = [(a - b).abs().max().item() for a, b in zip(call_ours(x), call_theirs(x)) if a is not None]
    results = [max(differences) <= LARGEST_DIFFERENCE]
    target = TIME_TARGETS[need_weights]
    print(f"{'with' if need_weights else 'without'} weights: largest difference {max(differences):.0e}")
    for function in (forward, forward_and_back):
        passes = {"ours": partial(function, call_ours, x), "torch": partial(function, call_theirs, x)}
        # CPU time: in so short a pass wall time would measure the rest of the machine
        seconds = fastest(passes, ROUNDS, time.process_time)
        ratio = seconds["ours"] / seconds["torch"]
        results.append(ratio <= target)
        took = f"{seconds['ours'] * 1e3:6.1f} ms against {seconds['torch'] * 1e3:6.1f} ms: {ratio:.2f}x"
        print(f"  {function.__name__:17} {took}  (target {target}x: {'met' if results[-1] else 'MISSED'})")
    return all(results)


def peak(path):
    """Return the peak memory of one path in MiB; needs a fresh process."""
    torch.manual_seed(0)
    layer, x = MultiHeadAttention(D, HEADS), torch.randn(1, LONG, D)
    heads = torch.randn(1, HEADS, LONG, D // HEADS)
    call = {
        "fused core": lambda: fused_attention(heads, heads, heads),
        "layer without weights": lambda: layer(x),
        "naive core": lambda: scaled_dot_product_attention(heads, heads, heads),
    }[path]
    with torch.no_grad():
        layer(x[:, :64])  # a first call allocates what later ones share
        scaled_dot_product_attention(*3 * [heads[:, :, :64]])
    return peak_of(call) / MIB


def compare_memory():
    """Measure every path in a fresh process and return whether all targets are met."""
    print(f"peak memory at n={LONG}")
    results = []
    for path, target in MEMORY_TARGETS.items():
        run = subprocess.run([sys.executable, __file__, path], check=True, capture_output=True, encoding="utf-8")
        results.append(target is None or float(run.stdout) <= target)
        verdict = "no target" if target is None else f"target {target} MiB: {'met' if results[-1] else 'MISSED'}"
        print(f"  {path:22} {float(run.stdout):7.1f} MiB  ({verdict})")
    return all(results)


def main():
    """Measure times and memory and return the exit status."""
    print(f"n={N}, d={D}, {HEADS} heads, float32, threads {torch.get_num_threads()}, torch {torch.__version__}")
    results = [compare_times(need_weights=True), compare_times(need_weights=False), compare_memory()]
    return 0 if all(results) else 1


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(peak(sys.argv[1]))
    else:
        sys.exit(main())
