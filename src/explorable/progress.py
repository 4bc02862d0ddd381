"""How far a long computation is, in one line that goes when it has ended, where somebody waits for it."""

import sys
import time
from unicodedata import east_asian_width

from .text import OWN_WORDS, language

__all__ = ["Progress"]

PATIENCE = 1  # seconds before a line is worth reading
INTERVAL = 0.2  # seconds between two lines


class Progress:
    """A line on stderr that counts the settings of a figure that have been computed; there is none in a page's output."""

    def __init__(self, name: str, total: int):
        self.name, self.total, self.done, self.line = name, total, 0, ""
        self.next = time.monotonic() + PATIENCE if is_watched() else float("inf")

    def __enter__(self) -> "Progress":
        return self

    def step(self) -> None:
        """Count one setting more."""
        self.done += 1
        if (now := time.monotonic()) > self.next:
            self.next = now + INTERVAL
            words = OWN_WORDS["progress"][language()].format(name=self.name, done=self.done, total=self.total)
            self.write(words)

    def __exit__(self, *_: object) -> None:
        if self.line:
            self.write("")  # over it
            print(end="\r", file=sys.stderr, flush=True)

    def write(self, words: str) -> None:
        print(f"\r{words}{' ' * (width(self.line) - width(words))}", end="", file=sys.stderr, flush=True)
        self.line = words


def width(words: str) -> int:
    """Return how many places words take on a terminal, where a Chinese character takes two."""
    return sum(1 + (east_asian_width(letter) in "WF") for letter in words)


def is_watched() -> bool:
    """Return whether somebody sees a line while it stands: in a terminal, or in a notebook that may ask for input.

    A program that runs notebooks, as a build does, lets none ask; there the line would stay in the page.
    """
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return sys.stderr.isatty() or getattr(getattr(shell, "kernel", None), "_allow_stdin", False)
