"""What a traced function is given besides tensors: numbers, lengths and choices, each with its range."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Choices", "Length", "Number"]


@dataclass(frozen=True)
class Number:
    """A real number between two others, which the function gets as a tensor without axes."""

    low: float
    high: float

    def __post_init__(self):
        if not self.low < self.high:
            raise ValueError(f"Number({self.low}, {self.high}): the first must be less than the second")


@dataclass(frozen=True)
class Length:
    """A whole number from one to another, 2 at least, which the function may use as the size of an axis."""

    low: int
    high: int

    def __post_init__(self):
        if not 2 <= self.low < self.high:
            raise ValueError(f"Length({self.low}, {self.high}): the first must be 2 or more, and less than the second")


@dataclass(frozen=True)
class Choices:
    """One of some values, such as False and True, on which the function may branch: each is a graph of its own."""

    values: Sequence[Any]

    def __post_init__(self):
        if not self.values:
            raise ValueError("Choices([]): there must be 1 value at least")
