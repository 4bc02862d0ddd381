"""A control: one thing that the reader of a figure may change, and the values that it may take."""

import math
from dataclasses import dataclass
from typing import Any

from .text import Text

__all__ = ["Control"]

Words = str | Text


@dataclass(frozen=True)
class Control:
    """One control over a grid of values: numbers make a slider, True and False a checkbox, names a select.

    name: the parameter of the figure's functions that it sets.  values: numbers in rising order, ``[False, True]``,
    or a dict from each option to its words.  start: the value before the first touch, the first when left out.
    symbol and unit stand beside the label.  folded puts the control under "more".  between: with a kernel the reader
    may set any number in the range of a slider (any whole number where its grid has no other), not the grid's alone.
    Raises ValueError for values that no control can offer.
    """

    name: str
    values: list[float] | list[bool] | dict[str, Words]
    label: Words
    start: Any = None
    symbol: str = ""
    unit: Words = ""
    folded: bool = False
    between: bool = True

    def __post_init__(self):
        if not self.name.isidentifier() or self.name.startswith("_"):
            raise ValueError(f"control name {self.name!r} is no Python name a function could have as its parameter")
        if len(self.grid) < 2:
            raise ValueError(
                f"control {self.name!r} offers {len(self.grid)} values: it needs at least 2 to choose from"
            )
        if self.kind == "range" and any(not a < b < math.inf for a, b in zip([-math.inf, *self.grid], self.grid)):
            raise ValueError(
                f"control {self.name!r} has values {self.grid}: finite numbers must rise from each to the next"
            )
        if self.kind == "checkbox" and self.grid != [False, True]:
            raise ValueError(f"control {self.name!r} has values {self.grid}: a checkbox is [False, True]")
        if self.first not in self.grid:
            raise ValueError(f"control {self.name!r} starts at {self.first!r}, which is none of its values {self.grid}")

    @property
    def kind(self) -> str:
        """``select``, ``checkbox`` or ``range``, as the values ask for."""
        if isinstance(self.values, dict):
            return "select"
        if all(isinstance(value, bool) for value in self.values):
            return "checkbox"
        if all(isinstance(value, int | float) and not isinstance(value, bool) for value in self.values):
            return "range"
        raise ValueError(
            f"control {self.name!r} has values {self.values}: give numbers, [False, True], or a dict from option to words"
        )

    @property
    def grid(self) -> list:
        """The values in the order in which frames are stored."""
        return list(self.values)

    @property
    def first(self):
        """The value before the first touch."""
        return self.grid[0] if self.start is None else self.start

    @property
    def whole(self) -> bool:
        """Whether the grid has whole numbers only; 1.0 is none, for it was written as a float."""
        return all(isinstance(number, int) for number in self.grid)

    def checked(self, value):
        """Return a value that the control may take, or raise a ValueError that says which it may."""
        if value in self.grid and isinstance(value, bool) == (self.kind == "checkbox"):  # True is no 1
            return self.grid[self.grid.index(value)]
        if self.kind != "range" or not self.between:
            raise ValueError(f"{self.name} = {value!r} is none of the values {self.grid}")
        low, high, whole = self.grid[0], self.grid[-1], self.whole
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not low <= value <= high or (whole and value != int(value)):
            wanted = "a whole number" if whole else "a number"
            raise ValueError(f"{self.name} = {value!r}: it must be {wanted} from {low} to {high}")
        return int(value) if whole else float(value)

    def spec(self) -> dict:
        """Return what the browser needs, in the page's language. An ordered list, for a dict may lose its order."""
        words = [str(w) for w in self.values.values()] if isinstance(self.values, dict) else [str(v) for v in self.grid]
        return {
            "name": self.name,
            "kind": self.kind,
            "values": self.grid,
            "words": words,
            "label": str(self.label),
            "symbol": self.symbol,
            "unit": str(self.unit),
            "folded": self.folded,
            "start": self.first,
            "between": self.kind == "range" and self.between,
            "whole": self.whole,
        }
