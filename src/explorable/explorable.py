"""The explorable: an interactive figure whose every frame Python has computed, so that the browser only draws.

It is an anywidget, hence an ipywidget with one synced trait a control; on a page without a kernel the same script
draws the same frames (js/page.js mounts it).
"""

import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

from .address import page_address
from .cache import Cache
from .control import Control
from .frames import Frames, View, pack
from .page import figure_html, page
from .panels import Panel
from .progress import Progress
from .script import STYLE, WIDGET
from .sentence import Sentence
from .source import Source
from .still import still_picture
from .text import Text, Words, language
from .traces import Keep, Traces

if TYPE_CHECKING:
    from .grid import OnGrid  # needs joblib

__all__ = ["Explorable"]

SETTINGS = 10_000  # of one function: the browser holds a frame for each


class Setting(traitlets.TraitType):
    """A synced trait that takes the values of a control and refuses any other with a ValueError."""

    def __init__(self, control: Control):
        super().__init__(default_value=control.first)
        self.control = control
        self.tag(sync=True)

    def validate(self, obj: object, value: Any) -> Any:
        return self.control.check(value)


class Explorable(anywidget.AnyWidget):
    """An interactive figure.

    name: its name in addresses and tests.  title: what to see.  caption: what is drawn, in a line.  how_to_read and
    limits: folded below it, how its marks are read and what it does not show.  controls: what the reader may change.
    panels: what is drawn.  rows: how many panels stand side by side in each row, where there is room; all of them when
    left out.  sentence: what the drawing says, in a line.  detail: what else was measured, folded; a slot that it
    shares with the sentence is one function.
    slow: functions whose grids are computed ahead on all cores, where the cache has no frames yet.
    cache: where the frames are kept; left out, nowhere.  within: makes the context in which functions are called, such
    as a limit of threads.
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
        title: Words,
        caption: Words,
        how_to_read: Words,
        limits: Words = "",
        controls: list[Control],
        panels: Sequence[Panel],
        rows: list[int] | None = None,
        sentence: Sentence,
        detail: Sentence | None = None,
        slow: Sequence["OnGrid"] = (),
        cache: Cache | None = None,
        within: Callable[[], AbstractContextManager] = nullcontext,
    ):
        check_controls(controls)
        folded = {"how_to_read": how_to_read, "limits": limits}
        check_name_and_words(name, {"title": title, "caption": caption} | folded)
        rows = rows or [len(panels)]
        if sum(rows) != len(panels) or not set(rows) <= {1, 2, 3, 4}:
            raise ValueError(f"rows {rows} place {sum(rows)} panels of {len(panels)}: place each, 1 to 4 in a row")
        sources: list[Source] = []
        slots = sources_of_words(name, [sentence, *([detail] if detail else [])], controls)

        def add(function: Any, where: str, *shapes: tuple, **precision: Any) -> int:
            sources.append(Source(function, controls, f"{name}, {where}", shapes, **precision))
            return len(sources) - 1

        def add_words(function: Any, where: str) -> str:
            slot = f"words {len(slots)}"  # no name in Python, so no slot of the sentence has it
            slots[slot] = Source(function, controls, f"{name}, {where}")
            return slot

        spec: dict[str, Any] = {
            "name": name,
            "language": language(),
            "address": page_address(),
            "title": str(title),
            "caption": str(caption),
            **{key: str(text) for key, text in folded.items()},
            "controls": [control.spec() for control in controls],  # a list, since a dict may lose its order
            "panels": [panel.spec(add, add_words) for panel in panels],
            "rows": rows,
            "sentence": sentence.spec(),
            "detail": detail and detail.spec(),
        }
        parts: dict[int | str, Source] = {**dict(enumerate(sources)), **slots}  # type: ignore[dict-item]
        self._traces = Traces(parts, controls, self._keeper(name, cache))
        spec["traced"] = self._traces.spec()
        for control in spec["controls"]:
            control["free"] = control["name"] in self._traces.free
        check_settings([*sources, *slots.values()])
        check_every_control_is_used(name, controls, panels, [*sources, *slots.values()])

        def compute() -> bytes:
            total = sum(one.settings for one in [*sources, *slots.values()]) + sum(one.settings for one in slow)
            with within(), Progress(name, total) as progress:
                for function in slow:
                    function.compute(progress.step)
                return pack(sources, slots, progress.step)

        block = cache.load(name, compute) if cache else compute()
        self._controls = {control.name: control for control in controls}
        self._kept = Frames(block, {control.name: len(control.grid) for control in controls})
        for panel, panel_spec in zip(panels, spec["panels"]):
            panel.check(panel_spec, self._kept, f"{name}, {panel_spec['title']!r}")
        self._panels, self._sources, self._slots = panels, sources, slots
        self._sentence, self._detail = sentence, detail
        self._within, self._computing = within, Lock()  # the kernel runs messages in threads
        self.add_traits(**{control.name: Setting(control) for control in controls})
        super().__init__(_spec=spec, _frames=block)
        self.on_msg(self._answer)

    def at(self, **values) -> dict[str, Any]:
        """Return what the figure shows at values of its controls; those left out are as they are now.

        Returns {"sentence": str, "detail": str, "panels": [{"kind", "limits", …}]}, the numbers of each panel as arrays,
        as precise as frames keep them; the browser's ``figure.drawn`` holds the same.
        Raises ValueError for a control that the figure lacks, and for a value that it may not take.
        """
        if unknown := set(values) - set(self._controls):
            raise ValueError(f"{self._spec['name']} has no controls {sorted(unknown)}, only {list(self._controls)}")
        now = {name: getattr(self, name) for name in self._controls}
        return self._shown(
            self._view(now | {name: self._controls[name].check(value) for name, value in values.items()})
        )

    def html(self) -> str:
        """Return the figure as it stands, as one element that works on a page with the script of ``page``."""
        values = {name: getattr(self, name) for name in self._controls}
        shown = self._shown(self._first())["panels"]
        return figure_html(self._spec, values, self._frames, self._picture(), shown, self._traces.html())

    @staticmethod
    def _keeper(name: str, cache: Cache | None) -> Keep:
        """Return a function that keeps bytes of a figure where its frames are kept."""
        return lambda part, make: cache.load(f"{name}-{part}", make) if cache else make()

    def save_html(self, path: str | Path) -> None:
        """Write one file that shows the figure when it is opened, without a kernel, a server or the network."""
        Path(path).write_text(page([self]), encoding="utf-8")

    def _view(self, values: dict[str, Any]) -> View:
        """Return the frames at values of all controls, computed where the grid has no such values."""
        if all(self._controls[name].offers(value) for name, value in values.items()):
            setting = {name: self._controls[name].grid.index(value) for name, value in values.items()}
            return View(self._kept, setting, values)
        block = self._compute(values, [*range(len(self._sources)), *self._slots])
        return View(Frames(block, dict.fromkeys(values, 1)), dict.fromkeys(values, 0), values)

    def _first(self) -> View:
        """Return the frames of the start state, which the still picture shows."""
        return self._view({name: control.first for name, control in self._controls.items()})

    def _compute(self, values: dict[str, Any], parts: list[int | str]) -> bytes:
        """Compute some sources (numbers) and slots (names) at values of all controls, as one block of frames."""
        with self._computing, self._within():
            sources = [self._sources[part].at(values) for part in parts if isinstance(part, int)]
            return pack(sources, {part: self._slots[part].at(values) for part in parts if isinstance(part, str)})

    def _shown(self, view: View) -> dict[str, Any]:
        panels = [panel.at(spec, view) for panel, spec in zip(self._panels, self._spec["panels"])]
        words = {spec["name"]: words_of(spec, view.value(spec["name"])) for spec in self._spec["controls"]}
        detail = self._detail.at(self._spec["detail"], view, words) if self._detail else ""
        return {"sentence": self._sentence.at(self._spec["sentence"], view, words), "detail": detail, "panels": panels}

    def _picture(self) -> dict[str, str]:
        """Return the still picture of the start state, {src, alt}, drawn when it is first asked for."""
        if not self._still:
            view = self._first()
            src = still_picture(self._panels, self._spec["panels"], self._spec["rows"], view)
            self._still = {"src": src, "alt": f"{self._spec['title']}. {self._shown(view)['sentence']}"}
        return self._still

    def _repr_mimebundle_(self, **kwargs):
        """Return anywidget's own bundle, and the figure for hosts without its widgets: as HTML, as a picture, as words."""
        data, metadata = super()._repr_mimebundle_(**kwargs)
        still = self._picture()
        data["text/html"] = self.html()
        data["image/png"] = still["src"].partition(",")[2]
        data["text/plain"] = still["alt"]
        return data, metadata

    def _answer(self, _widget: object, message: dict, _buffers: list) -> None:
        """Answer a figure in a browser: greet it, or compute the parts that it asks for at the values that it names.

        A part is the number of a source or the name of a slot; the answer is one block of frames (js/kernel.js).
        """
        reply = {"type": message["type"], "view": message["view"], "id": message.get("id")}
        if message["type"] == "hello":
            return self.send(reply)
        try:
            values = {name: control.check(message["values"][name]) for name, control in self._controls.items()}
            block = self._compute(values, message["parts"])
        except Exception as error:  # whatever it is, the reader must hear of it
            return self.send({**reply, "type": "failed", "error": str(error) or repr(error)})
        self.send(reply, [block])


