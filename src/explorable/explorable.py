"""The explorable: an interactive figure whose every frame Python has computed, so that the browser only draws.

It is an anywidget, hence an ipywidget with one synced trait a control; on a page without a kernel the same script
draws the same frames (js/page.js mounts it).
"""

import html
import math
import re
import sys
from collections.abc import Callable, Iterable
from inspect import Signature, signature
from threading import Lock

import anywidget
import numpy as np
import traitlets

from .cache import stored
from .control import Control
from .frames import Frames, pack
from .grid import OnGrid
from .panels import Graph, Heatmap, Lines
from .script import STYLE, WIDGET
from .sentence import Sentence
from .source import Source
from .still import still_picture
from .text import Text, language

__all__ = ["Explorable"]

SETTINGS = 10_000  # of one function: the browser holds a frame for each
WORDS = ("row_words", "column_words")  # of a heatmap, in the order of its matrix's axes


class Setting(traitlets.TraitType):
    """A synced trait that takes the values of a control and refuses any other with a ValueError."""

    def __init__(self, control: Control):
        super().__init__(default_value=control.first)
        self.control = control
        self.tag(sync=True)

    def validate(self, obj, value):
        return self.control.checked(value)


class Explorable(anywidget.AnyWidget):
    """An interactive figure.

    name: its name in addresses and tests.  title and caption: what it is, and one line on how to read it.
    controls: what the reader may change.  panels: what is drawn.  rows: how many panels stand side by side in each
    row, where there is room; all of them when left out.  sentence: what the drawing says, in words.
    slow: functions whose grids are computed ahead on all cores, where the store has no frames yet.
    keep: whether the store keeps the frames; not those of what a reader has measured, which nobody else would draw.
    Every control is a trait of its name, so ``observe`` and ``jslink`` work on it.  With a kernel a slider's trait
    takes any number in its range, and the kernel computes what the figure shows there.
    Raises ValueError for a specification that could not be drawn.
    """

    _esm = WIDGET
    _css = STYLE
    _spec = traitlets.Dict().tag(sync=True)
    _frames = traitlets.Bytes().tag(sync=True)
    _still = traitlets.Dict().tag(sync=True)  # {src, alt} of the still picture, for hosts that show no html of ours

    def __init__(
        self,
        name: str,
        *,
        title: str | Text,
        caption: str | Text,
        controls: list[Control],
        panels: list[Lines | Heatmap | Graph],
        rows: list[int] | None = None,
        sentence: Sentence,
        slow: Iterable[OnGrid] = (),
        keep: bool = True,
    ):
        check_names(controls)
        check_name_and_words(name, title, caption)
        rows = rows or [len(panels)]
        if sum(rows) != len(panels) or not set(rows) <= {1, 2, 3}:
            raise ValueError(f"rows {rows} are for {sum(rows)} of the {len(panels)} panels: all, with 1 to 3 in a row")
        sources: list[Source] = []

        def add(function, where, *shapes, resolution=None) -> int:
            sources.append(Source(function, controls, f"{name}, {where}", resolution, shapes))
            return len(sources) - 1

        slots = sentence.sources(controls)

        def add_words(words, where) -> str:
            slot = f"words {len(slots)}"  # in no language, for both editions load the same frames; no name in Python
            slots[slot] = Source(written(words, f"{name}, {where}"), controls, f"{name}, {where}")
            return slot

        panel_specs = [panel.spec(add, add_words) for panel in panels]
        check_settings([*sources, *slots.values()])
        check_references(name, controls, panel_specs, [*sources, *slots.values()])
        spec = {
            "name": name,
            "language": language(),
            "title": str(title),
            "reading": str(caption),
            "controls": [control.spec() for control in controls],
            "panels": panel_specs,
            "rows": rows,
            "sentence": sentence.spec(),
        }

        def compute() -> bytes:
            for function in slow:
                function.compute()
            return pack(sources, slots)

        made_in = sys._getframe(1).f_globals["__name__"]  # the module of the figure
        frames = stored(name, compute, made_in) if keep else compute()
        sizes = {control.name: len(control.grid) for control in controls}
        check_frames(name, panel_specs, spec["sentence"]["choices"], Frames(frames, sizes))
        for panel in panel_specs:  # so that the browser leaves room for the longest word, and nothing shifts
            panel["letters"] = {key: longest_word(Frames(frames, sizes), panel[key]) for key in WORDS if panel.get(key)}
        self._controls = {control.name: control for control in controls}
        self._sources, self._slots = sources, slots
        self._computing = Lock()  # the kernel runs messages in threads
        self.add_traits(**{control.name: Setting(control) for control in controls})
        super().__init__(_spec=spec, _frames=frames)
        self.on_msg(self._answer)

    def _answer(self, _widget, message: dict, _buffers) -> None:
        """Answer a figure in a browser: greet it, or compute the parts that it asks for at the values that it names.

        A part is the number of a source or the name of a slot; the answer is one block of frames (js/kernel.js).
        """
        reply = {"type": message["type"], "view": message["view"], "id": message.get("id")}
        if message["type"] == "hello":
            return self.send(reply)
        try:
            values = {name: control.checked(message["values"][name]) for name, control in self._controls.items()}
            parts = message["parts"]
            with self._computing:
                sources = [self._sources[part].at(values) for part in parts if isinstance(part, int)]
                slots = {part: self._slots[part].at(values) for part in parts if isinstance(part, str)}
                block = pack(sources, slots)
        except Exception as error:  # whatever it is, the reader must hear of it
            return self.send({**reply, "type": "failed", "error": str(error) or repr(error)})
        self.send(reply, [block])

    def _repr_mimebundle_(self, **kwargs):
        """Return anywidget's own bundle and, as text/html, the still picture that every other host shows."""
        data, metadata = super()._repr_mimebundle_(**kwargs)
        spec, frames = self._spec, Frames(self._frames, {c.name: len(c.grid) for c in self._controls.values()})
        setting = {c.name: c.grid.index(c.first) for c in self._controls.values()}
        alt = f"{spec['title']}. {said(spec, frames, setting)}"
        self._still = {"src": still_picture(spec, frames, setting), "alt": alt}
        data["text/html"] = self._html(data["application/vnd.jupyter.widget-view+json"]["model_id"])
        return data, metadata

    def _html(self, model_id: str) -> str:
        spec, still = self._spec, self._still
        view = f'{{"version_major": 2, "version_minor": 0, "model_id": "{model_id}"}}'
        return (
            f'<figure class="explorable" data-name="{html.escape(spec["name"])}" lang="{spec["language"]}">'
            f'<img class="still" alt="{html.escape(still["alt"])}" src="{still["src"]}">'
            f"<figcaption>{html.escape(spec['caption'])}</figcaption>"
            f'<script type="application/vnd.jupyter.widget-view+json">{view}</script></figure>'
        )


