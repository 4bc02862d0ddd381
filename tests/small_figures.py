"""Small made-up figures for the tests of the explorable: four controls, a panel of each kind, and a default for the rest."""

import itertools

import numpy as np

from explorable import Axis, Control, Explorable, Graph, Heatmap, Lines, Sentence, Series, Text

N = Control("n", [1, 2, 4], label="length")
GAIN = Control("gain", [0.5, 1.0], label="gain", start=1.0)
FLAG = Control("causal", [False, True], label="causal")
CELL = Control("cell", {"a": "Alpha", "b": Text(zh="乙", en="Beta")}, label="cell")
UNIT = Axis("size", (0, 1), resolution=0.01)
SAID = Sentence("said")


def heatmap(matrix=lambda n: np.eye(n), scale=UNIT, **options):
    return Heatmap(matrix, "matrix", "row", "column", scale, **options)


def lines(y=lambda n: [0, n], x=(0, 1), **options):
    return Lines("lines", UNIT, UNIT, [Series(y, x, "line", **options)])


def graph(nodes=lambda n: [[0, 0, n], [1, 1, 0]], edges=((0, 1, 1),)):
    return Graph(nodes, edges, "graph", UNIT, UNIT, UNIT)


def figure(*panels, controls=(N,), sentence=SAID, name="made-up", **words):
    given = {"title": "Title", "caption": "Caption", "how_to_read": "Reading"} | words
    return Explorable(name, controls=list(controls), panels=panels or [heatmap()], sentence=sentence, **given)


def sizes(*controls):
    return {control.name: len(control.grid) for control in controls}


def settings(*controls):
    """Return every setting of controls, as numbers on their grids, the last fastest."""
    ranges = [range(len(control.grid)) for control in controls]
    return [dict(zip([control.name for control in controls], numbers)) for numbers in itertools.product(*ranges)]
