"""Parts of a figure that the page itself can compute, at values that no grid holds, from traces that the figure brings.

A function of a panel or a slot may be one result of a trace: ``function.trace`` then gives bytes, ``to_bytes()``, and the
program that runs them in a page, ``script``, which defines ``traced(bytes)``; ``function.output`` is the number of the
result.  The package ``traced`` makes such functions of PyTorch's; this one only carries them.
"""

import base64
import hashlib
from collections.abc import Callable
from typing import Any

from .control import Control
from .source import Source

__all__ = ["Traces"]

Keep = Callable[[str, Callable[[], bytes]], bytes]  # (name, make) -> what was made, now or before


class Traces:
    """The traces of a figure: of its sources, by their numbers, and of its slots, by their names."""

    def __init__(self, parts: dict[int | str, Source], controls: list[Control], keep: Keep):
        self.parts: dict[int | str, Any] = {k: p.function for k, p in parts.items() if hasattr(p.function, "trace")}
        self.all: list[Any] = list({id(one.trace): one.trace for one in self.parts.values()}.values())
        self.keep = keep
        self.free = [control.name for control in controls if self.frees(control, parts)]

    def frees(self, control: Control, parts: dict[int | str, Source]) -> bool:
        """Return whether the page can compute all that depends on a slider, at any value in its range."""
        touched = [key for key, part in parts.items() if control.name in part.names]
        return control.kind == "range" and control.continuous and all(key in self.parts for key in touched)

    def spec(self) -> list[list]:
        """Return what the browser needs to know of each part: [key, number of its trace, number of its result, digits, words]."""
        if not self.free:
            return []
        numbers = {id(trace): number for number, trace in enumerate(self.all)}
        return [
            [key, numbers[id(one.trace)], one.output, *(getattr(one, name, None) for name in ("digits", "words"))]
            for key, one in self.parts.items()
        ]

    def html(self) -> str:
        """Return the programs and the bytes as elements that a page does not run; a site may move what they hold to files."""
        if not self.free:
            return ""
        programs = {digest(trace.script): trace.script for trace in self.all}
        held = [element("program", name, text) for name, text in programs.items()]
        for number, trace in enumerate(self.all):
            data = base64.b64encode(self.keep(f"trace-{number}", trace.to_bytes)).decode()
            held.append(element("trace", digest(data), data, f' data-program="{digest(trace.script)}"'))
        return "".join(held)


def element(kind: str, name: str, text: str, more: str = "") -> str:
    if "</script" in text.lower():
        raise ValueError(f"the {kind} {name} ends the element that holds it: it must not contain </script")
    return f'<script type="text/plain" class="{kind}" data-name="{name}"{more}>{text}</script>'


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
