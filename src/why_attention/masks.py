"""Masks: which keys a query may attend to, and the softmax over those keys.

One convention: a mask is boolean, rows are queries, columns are keys, and True means that the query may attend to the
key, as in F.scaled_dot_product_attention; nn.MultiheadAttention uses the opposite.  Combine masks with ``&``.

A mask has as many axes as the scores (…, L, S), each of the same length or 1: mask[None] is one mask for a whole batch,
and padding_mask gives each sequence its own, (batch, 1, S).  So a mask (batch, S) cannot be mistaken for one (L, S).

A row without True (a query that may attend to no key) gets weights, output and gradient of exactly 0.

A mask of numbers is refused: 0 and 1 are ambiguous, and so are numbers meant to be added to the scores.
"""

import math

import torch
from torch import Tensor

from why_attention.checks import check_all_whole, check_finite, check_floats, check_whole

__all__ = ["causal_mask", "padding_mask", "masked_softmax", "fill_empty_rows", "check_mask"]


WHOLE = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)


def causal_mask(L: int, S: int, *, device: torch.device | None = None) -> Tensor:
    """Return the causal mask (L, S): the last query sees all S keys, and each earlier query one key fewer.

    Query i = 1 … L sees keys 1 … S − L + i (aligned bottom right), as L new queries need after a cache of S − L keys.
    Raises ValueError for L < 1 and S < 1.
    """
    L, S = check_whole(L=L, S=S)
    return causal(L, S, device=device)


def causal(L: int, S: int, *, device: torch.device | None = None) -> Tensor:
    """Return what ``causal_mask`` does, without its checks."""
    return torch.ones(L, S, dtype=torch.bool, device=device).tril(S - L)


def padding_mask(lengths: Tensor, S: int) -> Tensor:
    """Return the mask (batch, 1, S) that hides the padding, the keys after the first lengths[b] of S.

    lengths: whole numbers (batch,).  Raises ValueError for another shape or type and for a length outside 0 … S.
    """
    (S,) = check_whole(S=S)
    if not isinstance(lengths, Tensor):
        lengths = torch.tensor(check_lengths(check_all_whole("lengths", lengths, least=0), S), dtype=torch.int64)
    if lengths.ndim != 1 or lengths.dtype not in WHOLE or len(lengths) == 0:
        raise ValueError(
            f"lengths is {lengths.dtype} of shape {tuple(lengths.shape)}: it must be whole numbers (batch,)"
        )
    check_lengths(lengths.tolist(), S)
    return (torch.arange(S, device=lengths.device) < lengths.unsqueeze(-1)).unsqueeze(-2)


def check_lengths(lengths: list[int], S: int) -> list[int]:
    """Return lengths.  Raises ValueError for one outside 0 … S."""
    if outside := [length for length in lengths if not 0 <= length <= S]:
        raise ValueError(f"lengths {outside} lie outside 0 … {S}, the number of keys")
    return lengths


def masked_softmax(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    """Return the softmax over the keys that a query may attend to, and exactly 0 at all others.

    scores: (…, L, S).  mask: with as many axes, each of the same length or 1.  Returns (…, L, S).
    Raises ValueError for scores that are not floating point or not finite, and as ``check_mask`` does.
    """
    check_scores(scores)
    if mask is not None:
        check_mask(mask, tuple(scores.shape))
    return softmax_where(scores, mask)


def softmax_where(scores: Tensor, mask: Tensor | None) -> Tensor:
    """Return what ``masked_softmax`` does, without its checks."""
    if mask is None:
        return scores.softmax(-1)
    # the softmax of a row of −∞ and its gradient are NaN: unmask such a row, then set it to 0
    mask, empty = fill_empty_rows(mask)
    return scores.masked_fill(~mask, -math.inf).softmax(-1).masked_fill(empty, 0)


def fill_empty_rows(mask: Tensor) -> tuple[Tensor, Tensor]:
    """Return the mask with its empty rows filled with True, and which rows those are, (…, L, 1).

    Raises ValueError for a mask of numbers or with fewer than two axes.
    """
    check_boolean(mask)
    if mask.ndim < 2 or mask.numel() == 0:
        raise ValueError(f"mask has shape {tuple(mask.shape)}: it must have at least 2 axes, none of them empty")
    empty = ~mask.any(-1, keepdim=True)
    return mask | empty, empty


def check_mask(mask: Tensor, shape: tuple[int, ...]) -> None:
    """Raise a ValueError where a mask is not boolean or does not fit scores of a shape (…, L, S)."""
    check_boolean(mask)
    fits = mask.ndim == len(shape) and all(m in (1, s) for m, s in zip(mask.shape, shape))
    if fits:
        return
    fix = "each of its axes must be as long as theirs or 1"
    if mask.ndim != len(shape):
        fix = f"it must have as many axes, {len(shape)}"
    if mask.ndim == len(shape) - 1:
        fix += "; write mask[None] for one mask of all sequences, and padding_mask or mask[:, None] for (batch, S)"
    raise ValueError(f"mask has shape {tuple(mask.shape)}, but the scores have {shape}: {fix}")


def check_boolean(mask: Tensor) -> None:
    """Raise a ValueError unless the mask is a boolean tensor."""
    if not isinstance(mask, Tensor):
        raise ValueError(f"mask is a {type(mask).__name__}: it must be 1 torch.Tensor of torch.bool")
    if mask.dtype != torch.bool:
        zeros_and_ones = bool(((mask == 0) | (mask == 1)).all())
        fix = (
            "its 0 and 1 may mean either way round, so write mask == 1 where 1 means look, and mask == 0 where it hides"
            if zeros_and_ones
            else "write mask == 0 where it was to be added to the scores, 0 to look and −∞ to hide"
        )
        raise ValueError(f"mask is {mask.dtype}: it must be torch.bool, True where a query may look; {fix}")


def check_scores(scores: Tensor) -> None:
    """Raise a ValueError unless scores are finite floating point numbers (…, L, S)."""
    check_floats(scores=scores)
    if scores.ndim < 2 or scores.numel() == 0:
        raise ValueError(f"scores have shape {tuple(scores.shape)}: they must have at least 2 axes, none of them empty")
    check_finite(scores=scores)
