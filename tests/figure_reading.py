"""What the tests of the figures share: a figure and the numbers and words of its frames, read at values of its controls."""

import base64
import itertools
import re

import numpy as np

from explorable import Explorable
from explorable.explorable import said
from explorable.frames import Frames

__all__ = ["Reading"]


class Reading:
    """A figure with its frames, read at values of its controls; those left out are as at the start."""

    def __init__(self, figure: Explorable):
        self.figure, self.spec, self.panels = figure, figure._spec, figure._spec["panels"]
        self.grids = {control["name"]: control["values"] for control in self.spec["controls"]}
        self.start = {control["name"]: control["start"] for control in self.spec["controls"]}
        self.frames = Frames(figure._frames, {name: len(grid) for name, grid in self.grids.items()})

    def setting(self, values: dict) -> dict[str, int]:
        assert set(values) <= set(self.grids)
        return {name: grid.index(values.get(name, self.start[name])) for name, grid in self.grids.items()}

    def settings(self, *names: str) -> list[dict]:
        """Return every setting of some controls, as values."""
        return [dict(zip(names, values)) for values in itertools.product(*(self.grids[name] for name in names))]

    def array(self, source: int, **values) -> np.ndarray:
        return self.frames.array(source, self.setting(values))

    def series(self, panel: int, number: int, axis: str = "y", **values) -> np.ndarray:
        """Return x or y of a series, by its place in a panel."""
        return self.array(self.panels[panel]["series"][number][axis], **values)

    def line(self, panel: int, label: str, **values) -> tuple[np.ndarray, np.ndarray]:
        """Return x and y of the series with a label."""
        (number,) = [i for i, one in enumerate(self.panels[panel]["series"]) if one["label"] == label]
        return self.series(panel, number, "x", **values), self.series(panel, number, "y", **values)

    def words(self, slot: str, **values) -> str:
        return self.frames.words(slot, self.setting(values))

    def sentence(self, **values) -> str:
        return said(self.spec, self.frames, self.setting(values))

    def on_screen(self, **values) -> list:
        """Return all that is drawn, without the words: a series out of focus as its median, lines cut to the x axis."""
        now, drawn = self.start | values, []
        for panel in self.panels:
            sources = [panel[axis]["limits"] for axis in ("x", "y", "scale") if axis in panel]
            sources += [panel[part] for part in ("matrix", "nodes", "edges") if part in panel]
            drawn += [self.array(source, **values).tolist() for source in sources]
            for one in panel.get("series", []):
                if one["visible_if"] is not None and not now[one["visible_if"]]:
                    continue
                low, high = self.array(panel["x"]["limits"], **values)
                x, y = (np.atleast_2d(self.array(one[axis], **values)) for axis in "xy")
                inside = one["focus"] is None or now[one["focus"][0]] == one["focus"][1]
                rows = y if inside else np.median(y, axis=0, keepdims=True)
                seen = (low <= x[0]) & (x[0] <= high)
                drawn.append((one["label"], inside, x[0, seen].tolist(), rows[:, seen].tolist()))
        return drawn

    def one_step(self, name: str) -> list:
        """Return the values next to a control's start."""
        grid, at = self.grids[name], self.grids[name].index(self.start[name])
        return [grid[i] for i in (at - 1, at + 1) if 0 <= i < len(grid)]

    def answer(self, values: dict, parts: list | None = None) -> tuple[dict, Frames | None]:
        """Return what a live kernel answers at values that may lie between the grid's: the message, and its frames.

        parts: numbers of sources and names of slots, all where left out. The frames have one setting, 0 everywhere.
        """
        sent = []
        self.figure.send = lambda content, buffers=None: sent.append((content, buffers))
        parts = parts or [*range(len(self.figure._sources)), *self.figure._slots]
        message = {"type": "frames", "view": "v", "id": 1, "values": self.start | values, "parts": parts}
        self.figure._answer(self.figure, message, [])
        del self.figure.send
        ((content, buffers),) = sent
        return content, Frames(buffers[0], dict.fromkeys(self.grids, 1)) if buffers else None

    def still(self) -> bytes:
        """Return the still picture, a PNG."""
        page = self.figure._repr_mimebundle_()[0]["text/html"]
        return base64.b64decode(re.search(r'src="data:image/png;base64,([^"]+)"', page)[1])
