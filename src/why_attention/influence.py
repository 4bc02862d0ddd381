"""Influence: how much each output of a layer depends on each input, one measure for all families of layers.

    I_ij = ‖∂y_i/∂x_j‖_F

Row i is the output (the query, in attention), column j the input (the key).  An entry is exactly 0 without a path
from input to output.  Conversely a 0 means no path, with two exceptions: an inactive ReLU, and a unit so saturated that
its slope is 0 in the dtype.  (Derivatives that underflow are refused.)
The matrix says nothing about the outputs themselves: a deep stack may depend on every token and still give all tokens
the same output, which ``token_diversity`` measures.

Sources: Luo et al. 2016, arXiv 1701.04128 (gradients as a measure of influence);
Dong et al. 2021, arXiv 2103.03404, §2 (the distance of a token matrix from one whose rows are all alike).
"""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor
from torch.func import jacrev

from why_attention.checks import check_finite, check_floats, check_tensors
from why_attention.norms import frobenius_norm

__all__ = ["influence_matrix", "token_diversity"]


def influence_matrix(layer: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """Return I_ij = ‖∂y_i/∂x_j‖_F for all outputs i and inputs j of a layer, by automatic differentiation: (n', n).

    layer: a module or function that maps x (n, d) to y (n', d').  The norms are in float64.
    Raises ValueError for other shapes and types of x or y, and as ``check_zeros`` does.
    """
    check_input(x)
    influence = influences(partial(output, layer), x.detach())
    check_zeros(influence, x.dtype)
    return influence


def influences(layer: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """Return what ``influence_matrix`` does, without its checks."""
    # reverse mode, all n' d' rows batched: measured faster than forward mode for all three families
    J = jacrev(layer)(x).detach()  # (n', d', n, d)
    return frobenius_norm(J, dim=(1, 3))


def check_zeros(norms: Tensor, dtype: torch.dtype) -> None:
    """Raise a ValueError where a norm of derivatives of this dtype is not finite, or a 0 may be an underflow.

    The latter if some norms are subnormal in the dtype: then a 0 may have been one too.
    """
    if bad := int((~norms.isfinite()).sum()):
        raise ValueError(f"{bad} of the {norms.numel()} influences are NaN or infinite: all must be finite")
    zeros, tiny = int((norms == 0).sum()), torch.finfo(dtype).tiny
    small = int(((0 < norms) & (norms < tiny)).sum())
    if zeros and small:
        raise ValueError(
            f"{zeros} of the {norms.numel()} influences are 0, but {small} others lie below {tiny:.2g}, where {dtype} "
            "ends: a 0 would not tell a missing path, so take a wider dtype or fewer steps"
        )


def output(layer: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """Return y = layer(x).  Raises ValueError unless it is a floating point tensor (n', d')."""
    y = layer(x)
    if not isinstance(y, Tensor):
        raise ValueError(f"the layer gave a {type(y).__name__}: wrap it in a function that returns y alone")
    if y.ndim != 2:
        raise ValueError(f"the layer gave y with {y.ndim} dimensions: it must give (n', d')")
    check_floats(y=y)
    if y.numel() == 0:
        raise ValueError(f"the layer gave y of shape {tuple(y.shape)}: it must have at least 1 number")
    return y


def check_input(x: Tensor) -> None:
    """Raise a ValueError unless x is a non-empty floating point tensor (n, d)."""
    check_floats(x=x)
    if x.ndim != 2:
        raise ValueError(f"x has {x.ndim} dimensions, shape {tuple(x.shape)}: it must be (n, d)")
    if x.numel() == 0:
        raise ValueError(f"x has shape {tuple(x.shape)}: it must have at least 1 number")


def token_diversity(x: Tensor) -> Tensor:
    """Return ‖x − 1 x̄ᵀ‖_F / ‖x‖_F of tokens x (…, n, d) with mean x̄: 0 if all are equal, at most 1.  (…,)

    Computed in float64.  Raises ValueError for fewer than two dimensions, NaN, and tokens that are all 0.
    """
    check_tensors(x=x)
    if x.ndim < 2 or x.numel() == 0:
        raise ValueError(f"x has shape {tuple(x.shape)}: it must be (…, n, d), with at least 1 number")
    check_finite(x=x)
    x = x.double()
    largest = x.abs().amax((-2, -1), keepdim=True)
    if (largest == 0).any():
        raise ValueError(f"x, of shape {tuple(x.shape)}, has tokens of which 0 numbers are not 0: at least 1 must be")
    x = x / largest  # against overflow in the mean and the squares
    deviation = x - x.mean(-2, keepdim=True)
    return frobenius_norm(deviation, (-2, -1)) / frobenius_norm(x, (-2, -1))
