"""The peak memory of a call.

Linux reports the peak of a whole process, which keeps memory that earlier calls have freed: each measurement needs a new
process.  Source: the manual page proc_pid_clear_refs(5): writing 5 resets the peak, VmHWM in /proc/self/status.
"""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import torch

__all__ = ["peak_memory", "peak_of"]

PROCESS = Path("/proc/self")


def peak_memory(prepare: Callable[..., Callable[[], object]], *arguments) -> int:
    """Return the peak memory in bytes of the call ``prepare(*arguments)``, measured in a fresh process.

    prepare: a function of an importable module that returns the call.  arguments: numbers and strings.
    It includes the workspace of kernels, and some MiB that torch allocates once in a process.
    Raises as ``peak_of`` does, and CalledProcessError where the new process fails.
    """
    check_linux()
    program = (
        f"from why_attention.peak_memory import peak_of; from {prepare.__module__} import {prepare.__qualname__};"
        f"print(peak_of({prepare.__qualname__}(*{arguments!r})))"
    )
    run = subprocess.run([sys.executable, "-c", program], check=True, stdout=subprocess.PIPE, encoding="utf-8")
    return int(run.stdout)


@torch.no_grad()
def peak_of(call: Callable[[], object]) -> int:
    """Return the peak memory in bytes of a call, without gradients, above that of this fresh process before it.

    Raises RuntimeError on systems other than Linux.
    """
    check_linux()
    (PROCESS / "clear_refs").write_text("5", encoding="ascii")  # reset the peak
    before = kilobytes("VmRSS")
    call()
    return (kilobytes("VmHWM") - before) * 1024


def check_linux() -> None:
    if not (PROCESS / "clear_refs").exists():
        raise RuntimeError(f"{PROCESS}/clear_refs is not there: peak memory can be measured on Linux alone")


def kilobytes(name: str) -> int:
    """Return a number of kB from this process's status."""
    lines = (PROCESS / "status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name))
