"""A source: one function of some of a figure's controls, evaluated at every setting of them."""

import inspect
from collections.abc import Callable
from copy import copy
from itertools import product
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
    (None: 1/60000 of each frame's range).  apart: a number that is not 0 is kept as one step at least.
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
            raise ValueError(f"{where} depends on {unknown}, but the figure's controls are {list(known)}")
        self.grids = {name: known[name].grid for name in parameters}

    @property
    def names(self) -> list[str]:
        """The names of the controls that this source depends on."""
        return list(self.grids)

    def at(self, values: dict[str, Any]) -> "Source":
        """Return this source with a grid of one setting only."""
        alone = copy(self)
        alone.grids = {name: [values[name]] for name in self.grids}
        return alone

    def values(self) -> list:
        """Return the function's values at all settings, the last control fastest."""
        settings = product(*self.grids.values())
        return [self.function(**dict(zip(self.grids, setting))) for setting in settings]

    def arrays(self) -> list[np.ndarray]:
        """Return ``values`` as arrays. Raises ValueError where one holds NaN, +∞ or no numbers."""
        return [self.as_array(value) for value in self.values()]

    def as_array(self, value: Any) -> np.ndarray:
        """Return one value of the function as an array of a shape that may be."""
        try:
            array = np.asarray(value.detach().cpu() if hasattr(value, "detach") else value)
        except ValueError as error:
            raise ValueError(f"{self.where} gave rows of different lengths: {error}") from error
        if array.dtype.kind not in "biuf":
            raise ValueError(f"{self.where} gave {array.dtype}: it must give numbers")
        if not any(fits(array.shape, shape) for shape in self.shapes):
            wanted = " or ".join(str(shape).replace("None", "any") for shape in self.shapes)
            raise ValueError(f"{self.where} gave the shape {array.shape}: it must give {wanted}")
        if bad := int(np.isnan(array).sum() + np.isposinf(array).sum()):
            raise ValueError(f"{self.where} gave {bad} NaN or +∞ among {array.size} numbers: it must give 0 of them")
        if (largest := np.abs(array[np.isfinite(array)], dtype=float).max(initial=0)) > LARGEST:
            raise ValueError(f"{self.where} gave {largest:g}: a number of a figure is at most {LARGEST:g} in size")
        return array


def fits(shape: tuple[int, ...], wanted: tuple[int | None, ...]) -> bool:
    return len(shape) == len(wanted) and all(want in (None, size) for size, want in zip(shape, wanted))
