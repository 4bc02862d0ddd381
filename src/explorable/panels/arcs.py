"""Arcs: the words of two texts in two columns, and an arc for every weight between them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..axis import Axis
from ..frames import Frames, View
from ..look import COLORS, check_look
from ..source import Add
from ..text import Words
from .matrix_words import add_matrix_words, check_matrix_words, matrix_words
from .panel import AddWords, Panel

__all__ = ["Arcs"]


@dataclass(frozen=True)
class Arcs(Panel):
    """Two columns of words, and an arc for every weight between them, the wider the larger it is.

    matrix: (rows, columns); a row is a word at the right, a column one at the left, and a number the weight between them,
    or −∞ for no path.  rows and columns: what the two are.  row_words and column_words: the words, as functions of controls
    or lists; one at the right with a * before it is a wrong one.  scale: of the weights; those at its lower end have no
    arc.  through: the name of the one place through which all words go where no weight is finite.  color and mark: of the
    arcs, and of what is read out.
    """

    kind = "arcs"
    matrix: Callable[..., Any] | Any
    title: Words
    rows: Words
    columns: Words
    scale: Axis
    row_words: Callable[..., Any] | list[str]
    column_words: Callable[..., Any] | list[str]
    through: Words = ""
    color: str = "blue"
    mark: str = "circle"

    def spec(self, add: Add, add_words: AddWords) -> dict:
        where = f"arcs {str(self.title)!r}"
        check_look(where, self.color, self.mark)
        return {
            "kind": self.kind,
            "title": str(self.title),
            "rows": str(self.rows),
            "columns": str(self.columns),
            **add_matrix_words(self, add_words, where),
            "weight": self.scale.spec(add, f"{where} scale"),  # no scale of colours
            "matrix": add(self.matrix, where, (None, None), **self.scale.precision),
            "through": str(self.through),
            "color": self.color,
            "mark": self.mark,
        }

    def check(self, spec: dict, frames: Frames, where: str) -> None:
        self.scale.check(spec["weight"], frames, where)
        # what the browser leaves room for at every setting, so that nothing shifts
        shapes = [view.array(spec["matrix"]).shape for view in frames.views(spec["matrix"])]
        spec["most"] = max(map(max, shapes))  # words in a column
        words = check_matrix_words(spec, frames, where)
        spec["letters"] = {side: max(map(len, each), default=1) for side, each in words.items()}  # of the longest word

    def at(self, spec: dict, view: View) -> dict:
        """The weights, and the words of both columns."""
        limits, matrix = view.array(spec["weight"]["limits"]), view.array(spec["matrix"])
        return {"kind": self.kind, "limits": limits, "matrix": matrix, **matrix_words(spec, view)}

    def draw(self, spec: dict, view: View, axes: Any) -> None:
        shown = self.at(spec, view)
        weights = 10 ** shown["matrix"] if self.scale.log10 else np.where(np.isneginf(m := shown["matrix"]), 0, m)
        least, largest = (10**limit if self.scale.log10 else limit for limit in shown["limits"])
        line = {"color": COLORS[self.color]["still"], "solid_capstyle": "round"}
        for i, j in np.argwhere(weights > least):
            share = min(1, weights[i, j] / largest)
            axes.plot([0, 1], [j, i], linewidth=0.4 + 2 * share, alpha=0.15 + 0.85 * share, **line)
        if not np.isfinite(shown["matrix"]).any():
            middle = (len(weights) - 1) / 2
            for side, count in enumerate(reversed(weights.shape)):
                for i in range(count):
                    axes.plot([side, 0.5], [i, middle], color=COLORS["grey"]["still"], linewidth=0.8)
        for side, key, end in ((0, "columnWords", "right"), (1, "rowWords", "left")):
            for i, word in enumerate(shown[key]):
                axes.text(side + (0.04 if side else -0.04), i, word, ha=end, va="center", fontsize=7)
        axes.set(xlim=(-0.5, 1.5), ylim=(max(weights.shape) - 0.5, -0.5))
        axes.axis("off")
