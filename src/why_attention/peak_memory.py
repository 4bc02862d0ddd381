"""How much memory a call takes at its peak.

Linux counts the peak of a whole process, which also keeps what earlier calls have freed: each measurement needs a new
process.  Source: the manual page proc_pid_clear_refs(5): writing 5 resets the peak, VmHWM of /proc/self/status.
"""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import torch

__all__ = ["peak_memory", "peak_of"]

PROCESS = Path("/proc/self")


def peak_memory(prepare: Callable[..., Callable[[], object]], *arguments) -> int:
    """Return how many bytes the call ``prepare(*arguments)`` takes at its peak, measured in a new process.

    prepare: a function of an importable module that returns the call.  arguments: numbers and strings.
    Kernels take room for themselves too, and the first call of a process some MiB that later ones share.
    Raises as ``peak_of`` does, and CalledProcessError where the new process fails.
    """
    check_linux()
    program = (
        f"from why_attention.peak_memory import peak_of; from {prepare.__module__} import {prepare.__qualname__};"
        f"print(peak_of({prepare.__qualname__}(*{arguments!r})))"
    )
    run = subprocess.run([sys.executable, "-c", program], check=True, stdout=subprocess.PIPE, text=True)
    return int(run.stdout)


@torch.no_grad()
def peak_of(call: Callable[[], object]) -> int:
    """Return how many bytes a call takes at its peak, above what this process, a new one, holds just before it.

    Without gradients.  Raises RuntimeError where the system is not Linux, which alone tells.
    """
    check_linux()
    (PROCESS / "clear_refs").write_text("5", encoding="ascii")  # the peak is counted from here
    before = kilobytes("VmRSS")
    call()
    return (kilobytes("VmHWM") - before) * 1024


def check_linux() -> None:
    if not (PROCESS / "clear_refs").exists():
        raise RuntimeError(f"{PROCESS}/clear_refs is not there: peak memory can be measured on Linux alone")


def kilobytes(name: str) -> int:
    """Return what Linux says of this process's memory."""
    lines = (PROCESS / "status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name))