def written(words: Callable | list[str], where: str) -> Callable:
    """Return a function of the same controls that gives words as one text, with a blank between two.

    It raises ValueError for a word that is empty or has a blank within.
    """

    def text(**settings) -> str:
        listed = [str(word) for word in (words(**settings) if callable(words) else words)]
        if torn := [word for word in listed if len(word.split()) != 1]:
            raise ValueError(f"{where} has {torn} among {len(listed)}: each must be one word, without a blank")
        return " ".join(listed)

    text.__signature__ = signature(words) if callable(words) else Signature()
    return text


def longest_word(frames: Frames, slot: str) -> int:
    """Return how many letters the longest word of a slot has, at any setting."""
    return max(len(word) for words in frames.header["slots"][slot]["words"] for word in words.split())


def said(spec: dict, frames: Frames, setting: dict[str, int]) -> str:
    """Return the sentence at a setting."""
    controls = {control["name"]: control for control in spec["controls"]}
    words = []
    for text, slot in spec["sentence"]["parts"]:
        words.append(text)
        if slot in spec["sentence"]["choices"]:
            words.append(spec["sentence"]["choices"][slot][int(frames.words(slot, setting))])
        elif slot in controls and slot not in frames.header["slots"]:
            words.append(controls[slot]["words"][setting[slot]])
        elif slot is not None:
            words.append(frames.words(slot, setting))
    return "".join(words)


def check_name_and_words(name: str, title: str | Text, caption: str | Text) -> None:
    """Raise a ValueError where a figure's name cannot stand in an address or name a file, or its words are no text."""
    if not isinstance(name, str) or not re.fullmatch(r"[^\s/\\:#]{1,60}", name):
        raise ValueError(f"figure name {name!r}: it must be 1 to 60 letters, without a blank, /, \\, : and #")
    for words in (title, caption):
        if not isinstance(words, str | Text):
            raise ValueError(f"{name}: title and caption must be str or Text, not {words!r}")


