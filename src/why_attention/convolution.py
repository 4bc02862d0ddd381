"""Convolutions along a sequence, causal or centred, dilated or not, and stacks of them.

    y_i = b + Σ_{m=0}^{k−1} W_m x_{i + m d_l − p},    p = (k − 1) d_l  (causal)  or  (k − 1) d_l / 2  (centred)

k is the kernel size, d_l the dilation of the layer. The stride is 1 and x is zero outside 1 … n: the output has n
positions, even where the kernel is wider than the input.

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

    Raises ValueError for sizes below 1 and for a centred kernel of even size.
    """

    def __init__(self, d: int, k: int, dilation: int = 1, causal: bool = True, *, dtype: torch.dtype | None = None):
        super().__init__()
        check_dtype(dtype)
        self.d, self.k, self.dilation = check_whole(d=d, k=k, dilation=dilation)
        self.causal = causal
        self.padding = padding(k, dilation, causal)
        self.W = nn.Parameter(torch.empty(d, d, k, dtype=dtype))
        self.b = nn.Parameter(torch.empty(d, dtype=dtype))
        self.reset_parameters()

    @torch.no_grad()
    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw W from N(0, 1/(k d)) and set b to 0: white noise keeps its variance 1."""
        self.W.normal_(0, 1 / math.sqrt(self.k * self.d), generator=generator)
        self.b.zero_()

    def forward(self, x: Tensor) -> Tensor:
        """Map x (n, d) or (batch, n, d) to y of the same shape.

        Raises ValueError for n = 0, a wrong rank or width, a dtype unlike the weights', and NaN.
        """
        self.check(x)
        return check_result(self.compute(x))

    def compute(self, x: Tensor) -> Tensor:
        """Return what ``forward`` does, without its checks."""
        x = F.pad(x.mT, self.padding)  # conv1d wants positions last
        return F.conv1d(x, self.W, self.b, dilation=self.dilation).mT

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
    """A stack of layers of one width and kernel size, one for each dilation.

    It is linear: a nonlinearity would change the strength of the paths, but adds none.
    Raises ValueError for no dilations, and as ``Convolution`` does.
    """

    def __init__(self, d: int, k: int, dilations: list[int], causal: bool = True, *, dtype: torch.dtype | None = None):
        super().__init__()
        dilations = check_all_whole("dilations", dilations)
        if not dilations:
            raise ValueError("dilations has 0 entries: name at least 1, one for each layer")
        self.layers = nn.ModuleList(Convolution(d, k, d_l, causal, dtype=dtype) for d_l in dilations)

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw the weights of every layer, the lowest first."""
        for layer in self.layers:
            layer.reset_parameters(generator)

    def forward(self, x: Tensor) -> Tensor:
        """Map x (n, d) or (batch, n, d) to y of the same shape.  Raises as ``Convolution`` does."""
        for layer in self.layers:
            x = layer(x)
        return x

    def compute(self, x: Tensor) -> Tensor:
        """Return what ``forward`` does, without its checks."""
        for layer in self.layers:
            x = layer.compute(x)
        return x


def padding(k: int, dilation: int, causal: bool) -> tuple[int, int]:
    """Return how many zeros pad the input before and after, to keep n positions.

    A causal layer is padded before only, and reads no later position.  A centred layer is padded equally on both sides,
    which needs an odd k.  Raises ValueError for a centred even k, and for numbers below 1.
    """
    k, dilation = check_whole(k=k, dilation=dilation)
    if causal:
        return (k - 1) * dilation, 0
    if k % 2 == 0:
        raise ValueError(
            f"k={k} is even and has no middle: a centred kernel has an odd size, such as {k - 1} or {k + 1}"
        )
    return (k - 1) // 2 * dilation, (k - 1) // 2 * dilation
