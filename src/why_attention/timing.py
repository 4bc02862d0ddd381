"""Times of forward passes on this machine, and which machine it is."""

import platform
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from torch import nn
from tqdm import tqdm

from why_attention.attention import MultiHeadAttention, fused_attention, scaled_dot_product_attention
from why_attention.checks import check_all_whole, check_whole
from why_attention.convolution import Convolution
from why_attention.device import pick_device

__all__ = ["Timing", "Machine", "LayerTimes", "LAYERS", "forward_times", "layer_call", "layer_times", "machine"]

RECURRENT = {"RNN": nn.RNN, "GRU": nn.GRU, "LSTM": nn.LSTM}  # torch's own: their loop over time is not in Python
LAYERS = [*RECURRENT, "convolution", "attention core", "attention"]  # named as in cost.py; attention is fused


@dataclass(frozen=True)
class Timing:
    """Seconds of wall time: median and quartiles of some rounds."""

    median: float
    low: float
    high: float


@dataclass(frozen=True)
class Machine:
    """The name of the device, and the CPU threads that torch uses."""

    device: str
    threads: int


@dataclass(frozen=True)
class LayerTimes:
    """A Timing for each layer and length, the machine and the sizes, as ``layer_times`` measured them."""

    machine: Machine
    torch: str  # its version
    d: int
    heads: int
    k: int
    batch: int
    lengths: list[int]
    layers: dict[str, list[Timing]]

    def slower_from(self, slower: str, faster: str) -> int | None:
        """Return the length from which on one layer is slower, by the median, than another; None: not at the longest.

        Raises ValueError for a layer that was not measured.
        """
        for name in (slower, faster):
            check_layer(name, list(self.layers))
        pairs = list(zip(self.lengths, self.layers[slower], self.layers[faster]))
        last = next((i for i in reversed(range(len(pairs))) if pairs[i][1].median <= pairs[i][2].median), -1)
        return pairs[last + 1][0] if last + 1 < len(pairs) else None


@torch.no_grad()
def forward_times(calls: dict[str, Callable[[], object]], rounds: int) -> dict[str, Timing]:
    """Return the seconds that each call takes, without gradients: one warm-up each, then ``rounds`` rounds of all.

    Raises ValueError for no calls and for rounds < 1.
    """
    if not calls:
        raise ValueError("calls has 0 entries: name at least 1 call")
    (rounds,) = check_whole(rounds=rounds)
    for call in calls.values():  # a first call allocates, compiles and fills caches
        call()
    seconds = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():  # in turn: a disturbance hits all calls
            wait_for_device()
            start = time.perf_counter()
            call()
            wait_for_device()
            seconds[name].append(time.perf_counter() - start)
    return {name: Timing(*np.quantile(taken, [0.5, 0.25, 0.75]).tolist()) for name, taken in seconds.items()}


def layer_call(name: str, n: int, d: int, heads: int, k: int, batch: int = 1) -> Callable[[], object]:
    """Return the forward pass of one layer, on the device that ``pick_device`` picks, as a call.

    name: one of LAYERS, or "naive attention core", which stores the n × n weights.  Raises ValueError for another name,
    for sizes below 1, and for a d that is not a multiple of heads.
    """
    check_layer(name, [*LAYERS, "naive attention core"])
    n, d, heads, k, batch = check_whole(n=n, d=d, heads=heads, k=k, batch=batch)
    if d % heads:
        raise ValueError(f"d={d} and heads={heads}: d must be a multiple of heads")
    device, generator = pick_device(), torch.Generator().manual_seed(0)
    x = torch.randn(batch, n, d, generator=generator).to(device)
    if name in RECURRENT:
        return partial(RECURRENT[name](d, d, batch_first=True).to(device).eval(), x)
    if name == "convolution":
        return partial(Convolution(d, k).to(device), x)
    if name == "attention":
        return partial(MultiHeadAttention(d, heads).to(device), x)
    Q = x.unflatten(-1, (heads, -1)).transpose(1, 2).contiguous()  # (batch, heads, n, d_k)
    if name == "attention core":
        return partial(fused_attention, Q, Q, Q)
    return partial(scaled_dot_product_attention, Q, Q, Q)


def layer_times(
    lengths: list[int], d: int, heads: int, k: int, batch: int = 1, threads: int | None = None
) -> LayerTimes:
    """Measure the forward pass of every layer of LAYERS at every length, in more rounds for short ones.

    threads: of the CPU, by default all that torch uses.  One thread is robust against other work on the machine: threads
    that synchronise at every step of an LSTM may slow down many times.
    Raises ValueError for no lengths, and as ``layer_call`` does.
    """
    lengths = check_all_whole("lengths", lengths)
    if not lengths:
        raise ValueError("lengths has 0 entries: name at least 1 length")
    (threads,) = [None] if threads is None else check_whole(threads=threads)
    layers, before = {name: [] for name in LAYERS}, torch.get_num_threads()
    torch.set_num_threads(threads or before)
    try:
        for n in tqdm(lengths, "forward passes", disable=None):  # None: a bar on a terminal, silence in a page's output
            calls = {name: layer_call(name, n, d, heads, k, batch) for name in LAYERS}
            for name, timing in forward_times(calls, rounds=max(4, min(20, 4096 // n))).items():
                layers[name].append(timing)
        return LayerTimes(machine(), torch.__version__, d, heads, k, batch, lengths, layers)
    finally:
        torch.set_num_threads(before)


def machine() -> Machine:
    """Return the machine that ``pick_device`` picks."""
    on_cuda = pick_device().type == "cuda"
    device = torch.cuda.get_device_name() if on_cuda else f"CPU {platform.machine()}"
    return Machine(device, torch.get_num_threads())


def check_layer(name: str, known: list[str]) -> None:
    """Raise a ValueError for an unknown layer."""
    if name not in known:
        raise ValueError(f"layer {name!r} is none of {known}")


def wait_for_device() -> None:
    """Wait until CUDA has finished what is queued."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()
