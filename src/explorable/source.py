"""A source: one function of some of a figure's controls, evaluated at every setting of them."""

import inspect
import math
from collections.abc import Callable, Iterator
from copy import copy
from itertools import product
from numbers import Integral
from typing import Any

import numpy as np

from .control import Control

__all__ = ["Add", "Source"]

Add = Callable[..., int]  # (function, where, *shapes, resolution, apart) -> number of the source in the block of frames
LARGEST = 1e300  # so that the distance of any two numbers is finite


class Source:
    """A function that is called once for every setting of the controls that its own parameters name.

    A constant instead of a function is a source that depends on no control.  shapes: the shapes that its arrays may
    have, with None for any length; none for a source of words.  resolution: the step to which frames round its numbers
    (None: nine digits are kept).  apart: a number that is not 0 is kept as one step at least.
    Raises ValueError for a parameter that names no control.
    """

    def __init__(
        self,
        function: Callable | Any,
        controls: list[Control],
        where: str,
        shapes: tuple[tuple[int | None, ...], ...] = (),
        resolution: float | None = None,
        apart: bool = False,
    ):
        self.function = function if callable(function) else lambda: function
        self.where, self.shapes, self.resolution, self.apart = where, shapes, resolution, apart
        known = {control.name: control for control in controls}
        parameters = list(inspect.signature(self.function).parameters)
        if unknown := [name for name in parameters if name not in known]:
            raise ValueError(
                f"{where} depends on {unknown}, but the figure's controls are {list(known)}; a default counts too"
            )
        self.grids = {name: known[name].grid for name in parameters}

    @property
    def names(self) -> list[str]:
        """The names of the controls that this source depends on."""
        return list(self.grids)

    @property
    def settings(self) -> int:
        """How many settings its controls have."""
        return math.prod(len(grid) for grid in self.grids.values())

    def at(self, values: dict[str, Any]) -> "Source":
        """Return this source with a grid of one setting only."""
        alone = copy(self)
        alone.grids = {name: [values[name]] for name in self.grids}
        return alone

    def results(self) -> Iterator[tuple[str, Any]]:
        """Call the function at all settings, the last control fastest; yield where that is, in words, and its value."""
        for values in product(*self.grids.values()):
            setting = dict(zip(self.grids, values))
            where = self.where + (" at " if setting else "") + ", ".join(f"{k}={v!r}" for k, v in setting.items())
            try:
                yield where, self.function(**setting)
            except Exception as error:
                if hasattr(error, "add_note"):  # Python 3.11
                    error.add_note(where)
                raise

    def arrays(self) -> Iterator[np.ndarray]:
        """Yield what the function gives at all settings as arrays. Raises ValueError for NaN, +∞ and no numbers."""
        for where, value in self.results():
            yield self.as_array(value, where)

    def texts(self) -> Iterator[str]:
        """Yield what the function gives at all settings as words. Raises ValueError for what is neither text nor whole."""
        for where, value in self.results():
            if not isinstance(value, str | Integral):
                raise ValueError(f"{where} gave {value!r}: it must give text, or a whole number")
            yield str(value)

    def as_array(self, value: Any, where: str) -> np.ndarray:
        """Return one value of the function as an array of a shape that may be."""
        try:
            array = np.asarray(value.detach().cpu() if hasattr(value, "detach") else value)
        except ValueError as error:
            raise ValueError(f"{where} gave rows of different lengths: {error}") from error
        if array.dtype.kind not in "biuf":
            raise ValueError(f"{where} gave {array.dtype}: it must give numbers")
        if not any(fits(array.shape, shape) for shape in self.shapes):
            wanted = " or ".join(str(shape).replace("None", "any") for shape in self.shapes)
            raise ValueError(f"{where} gave the shape {array.shape}: it must give {wanted}")
        if bad := int(np.isnan(array).sum() + np.isposinf(array).sum()):
            raise ValueError(f"{where} gave {bad} NaN or +∞ among {array.size} numbers: it must give 0 of them")
        if (largest := np.abs(array[np.isfinite(array)], dtype=float).max(initial=0)) > LARGEST:
            raise ValueError(f"{where} gave {largest:g}: a number of a figure is at most {LARGEST:g} in size")
        return array


def fits(shape: tuple[int, ...], wanted: tuple[int | None, ...]) -> bool:
    return len(shape) == len(wanted) and all(want in (None, size) for size, want in zip(shape, wanted))
