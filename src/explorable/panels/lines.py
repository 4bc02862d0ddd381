"""Lines: families of lines over two axes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..axis import Axis
from ..frames import Frames, View
from ..look import COLORS, MARKS, check_look
from ..source import Add
from ..text import Words
from .panel import AddWords, Panel

__all__ = ["Lines", "Rule", "Series", "Span"]

WIDEST, NARROW = 20, 12  # letters of the label of a series, and of one in a narrow panel


@dataclass(frozen=True)
class Series:
    """One line, or one family of lines: y (L,) or (m, L) over x (L,); a family shows its median bold.

    x and y: arrays, or functions of controls; all x outside the limits, and the series is not drawn.  focus: (control,
    value) at which the family is drawn whole and in colour, or a function of controls that tells whether it is;
    elsewhere only its median is, in grey.  visible_if: the checkbox without which the series is not drawn.
    A series of one place is a ring; an upright line, and a level grey one of two places, is a thin guide.
    """

    y: Callable[..., Any] | Any
    x: Callable[..., Any] | Any
    label: Words
    color: str = "vermilion"
    mark: str = "circle"
    dashed: bool = False
    focus: tuple[str, Any] | Callable[..., bool] | None = None
    visible_if: str | None = None


@dataclass(frozen=True)
class Rule:
    """A horizontal reference line at y, with its words."""

    y: float
    label: Words


@dataclass(frozen=True)
class Span:
    """A part of the x axis that a bracket at the top of the plot names, with a number right behind its words.

    ends: (low, high), or a function that gives them.  number: a function that gives text.  tinted: whether its part of
    the plot is tinted. The limits of the y axis must leave room for the brackets.
    """

    ends: Callable[..., Any] | tuple[float, float]
    label: Words
    number: Callable[..., str | int]
    color: str = "grey"
    tinted: bool = False


@dataclass(frozen=True)
class Lines(Panel):
    """Lines over two axes.

    narrow: small, so that three stand side by side on a phone; its labels are short, and an axis name without room is
    its symbol.  color and mark: of the title above the plot; without a color the title is not drawn.
    """

    kind = "lines"
    title: Words
    x: Axis
    y: Axis
    series: list[Series]
    rules: Sequence[Rule] = ()
    spans: Sequence[Span] = ()
    narrow: bool = False
    color: str | None = None
    mark: str = "circle"

    def spec(self, add: Add, add_words: AddWords) -> dict:
        where = f"lines {str(self.title)!r}"
        check_look(where, next(iter(COLORS)) if self.color is None else self.color, self.mark)
        for span in self.spans:
            check_look(where, span.color, self.mark)
        for s in self.series:
            check_look(where, s.color, s.mark)
            check_label(where, str(s.label), NARROW if self.narrow else WIDEST)
        return {
            "kind": self.kind,
            "title": str(self.title),
            "x": self.x.spec(add, f"{where} x"),
            "y": self.y.spec(add, f"{where} y"),
            "narrow": self.narrow,
            "color": self.color,
            "mark": self.mark,
            "spans": [
                {
                    "label": str(span.label),
                    "color": span.color,
                    "tinted": span.tinted,
                    "ends": add(span.ends, f"{where} {span.label}", (2,), **self.x.precision),
                    "number": add_words(span.number, f"{where} {span.label}"),
                }
                for span in self.spans
            ],
            "rules": [{"y": rule.y, "label": str(rule.label)} for rule in self.rules],
            "series": [
                {
                    "label": str(s.label),
                    "color": s.color,
                    "mark": s.mark,
                    "dashed": s.dashed,
                    "focus": focus_spec(s, add, where),
                    "visible_if": s.visible_if,
                    "x": add(s.x, f"{where} {s.label} x", (None,), **self.x.precision),
                    "y": add(s.y, f"{where} {s.label}", (None,), (None, None), **self.y.precision),
                }
                for s in self.series
            ],
        }

    def controls_used(self, grids: dict[str, list], where: str) -> set[str]:
        for control, value in [s.focus for s in self.series if isinstance(s.focus, tuple)]:
            if value not in grids.get(control, []) or type(value) is not type(grids[control][0]):
                raise ValueError(f"{where}: a series has its focus at {control} = {value!r}, which no control offers")
        for checkbox in [s.visible_if for s in self.series if s.visible_if]:
            if grids.get(checkbox) != [False, True]:
                raise ValueError(f"{where}: a series is visible if {checkbox!r}, which is no checkbox of the figure")
        named = {s.focus[0] for s in self.series if isinstance(s.focus, tuple)}
        return named | {s.visible_if for s in self.series if s.visible_if}

    def check(self, spec: dict, frames: Frames, where: str) -> None:
        self.x.check(spec["x"], frames, where)
        self.y.check(spec["y"], frames, where)
        for series in spec["series"]:
            for view in frames.views(series["x"], series["y"]):
                x, y = view.array(series["x"]), view.array(series["y"])
                if x.shape[-1] != y.shape[-1]:
                    raise ValueError(f"{where}: series {series['label']!r} has {y.shape[-1]} y for {x.shape[-1]} x")

    def at(self, spec: dict, view: View) -> dict:
        """Each series that is on screen: x (L,) within the axis, y (m, L), or (1, L), the median, out of focus."""
        limits = [view.array(spec[axis]["limits"]) for axis in "xy"]
        shown = []
        for s, series in zip(self.series, spec["series"]):
            x, y = view.array(series["x"]), np.atleast_2d(view.array(series["y"]))
            inside = (limits[0][0] <= x) & (x <= limits[0][1])
            if (s.visible_if and not view.value(s.visible_if)) or not inside.any():
                continue
            focused = in_focus(series["focus"], view)
            rows = y if focused else np.median(y, axis=0, keepdims=True)
            shown.append({"label": series["label"], "inFocus": focused, "x": x[inside], "y": rows[:, inside]})
        return {"kind": self.kind, "limits": limits, "series": shown}

    def draw(self, spec: dict, view: View, axes: Any) -> None:
        for span, one in zip(self.spans, spec["spans"]):
            low, high = view.array(one["ends"])
            axes.axvspan(low, high, color=COLORS[span.color]["still"], alpha=0.15 if span.tinted else 0)
        for s, series in zip(self.series, spec["series"]):
            if not s.visible_if or view.value(s.visible_if):
                draw_series(s, in_focus(series["focus"], view), view.array(series["x"]), view.array(series["y"]), axes)
        for rule in self.rules:
            axes.axhline(rule.y, color=COLORS["grey"]["still"], linewidth=0.8, linestyle=":")
        axes.set(xlim=view.array(spec["x"]["limits"]), ylim=view.array(spec["y"]["limits"]))
        self.x.draw(axes.xaxis)
        self.y.draw(axes.yaxis)
        axes.spines[["top", "right"]].set_visible(False)


def focus_spec(series: Series, add: Add, where: str) -> int | list | None:
    """Return the focus for the browser: a function as the number of its source."""
    if callable(series.focus):
        return add(series.focus, f"{where} {series.label} focus", ())
    return list(series.focus) if series.focus else None


def in_focus(focus: int | list | None, view: View) -> bool:
    """Tell whether a series is drawn whole and in colour. focus: as ``focus_spec`` gives it."""
    if isinstance(focus, int):
        return bool(view.array(focus))
    return focus is None or view.value(focus[0]) == focus[1]


def draw_series(series: Series, focused: bool, x: np.ndarray, y: np.ndarray, axes: Any) -> None:
    """Draw a series on a still picture: x (L,), y (L,) or (m, L)."""
    family = np.atleast_2d(y)
    color = COLORS[series.color if focused else "grey"]["still"]
    if focused and len(family) > 1:
        axes.plot(x, family.T, color=color, linewidth=0.6, alpha=0.5)
    guide = len(x) == 2 and x[0] == x[1]  # an upright line
    style: dict[str, Any] = {"linestyle": "--" if series.dashed else "-"}
    style["linewidth"] = 2.2 if focused and not guide else 1
    if not guide:  # markevery: a share of the line
        style |= {"marker": MARKS[series.mark]["still"], "markevery": 0.15 if len(x) > 1 else None}
    middle = np.median(family, axis=0)
    if (np.isfinite(middle) & np.isfinite(x)).any():  # an exact 0 everywhere lies below the plot
        axes.plot(x, middle, color=color, **style)


def check_label(where: str, label: str, widest: int) -> None:
    """Raise a ValueError for a label that leaves no room for its line on a phone."""
    width = sum(2 if letter > "⺀" else 1 for letter in label)  # Chinese letters are twice as wide
    if width > widest:
        raise ValueError(f"{where} has the label {label!r}, {width} letters wide, a Chinese one as 2: at most {widest}")
