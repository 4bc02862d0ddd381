"""Operations of torch in simpler ones, so that the interpreter needs few."""

import functools
import operator
from collections.abc import Callable

import torch
from torch import Tensor
from torch._decomp import core_aten_decompositions
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

__all__ = ["DECOMPOSITIONS", "Taps"]

aten = torch.ops.aten
DECOMPOSITIONS: dict = dict(core_aten_decompositions())


def decomposes(*operations: Callable) -> Callable:
    def register(function: Callable) -> Callable:
        DECOMPOSITIONS.update(dict.fromkeys(operations, function))
        return function

    return register


@decomposes(aten._softmax.default, aten._safe_softmax.default)
def softmax(x: Tensor, dim: int, _dtype: object = None) -> Tensor:
    e = (x - x.amax(dim, True)).exp()
    return e / e.sum(dim, True)


@decomposes(aten._log_softmax.default)
def log_softmax(x: Tensor, dim: int, _half: bool) -> Tensor:
    x = x - x.amax(dim, True)
    return x - x.exp().sum(dim, True).log()


@decomposes(aten.addmm.default)
def addmm(b: Tensor, x: Tensor, y: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    return beta * b + alpha * (x @ y)


@decomposes(aten.mean.default)
def mean(x: Tensor, *, dtype: torch.dtype | None = None) -> Tensor:
    return x.sum() / functools.reduce(operator.mul, x.shape, 1)


@decomposes(aten.mean.dim)
def mean_along(x: Tensor, dim: list[int], keepdim: bool = False, *, dtype: torch.dtype | None = None) -> Tensor:
    count = functools.reduce(operator.mul, (x.shape[axis] for axis in dim or range(x.ndim)), 1)
    return x.sum(dim, keepdim) / count


@decomposes(aten.var.correction)
def var(x: Tensor, dim: list[int] | None = None, *, correction: float | None = None, keepdim: bool = False) -> Tensor:
    axes = list(range(x.ndim)) if dim is None else dim
    count = functools.reduce(operator.mul, (x.shape[axis] for axis in axes), 1)
    far = x - x.sum(axes, True) / count
    return (far * far).sum(axes, keepdim) / (count - (1 if correction is None else correction))


@decomposes(aten.native_layer_norm.default)
def layer_norm(
    x: Tensor, shape: list[int], weight: Tensor | None, bias: Tensor | None, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    axes = list(range(x.ndim - len(shape), x.ndim))
    middle = x.mean(axes, True)
    scale = (x.var(axes, correction=0, keepdim=True) + eps).rsqrt()
    y = (x - middle) * scale
    y = y if weight is None else y * weight
    return y if bias is None else y + bias, middle, scale


@decomposes(aten.linalg_vector_norm.default)
def vector_norm(
    x: Tensor, ord: float = 2, dim: list[int] | None = None, keepdim: bool = False, *, dtype: torch.dtype | None = None
) -> Tensor:
    if ord != 2:
        raise ValueError(f"a vector norm of order {ord} cannot be traced: only that of order 2")
    return (x * x).sum(dim, keepdim).sqrt()


@decomposes(aten.log10.default)
def log10(x: Tensor) -> Tensor:
    return x.log() * 0.4342944819032518  # 1/ln 10


@decomposes(aten.log2.default)
def log2(x: Tensor) -> Tensor:
    return x.log() * 1.4426950408889634  # 1/ln 2


@decomposes(aten.constant_pad_nd.default)
def pad(x: Tensor, pads: list[int], value: float = 0) -> Tensor:
    for number, amount in enumerate(pads):
        axis, before = x.ndim - 1 - number // 2, number % 2 == 0
        if isinstance(amount, int) and amount < 0:  # the gradient of a padding cuts it off
            x = x.narrow(axis, -amount if before else 0, x.shape[axis] + amount)
        elif amount != 0:
            zeros = x.new_full([*x.shape[:axis], amount, *x.shape[axis + 1 :]], value)
            x = torch.cat([zeros, x] if before else [x, zeros], axis)
    return x


def inside(g: Tensor, sizes: list[int], dim: int, start: int) -> Tensor:
    """Return zeros of these sizes, with g from start on along one axis."""
    before, after = list(sizes), list(sizes)
    before[dim], after[dim] = start, sizes[dim] - start - g.shape[dim]
    return torch.cat([g.new_zeros(before), g, g.new_zeros(after)], dim)


@decomposes(aten.select_backward.default)
def select_backward(g: Tensor, sizes: list[int], dim: int, index: int) -> Tensor:
    return inside(g.unsqueeze(dim), sizes, dim, index + sizes[dim] if index < 0 else index)


@decomposes(aten.slice_backward.default)
def slice_backward(g: Tensor, sizes: list[int], dim: int, start: int, end: int, step: int) -> Tensor:
    if step != 1:
        raise ValueError(f"the gradient of a slice with a step of {step} cannot be traced: only with a step of 1")
    start = 0 if start is None else start
    return inside(g, sizes, dim, max(0, start + sizes[dim]) if start < 0 else start)


@decomposes(aten.argmax.default)
def argmax(x: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    if dim is None:
        return argmax(x.reshape(-1), 0)
    n = x.shape[dim]
    places = torch.arange(n).reshape([n if axis == dim % x.ndim else 1 for axis in range(x.ndim)])
    return torch.where(x == x.amax(dim, True), places, n).amin(dim, keepdim)  # the first of the largest


@decomposes(aten.max.dim)
def max_along(x: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    return x.amax(dim, keepdim), argmax(x, dim, keepdim)


@decomposes(aten.max.default)
def max_of_all(x: Tensor) -> Tensor:
    return x.amax()


@decomposes(aten.cumsum.default)
def cumsum(x: Tensor, dim: int, *, dtype: torch.dtype | None = None) -> Tensor:
    t = torch.arange(x.shape[dim])
    x = x.movedim(dim, -1)
    return torch.where(t <= t[:, None], x.unsqueeze(-2), 0).sum(-1).movedim(-1, dim)


@decomposes(aten.index_select.default)
def index_select(x: Tensor, dim: int, index: Tensor) -> Tensor:
    return x[(slice(None),) * (dim % x.ndim) + (index,)]


@decomposes(aten.copy.default)
def copy(x: Tensor, y: Tensor, non_blocking: bool = False) -> Tensor:
    return y.to(x.dtype).expand(x.shape)


@decomposes(aten.diagonal_scatter.default)
def diagonal_scatter(x: Tensor, y: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    others: list[Tensor | None] = [None] * (x.ndim - 2)
    moved = x.movedim((dim1, dim2), (-2, -1))
    moved = torch.ops.aten.index_put(moved, [*others, *on_diagonal(x, offset, dim1, dim2)], y)
    return moved.movedim((-2, -1), (dim1, dim2))


def on_diagonal(x: Tensor, offset: int, dim1: int, dim2: int) -> tuple[Tensor, Tensor]:
    """Return the rows and the columns of a diagonal."""
    above, below = max(offset, 0), max(-offset, 0)
    t = torch.arange(torch.sym_min(x.shape[dim1] - below, x.shape[dim2] - above))
    return t + below, t + above


@decomposes(aten.select_scatter.default)
def select_scatter(x: Tensor, y: Tensor, dim: int, index: int) -> Tensor:
    start = index + x.shape[dim] if index < 0 else index
    return slice_scatter(x, y.unsqueeze(dim), dim, start, start + 1)


@decomposes(aten.slice_scatter.default)
def slice_scatter(
    x: Tensor, y: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Tensor:
    if step != 1:
        raise ValueError(f"a change of a slice with a step of {step} cannot be traced: only with a step of 1")
    n, start = x.shape[dim], start or 0
    start = start + n if start < 0 else start
    return torch.cat([x.narrow(dim, 0, start), y, x.narrow(dim, start + y.shape[dim], n - start - y.shape[dim])], dim)


class Taps(TorchFunctionMode):
    """conv1d as a sum of matrix products, one a tap, so that neither it nor its gradient remains."""

    def __torch_function__(self, function, types, args=(), kwargs=None):  # noqa: ANN001, ANN204
        return (conv1d if function in (F.conv1d, torch.conv1d) else function)(*args, **(kwargs or {}))


def conv1d(
    x: Tensor, W: Tensor, b: Tensor | None = None, stride: int = 1, padding: int = 0, dilation: int = 1, groups: int = 1
) -> Tensor:
    first = [one[0] if isinstance(one, tuple | list) else one for one in (stride, padding, dilation)]
    if first[0] != 1 or first[1] != 0 or groups != 1:
        raise ValueError(
            f"conv1d with stride {stride}, padding {padding}, groups {groups} cannot be traced: only with 1, 0 and 1"
        )
    n = x.shape[-1] - (W.shape[-1] - 1) * first[2]
    taps = [F.linear(x[..., m * first[2] : m * first[2] + n].mT, W[..., m]) for m in range(W.shape[-1])]
    y = functools.reduce(operator.add, taps)
    return (y if b is None else y + b).mT
