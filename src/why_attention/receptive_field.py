"""Receptive fields: which inputs an output of stacked convolutions reads, and how much each influences it.

    R = 1 + Σ_l (k_l − 1) d_l ∏_{m<l} s_m

is the span, from the first to the last input that one output reads, both included. k_l, d_l and s_l are kernel size,
dilation and stride of layer l = 1 … L, the lowest first. Inside the span some inputs may have no path (``support``), and
those with a path differ in influence (``effective_field``).

Sources: Araujo et al. 2019, Distill (the recursions); Luo et al. 2016, arXiv 1701.04128 (effective fields);
van den Oord et al. 2016, arXiv 1609.03499, §2.1 (dilations 1, 2, 4, …).
"""

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from why_attention.checks import check_real, check_tensors, check_whole
from why_attention.convolution import padding
from why_attention.influence import check_input, check_zeros, output
from why_attention.norms import frobenius_norm

__all__ = [
    "Layer",
    "span",
    "support",
    "cone",
    "depth_needed",
    "effective_field",
    "deviation",
    "uniform_deviation",
    "positions_holding",
]


@dataclass(frozen=True)
class Layer:
    """Kernel size, dilation and stride of a layer.  Raises ValueError for anything but whole numbers of at least 1.

    For images, describe each axis separately.
    """

    k: int
    dilation: int = 1
    stride: int = 1

    def __post_init__(self):
        names = ("k", "dilation", "stride")
        for name, number in zip(names, check_whole(k=self.k, dilation=self.dilation, stride=self.stride)):
            object.__setattr__(self, name, number)  # int does not overflow


def span(layers: list[Layer]) -> int:
    """Return R: each layer adds (k − 1) d steps of its own input.  R = 1 without layers."""
    R, jump = 1, 1  # jump: the distance, in inputs, of two neighbours in the layer below
    for layer in layers:
        R += (layer.k - 1) * layer.dilation * jump
        jump *= layer.stride
    return R


def support(layers: list[Layer]) -> Tensor:
    """Return which inputs in its span one output reads, far from the ends of the input: R booleans."""
    read = np.ones(1, dtype=bool)
    for layer in reversed(layers):
        read = read_below(read, layer)
    return torch.from_numpy(read)


def cone(layers: list[Layer], n: int, position: int, causal: bool = True) -> Tensor:
    """Return which positions of every layer the output at ``position`` reads: (L + 1, n) booleans, inputs first.

    All layers have n positions, 0 … n − 1, and zero padding, as in ``convolution.Convolution``.
    Raises ValueError for a position outside, a stride above 1, and a centred kernel of even size.
    """
    (n,), (position,) = check_whole(n=n), check_whole(least=0, position=position)
    if position >= n:
        raise ValueError(f"position {position} lies outside 0 … {n - 1}, the positions of n={n}")
    if strides := [layer.stride for layer in layers if layer.stride > 1]:
        raise ValueError(f"strides {strides} leave fewer than the n={n} positions of the input: they must be 1")
    rows = [np.arange(n) == position]
    for layer in reversed(layers):
        before, _ = padding(layer.k, layer.dilation, causal)
        rows.append(read_below(rows[-1], layer)[before : before + n])
    return torch.from_numpy(np.stack(rows[::-1]))


def read_below(read: np.ndarray, layer: Layer) -> np.ndarray:
    """Return which inputs of a layer are read if these m outputs are: ((m − 1) s + (k − 1) d + 1,).

    Booleans, because a gradient through many layers underflows to 0.  In numpy, which is much faster than torch on short
    arrays.
    """
    width = (len(read) - 1) * layer.stride + 1
    below = np.zeros(width + (layer.k - 1) * layer.dilation, dtype=bool)
    for m in range(layer.k):  # output i reads i s + m d
        tap = below[m * layer.dilation :][: width : layer.stride]
        tap |= read
    return below