def check_settings(sources: list[Source]) -> None:
    """Raise a ValueError where a function would have to be called at too many settings of its controls."""
    for source in sources:
        grids = [f"{len(grid)} of {name!r}" for name, grid in source.grids.items()]
        if (settings := math.prod(len(grid) for grid in source.grids.values())) > SETTINGS:
            raise ValueError(
                f"{source.where} has {settings} settings, {' times '.join(grids)}: at most {SETTINGS} can be computed, "
                "so give its controls fewer values, or the function fewer controls"
            )


def check_names(controls: list[Control]) -> None:
    """Raise a ValueError where two controls share a name, or one has a name that the widget itself uses."""
    names = [control.name for control in controls]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"controls {twice} are named more than once")
    if taken := [name for name in names if hasattr(Explorable, name)]:
        raise ValueError(f"controls {taken} have names that every widget uses for itself: choose others")


def check_frames(name: str, panels: list[dict], choices: dict[str, list[str]], frames: Frames) -> None:
    """Raise a ValueError where limits do not rise, y or what stands beside do not fit, or a choice has no words."""
    tables = frames.header["tables"]
    for panel, axis in [(panel, panel[key]) for panel in panels for key in ("x", "y", "scale") if key in panel]:
        for setting in frames.settings(tables[axis["limits"]]):
            low, high = frames.array(axis["limits"], setting)
            if not -math.inf < low < high:
                where = f"{name}, {panel['title']!r}, axis {axis['label']!r}"
                raise ValueError(f"{where}: the limits {low:g} and {high:g} do not rise")
    for series in [series for panel in panels for series in panel.get("series", [])]:
        for setting in frames.settings(tables[series["x"]], tables[series["y"]]):
            x, y = frames.array(series["x"], setting), frames.array(series["y"], setting)
            if x.shape[-1] != y.shape[-1]:
                raise ValueError(f"{name}: series {series['label']!r} has {y.shape[-1]} y for {x.shape[-1]} x")
    for panel in [panel for panel in panels if panel.get("companion")]:
        matrix, companion = panel["matrix"], panel["companion"]["matrix"]
        for setting in frames.settings(tables[matrix], tables[companion]):
            shapes = [frames.array(source, setting).shape for source in (matrix, companion)]
            if shapes[0] != shapes[1]:
                raise ValueError(
                    f"{name}: beside the {shapes[0]} of {panel['title']!r} stand {shapes[1]}: both must agree"
                )
    for panel, key in [(panel, key) for panel in panels for key in WORDS if panel.get(key)]:
        for setting in frames.settings(tables[panel["matrix"]], frames.header["slots"][panel[key]]):
            words = frames.words(panel[key], setting).split()
            count = frames.array(panel["matrix"], setting).shape[WORDS.index(key)]
            if len(words) != count:
                raise ValueError(f"{name}: {panel['title']!r} has {len(words)} {key} for {count}: as many are needed")
    for panel in [panel for panel in panels if panel["kind"] == "graph"]:
        for setting in frames.settings(tables[panel["nodes"]], tables[panel["edges"]]):
            nodes, edges = frames.array(panel["nodes"], setting), frames.array(panel["edges"], setting)
            if stray := [end for end in edges[:, :2].ravel().tolist() if end not in range(len(nodes))]:
                raise ValueError(f"{name}: edges of {panel['title']!r} end at nodes {stray}, but it has {len(nodes)}")
            if not np.isfinite(nodes).all():
                raise ValueError(f"{name}: {panel['title']!r} has nodes at −∞, where nothing can be drawn")
    for slot, words in choices.items():
        numbers = frames.header["slots"][slot]["words"]
        if missing := [number for number in numbers if number not in map(str, range(len(words)))]:
            raise ValueError(f"{name}: slot {slot!r} chose {missing} of {len(words)} words, counted from 0")


def check_references(name, controls: list[Control], panels: list[dict], sources: list[Source]):
    """Raise a ValueError where a series refers to no control, or a control would change nothing."""
    grids = {control.name: control.grid for control in controls}
    used = {used for source in sources for used in source.names}
    for series in [series for panel in panels for series in panel.get("series", [])]:
        if series["focus"] is not None:
            control, value = series["focus"]
            if value not in grids.get(control, []) or type(value) is not type(grids[control][0]):
                raise ValueError(f"{name}: a series has its focus at {control} = {value!r}, which no control offers")
            used.add(control)
        if series["visible_if"] is not None:
            if grids.get(series["visible_if"]) != [False, True]:
                raise ValueError(
                    f"{name}: a series is shown by {series['visible_if']!r}, which is no checkbox of the figure"
                )
            used.add(series["visible_if"])
    if dead := [control for control in grids if control not in used]:
        raise ValueError(f"{name}: controls {dead} would change nothing, for no function names them")
