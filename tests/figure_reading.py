"""What the tests of the figures share: a figure's numbers and words one by one, those that are off screen too."""

import itertools

import numpy as np

from explorable import Explorable

__all__ = ["Reading"]


class Reading:
    """A figure read at values of its controls, on the grid or off it; those left out are as at the start."""

    def __init__(self, figure: Explorable):
        self.figure, self.panels = figure, figure._spec["panels"]
        self.grids = {name: control.grid for name, control in figure._controls.items()}
        self.start = {name: control.first for name, control in figure._controls.items()}

    def settings(self, *names: str) -> list[dict]:
        """Return every setting of some controls, as values."""
        return [dict(zip(names, values)) for values in itertools.product(*(self.grids[name] for name in names))]

    def array(self, source: int, **values) -> np.ndarray:
        return self.figure._view(self.start | values).array(source)

    def series(self, panel: int, number: int, axis: str = "y", **values) -> np.ndarray:
        """Return x or y of a series, by its place in a panel."""
        return self.array(self.panels[panel]["series"][number][axis], **values)

    def line(self, panel: int, label: str, **values) -> tuple[np.ndarray, np.ndarray]:
        """Return x and y of the series with a label."""
        (number,) = [i for i, one in enumerate(self.panels[panel]["series"]) if one["label"] == label]
        return self.series(panel, number, "x", **values), self.series(panel, number, "y", **values)

    def words(self, slot: str, **values) -> str:
        return self.figure._view(self.start | values).words(slot)

    def sentence(self, **values) -> str:
        return self.figure.at(**values)["sentence"]

    def detail(self, **values) -> str:
        return self.figure.at(**values)["detail"]
