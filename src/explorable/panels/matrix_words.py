"""The words of a matrix's rows and columns: one text a side, which frames can keep."""

from collections.abc import Callable
from inspect import Signature, signature
from typing import Any

from ..frames import Frames, View
from .panel import AddWords, Panel

__all__ = ["add_matrix_words", "check_matrix_words", "matrix_words"]

SIDES = ("row_words", "column_words")  # in the order of the matrix's axes


def add_matrix_words(panel: Panel, add_words: AddWords, where: str) -> dict[str, str | None]:
    """Add the words of a panel's rows and columns; return the part of its spec that names their slots, None without words."""
    given = {side: getattr(panel, side) for side in SIDES}
    return {side: words and add_words(words_text(words, where), f"{where} {side}") for side, words in given.items()}


def check_matrix_words(spec: dict, frames: Frames, where: str) -> dict[str, set[str]]:
    """Return all words of rows and of columns. Raises ValueError where there are not as many as rows or columns."""
    found: dict[str, set[str]] = {side: set() for side in SIDES}
    for axis, side in enumerate(SIDES):
        for view in frames.views(spec["matrix"], spec[side]) if spec[side] else []:
            words, count = view.words(spec[side]).split(), view.array(spec["matrix"]).shape[axis]
            if len(words) != count:
                raise ValueError(f"{where} has {len(words)} {side} for {count}: as many are needed")
            found[side].update(words)
    return found


def matrix_words(spec: dict, view: View) -> dict[str, list[str]]:
    """Return the words of rows and columns as ``figure.drawn`` names them, none where they have numbers."""
    rows, columns = (view.words(spec[side]).split() if spec[side] else [] for side in SIDES)
    return {"rowWords": rows, "columnWords": columns}


def words_text(words: Callable[..., Any] | list[str], where: str) -> Callable[..., str]:
    """Return a function of the same controls that gives words as one text, with a blank between two.

    It raises ValueError for a word that is empty or has a blank within.
    """

    def text(**settings) -> str:
        each = [str(word) for word in (words(**settings) if callable(words) else words)]
        if torn := [word for word in each if len(word.split()) != 1]:
            raise ValueError(f"{where} has {torn} among {len(each)} words: each must be one word, without a blank")
        return " ".join(each)

    text.__dict__.update(getattr(words, "__dict__", {}))  # such as the trace that it is a result of
    text.__signature__ = signature(words) if callable(words) else Signature()  # type: ignore[attr-defined]
    return text