def words_of(control: dict, value: Any) -> str:
    """Return a control's value as the reader sees it, in the figure's language."""
    return control["words"][control["values"].index(value)] if value in control["values"] else str(value)


def sources_of_words(name: str, sentences: list[Sentence], controls: list[Control]) -> dict[str, Source]:
    """Return the functions that fill the slots of all sentences, or raise a ValueError where two differ in a slot."""
    slots: dict[str, Any] = {}
    for sentence in sentences:
        if twice := sorted(slot for slot, function in sentence.slots.items() if slots.get(slot, function) != function):
            raise ValueError(
                f"{name}: sentence and detail fill the slots {twice} by different functions: name them apart"
            )
        slots |= sentence.slots
    return {slot: source for sentence in sentences for slot, source in sentence.sources(controls).items()}


def check_name_and_words(name: str, words: dict[str, Words]) -> None:
    """Raise a ValueError where a figure's name cannot stand in an address or name a file, or its words are no text."""
    if not isinstance(name, str) or not re.fullmatch(r"[^\s/\\:#]{1,60}", name):
        raise ValueError(f"figure name {name!r}: it must be 1 to 60 letters, without a blank, /, \\, : and #")
    for key, text in words.items():
        if not isinstance(text, str | Text):
            raise ValueError(f"{name}: {key} must be str or Text, not {text!r}")


