"""Panels: what each kind refuses with a sentence that names it, and its still picture."""

import base64
import io
import math
import re

import matplotlib.figure
import numpy as np
import pytest
from PIL import Image
from small_figures import UNIT, N, figure, graph, heatmap, lines

from explorable import Arcs, Axis, Bar, Companion, Graph, Lines, Series, Shares
from explorable.frames import View

DECADES = Axis("size", (-3, 0), log10=True, resolution=0.01)
HALVES = Bar([0.5, 0.5], "halves")
ONE_MORE = Companion(lambda n: np.eye(n + 1), "companion")


def arcs(matrix=lambda n: np.eye(n), **options):
    words = {"row_words": lambda n: n * ["a"], "column_words": lambda n: n * ["b"]}
    return Arcs(matrix, "arcs", "row", "column", UNIT, **words | options)


@pytest.mark.parametrize(
    "panel, words",
    [
        # what it is made of
        (lines(color="red"), "'red'"),
        (lines(color=None), "None"),
        (lines(mark="star"), "'star'"),
        (heatmap(color="red"), "'red'"),
        (Graph([[0, 0, 0]], [[0, 0, 1]], "graph", UNIT, UNIT), "scale None and color None: give one of the two"),
        (lines(focus=("n", 3)), "focus at n = 3"),
        (lines(focus=("m", 1)), "focus at m = 1"),
        (lines(focus=lambda m: True), r"line focus depends on \['m'\]"),
        (lines(focus=lambda n: [True]), r"line focus at n=1 gave the shape \(1,\)"),
        (lines(visible_if="m"), "'m'"),
        (lines(visible_if="n"), "'n'.*no checkbox"),
        (Lines("l", UNIT, UNIT, [Series([0, 1], [0, 1], 31 * "l")]), "31 letters wide, a Chinese one as 2: at most 20"),
        (Lines("l", UNIT, UNIT, [Series([0, 1], [0, 1], 16 * "长")]), "32 letters wide"),
        # its limits
        (heatmap(scale=Axis("", (1, 0))), r"matrix.*\(1, 0\): the first must be below the second"),
        (heatmap(scale=Axis("", (1, 1))), r"matrix.*\(1, 1\)"),
        (heatmap(scale=Axis("", (-math.inf, 0))), "matrix.*the limits -inf and 0 do not rise"),
        (heatmap(scale=Axis("", lambda n: (0, 2 - n))), "matrix.*the limits 0 and 0 do not rise"),
        *(
            (heatmap(scale=Axis("", (0, 1), resolution=r)), f"resolution {r}: it")
            for r in (math.inf, 0.0, -1.0, math.nan)
        ),
        (heatmap(scale=Axis("", (-1e308, 1e308))), r"1e\+308: a number of a figure is at most 1e\+300"),
        (heatmap(scale=Axis("", lambda: (-1e308, 1e308))), r"1e\+308: a number of a figure is at most 1e\+300"),
        # what its functions give
        (heatmap(lambda m: m), r"matrix.*depends on \['m'\]"),
        (heatmap(lambda n: np.full((n, n), np.nan)), "matrix' at n=1 gave 1 NaN"),
        (heatmap(lambda n: np.full((2, n), np.inf)), "matrix' at n=1 gave 2 NaN"),
        (heatmap(lambda n: [["a"]]), "matrix' at n=1 gave <U1"),
        (heatmap(lambda n: [[0], [0, 1]]), "matrix' at n=1 gave rows of different lengths"),
        (heatmap(lambda n: np.ones(n)), r"matrix.*\(1,\)"),
        (lines(lambda n: np.ones((n, 2, 2))), r"line.*\(1, 2, 2\)"),
        (lines(x=np.ones((2, 2))), r"line x.*\(2, 2\)"),
        (lines(x=[0, 1, 2]), "'line' has 2 y for 3 x"),
        (lines(lambda n: [0] * n, x=[0]), "'line' has 2 y for 1 x"),  # at the second setting only
        (graph(lambda n: np.ones((n, 2))), r"nodes.*\(1, 2\)"),
        (graph(edges=[[0, 1]]), r"edges.*\(1, 2\)"),
        (graph(edges=[[0, 2, 1]]), r"edges end at nodes \[2.0\], but there are 2"),
        (graph(lambda n: [[0, -np.inf, 0], [1, 1, 1]]), "nodes at −∞"),
        (heatmap(companion=ONE_MORE), r"a companion of \(2, 2\) for the matrix of \(1, 1\): both must agree"),
        (heatmap(row_words=["a", "b"]), "2 row_words for 1"),
        (heatmap(column_words=lambda n: (n + 1) * ["a"]), "2 column_words for 1"),
        (heatmap(row_words=["a b", "", "c"]), r"\['a b', ''\] among 3"),
        (heatmap(row_words=lambda m: ["a"]), r"depends on \['m'\]"),
        (heatmap(row_words=lambda n: n * ["a"], word_colors={"b": "red"}), "'red'"),
        (heatmap(row_words=lambda n: n * ["a"], word_colors={"b": "blue"}), r"\['a'\] among its row_words"),
        (Shares("bars", [Bar(lambda n: [0.5, 0.4], "torn")], "part", UNIT), "'torn' go down to 0 and add up to 0.9"),
        (Shares("bars", [Bar(lambda n: [-1.0, 2.0], "torn")], "part", UNIT), "'torn' go down to -1"),
        (Shares("bars", [Bar([1], "all", focus=("n", 3))], "part", UNIT), "focus at n = 3"),
        (Shares("bars", [HALVES], "part", UNIT, mark="star"), "'star'"),
        (heatmap(faint_at=("n", 3)), "faint at n = 3, which no control offers"),
        (arcs(row_words=["a", "b"]), r"arcs.*2 row_words for 1"),
        (arcs(column_words=["a b"]), r"\['a b'\] among 1"),
        (arcs(color="red"), "'red'"),
    ],
)
def test_a_panel_that_could_not_be_drawn_is_refused_by_name(panel, words):
    with pytest.raises(ValueError, match=words):
        figure(panel, controls=[N])


