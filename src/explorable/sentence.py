"""The sentence under a figure: words in the page's language around numbers that the code measured."""

from collections.abc import Callable
from dataclasses import dataclass
from string import Formatter

from .control import Control
from .frames import Frames, View
from .source import Source
from .text import Words

__all__ = ["Sentence", "Choice"]


@dataclass(frozen=True)
class Choice:
    """A slot whose words differ: the function gives the number of the words to show, counted from 0."""

    function: Callable
    words: list[Words]


class Sentence:
    """A template with named slots; each slot is a function of its own controls, or a Choice.

    A function gives text that is the same in every language. A slot named like a control shows that control's value.
    Raises ValueError for a slot that nothing fills and a function that fills no slot.
    """

    def __init__(self, template: Words, **slots: Callable | Choice):
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

    def at(self, spec: dict, view: View, controls: dict[str, Control]) -> str:
        """Return the sentence at a setting, as the browser writes it."""
        said = []
        for text, slot in spec["parts"]:
            said.append(text)
            if slot in spec["choices"]:
                said.append(spec["choices"][slot][int(view.words(slot))])
            elif slot in self.slots:
                said.append(view.words(slot))
            elif slot is not None:
                said.append(controls[slot].words(view.value(slot)))
        return "".join(said)

    def check(self, spec: dict, frames: Frames, where: str) -> None:
        """Raise a ValueError where a choice has no words for a number that its function gives."""
        for slot, words in spec["choices"].items():
            numbers = frames.header["slots"][slot]["words"]
            if missing := [number for number in numbers if number not in map(str, range(len(words)))]:
                raise ValueError(f"{where}: slot {slot!r} chose {missing} of {len(words)} words, counted from 0")

    def spec(self) -> dict:
        """Return what the browser needs, in the page's language."""
        choices = {n: [str(w) for w in slot.words] for n, slot in self.slots.items() if isinstance(slot, Choice)}
        return {"parts": [list(part) for part in self.parts()], "choices": choices}
