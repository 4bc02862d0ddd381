"""A claim: its common version, a check that measures it, and the correct version.

A check looks for a case in which the common version holds, and for one in which it fails. The verdict follows:

    holds, never fails → right      holds here, fails there → needs a qualifier      never holds → wrong
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from urllib.parse import urlunsplit

from explorable import Text

__all__ = ["Verdict", "Result", "Source", "Claim"]


class Verdict(Enum):
    """The verdict on the common version; ``str()`` gives a mark and a word."""

    RIGHT = Text(zh="✓ 对", en="✓ right")
    QUALIFIED = Text(zh="△ 要加限定", en="△ needs a qualifier")
    WRONG = Text(zh="✗ 不对", en="✗ wrong")
    UNDECIDED = Text(zh="? 没有量出来", en="? not decided")

    def __str__(self) -> str:
        return str(self.value)


@dataclass(frozen=True)
class Result:
    """The measurement of a check, in words, and whether the common version held or failed in some case."""

    value: Text
    held: bool
    failed: bool

    @property
    def verdict(self) -> Verdict:
        """Return the verdict; without a case for or against it is undecided."""
        if self.held:
            return Verdict.QUALIFIED if self.failed else Verdict.RIGHT
        return Verdict.WRONG if self.failed else Verdict.UNDECIDED


@dataclass(frozen=True)
class Source:
    """A paper: authors and year, its arXiv number or DOI, and the place in it."""

    name: str
    number: str
    place: Text = Text(zh="", en="")

    @property
    def link(self) -> str:
        """Return its address; only a DOI has a slash."""
        host, path = ("doi.org", self.number) if "/" in self.number else ("arxiv.org", f"abs/{self.number}")
        return urlunsplit(("https", host, path, "", ""))

    @property
    def month(self) -> str:
        """Return the month of an arXiv number as YYYY-MM.  Raises ValueError for a DOI."""
        if "/" in self.number:
            raise ValueError(f"{self.number} is a DOI: only an arXiv number, such as 1706.03762, tells its month")
        return f"20{self.number[:2]}-{self.number[2:4]}"


@dataclass(frozen=True)
class Claim:
    """One claim of the chapter, numbered as on the page of claims.

    common: the common version.  correct: the book's.  verdict: the book's, which ``check`` must confirm; without a check
    it rests on the sources.  page, section: where the book shows it.
    """

    number: int
    common: Text
    correct: Text
    verdict: Verdict
    sources: tuple[Source, ...]
    page: str
    section: Text = Text(zh="", en="")
    check: Callable[[], Result] | None = None
