"""What every kind of panel offers. A kind is a class here and, in a JavaScript file of the same stem, its drawing."""

from collections.abc import Callable
from typing import Any, ClassVar

from ..frames import Frames, View
from ..source import Add
from ..text import Words

__all__ = ["AddWords", "Panel"]

AddWords = Callable[[Any, str], str]  # (words, where) -> name of their slot in the block of frames


class Panel:
    """One picture of a figure."""

    kind: ClassVar[str]  # the stem of its two files, and its name in the browser
    title: Words

    def spec(self, add: Add, add_words: AddWords) -> dict:
        """Return what the browser needs, and add its functions as sources of frames.

        Raises ValueError for what could not be drawn at any setting.
        """
        raise NotImplementedError

    def controls_used(self, grids: dict[str, list], where: str) -> set[str]:
        """Return the controls that it refers to itself, not by a parameter of a function.

        Raises ValueError where the figure has no such control, or the control no such value.
        """
        return set()

    def check(self, spec: dict, frames: Frames, where: str) -> None:
        """Raise a ValueError where what its functions gave does not fit together at some setting."""

    def at(self, spec: dict, view: View) -> dict:
        """Return the numbers that it shows, as the browser's ``figure.drawn`` does."""
        raise NotImplementedError

    def draw(self, spec: dict, view: View, axes: Any) -> None:
        """Draw its still picture on matplotlib's axes."""
        raise NotImplementedError
