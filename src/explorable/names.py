"""Names of rows and columns, from numbers."""

from collections.abc import Callable, Sequence
from functools import update_wrapper
from typing import Any

__all__ = ["Names"]


class Names:
    """A function of controls that gives a word for each row: words[i] for each number i that another function gives.

    Where that one is a trace's, the page itself finds the words.
    """

    def __init__(self, function: Callable, words: Sequence[str]):
        update_wrapper(self, function)
        self.function, self.words = function, list(words)

    def __call__(self, **settings: Any) -> list[str]:
        return [self.words[int(i)] for i in self.function(**settings)]
