"""The sentence under a figure: words in the page's language around numbers that the code measured."""

from collections.abc import Callable
from dataclasses import dataclass
from string import Formatter

from .control import Control
from .source import Source
from .text import Text

__all__ = ["Sentence", "Choice"]


@dataclass(frozen=True)
class Choice:
    """A slot whose words differ: the function gives the number of the words to show, counted from 0."""

    function: Callable
    words: list[str | Text]


class Sentence:
    """A template with named slots; each slot is a function of its own controls, or a Choice.

    A function gives text that is the same in every language. A slot named like a control shows that control's value.
    Raises ValueError for a slot that nothing fills and a function that fills no slot.
    """

    def __init__(self, template: str | Text, **slots: Callable | Choice):
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
        functions = {n: slot.function if isinstance(slot, Choice) else slot for n, slot in self.slots.items()}
        return {n: Source(f, controls, f"slot {n!r} of the sentence") for n, f in functions.items()}

    def spec(self) -> dict:
        """Return what the browser needs, in the page's language."""
        choices = {n: [str(w) for w in slot.words] for n, slot in self.slots.items() if isinstance(slot, Choice)}
        return {"parts": [list(part) for part in self.parts()], "choices": choices}
