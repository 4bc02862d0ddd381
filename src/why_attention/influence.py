"""Influence: how much every output of a layer answers to every input, one measure for all families of layers.

    I_ij = ‖∂y_i/∂x_j‖_F

Row i is the output (the query, in attention), column j the input (the key).  An entry is exactly 0 where no path leads
from the input to the output.  The other way round a 0 tells that no path leads, as far as numbers can: a derivative
that is too small for the dtype is refused, but a ReLU that is off, or a unit so saturated that the dtype knows no
slope of it, passes 0 on too.
The matrix does not say what the outputs are: a deep stack may answer to every token and yet give
all tokens one and the same output, which ``token_diversity`` tells.

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

    layer: a module or function that maps x (n, d) to y (n', d') alone.  The norms are in float64.
    Raises ValueError for an x or a y of another rank or kind, and as ``check_zeros`` does.
    """
    check_input(x)
    # all n' d' rows go back through one graph together; measured faster than forward mode for all three families
    J = jacrev(partial(output, layer))(x.detach()).detach()  # (n', d', n, d)
    influence = frobenius_norm(J, dim=(1, 3))
    check_zeros(influence, J.dtype)
    return influence


def check_zeros(norms: Tensor, dtype: torch.dtype) -> None:
    """Raise a ValueError where a norm of derivatives of this dtype is not finite, or a 0 may be no missing path.

    That is so where others lie below the normal numbers of the dtype: then a 0 may be too small for it as well.
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
    """Return y = layer(x), or raise a ValueError where it is no tensor (n', d') of floating point numbers."""
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
    """Raise a ValueError where x is no tensor (n, d) of floating point numbers, at least one."""
    check_floats(x=x)
    if x.ndim != 2:
        raise ValueError(f"x has {x.ndim} dimensions, shape {tuple(x.shape)}: it must be (n, d)")
    if x.numel() == 0:
        raise ValueError(f"x has shape {tuple(x.shape)}: it must have at least 1 number")


def token_diversity(x: Tensor) -> Tensor:
    """Return ‖x − 1 x̄ᵀ‖_F / ‖x‖_F of tokens x (…, n, d), x̄ their mean: 0 where all are alike, at most 1.  (…,)

    Computed in float64.  Raises ValueError for fewer than two dimensions, NaN, and tokens of which every number is
    0.
    """
    check_tensors(x=x)
    if x.ndim < 2 or x.numel() == 0:
        raise ValueError(f"x has shape {tuple(x.shape)}: it must be (…, n, d), with at least 1 number")
    check_finite(x=x)
    x = x.double()
    largest = x.abs().amax((-2, -1), keepdim=True)
    if (largest == 0).any():
        raise ValueError(f"x, of shape {tuple(x.shape)}, has tokens of which 0 numbers are not 0: at least 1 must be")
    x = x / largest  # so that neither the mean nor a square overflows
    deviation = x - x.mean(-2, keepdim=True)
    return frobenius_norm(deviation, (-2, -1)) / frobenius_norm(x, (-2, -1))
