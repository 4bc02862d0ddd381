"""What a claim is: what is commonly said, what a measurement made of it, and what should be said instead.

A check looks for two things: a case in which the common version holds, and one in which it fails. The verdict follows:

    holds, never fails → right      holds here, fails there → needs a qualifier      never holds → wrong
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from urllib.parse import urlunsplit

from explorable import Text

__all__ = ["Verdict", "Result", "Source", "Claim"]


class Verdict(Enum):
    """What becomes of the common version; ``str()`` says it with a mark and a word, never by colour."""

    RIGHT = Text(zh="✓ 对", en="✓ right")
    QUALIFIED = Text(zh="△ 要加限定", en="△ needs a qualifier")
    WRONG = Text(zh="✗ 不对", en="✗ wrong")
    UNDECIDED = Text(zh="? 没有量出来", en="? not decided")

    def __str__(self) -> str:
        return str(self.value)


@dataclass(frozen=True)
class Result:
    """What a check measured, in words, and whether the common version held in some case and failed in some case."""

    value: Text
    held: bool
    failed: bool

    @property
    def verdict(self) -> Verdict:
        """Return what follows from the two; a check that found neither a case for nor a case against decides nothing."""
        if self.held:
            return Verdict.QUALIFIED if self.failed else Verdict.RIGHT
        return Verdict.WRONG if self.failed else Verdict.UNDECIDED


@dataclass(frozen=True)
class Source:
    """A paper: who and when, its arXiv number or DOI, and where in it."""

    name: str
    number: str
    place: Text = Text(zh="", en="")

    @property
    def link(self) -> str:
        """Return its address: a DOI begins with 10. and has a slash, as no arXiv number does."""
        host, path = ("doi.org", self.number) if "/" in self.number else ("arxiv.org", f"abs/{self.number}")
        return urlunsplit(("https", host, path, "", ""))

    @property
    def month(self) -> str:
        """Return when it came out as YYYY-MM, which is how an arXiv number begins.  Raises ValueError for a DOI."""
        if "/" in self.number:
            raise ValueError(f"{self.number} is a DOI: only an arXiv number, such as 1706.03762, tells its month")
        return f"20{self.number[:2]}-{self.number[2:4]}"


@dataclass(frozen=True)
class Claim:
    """One claim of the chapter, numbered as on the page of claims.

    common: what is commonly said.  correct: what the book says.  verdict: what the book makes of the common version,
    which ``check`` must find as well; without a check it rests on the sources alone.  page, section: where the book
    shows it.
    """

    number: int
    common: Text
    correct: Text
    verdict: Verdict
    sources: tuple[Source, ...]
    page: str
    section: Text = Text(zh="", en="")
    check: Callable[[], Result] | None = None
