"""Words in several languages, and the language that a page has chosen."""

import json
from pathlib import Path

__all__ = ["LANGUAGES", "Text", "Words", "language", "set_language"]

# {name: {language: words}} of what every figure says besides its own words
OWN_WORDS = json.loads((Path(__file__).parent / "words.json").read_text(encoding="utf-8"))
LANGUAGES = tuple(next(iter(OWN_WORDS.values())))
_chosen = "en"


class Text:
    """The same words in several languages: ``Text(zh="长度", en="length")``.

    ``str()`` gives them in the page's language; in a language that it lacks, in English, or else in its first.
    Raises ValueError for no words at all and for words that are not str.
    """

    def __init__(self, **words: str):
        if not words or not all(isinstance(text, str) for text in words.values()):
            raise ValueError(f"Text(**{words!r}): give at least 1 language, and str for each")
        self.words = words

    def __str__(self) -> str:
        return self.in_language(language())

    def in_language(self, name: str) -> str:
        known = next((known for known in (name, "en") if known in self.words), next(iter(self.words)))
        return self.words[known]

    def __add__(self, other: "Words") -> "Text":
        """Return these words with others behind them, in every language."""
        after = other if isinstance(other, Text) else Text(en=other)
        return Text(**{name: self.in_language(name) + after.in_language(name) for name in self.words | after.words})

    def __repr__(self) -> str:
        return f"Text({', '.join(f'{name}={text!r}' for name, text in self.words.items())})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Text) and self.words == other.words

    def __hash__(self) -> int:
        return hash(tuple(self.words.items()))


Words = str | Text


def set_language(name: str) -> None:
    """Choose the language of every figure made from now on. Raises ValueError for one that words.json lacks."""
    global _chosen
    if name not in LANGUAGES:
        raise ValueError(f"language {name!r} is none of {', '.join(LANGUAGES)}")
    _chosen = name


def language() -> str:
    """Return the chosen language: ``en`` unless a page has set another."""
    return _chosen
