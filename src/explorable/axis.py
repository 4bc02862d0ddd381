"""An axis of a plot, or the scale of colours: its words, its limits, and how its numbers are written."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from matplotlib.ticker import MaxNLocator

from .frames import Frames
from .numbers import digits_kept, number_text
from .source import Add
from .text import Words

__all__ = ["Axis"]


@dataclass(frozen=True)
class Axis:
    """One axis, or one colour scale: its symbol, words, unit and limits.

    limits: (low, high), or a function of controls that returns them.  log10: the numbers are log10 of what the axis
    shows, and −∞ stands for an exact zero.  resolution: the step to which frames round its numbers; left out, nine
    digits are kept.
    Raises ValueError for limits that do not rise and a resolution that is not above 0.
    """

    label: Words
    limits: tuple[float, float] | Callable[..., Any]
    symbol: str = ""
    unit: Words = ""
    log10: bool = False
    resolution: float | None = None

    @property
    def precision(self) -> dict:
        """How frames keep its numbers: a plain number that is not 0 stays apart from 0."""
        return {"resolution": self.resolution, "apart": not self.log10}

    def spec(self, add: Add, where: str) -> dict:
        """Return what the browser needs."""
        if self.resolution is not None and not 0 < self.resolution < math.inf:
            raise ValueError(f"{where} has resolution {self.resolution}: it must be above 0 and finite")
        if not callable(self.limits) and not self.limits[0] < self.limits[1]:
            raise ValueError(f"{where} has limits {self.limits}: the first must be below the second")
        return {
            "label": str(self.label),
            "symbol": self.symbol,
            "unit": str(self.unit),
            "log10": self.log10,
            "digits": digits_kept(self.resolution),
            "least": None if self.log10 else self.resolution,
            "limits": add(self.limits, f"{where} limits", (2,)),
        }

    def check(self, spec: dict, frames: Frames, where: str) -> None:
        """Raise a ValueError where limits do not rise at some setting."""
        for view in frames.views(spec["limits"]):
            low, high = view.array(spec["limits"])
            if not -math.inf < low < high:
                raise ValueError(f"{where}, axis {spec['label']!r}: the limits {low:g} and {high:g} do not rise")

    def draw(self, axis: Any) -> None:
        """Write symbol and numbers on an axis of a still picture: whole powers of ten on a logarithmic one."""
        axis.axes.set(**{f"{axis.axis_name}label": f"${self.symbol}$" if self.symbol else ""})
        if self.log10:
            axis.set_major_locator(MaxNLocator("auto", integer=True, min_n_ticks=1))
        axis.set_major_formatter((lambda v, _: f"$10^{{{v:g}}}$") if self.log10 else (lambda v, _: number_text(v)))
