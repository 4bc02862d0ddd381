"""Panels: the kinds of picture that a figure is made of. Each says what to draw; explorable.js draws it."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.colors import to_hex

from .numbers import digits_kept
from .source import Resolution
from .text import Text

__all__ = ["Axis", "Series", "Rule", "Lines", "Companion", "Heatmap", "Graph"]

Words = str | Text
Function = Callable[..., Any]
Add = Callable[..., int]  # (function, where, *shapes, resolution) -> number of the source in the block of frames
AddWords = Callable[[Any, str], str]  # (words, where) -> name of their slot in the block of frames

COLORS = ("vermilion", "green", "blue", "grey")  # Okabe–Ito; explorable.css holds their values
MARKS = ("circle", "square", "triangle", "wedge", "diamond", "cross")
WIDEST = 20  # letters of the label of a series
COLORMAP = [to_hex(color) for color in colormaps["viridis"](np.linspace(0, 1, 33))]  # perceptually uniform


@dataclass(frozen=True)
class Axis:
    """One axis, or one colour scale: its symbol, words, unit and limits.

    limits: (low, high), or a function of controls that returns them.  log10: the numbers are log10 of what the axis
    shows, and −∞ stands for an exact zero.  resolution: the precision that frames keep of its numbers.
    """

    label: Words
    limits: tuple[float, float] | Function
    symbol: str = ""
    unit: Words = ""
    log10: bool = False
    resolution: float | None = None

    @property
    def kept(self) -> Resolution:
        """What frames keep of its numbers: a plain number that is not 0 stays apart from 0."""
        return Resolution(self.resolution, apart=not self.log10)

    def spec(self, add: Add, where: str) -> dict:
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


@dataclass(frozen=True)
class Series:
    """One line, or one family of lines: y (L,) or (m, L) over x (L,); a family shows its median bold.

    x and y: arrays, or functions of controls.  focus: (control, value) at which the family is drawn whole and in
    colour; elsewhere only its median is, in grey.  visible_if: the checkbox without which the series is not drawn.
    """

    y: Function | Any
    x: Function | Any
    label: Words
    color: str = "vermilion"
    mark: str = "circle"
    dashed: bool = False
    focus: tuple[str, Any] | None = None
    visible_if: str | None = None


@dataclass(frozen=True)
class Rule:
    """A horizontal reference line at y, with its words."""

    y: float
    label: Words


@dataclass(frozen=True)
class Lines:
    """Lines over two axes."""

    title: Words
    x: Axis
    y: Axis
    series: list[Series]
    rules: list[Rule] = ()

    def spec(self, add: Add, add_words: AddWords) -> dict:
        where = f"lines {str(self.title)!r}"
        for s in self.series:
            check_look(where, s.color, s.mark)
            check_label(where, str(s.label))
        return {
            "kind": "lines",
            "title": str(self.title),
            "x": self.x.spec(add, f"{where} x"),
            "y": self.y.spec(add, f"{where} y"),
            "rules": [{"y": rule.y, "label": str(rule.label)} for rule in self.rules],
            "series": [
                {
                    "label": str(s.label),
                    "color": s.color,
                    "mark": s.mark,
                    "dashed": s.dashed,
                    "focus": list(s.focus) if s.focus else None,
                    "visible_if": s.visible_if,
                    "x": add(s.x, f"{where} {s.label} x", (None,), resolution=self.x.kept),
                    "y": add(s.y, f"{where} {s.label}", (None,), (None, None), resolution=self.y.kept),
                }
                for s in self.series
            ],
        }


@dataclass(frozen=True)
class Companion:
    """A second matrix of the shape of the first, of whole numbers or −∞ for none: read out, not drawn."""

    matrix: Function
    label: Words


@dataclass(frozen=True)
class Heatmap:
    """A matrix of shape (rows, columns) as colours: rows downwards, columns to the right, both counted from 1.

    row_words and column_words: a short word for each row and column, written instead of its number; lists of them, or
    functions of controls.  companion: what is read out with the number of a picked cell.  color and mark: of the title above the matrix, as a
    series has them; without a color the title is not drawn.
    """

    matrix: Function
    title: Words
    rows: Words
    columns: Words
    scale: Axis
    row_words: Function | list[str] | None = None
    column_words: Function | list[str] | None = None
    companion: Companion | None = None
    color: str | None = None
    mark: str = "circle"

    def spec(self, add: Add, add_words: AddWords) -> dict:
        where = f"heatmap {str(self.title)!r}"
        check_look(where, COLORS[0] if self.color is None else self.color, self.mark)
        companion = self.companion and {
            "label": str(self.companion.label),
            "matrix": add(self.companion.matrix, f"{where} {self.companion.label}", (None, None), resolution=1.0),
        }
        return {
            "kind": "heatmap",
            "title": str(self.title),
            "rows": str(self.rows),
            "columns": str(self.columns),
            "row_words": self.row_words and add_words(self.row_words, f"{where} row words"),
            "column_words": self.column_words and add_words(self.column_words, f"{where} column words"),
            "scale": self.scale.spec(add, f"{where} scale"),
            "colormap": COLORMAP,
            "matrix": add(self.matrix, where, (None, None), resolution=self.scale.kept),
            "companion": companion,
            "color": self.color,
            "mark": self.mark,
        }


@dataclass(frozen=True)
class Graph:
    """Nodes and edges.

    nodes: a function that gives (N, 3): x, y and a number.  edges: a function that gives (E, 3): the node it leaves,
    the node it enters (counted from 0) and its strength from 0 to 1.  The number colours its node on the scale; a
    graph without a scale has one color and mark, and its nodes of number 0 are hollow.
    """

    nodes: Function
    edges: Function
    title: Words
    x: Axis
    y: Axis
    scale: Axis | None = None
    color: str | None = None
    mark: str = "circle"

    def spec(self, add: Add, add_words: AddWords) -> dict:
        where = f"graph {str(self.title)!r}"
        if (self.scale is None) == (self.color is None):
            raise ValueError(f"{where} has scale {self.scale} and color {self.color}: give one of the two")
        check_look(where, COLORS[0] if self.color is None else self.color, self.mark)
        return {
            "kind": "graph",
            "title": str(self.title),
            "x": self.x.spec(add, f"{where} x"),
            "y": self.y.spec(add, f"{where} y"),
            **({"scale": self.scale.spec(add, f"{where} scale"), "colormap": COLORMAP} if self.scale else {}),
            "color": self.color,
            "mark": self.mark,
            "nodes": add(self.nodes, f"{where} nodes", (None, 3), resolution=0.001),
            "edges": add(self.edges, f"{where} edges", (None, 3), resolution=0.001),
        }


def check_label(where: str, label: str) -> None:
    """Raise a ValueError for a label that leaves no room for its line on a phone."""
    width = sum(2 if letter > "⺀" else 1 for letter in label)  # Chinese letters are twice as wide
    if width > WIDEST:
        raise ValueError(f"{where} has the label {label!r}, {width} letters wide, a Chinese one as 2: at most {WIDEST}")


def check_look(where: str, color: str, mark: str) -> None:
    """Raise a ValueError for a color or a mark that the figures do not have."""
    if color not in COLORS or mark not in MARKS:
        raise ValueError(f"{where} has color {color!r} and mark {mark!r}: choose from {COLORS} and {MARKS}")
