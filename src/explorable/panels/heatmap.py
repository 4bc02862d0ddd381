"""Heatmap: a matrix as colours."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..axis import Axis
from ..frames import Frames, View
from ..look import COLORMAP, COLORS, SHADES, check_look
from ..source import Add
from ..text import Words
from .matrix_words import add_matrix_words, check_matrix_words, matrix_words
from .panel import AddWords, Panel

__all__ = ["Companion", "Heatmap"]


@dataclass(frozen=True)
class Companion:
    """A second matrix of the shape of the first, of whole numbers or −∞ for none: read out, not drawn."""

    matrix: Callable[..., Any]
    label: Words


@dataclass(frozen=True)
class Heatmap(Panel):
    """A matrix of shape (rows, columns) as colours: rows downwards, columns to the right, both counted from 1.

    row_words and column_words: a short word for each row and column, written instead of its number; lists of them, or
    functions of controls.  companion: what is read out with the number of a picked cell.  color and mark: of the title
    above the matrix, as a series has them; without a color the title is not drawn.  word_colors: {word: color}, for
    words that name kinds of rows and columns.  faint_at=("without", "a"): drawn faint where that control has that value.
    Heatmaps that stand side by side and name their rows alike have the same rows, which the first of them numbers.
    """

    kind = "heatmap"
    matrix: Callable[..., Any] | Any
    title: Words
    rows: Words
    columns: Words
    scale: Axis
    row_words: Callable[..., Any] | list[str] | None = None
    column_words: Callable[..., Any] | list[str] | None = None
    companion: Companion | None = None
    color: str | None = None
    mark: str = "circle"
    word_colors: dict[str, str] | None = None
    faint_at: tuple[str, Any] | None = None

    def spec(self, add: Add, add_words: AddWords) -> dict:
        where = f"heatmap {str(self.title)!r}"
        for color in [next(iter(COLORS)) if self.color is None else self.color, *(self.word_colors or {}).values()]:
            check_look(where, color, self.mark)
        companion = self.companion and {
            "label": str(self.companion.label),
            "matrix": add(self.companion.matrix, f"{where} {self.companion.label}", (None, None), resolution=1.0),
        }
        return {
            "kind": self.kind,
            "title": str(self.title),
            "rows": str(self.rows),
            "columns": str(self.columns),
            **add_matrix_words(self, add_words, where),
            "scale": self.scale.spec(add, f"{where} scale"),
            "colormap": COLORMAP,
            "matrix": add(self.matrix, where, (None, None), **self.scale.precision),
            "companion": companion,
            "color": self.color,
            "mark": self.mark,
            "word_colors": self.word_colors,
            "faint_at": list(self.faint_at) if self.faint_at else None,
        }

    def controls_used(self, grids: dict[str, list], where: str) -> set[str]:
        if not self.faint_at:
            return set()
        control, value = self.faint_at
        if value not in grids.get(control, []) or type(value) is not type(grids[control][0]):
            raise ValueError(f"{where}: a heatmap is faint at {control} = {value!r}, which no control offers")
        return {control}

    def check(self, spec: dict, frames: Frames, where: str) -> None:
        self.scale.check(spec["scale"], frames, where)
        if companion := spec["companion"]:
            for view in frames.views(spec["matrix"], companion["matrix"]):
                shapes = [view.array(source).shape for source in (spec["matrix"], companion["matrix"])]
                if shapes[0] != shapes[1]:
                    raise ValueError(
                        f"{where}: a companion of {shapes[1]} for the matrix of {shapes[0]}: both must agree"
                    )
        matrices = [view.array(spec["matrix"]) for view in frames.views(spec["matrix"])]
        shapes = [matrix.shape for matrix in matrices]
        # what the browser leaves room for at every setting, so that nothing shifts
        spec["tallest"] = max(rows / columns for rows, columns in shapes)
        spec["zeros"] = any(bool(np.isneginf(matrix).any()) for matrix in matrices)
        words = check_matrix_words(spec, frames, where)
        numbers = {"row_words": len(str(max(rows for rows, _ in shapes))), "column_words": 0}  # those of columns lie
        # of the longest word
        spec["letters"] = {side: max(map(len, each), default=numbers[side]) for side, each in words.items()}
        for side, each in words.items():
            if unknown := sorted(each - set(self.word_colors or each)):
                raise ValueError(f"{where} has {unknown} among its {side}: word_colors has none for them")

    def at(self, spec: dict, view: View) -> dict:
        """The matrix as drawn, and the words of its rows and columns."""
        limits, matrix = view.array(spec["scale"]["limits"]), view.array(spec["matrix"])
        return {"kind": self.kind, "limits": limits, "matrix": matrix, **matrix_words(spec, view)}

    def draw(self, spec: dict, view: View, axes: Any) -> None:
        shown = self.at(spec, view)
        rows, columns = shown["matrix"].shape
        image = axes.imshow(
            np.ma.masked_invalid(shown["matrix"]),  # −∞, no path: left blank
            cmap=SHADES,
            vmin=shown["limits"][0],
            vmax=shown["limits"][1],
            extent=(0.5, columns + 0.5, rows + 0.5, 0.5),
            interpolation="nearest",
        )
        for words, axis in ((shown["rowWords"], axes.yaxis), (shown["columnWords"], axes.xaxis)):
            if words:
                axis.set_ticks(range(1, len(words) + 1), words, fontsize=7)
        axes.tick_params(axis="x", rotation=90 if max(map(len, shown["columnWords"]), default=0) > 1 else 0)
        self.scale.draw(axes.figure.colorbar(image, ax=axes, orientation="horizontal").ax.xaxis)
