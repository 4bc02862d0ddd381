"""A stack of layers, plain or each with a residual connection and layer normalisation.

    plain:     x ← f_l(x)
    residual:  x ← LayerNorm(x + f_l(x))

Sources: He et al. 2016, arXiv 1512.03385 (residual connections); Ba et al. 2016, arXiv 1607.06450 (layer normalisation);
Vaswani et al. 2017, arXiv 1706.03762, §3.1 (the two together, in this order).
"""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from why_attention.checks import check_floats, check_result

__all__ = ["hidden_states"]


def hidden_states(layers: list[Callable[[Tensor], Tensor]], x: Tensor, residual: bool = False) -> Tensor:
    """Return x and the output of every layer: (L + 1, …, n, d).

    layers: modules or functions that map (…, n, d) to the same shape.  The normalisation has no weights.
    Raises ValueError for a layer that changes the shape, and for numbers that are not finite or overflow.
    """
    check_floats(x=x)
    states = [x]
    for number, layer in enumerate(layers, start=1):
        y = layer(x)
        if not isinstance(y, Tensor):
            raise ValueError(f"layer {number} gave a {type(y).__name__}: wrap it in a function that returns y alone")
        if y.shape != x.shape:
            raise ValueError(f"layer {number} made {tuple(y.shape)} of {tuple(x.shape)}: it must keep the shape")
        x = F.layer_norm(x + y, x.shape[-1:]) if residual else y
        states.append(x)
    return check_result(torch.stack(states))
