"""A control: one thing that the reader of a figure may change, and the values that it may take."""

import keyword
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

from .text import Words

__all__ = ["Control"]

LETTERS = 80  # of a name, a label or a word to choose: more fit beside no control


@dataclass(frozen=True)
class Control:
    """One control over a grid of values: numbers make a slider, True and False a checkbox, names a select.

    name: the parameter of the figure's functions that it sets.  values: numbers in rising order, ``[False, True]``,
    or a dict from each option to its words.  start: the value before the first touch, the first when left out.
    symbol and unit stand beside the label.  advanced puts the control under "more".  continuous: with a kernel the reader
    may set any number in the range of a slider (any whole number where its grid has no other), not the grid's alone.
    plays: a button moves the slider on step by step, up to its last value, or to that of the slider named ``until``.
    Raises ValueError for values that no control can offer, for a name that is none in Python, and for long words.
    """

    name: str
    values: Sequence[float] | Sequence[bool] | Mapping[Any, Words]
    label: Words
    start: Any = None
    symbol: str = ""
    unit: Words = ""
    advanced: bool = False
    continuous: bool = True
    plays: bool = False
    until: str = ""

    def __post_init__(self):
        check_name(self.name)
        if not isinstance(self.values, dict):
            object.__setattr__(self, "values", [plain(value) for value in as_list(self.name, self.values)])
        object.__setattr__(self, "start", plain(self.start))
        check_words(self.name, [self.label, self.symbol, self.unit, *words_of(self.values)])
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
        if self.plays and self.kind != "range":
            raise ValueError(f"control {self.name!r} plays, but it is a {self.kind}: only a slider moves step by step")
        if self.until and not self.plays:
            raise ValueError(f"control {self.name!r} plays until {self.until!r}, but has no button: set plays=True")
        if not self.offers(self.first):
            raise ValueError(f"control {self.name!r} starts at {self.first!r}, which is none of its values {self.grid}")

    @property
    def kind(self) -> str:
        """``select``, ``checkbox`` or ``range``, as the values ask for."""
        if isinstance(self.values, dict):
            return "select"
        if all(isinstance(value, bool) for value in self.values):
            return "checkbox"
        if all(isinstance(value, Real) and not isinstance(value, bool) for value in self.values):
            return "range"
        raise ValueError(
            f"control {self.name!r} has values {self.values}: give numbers, [False, True], or a dict from option to words"
        )

    @property
    def grid(self) -> list:
        """The values in the order in which frames are stored."""
        return list(self.values)

    @property
    def first(self) -> Any:
        """The value before the first touch."""
        return self.grid[0] if self.start is None else self.start

    @property
    def whole(self) -> bool:
        """True if every value is an int; 1.0 is a float."""
        return all(isinstance(number, Integral) for number in self.grid)

    def offers(self, value: Any) -> bool:
        """Tell whether a value is one of the grid; True is not 1."""
        return (
            isinstance(value, str | Real)
            and value in self.grid
            and isinstance(value, bool) == (self.kind == "checkbox")
        )

    def check(self, value: Any) -> Any:
        """Return a value that the control may take, or raise a ValueError that says which it may."""
        value = plain(value)
        if self.offers(value):
            return self.grid[self.grid.index(value)]
        if self.kind != "range" or not self.continuous:
            raise ValueError(f"{self.name} = {value!r} is none of the values {self.grid}")
        low, high, whole = self.grid[0], self.grid[-1], self.whole
        number = isinstance(value, Real) and not isinstance(value, bool)
        if not number or not low <= value <= high or (whole and value != int(value)):
            wanted = "a whole number" if whole else "a number"
            raise ValueError(f"{self.name} = {value!r}: it must be {wanted} from {low} to {high}")
        return int(value) if whole else float(value)

    def spec(self) -> dict:
        """Return what the browser needs, in the page's language."""
        words = [str(w) for w in self.values.values()] if isinstance(self.values, dict) else [str(v) for v in self.grid]
        return {
            "name": self.name,
            "kind": self.kind,
            "values": self.grid,
            "words": words,
            "label": str(self.label),
            "symbol": self.symbol,
            "unit": str(self.unit),
            "advanced": self.advanced,
            "start": self.first,
            "continuous": self.kind == "range" and self.continuous,
            "whole": self.whole,
            "plays": self.plays,
            "until": self.until,
        }


def check_name(name: str) -> None:
    """Raise a ValueError where a name cannot be the parameter of a function, or is too long."""
    if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
        raise ValueError(f"control name {name!r} is no Python name a function could have as its parameter")
    if name == "self":
        raise ValueError(f"control name {name!r} is what Python calls the figure itself: choose another name")
    if len(name) > LETTERS:
        raise ValueError(f"control name {name!r} has {len(name)} letters: it must have at most {LETTERS}")


def check_words(name: str, words: list[Words]) -> None:
    """Raise a ValueError where words of a control are no text, or too long."""
    for text in words:
        if not isinstance(text, Words):
            raise ValueError(f"control {name!r} has {text!r} among its words: they must be str or Text")
        if len(str(text)) > LETTERS:
            raise ValueError(
                f"control {name!r} has words of {len(str(text))} letters, {str(text)!r}: at most {LETTERS} fit"
            )


def words_of(values: list | dict[str, Words]) -> list[Words]:
    """Return the options of a select and their words; a slider and a checkbox have none."""
    return [*map(str, values), *values.values()] if isinstance(values, dict) else []


def as_list(name: str, values: Sequence) -> list:
    """Return values as a list, or raise a ValueError where they are none."""
    try:
        return list(values)
    except TypeError as error:
        raise ValueError(f"control {name!r} has values {values!r}: it needs a list of at least 2") from error


def plain(value: Any) -> Any:
    """Return the Python number in a scalar of NumPy or torch; anything else as it is."""
    return value.item() if getattr(value, "ndim", None) == 0 else value
