"""The words of rows and columns, as one text that frames can keep."""

from collections.abc import Callable
from inspect import Signature, signature
from typing import Any

__all__ = ["words_text"]


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