def check_controls(controls: list[Control]) -> None:
    """Raise a ValueError where two controls share a name, one has a name that the widget uses, or plays until no slider."""
    names = [control.name for control in controls]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"controls {twice} are named more than once")
    if taken := [name for name in names if hasattr(Explorable, name)]:
        raise ValueError(f"controls {taken} have names that every widget uses for itself: choose others")
    sliders = [control.name for control in controls if control.kind == "range"]
    if lost := [control.until for control in controls if control.until and control.until not in sliders]:
        raise ValueError(f"controls play until the value of {lost}, but the sliders are {sliders}")


def check_settings(sources: list[Source]) -> None:
    """Raise a ValueError where a function would have to be called at too many settings of its controls."""
    for source in sources:
        grids = [f"{len(grid)} of {name!r}" for name, grid in source.grids.items()]
        if source.settings > SETTINGS:
            raise ValueError(
                f"{source.where} has {source.settings} settings, {' times '.join(grids)}: at most {SETTINGS} can be computed, "
                "so give its controls fewer values, or the function fewer controls"
            )


def check_every_control_is_used(
    name: str, controls: list[Control], panels: Sequence[Panel], sources: list[Source]
) -> None:
    """Raise a ValueError where a control would change nothing."""
    grids = {control.name: control.grid for control in controls}
    used = {used for source in sources for used in source.names}
    used |= {used for panel in panels for used in panel.controls_used(grids, name)}
    if idle := [control for control in grids if control not in used]:
        raise ValueError(f"{name}: controls {idle} would change nothing, for no function names them")
