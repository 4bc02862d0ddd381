"""Names of rows and columns, from numbers."""

from collections.abc import Callable, Sequence
from functools import update_wrapper
from typing import Any

from .control import plain

__all__ = ["Names"]


class Names:
    """A function of controls that gives a word for each row: words[i] for each number i that another function gives.

    Where that one is a trace's, the page itself finds the words.  Called, raises ValueError for a number without a word.
    """

    def __init__(self, function: Callable, words: Sequence[str]):
        update_wrapper(self, function)
        self.function, self.words = function, list(words)

    def __call__(self, **settings: Any) -> list[str]:
        numbers = [plain(number) for number in self.function(**settings)]
        if wrong := [number for number in numbers if number not in range(len(self.words))]:
            raise ValueError(f"Names got {wrong}: they must be whole numbers from 0 to {len(self.words) - 1}")
        return [self.words[int(number)] for number in numbers]
