"""Masks: which keys a query may look at, and the softmax over those alone.

One convention holds everywhere: a mask is boolean, with a row a query and a column a key, and True means that the query
may look at the key. F.scaled_dot_product_attention reads masks so; nn.MultiheadAttention reads them the other way round.
Masks are joined by ``&``.

A row without any True, a query that may look at nothing, gets weights and an output of exactly 0 and passes back a
gradient of exactly 0.

A mask of numbers is refused, whatever they are: 0 and 1 may mean either way round, and the numbers of a mask that is to
be added to the scores are easily taken for those.
"""

import math

import torch
from torch import Tensor

__all__ = ["causal_mask", "padding_mask", "masked_softmax", "fill_empty_rows", "check_mask"]


def causal_mask(L: int, S: int, *, device=None) -> Tensor:
    """Return the mask (L, S) by which the last query sees all S keys, and each query before it one key fewer.

    Query i of L, counted from 1, sees keys 1 … S − L + i: the mask is aligned bottom right, so that L new queries
    after a cache of S − L keys see what they should.  Raises ValueError for L < 1 and S < 1.
    """
    if L < 1 or S < 1:
        raise ValueError(f"L={L} queries and S={S} keys: there must be at least 1 of each")
    return torch.ones(L, S, dtype=torch.bool, device=device).tril(S - L)


def padding_mask(lengths: Tensor, S: int) -> Tensor:
    """Return the mask (batch, 1, S) that hides the padding after the first lengths[b] of S keys from every query.

    lengths: whole numbers (batch,).  Raises ValueError for another shape or type and for a length outside 0 … S.
    """
    if lengths.ndim != 1 or lengths.is_floating_point() or lengths.dtype == torch.bool:
        raise ValueError(
            f"lengths is {lengths.dtype} of shape {tuple(lengths.shape)}: it must be whole numbers (batch,)"
        )
    if outside := [length for length in lengths.tolist() if not 0 <= length <= S]:
        raise ValueError(f"lengths {outside} lie outside 0 … {S}, the number of keys")
    return (torch.arange(S, device=lengths.device) < lengths.unsqueeze(-1)).unsqueeze(-2)


def masked_softmax(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    """Return the softmax over the keys that a query may look at, and exactly 0 at all others.

    scores: (…, L, S).  mask: anything that broadcasts to it.  Returns (…, L, S).
    """
    if mask is None:
        return scores.softmax(-1)
    # the softmax of a row of −∞ alone is NaN, and so is its gradient: such a row looks at all, and is set to 0 after it
    mask, empty = fill_empty_rows(mask)
    return scores.masked_fill(~mask, -math.inf).softmax(-1).masked_fill(empty, 0)


def fill_empty_rows(mask: Tensor) -> tuple[Tensor, Tensor]:
    """Return the mask with True in all of every row that had none, and which rows those are, (…, L, 1)."""
    empty = ~mask.any(-1, keepdim=True)
    return mask | empty, empty


def check_mask(mask: Tensor, shape: tuple[int, ...]) -> None:
    """Raise a ValueError where a mask is not boolean, or does not broadcast to scores of a shape (…, L, S)."""
    if mask.dtype != torch.bool:
        zeros_and_ones = bool(((mask == 0) | (mask == 1)).all())
        fix = (
            "its 0 and 1 may mean either way round, so write mask == 1 where 1 means look, and mask == 0 where it hides"
            if zeros_and_ones
            else "write mask == 0 where it was to be added to the scores, 0 to look and −∞ to hide"
        )
        raise ValueError(f"mask is {mask.dtype}: it must be torch.bool, True where a query may look; {fix}")
    missing = len(shape) - mask.ndim
    fits = mask.ndim >= 2 and missing >= 0 and all(m in (1, s) for m, s in zip(mask.shape, shape[missing:]))
    if not fits:
        raise ValueError(f"mask has shape {tuple(mask.shape)}, but the scores have {shape}: it must broadcast to that")
