"""The sentence under a figure: words in the page's language around numbers that the code measured."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from numbers import Real
from string import Formatter

from .control import Control, plain
from .frames import View
from .source import Source
from .text import Words

__all__ = ["Choice", "Fixed", "Sentence"]


@dataclass(frozen=True)
class Choice:
    """A slot whose words differ: the function gives the number of the words to show, counted from 0."""

    function: Callable
    words: list[Words]

    def number(self, where: str) -> Callable[..., int]:
        """Return the function, made to raise ValueError for a number that none of the words has."""

        @wraps(self.function)
        def number(**settings):
            if (chosen := self.function(**settings)) not in range(len(self.words)):
                raise ValueError(
                    f"{where} chose {chosen!r}: it must give a whole number from 0 to {len(self.words) - 1}"
                )
            return int(chosen)

        return number


@dataclass(frozen=True)
class Fixed:
    """A slot that shows a number with so many digits after the point: the function gives the number.

    Raises ValueError for digits that are not a whole number from 0 to 20.
    """

    function: Callable
    digits: int

    def __post_init__(self):
        if self.digits not in range(21):
            raise ValueError(f"Fixed shows {self.digits!r} digits: it must be a whole number from 0 to 20")

    def text(self, where: str) -> Callable[..., str]:
        """Return the function, made to give text, and to raise ValueError for what is no finite number."""

        @wraps(self.function)
        def text(**settings):
            given = plain(self.function(**settings))
            if not isinstance(given, Real) or not math.isfinite(given):
                raise ValueError(f"{where} gave {given!r}: it must give 1 finite number")
            return f"{float(given):.{self.digits}f}"

        text.digits = self.digits  # type: ignore[attr-defined]  # a page that computes the number writes it alike
        return text


class Sentence:
    """A template with named slots; each slot is a function of its own controls, a Choice or a Fixed.

    A function gives text that is the same in every language. A slot named like a control shows that control's value.
    Raises ValueError for a slot that nothing fills and a function that fills no slot.
    """

    def __init__(self, template: Words, **slots: Callable | Choice | Fixed):
        self.template, self.slots = template, slots

    def parts(self) -> list[tuple[str, str | None]]:
        """Split the template in the page's language into pairs: text, and the slot after it."""
        try:
            parts = list(Formatter().parse(str(self.template)))
        except ValueError as error:
            raise ValueError(
                f"the sentence {str(self.template)!r} has braces that do not match ({error}): a slot is {{name}}, a brace {{{{"
            ) from error
        if formatted := [name for _, name, form, conversion in parts if form or conversion]:
            raise ValueError(
                f"the sentence formats its slots {formatted}: let their functions return the text as it stands"
            )
        return [(text, name) for text, name, _, _ in parts]

    def sources(self, controls: list[Control]) -> dict[str, Source]:
        """Return the functions that fill the slots."""
        named = {name for _, name in self.parts() if name is not None}
        if empty := named - set(self.slots) - {control.name for control in controls}:
            raise ValueError(f"the sentence has slots {sorted(empty)} that no function and no control fills")
        if idle := set(self.slots) - named:
            raise ValueError(f"the sentence has functions {sorted(idle)} for slots that its template does not name")
        sources = {}
        for name, slot in self.slots.items():
            where = f"slot {name!r} of the sentence"
            if isinstance(slot, Choice):
                slot = slot.number(where)
            sources[name] = Source(slot.text(where) if isinstance(slot, Fixed) else slot, controls, where)
        return sources

    def at(self, spec: dict, view: View, words: dict[str, str]) -> str:
        """Return the sentence at a setting, as the browser writes it. words: those of each control's value."""
        said = []
        for text, slot in spec["parts"]:
            said.append(text)
            if slot in spec["choices"]:
                said.append(spec["choices"][slot][int(view.words(slot))])
            elif slot is not None:
                said.append(view.words(slot) if slot in self.slots else words[slot])
        return "".join(said)

    def spec(self) -> dict:
        """Return what the browser needs, in the page's language."""
        choices = {n: [str(w) for w in slot.words] for n, slot in self.slots.items() if isinstance(slot, Choice)}
        return {"parts": [list(part) for part in self.parts()], "choices": choices}
