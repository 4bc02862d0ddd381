"""A linear recurrence step by step, and in ⌈log2 T⌉ parallel rounds.

    h_t = a_t ⊙ h_{t-1} + b_t,    h_0 = 0

Two steps, (a, b) and then (a', b'), compose to one such step: (a' ⊙ a, a' ⊙ b + b').
Composition is associative, so the steps may be grouped in any way.

Sources: Hillis & Steele 1986 (joining by doubling); Blelloch 1990 (recurrences as scans);
Feng et al. 2024, arXiv 2410.01201 (minGRU, trained with a scan).
"""

import torch
from torch import Tensor

from why_attention.checks import check_finite, check_floats, check_result, check_same_dtype, check_whole

__all__ = ["loop", "parallel_scan", "scan_rounds"]


def loop(a: Tensor, b: Tensor) -> Tensor:
    """Return h_1 … h_T step by step: T sequential operations.

    a, b: (T, …), of the same shape.  Returns (T, …).
    Raises ValueError for T = 0, unequal shapes or dtypes, and NaN.
    """
    check(a, b)
    h, states = torch.zeros_like(b[0]), []
    for a_t, b_t in zip(a.unbind(), b.unbind()):
        h = a_t * h + b_t
        states.append(h)
    return check_result(torch.stack(states))


def parallel_scan(a: Tensor, b: Tensor) -> Tensor:
    """Return h_1 … h_T in ``scan_rounds(T)`` rounds; round r composes steps t and t − 2^r for all t in parallel.

    Shapes and errors as for ``loop``.  Meant for |a_t| ≤ 1, as in a gate: products of larger factors may overflow
    even if h does not.
    """
    check(a, b)
    for r in range(scan_rounds(len(a))):
        s = 2**r
        b = torch.cat([b[:s], a[s:] * b[:-s] + b[s:]])  # the first s steps have no step t − s
        a = torch.cat([a[:s], a[s:] * a[:-s]])
    return check_result(b)


def scan_rounds(T: int) -> int:
    """Return ⌈log2 T⌉, the rounds that compose step T with all earlier ones.  Raises ValueError for T < 1."""
    (T,) = check_whole(T=T)
    return (T - 1).bit_length()


def check(a: Tensor, b: Tensor) -> None:
    """Raise a ValueError where an argument does not fit."""
    check_floats(a=a, b=b)
    if a.shape != b.shape:
        raise ValueError(f"a has shape {tuple(a.shape)}, but b has {tuple(b.shape)}: both must be the same")
    if a.ndim == 0 or a.numel() == 0:
        raise ValueError(
            f"a and b have shape {tuple(a.shape)}: it must be (T, …), with T at least 1, and no axis empty"
        )
    check_finite(a=a, b=b)
    check_same_dtype(b=b, a=a)
