"""Shares: bars of length 1, each divided into its parts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..axis import Axis
from ..frames import Frames, View
from ..look import COLORS, check_look
from ..source import Add
from ..text import Words
from .panel import AddWords, Panel

__all__ = ["Bar", "Shares"]


@dataclass(frozen=True)
class Bar:
    """One bar: a function that gives its parts (m,), each at least 0, all together 1.

    focus: (control, value) at which it is in colour; elsewhere it is grey.
    """

    parts: Callable[..., Any] | Any
    label: Words
    focus: tuple[str, Any] | None = None


@dataclass(frozen=True)
class Shares(Panel):
    """Bars of length 1 under each other, each divided into its parts, which are counted from 1.

    part: the name of a part's number.  scale: the axis along the bars, which tells how the parts are kept.  color and
    mark: of the title above, as a series has them.
    """

    kind = "shares"
    title: Words
    bars: Sequence[Bar]
    part: Words
    scale: Axis
    color: str = "blue"
    mark: str = "triangle"

    def spec(self, add: Add, add_words: AddWords) -> dict:
        where = f"shares {str(self.title)!r}"
        check_look(where, self.color, self.mark)
        return {
            "kind": self.kind,
            "title": str(self.title),
            "part": str(self.part),
            "along": self.scale.spec(add, f"{where} scale"),
            "color": self.color,
            "mark": self.mark,
            "bars": [
                {
                    "label": str(bar.label),
                    "focus": list(bar.focus) if bar.focus else None,
                    "parts": add(bar.parts, f"{where} {bar.label}", (None,), **self.scale.precision),
                }
                for bar in self.bars
            ],
        }

    def controls_used(self, grids: dict[str, list], where: str) -> set[str]:
        for control, value in [bar.focus for bar in self.bars if bar.focus]:
            if value not in grids.get(control, []):
                raise ValueError(f"{where}: a bar has its focus at {control} = {value!r}, which no control offers")
        return {bar.focus[0] for bar in self.bars if bar.focus}

    def check(self, spec: dict, frames: Frames, where: str) -> None:
        self.scale.check(spec["along"], frames, where)
        for bar in spec["bars"]:
            for view in frames.views(bar["parts"]):
                parts = view.array(bar["parts"])
                rounding = 1e-9 + len(parts) * (self.scale.resolution or 0)
                if parts.min(initial=0) < 0 or abs(parts.sum() - 1) > rounding:
                    raise ValueError(
                        f"{where}: the parts of {bar['label']!r} go down to {parts.min(initial=0):g} and add up to "
                        f"{parts.sum():g}: they must be at least 0 and add up to 1"
                    )

    def at(self, spec: dict, view: View) -> dict:
        """The parts of each bar, and whether it is in focus."""
        bars = [
            {"label": one["label"], "inFocus": in_focus(bar, view), "parts": view.array(one["parts"])}
            for bar, one in zip(self.bars, spec["bars"])
        ]
        return {"kind": self.kind, "limits": view.array(spec["along"]["limits"]), "bars": bars}

    def draw(self, spec: dict, view: View, axes: Any) -> None:
        for place, bar in enumerate(self.at(spec, view)["bars"]):
            parts, color = bar["parts"], COLORS[self.color if bar["inFocus"] else "grey"]["still"]
            starts = np.cumsum(parts) - parts
            axes.barh([place] * len(parts), parts, left=starts, color=color, edgecolor="white", linewidth=0.3)
        axes.set(xlim=view.array(spec["along"]["limits"]), ylim=(len(self.bars) - 0.5, -0.5), yticks=[])
        self.scale.draw(axes.xaxis)
        axes.spines[["top", "right", "left"]].set_visible(False)


def in_focus(bar: Bar, view: View) -> bool:
    """Tell whether a bar is in colour."""
    return bar.focus is None or view.value(bar.focus[0]) == bar.focus[1]
