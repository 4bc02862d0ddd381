"""An axis of a plot, or the scale of colours: its words, its limits, and how its numbers are written."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any

from matplotlib.ticker import MaxNLocator

from .frames import Frames
from .numbers import digits_kept, number_text
from .source import Add
from .text import Words

__all__ = ["Axis"]

FACTORS = (1, 2, 5)
FEW, MOST = 3, 6  # decades below which ticks stand between powers of ten; ticks, at most
PLAIN = range(-2, 5)  # powers of ten that an axis writes out: 0.01 … 10000
TOUCH = 1e-9  # decades by which a tick may lie beyond the limits, which are rounded


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
            "fixed": None if callable(self.limits) else [float(limit) for limit in self.limits],
            "limits": add(self.limits, f"{where} limits", (2,)),
        }

    def check(self, spec: dict, frames: Frames, where: str) -> None:
        """Raise a ValueError where limits do not rise at some setting."""
        for view in frames.views(spec["limits"]):
            low, high = view.array(spec["limits"])
            if not -math.inf < low < high:
                raise ValueError(f"{where}, axis {spec['label']!r}: the limits {low:g} and {high:g} do not rise")

    def draw(self, axis: Any) -> None:
        """Write symbol and numbers on an axis of a still picture, whose limits are set."""
        axis.axes.set(**{f"{axis.axis_name}label": f"${self.symbol}$" if self.symbol else ""})
        axis.set_major_formatter(lambda v, _: number_text(v))
        if self.log10:
            axis.set_ticks(*zip(*ticks_of_decades(*axis.get_view_interval())))


def ticks_of_decades(low: float, high: float) -> list[tuple[float, str]]:
    """Return places and texts of the ticks of an axis between two powers of ten: at 1, 10, 100, or 10⁻²⁰, 1, 10²⁰.

    An axis of fewer than three decades has them at 1, 2 and 5 times powers of ten, or else at round numbers, two at
    least.  js/ticks.js does the same.
    """
    if high - low >= FEW:
        steps = (factor * 10**power for power in count() for factor in FACTORS)
        step = next(size for size in steps if (high - low) / size <= MOST)
        powers = [step * i for i in range(math.ceil(low / step), math.floor(high / step) + 1)]
        plain = all(power in PLAIN for power in powers)
        return [(power, number_text(10**power) if plain or power == 0 else f"$10^{{{power}}}$") for power in powers]
    shown = range(math.floor(low), math.floor(high) + 1)
    numbers = [float(f"{factor}e{power}") for power in shown for factor in FACTORS]
    inside = [number for number in numbers if low - TOUCH <= math.log10(number) <= high + TOUCH]
    if len(inside) < 2:
        inside = [float(number) for number in MaxNLocator(MOST).tick_values(10**low, 10**high)][1:-1]
    return [(math.log10(number), number_text(number)) for number in inside if number > 0]
