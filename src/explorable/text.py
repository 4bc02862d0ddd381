"""Words in the two languages of the book, and the language that a page has chosen."""

from dataclasses import dataclass, fields

__all__ = ["Text", "set_language", "language"]


@dataclass(frozen=True)
class Text:
    """The same words in every language; ``str()`` gives them in the page's language."""

    zh: str
    en: str

    def __post_init__(self):
        if not (isinstance(self.zh, str) and isinstance(self.en, str)):
            raise ValueError(f"Text(zh={self.zh!r}, en={self.en!r}): both must be str")

    def __str__(self) -> str:
        return getattr(self, language())


LANGUAGES = tuple(field.name for field in fields(Text))
_chosen = LANGUAGES[0]


def set_language(name: str) -> None:
    """Choose the language of every figure made from now on. Raises ValueError for one that the book lacks."""
    global _chosen
    if name not in LANGUAGES:
        raise ValueError(f"language {name!r} is none of {', '.join(LANGUAGES)}")
    _chosen = name


def language() -> str:
    """Return the chosen language, ``zh`` unless a page has set another."""
    return _chosen