def depth_needed(distance: int, k: int, causal: bool = True, growth: int = 1) -> int:
    """Return the least number of layers whose span covers a distance |i − j|.

    Layer l = 0, 1, … has dilation growth^l.  A causal layer reaches (k − 1) growth^l further back; a centred one half as
    far on either side.  For growth = 1 the result is ⌈distance / (k − 1)⌉, centred ⌈2 distance / (k − 1)⌉.
    A growth above k leaves gaps (``support``).  Distance 0 needs 0 layers.
    Raises ValueError for k = 1 at a distance above 0, for a centred even k, and for numbers that are not whole.
    """
    (k, growth), (distance,) = check_whole(k=k, growth=growth), check_whole(least=0, distance=distance)
    reach, _ = padding(k, 1, causal)  # of the first layer, back
    if distance == 0:
        return 0
    if reach == 0:
        raise ValueError(
            f"k={k} reads its own position alone: no depth reaches a distance of {distance}, k must be above 1"
        )
    if growth == 1:
        return -(-distance // reach)  # ⌈distance / reach⌉, exactly
    layers, reached = 0, 0
    while reached < distance:
        reached += reach * growth**layers
        layers += 1
    return layers


def effective_field(model: nn.Module, x: Tensor, position: int) -> Tensor:
    """Return ‖∂y_i/∂x_j‖_F for output i = position and every input j, by autodiff: a row of the influence matrix.

    x: (n, d), which the model maps to y (n', d').  Returns (n,), in float64.
    Raises ValueError for another rank, for a position outside, and as ``influence_matrix`` does.
    """
    check_input(x)
    (position,) = check_whole(least=0, position=position)
    with torch.enable_grad():
        x = x.detach().requires_grad_()
        y = output(model, x)
        if position >= len(y):
            raise ValueError(f"position {position} lies outside 0 … {len(y) - 1}, the positions of y")
        rows, J = torch.eye(y.shape[1], dtype=y.dtype, device=y.device), None
        if y.requires_grad:
            (J,) = torch.autograd.grad(y[position], x, rows, is_grads_batched=True, allow_unused=True)  # (d', n, d)
    if J is None:  # y does not depend on x
        return x.new_zeros(len(x), dtype=torch.float64)
    field = frobenius_norm(J, dim=(0, 2))
    check_zeros(field, J.dtype)
    return field


def deviation(profile: Tensor) -> float:
    """Return the standard deviation of the position j, weighted by the profile (n,)."""
    share = shares(profile)
    j = torch.arange(len(share), dtype=share.dtype, device=share.device)
    mean = (share * j).sum()
    return (share * (j - mean) ** 2).sum().sqrt().item()


def uniform_deviation(k: int, layers: int) -> float:
    """Return √(L (k² − 1) / 12), the deviation of L layers of uniform kernels: variances of independent steps add up.

    Source: Luo et al. 2016, §2.
    """
    k, layers = check_whole(k=k, layers=layers)
    variance = layers * (k**2 - 1)  # times 12
    if variance >= 1e308:
        raise ValueError(f"k={k} and layers={layers}: L (k² − 1) must be below 1e308, what a float can hold")
    return math.sqrt(variance / 12)


def positions_holding(part: float, profile: Tensor) -> int:
    """Return the least number of positions that hold a part, such as 0.9, of a profile (n,)."""
    check_real(part=part)
    if not 0 < part <= 1:
        raise ValueError(f"part={part}: it must lie above 0 and be at most 1")
    share = shares(profile)
    if part == 1:
        return int(share.count_nonzero())
    held = share.sort(descending=True).values.cumsum(0)
    return int((held < part * (1 - 1e-12)).sum()) + 1  # tolerance for rounding


def shares(profile: Tensor) -> Tensor:
    """Return a profile divided by its sum, in float64.

    Raises ValueError unless it is a tensor (n,) of finite numbers ≥ 0, not all 0.
    """
    check_tensors(profile=profile)
    if profile.ndim != 1:
        raise ValueError(f"the profile has {profile.ndim} dimensions, shape {tuple(profile.shape)}: it must be (n,)")
    if bad := int((~(profile.isfinite() & (profile >= 0))).sum()):
        raise ValueError(
            f"the profile has {bad} negative, NaN or infinite among its {len(profile)} numbers: it must have 0"
        )
    if not profile.any():
        raise ValueError(f"the profile has 0 numbers above 0 among its {len(profile)}: it must have at least 1")
    profile = profile.double()
    profile = profile / profile.max()  # against overflow of the sum
    return profile / profile.sum()
