"""How long a forward pass takes on this machine, and what machine it is."""

import platform
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from why_attention.device import pick_device

__all__ = ["Timing", "Machine", "forward_times", "machine"]


@dataclass(frozen=True)
class Timing:
    """Seconds of wall time: the median and the two quartiles of some rounds."""

    median: float
    low: float
    high: float


@dataclass(frozen=True)
class Machine:
    """What was measured on: the name of the device, and the CPU threads that torch uses."""

    device: str
    threads: int


@torch.no_grad()
def forward_times(calls: dict[str, Callable[[], object]], rounds: int) -> dict[str, Timing]:
    """Return how long each call takes in seconds, without gradients: one warm-up each, then ``rounds`` rounds of all.

    Raises ValueError for no calls and for rounds < 1.
    """
    if not calls:
        raise ValueError("calls has 0 entries: name at least 1 call")
    if rounds < 1:
        raise ValueError(f"rounds={rounds}: there must be at least 1")
    for call in calls.values():  # a first call also allocates, compiles and fills the caches
        call()
    seconds = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():  # in turn, so that a disturbance hits all alike
            wait_for_device()
            start = time.perf_counter()
            call()
            wait_for_device()
            seconds[name].append(time.perf_counter() - start)
    return {name: Timing(*np.quantile(taken, [0.5, 0.25, 0.75]).tolist()) for name, taken in seconds.items()}


def machine() -> Machine:
    """Return the machine that ``pick_device`` picks."""
    on_cuda = pick_device().type == "cuda"
    device = torch.cuda.get_device_name() if on_cuda else f"CPU {platform.machine()}"
    return Machine(device, torch.get_num_threads())


def wait_for_device() -> None:
    """Wait until CUDA, which only queues what it is asked for, has done it."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()
