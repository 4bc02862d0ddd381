"""Checks of arguments: whole numbers, real numbers, tensors of one dtype without NaN or infinity.

Each raises a ValueError that names the number and what would be right.  A number may be from Python, NumPy or torch;
True and False are refused.  Only ``check_finite`` and ``check_result`` read the values of a tensor.
"""

import math
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import torch
from torch import Tensor

__all__ = [
    "check_whole",
    "check_all_whole",
    "check_real",
    "check_dtype",
    "check_tensors",
    "check_floats",
    "check_same_dtype",
    "check_finite",
    "check_result",
]

FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def check_whole(least: int = 1, **numbers: int) -> list[int]:
    """Return whole numbers as int.  Raises ValueError for any other value, and below ``least``."""
    return [whole(name, number, least) for name, number in numbers.items()]


def check_all_whole(name: str, numbers: Iterable[int], least: int = 1) -> list[int]:
    """Return a list, array or tensor of whole numbers as a list of int.  Raises as ``check_whole`` does."""
    try:
        listed = list(numbers)
    except TypeError as error:  # a single number
        raise ValueError(f"{name}={numbers!r}: it must be a list of whole numbers, at least {least}") from error
    return [whole(f"{name}[{i}]", number, least) for i, number in enumerate(listed)]


def check_real(least: float = -math.inf, below: float = math.inf, **numbers: float) -> list[float]:
    """Return numbers as float.  Raises ValueError for a number that is not finite or not in [least, below)."""
    return [real(name, number, least, below) for name, number in numbers.items()]


def whole(name: str, number: int, least: int) -> int:
    number = plain(number)
    if not isinstance(number, Integral) or isinstance(number, bool) or number < least:
        raise ValueError(f"{name}={number!r}: it must be one whole number, at least {least}")
    return int(number)


def real(name: str, number: float, least: float, below: float) -> float:
    number = plain(number)
    if not isinstance(number, Real) or isinstance(number, bool) or not (-math.inf < number < math.inf):
        raise ValueError(f"{name}={number!r}: it must be 1 finite number")
    if not least <= number < below:
        limits = f"at least {least:g}" + ("" if below == math.inf else f" and below {below:g}")
        raise ValueError(f"{name}={number!r}: it must be {limits}")
    try:
        return float(number)
    except OverflowError as error:
        raise ValueError(f"{name}={number}: it must be a number that a float can hold, below 1.8e308") from error


def plain(number: Any) -> Any:
    """Unwrap a scalar of NumPy or torch; return other values unchanged."""
    return number.item() if getattr(number, "ndim", None) == 0 else number


def check_dtype(dtype: torch.dtype | None, allowed: tuple[torch.dtype, ...] = FLOATS, name: str = "dtype") -> None:
    """Raise a ValueError where a dtype is not allowed; None is torch's default."""
    if dtype is not None and dtype not in allowed:
        raise ValueError(f"{name} is {dtype}: it must be {' or '.join(map(str, allowed))}")


def check_tensors(**tensors: Tensor) -> None:
    """Raise a ValueError for anything but a tensor."""
    for name, tensor in tensors.items():
        if not isinstance(tensor, Tensor):
            raise ValueError(f"{name} is a {type(tensor).__name__}: it must be 1 torch.Tensor")


def check_floats(**tensors: Tensor) -> None:
    """Raise a ValueError for anything but a floating point tensor."""
    check_tensors(**tensors)
    for name, tensor in tensors.items():
        check_dtype(tensor.dtype, name=name)


def check_same_dtype(**tensors: Tensor) -> None:
    """Raise a ValueError where the dtypes differ."""
    (first, dtype), *others = [(name, tensor.dtype) for name, tensor in tensors.items()]
    for name, other in others:
        if other != dtype:
            raise ValueError(f"{name} is {other}, but {first} is {dtype}: both must be the same")


def check_finite(**tensors: Tensor) -> None:
    """Raise a ValueError where a non-empty tensor has NaN or infinite numbers."""
    for name, tensor in tensors.items():
        if not is_finite(tensor):
            bad = int((~tensor.isfinite()).sum())
            raise ValueError(f"{name} has {bad} NaN or infinite among its {tensor.numel()} numbers: it must have 0")


def check_result(result: Tensor) -> Tensor:
    """Return a result.  Raises ValueError where it overflowed its dtype."""
    if not is_finite(result):
        bad = int((~result.isfinite()).sum())
        largest = torch.finfo(result.dtype).max
        raise ValueError(
            f"the result has {bad} NaN or infinite among its {result.numel()} numbers, for {result.dtype} ends at "
            f"{largest:.2g}: scale the input or the weights down"
        )
    return result


def is_finite(tensor: Tensor) -> bool:
    """Whether all numbers of a non-empty tensor are finite, without a second tensor of its size."""
    low, high = tensor.detach().aminmax()  # NaN if any number is NaN
    return bool(low.isfinite() and high.isfinite())
