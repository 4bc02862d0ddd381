"""The still picture of a figure: its start state, for readers without JavaScript, for print and for export.

It carries symbols and numbers only, no words, so it needs no font of any language.
"""

import base64
import io

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from PIL import Image

from .frames import Frames
from .numbers import number_text

__all__ = ["still_picture"]

COLORS = {"vermilion": "#d55e00", "green": "#009e73", "blue": "#0072b2", "grey": "#8a8a8a"}
MARKS = {"circle": "o", "square": "s", "triangle": "^", "wedge": "v", "diamond": "D", "cross": "x"}


def still_picture(spec: dict, frames: Frames, setting: dict[str, int]) -> str:
    """Draw a figure's panels at a setting and return them as the address (data:) of a small palette PNG."""
    panels, rows = spec["panels"], spec["rows"]
    figure = Figure(figsize=(7, 3.6 if len(panels) == 1 else 3 * len(rows)), layout="constrained")
    FigureCanvasAgg(figure)
    parts = figure.subfigures(len(rows), squeeze=False)[:, 0]
    places = [axes for part, count in zip(parts, rows) for axes in part.subplots(1, count, squeeze=False)[0]]
    for axes, panel in zip(places, panels):
        DRAW[panel["kind"]](figure, axes, panel, frames, setting, spec)
    png = io.BytesIO()
    figure.savefig(png, dpi=90)
    small = io.BytesIO()
    picture = Image.open(png).convert("RGB")
    picture.quantize(48, Image.Quantize.MAXCOVERAGE).save(small, "PNG", optimize=True)  # rare colours are kept too
    return "data:image/png;base64," + base64.b64encode(small.getvalue()).decode()


def draw_lines(figure, axes, panel: dict, frames: Frames, setting: dict[str, int], spec: dict) -> None:
    controls = {control["name"]: control for control in spec["controls"]}

    def value(name):
        return controls[name]["values"][setting[name]]

    for series in panel["series"]:
        if series["visible_if"] is not None and not value(series["visible_if"]):
            continue
        x, y = frames.array(series["x"], setting), frames.array(series["y"], setting)
        family = np.atleast_2d(y)
        inside = series["focus"] is None or value(series["focus"][0]) == series["focus"][1]
        color = COLORS[series["color"]] if inside else COLORS["grey"]
        if inside and len(family) > 1:
            axes.plot(x, family.T, color=color, linewidth=0.6, alpha=0.5)
        style = {"linestyle": "--" if series["dashed"] else "-", "linewidth": 2.2 if inside else 1}
        style |= {"marker": MARKS[series["mark"]], "markevery": 0.15 if len(x) > 1 else None}  # a share of the line
        middle = np.median(family, axis=0)
        if np.isfinite(middle).any():  # a line that is an exact 0 everywhere lies below the plot
            axes.plot(x, middle, color=color, **style)
    for rule in panel["rules"]:
        axes.axhline(rule["y"], color=COLORS["grey"], linewidth=0.8, linestyle=":")
    finish(axes, panel, frames, setting)


def draw_heatmap(figure, axes, panel: dict, frames: Frames, setting: dict[str, int], spec: dict) -> None:
    matrix = np.ma.masked_invalid(frames.array(panel["matrix"], setting))  # −∞, no path: left blank
    low, high = frames.array(panel["scale"]["limits"], setting)
    rows, columns = matrix.shape
    extent = (0.5, columns + 0.5, rows + 0.5, 0.5)
    image = axes.imshow(matrix, cmap=colormap(panel), vmin=low, vmax=high, extent=extent, interpolation="nearest")
    bar = axes.figure.colorbar(image, ax=axes, orientation="horizontal")
    for key, axis in (("row_words", axes.yaxis), ("column_words", axes.xaxis)):
        if panel[key]:
            words = frames.words(panel[key], setting).split()
            axis.set_ticks(range(1, len(words) + 1), words, fontsize=7)
    if panel["column_words"]:
        axes.tick_params(axis="x", rotation=90)
    write_numbers(bar.ax.xaxis, panel["scale"])
    bar.set_label(math(panel["scale"]))


def draw_graph(figure, axes, panel: dict, frames: Frames, setting: dict[str, int], spec: dict) -> None:
    nodes, edges = frames.array(panel["nodes"], setting), frames.array(panel["edges"], setting)
    for start, end, strength in edges:
        ends = nodes[[int(start), int(end)]]
        axes.plot(ends[:, 0], ends[:, 1], color=COLORS["grey"], linewidth=0.5 + 1.5 * strength, zorder=1)
    if panel["color"]:
        faces = [COLORS[panel["color"]] if number else "white" for number in nodes[:, 2]]
        style = {"c": faces, "edgecolors": COLORS[panel["color"]], "marker": MARKS[panel["mark"]]}
    else:
        low, high = frames.array(panel["scale"]["limits"], setting)
        style = {"c": nodes[:, 2], "cmap": colormap(panel), "vmin": low, "vmax": high}
    finish(axes, panel, frames, setting)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(integer=True))
    size = min(6, 0.6 * gap(figure, axes, nodes))
    axes.scatter(nodes[:, 0], nodes[:, 1], zorder=2, s=size**2, linewidths=size / 5, **style)


def gap(figure, axes, nodes: np.ndarray) -> float:
    """Return the smallest distance across between two nodes, in points, a little less than it will be laid out."""
    low, high = axes.get_xlim()
    points = 72 * figure.get_figwidth() * axes.get_position().width
    return np.diff(np.unique(nodes[:, 0])).min(initial=high - low) / (high - low) * points


DRAW = {"lines": draw_lines, "heatmap": draw_heatmap, "graph": draw_graph}


def finish(axes, panel: dict, frames: Frames, setting: dict[str, int]) -> None:
    axes.set_xlim(*frames.array(panel["x"]["limits"], setting))
    axes.set_ylim(*frames.array(panel["y"]["limits"], setting))
    axes.set_xlabel(math(panel["x"]))
    axes.set_ylabel(math(panel["y"]))
    write_numbers(axes.xaxis, panel["x"])
    write_numbers(axes.yaxis, panel["y"])
    axes.spines[["top", "right"]].set_visible(False)


def math(axis: dict) -> str:
    """Return an axis's symbol for matplotlib to set as a formula."""
    return f"${axis['symbol']}$" if axis["symbol"] else ""


def write_numbers(drawn, axis: dict) -> None:
    """Write the numbers of an axis: whole powers of ten where they are decades."""
    if axis["log10"]:
        drawn.set_major_locator(MaxNLocator("auto", integer=True, min_n_ticks=1))
    drawn.set_major_formatter((lambda v, _: f"$10^{{{v:g}}}$") if axis["log10"] else (lambda v, _: number_text(v)))


def colormap(panel: dict) -> LinearSegmentedColormap:
    return LinearSegmentedColormap.from_list("explorable", panel["colormap"])
