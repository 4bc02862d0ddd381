"""Influence: how much every output of a layer answers to every input, one measure for all families of layers.

    I_ij = ‖∂y_i/∂x_j‖_F

Row i is the output (the query, in attention), column j the input (the key).  An entry is exactly 0 where no path leads
from the input to the output.  The matrix does not say what the outputs are: a deep stack may answer to every token and yet give
all tokens one and the same output, which ``token_diversity`` tells.

Sources: Luo et al. 2016, arXiv 1701.04128 (gradients as a measure of influence);
Dong et al. 2021, arXiv 2103.03404, §2 (the distance of a token matrix from one whose rows are all alike).
"""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.func import jacrev

__all__ = ["influence_matrix", "token_diversity"]


def influence_matrix(layer: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """Return I_ij = ‖∂y_i/∂x_j‖_F for all outputs i and inputs j of a layer, by automatic differentiation: (n', n).

    layer: a module or function that maps x (n, d) to y (n', d').
    Raises ValueError for an x or a y of another rank, and where a derivative is not finite.
    """
    if x.ndim != 2:
        raise ValueError(f"x has {x.ndim} dimensions, shape {tuple(x.shape)}: it must be (n, d)")
    # all n' d' rows go back through one graph together; measured faster than forward mode for all three families
    J = jacrev(layer)(x.detach()).detach()  # (n', d', n, d)
    if J.ndim != 4:
        raise ValueError(f"the layer gave y with {J.ndim - 2} dimensions: it must give (n', d')")
    influence = J.square().sum((1, 3)).sqrt()
    if bad := int((~influence.isfinite()).sum()):
        raise ValueError(f"{bad} of the {influence.numel()} influences are NaN or infinite: all must be finite")
    return influence


def token_diversity(x: Tensor) -> Tensor:
    """Return ‖x − 1 x̄ᵀ‖_F / ‖x‖_F of tokens x (…, n, d), x̄ their mean: 0 where all are alike, at most 1.  (…,)

    Raises ValueError where every number is 0.
    """
    size = torch.linalg.matrix_norm(x)
    if (size == 0).any():
        raise ValueError(f"x, of shape {tuple(x.shape)}, has tokens of which 0 numbers are not 0: at least 1 must be")
    return torch.linalg.matrix_norm(x - x.mean(-2, keepdim=True)) / size