# Still pictures


def picture(*panels, **options):
    """Return the still picture of a figure of these panels."""
    (png,) = re.findall(r'src="data:image/png;base64,([^"]+)"', figure(*panels, **options).html())
    return Image.open(io.BytesIO(base64.b64decode(png)))


@pytest.mark.parametrize(
    "panel",
    [
        heatmap(),
        heatmap(np.full((3, 3), -np.inf), DECADES),
        lines(),
        lines(lambda n: np.eye(2) * n),
        Lines("nothing", UNIT, DECADES, [Series(2 * [[-math.inf] * 2], [0, 1], "a"), Series([-1, -1], [0, 1], "b")]),
        Lines("large", Axis("size", (-1e300, 1e300)), UNIT, [Series([0, 1], [-1e300, 1e300], "line")]),
        graph(),
        Shares("bars", [HALVES, Bar(lambda n: [1 / n] * n, "even")], "part", UNIT),
        arcs(),
        arcs(lambda n: np.full((n, n), -np.inf), through="c"),
    ],
)
def test_every_kind_has_a_still_picture_also_of_nothing_and_of_the_largest(panel):
    image = picture(panel, heatmap())
    assert image.format == "PNG"
    assert len(image.getcolors()) > 2


VERMILION, GREY = (213, 94, 0), (138, 138, 138)


def where(image, color, off):
    """Return where an image has a color: (height, width)."""
    return abs(np.asarray(image.convert("RGB"), int) - color).max(-1) < off


def test_the_still_picture_marks_a_series_of_one_point():
    image = picture(Lines("lines", UNIT, UNIT, [Series(lambda n: [0.5], [0.5], "now")]))
    assert 10 < where(image, VERMILION, 40).sum() < 200


def test_a_grey_mark_beside_a_heatmap_stays_grey_in_the_still_picture():
    """The picture has a palette of few colours, most of which a heatmap could take."""
    now = Lines("lines", UNIT, UNIT, [Series(lambda n: [0.5], [0.5], "now", "grey")])
    image = picture(now, heatmap(lambda n: np.linspace(0, 1, 64).reshape(8, 8)))
    assert where(image, GREY, 12)[60:200, 100:250].sum() > 10  # inside the lines' axes


@pytest.mark.parametrize("count", [5, 31, 41])
def test_the_marks_of_a_graph_in_the_still_picture_stand_apart(count):
    nodes = [[i, 0.5, 1] for i in range(count)]
    across = Axis("place", (-1, count))
    panel = Graph(lambda n: nodes, [[0, 0, 0]], "graph", across, UNIT, color="vermilion", mark="square")
    row = max(where(picture(panel, panel), VERMILION, 40), key=np.sum).astype(int)
    assert (np.diff(row) == 1).sum() == 2 * count


def number_of(text):
    """Return the number that a tick of a still picture says."""
    power = re.fullmatch(r"\$10\^\{(-?\d+)\}\$", text)
    return 10.0 ** int(power[1]) if power else float(text)


@pytest.mark.parametrize(
    "limits", [(-0.7, 1.6), (-2.3, 0.6), (0.7, 2.2), (-300, 40), (-1.1, 0.1), (0.85, 3.05), (0.31, 0.33), (-0.05, 3.9)]
)
def test_an_axis_of_decades_has_two_ticks_at_least_that_say_where_they_are(limits):
    axis = Axis("size", limits, log10=True, resolution=0.01)
    made = figure(Lines("lines", axis, axis, [Series(lambda n: limits, limits, "line")]), heatmap(scale=axis))
    drawn = matplotlib.figure.Figure()
    for panel, spec, axes in zip(made._panels, made._spec["panels"], drawn.subplots(1, 2)):
        panel.draw(spec, View(made._kept, {"n": 0}, {"n": 1}), axes)
    lines, _, bar = drawn.axes
    for numbered in (lines.xaxis, lines.yaxis, bar.xaxis):
        assert tuple(numbered.get_view_interval()) == pytest.approx(limits)
        ticks = numbered.get_majorticklocs()
        texts = [numbered.get_major_formatter()(tick, i) for i, tick in enumerate(ticks)]
        assert len(ticks) >= 2 and all(limits[0] - 1e-6 <= tick <= limits[1] + 1e-6 for tick in ticks)
        for tick, text in zip(ticks, texts):
            assert number_of(text) == pytest.approx(10.0**tick, rel=1e-3)
        factors = {text.strip("0.")[:1] for text in texts if not text.startswith("$")}
        assert limits[1] - limits[0] < 0.3 or factors <= ({"1", "2", "5"} if limits[1] - limits[0] < 3 else {"1"})
