"""A linear recurrence one step after another, and in ⌈log2 T⌉ rounds of all steps at once.

    h_t = a_t ⊙ h_{t-1} + b_t,    h_0 = 0

Two steps in a row are again such a step: first (a, b), then (a', b') is (a' ⊙ a, a' ⊙ b + b').
Joining steps in this way is associative, so the steps may be joined in any grouping.

Sources: Hillis & Steele 1986 (joining by doubling); Blelloch 1990 (recurrences as scans);
Feng et al. 2024, arXiv 2410.01201 (minGRU, trained with a scan).
"""

import torch
from torch import Tensor

from why_attention.checks import check_finite, check_floats, check_result, check_same_dtype, check_whole

__all__ = ["loop", "parallel_scan", "scan_rounds"]


def loop(a: Tensor, b: Tensor) -> Tensor:
    """Return h_1 … h_T, one step after another: T steps in sequence.

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
    """Return h_1 … h_T in ``scan_rounds(T)`` rounds, each of which joins step t with step t − 2^r for all t at once.

    Shapes and errors as for ``loop``.  Meant for |a_t| ≤ 1, as a gate is: products of larger ones may overflow
    where h does not.
    """
    check(a, b)
    for r in range(scan_rounds(len(a))):
        s = 2**r
        b = torch.cat([b[:s], a[s:] * b[:-s] + b[s:]])  # the first s have nothing s steps before them
        a = torch.cat([a[:s], a[s:] * a[:-s]])
    return check_result(b)


def scan_rounds(T: int) -> int:
    """Return ⌈log2 T⌉, the rounds after which step T has been joined with all before it.  Raises ValueError for T < 1."""
    (T,) = check_whole(T=T)
    return (T - 1).bit_length()


def check(a: Tensor, b: Tensor) -> None:
    """Raise a ValueError that names what does not fit."""
    check_floats(a=a, b=b)
    if a.shape != b.shape:
        raise ValueError(f"a has shape {tuple(a.shape)}, but b has {tuple(b.shape)}: both must be the same")
    if a.ndim == 0 or a.numel() == 0:
        raise ValueError(
            f"a and b have shape {tuple(a.shape)}: it must be (T, …), with T at least 1, and no axis empty"
        )
    check_finite(a=a, b=b)
    check_same_dtype(b=b, a=a)
