"""Convolutions along a sequence, causal or centred, dilated or not, and stacks of them.

    y_i = b + Σ_{m=0}^{k−1} W_m x_{i + m d_l − p},    p = (k − 1) d_l  (causal)  or  (k − 1) d_l / 2  (centred)

k is the size of the kernel, d_l the dilation of the layer. The stride is 1, and an x outside 1 … n counts as zero:
n positions stay n positions, also where the kernel is wider than the input.

Sources: van den Oord et al. 2016, arXiv 1609.03499, §2.1 (WaveNet: causal and dilated convolutions);
Bai et al. 2018, arXiv 1803.01271, §3 (the same, as a stack for sequences).
"""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from why_attention.checks import (
    check_all_whole,
    check_dtype,
    check_finite,
    check_floats,
    check_result,
    check_same_dtype,
    check_whole,
)

__all__ = ["Convolution", "ConvolutionStack", "padding"]


class Convolution(nn.Module):
    """One layer of width d: W (d, d, k), stored as nn.Conv1d stores it, and b (d,).

    Raises ValueError for sizes that are no whole numbers of at least 1, and for a centred kernel of even size.
    """

    def __init__(self, d: int, k: int, dilation: int = 1, causal: bool = True, *, device=None, dtype=None):
        super().__init__()
        check_dtype(dtype)
        self.d, self.k, self.dilation = check_whole(d=d, k=k, dilation=dilation)
        self.causal = causal
        self.padding = padding(k, dilation, causal)
        self.W = nn.Parameter(torch.empty(d, d, k, device=device, dtype=dtype))
        self.b = nn.Parameter(torch.empty(d, device=device, dtype=dtype))
        self.reset_parameters()

    @torch.no_grad()
    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw W from N(0, 1/(k d)) and set b to 0, so that white noise of variance 1 comes out with variance 1."""
        self.W.normal_(0, 1 / math.sqrt(self.k * self.d), generator=generator)
        self.b.zero_()

    def forward(self, x: Tensor) -> Tensor:
        """Map x (n, d) or (batch, n, d) to y of the same shape.

        Raises ValueError for n = 0, a wrong rank or width, another dtype than the weights', and NaN.
        """
        self.check(x)
        x = F.pad(x.mT, self.padding)  # conv1d wants positions last
        return check_result(F.conv1d(x, self.W, self.b, dilation=self.dilation).mT)

    def check(self, x: Tensor) -> None:
        """Raise a ValueError that names what does not fit."""
        check_floats(x=x)
        if x.ndim not in (2, 3):
            raise ValueError(f"x has {x.ndim} dimensions, shape {tuple(x.shape)}: it must be (n, d) or (batch, n, d)")
        if x.shape[-2] == 0:
            raise ValueError(f"x has n = 0 positions, shape {tuple(x.shape)}: n must be at least 1")
        if x.shape[0] == 0:
            raise ValueError(f"x has 0 sequences, shape {tuple(x.shape)}: there must be at least 1")
        if x.shape[-1] != self.d:
            raise ValueError(f"x has size {x.shape[-1]} a position, but the layer reads size {self.d}")
        check_same_dtype(x=x, W=self.W, b=self.b)
        check_finite(x=x, W=self.W, b=self.b)


class ConvolutionStack(nn.Module):
    """Layers of one width and kernel size on top of one another, one for each dilation.

    Nothing stands between them: a nonlinearity would change how much a path carries, not which paths there are.
    Raises ValueError for no dilations, and as ``Convolution`` does.
    """

    def __init__(self, d: int, k: int, dilations: list[int], causal: bool = True, *, device=None, dtype=None):
        super().__init__()
        dilations = check_all_whole("dilations", dilations)
        if not dilations:
            raise ValueError("dilations has 0 entries: name at least 1, one for each layer")
        self.layers = nn.ModuleList(Convolution(d, k, d_l, causal, device=device, dtype=dtype) for d_l in dilations)

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw the weights of every layer, the lowest first."""
        for layer in self.layers:
            layer.reset_parameters(generator)

    def forward(self, x: Tensor) -> Tensor:
        """Map x (n, d) or (batch, n, d) to y of the same shape.  Raises as ``Convolution`` does."""
        for layer in self.layers:
            x = layer(x)
        return x


def padding(k: int, dilation: int, causal: bool) -> tuple[int, int]:
    """Return how many zeros stand before and after the input, so that n positions stay n positions.

    A causal layer has all of them before: it reads nothing later than its own position.  A centred one has half on
    either side, which needs an odd k.  Raises ValueError for an even k there, and for numbers below 1.
    """
    k, dilation = check_whole(k=k, dilation=dilation)
    if causal:
        return (k - 1) * dilation, 0
    if k % 2 == 0:
        raise ValueError(
            f"k={k} is even and has no middle: a centred kernel has an odd size, such as {k - 1} or {k + 1}"
        )
    return (k - 1) // 2 * dilation, (k - 1) // 2 * dilation
