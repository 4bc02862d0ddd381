"""The editions of the book, which book/languages.yml lists, and their words, which book/_locale/ holds."""

import re
from dataclasses import dataclass
from functools import cached_property

import yaml
from environment import ROOT

MESSAGE = re.compile(r'^msgid "(.+)"\nmsgstr "(.+)"$', re.MULTILINE)


@dataclass(frozen=True)
class Edition:
    """One line of book/languages.yml."""

    code: str  # the folder of its pages in book/
    name: str  # of the language, in that language
    language: str  # as Sphinx and gettext name it
    folder: str  # in the site
    title: str  # of the book

    @property
    def tag(self) -> str:
        """The language as HTML names it."""
        return self.language.replace("_", "-")

    @cached_property
    def catalogue(self) -> dict[str, str]:
        path = ROOT / "book" / "_locale" / self.language / "LC_MESSAGES" / "sphinx.po"
        # English, in which the templates are written, has none
        return dict(MESSAGE.findall(path.read_text(encoding="utf-8"))) if path.exists() else {}

    def translate(self, words: str) -> str:
        """Return English words of a template in this edition's language."""
        return self.catalogue.get(words, words)


TABLE = yaml.safe_load((ROOT / "book" / "languages.yml").read_text(encoding="utf-8"))
EDITIONS = {code: Edition(code, **line) for code, line in TABLE.items()}
FIRST = next(iter(EDITIONS.values()))
