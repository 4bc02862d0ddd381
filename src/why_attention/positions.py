"""Positional encoding: attention ignores order, so a vector for each position is added to the tokens.

Source: Vaswani et al. 2017, arXiv 1706.03762, §3.5 (sinusoidal positions).
"""

import torch
from torch import Tensor

from why_attention.checks import check_dtype, check_whole

__all__ = ["sinusoidal_positions"]


def sinusoidal_positions(
    n: int, d: int, *, device: torch.device | None = None, dtype: torch.dtype | None = None
) -> Tensor:
    """Return PE[t, 2i] = sin(t / 10000^(2i/d)) and PE[t, 2i+1] = cos(t / 10000^(2i/d)) for t = 0 … n−1: (n, d).

    Raises ValueError for n < 1 and for a d that is not even.  Source: Vaswani et al. 2017, §3.5.
    """
    check_dtype(dtype)
    n, d = check_whole(n=n, d=d)
    if d % 2:
        raise ValueError(f"n={n} and d={d}: n must be at least 1, and d an even number")
    return sinusoids(n, d, device=device, dtype=dtype)


def sinusoids(n: int, d: int, *, device: torch.device | None = None, dtype: torch.dtype | None = None) -> Tensor:
    """Return what ``sinusoidal_positions`` does, without its checks."""
    t = torch.arange(n, device=device, dtype=torch.float64).unsqueeze(-1)
    angles = t / 10000 ** (torch.arange(0, d, 2, device=device, dtype=torch.float64) / d)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2).to(dtype or torch.get_default_dtype())
