"""Diagram: boxes and the arrows between them, which light up as the controls say."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import Signature, signature
from typing import Any

import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from ..frames import Frames, View
from ..look import COLORS, check_look
from ..source import Add
from ..text import Words
from .panel import AddWords, Panel

__all__ = ["Diagram", "Edge", "Node"]

SHAPES = ("box", "circle", "frame", "text")
ALIGNS = {"start": "left", "middle": "center", "end": "right"}  # and what matplotlib calls them
FLOWS = ("up", "right")
TAB = "\t"  # between what is written on one part and on the next, all of which is one text in the frames
CIRCLE, ROUNDING = 0.03, 0.08  # of a still picture: how wide a circle is, of its width; corners of a box, in columns


@dataclass(frozen=True)
class Node:
    """One box, at a column and a row of a grid that is as wide as the panel; rows count upwards.

    name: what edges and functions call it.  symbol and label: a symbol such as ``h_{t-1}`` and words, one above the
    other, or on one line in a text that does not align in its middle.  shape: a box; a circle, for an operation; a frame, which lies behind others and cannot be picked; a text
    without a border.  size: how many columns and rows a box or a frame takes.  align: which end of a text is at its column.
    """

    name: str
    column: float
    row: float
    symbol: str = ""
    label: Words = ""
    shape: str = "box"
    color: str = "grey"
    size: tuple[float, float] = (0.8, 0.6)
    align: str = "middle"


@dataclass(frozen=True)
class Edge:
    """An arrow from one node to another.

    via: corners on its way, as (column, row).  color: that of the node that it enters when left out.
    """

    start: str
    end: str
    via: tuple[tuple[float, float], ...] = ()
    color: str | None = None
    dashed: bool = False

    @property
    def name(self) -> tuple[str, str]:
        return self.start, self.end


@dataclass(frozen=True)
class Diagram(Panel):
    """Nodes and the arrows between them; picking a node shows what it is computed from.

    The functions return dicts from what they speak of, the name of a node or (start, end) of an edge.
    lit: how strongly it is lit, from 0 to 1; None: it is not there; what is not named is at 0.  written: numbers as
    text, below a node's symbol or on the middle of an edge.  moved: (column, row) of nodes that move.
    flow: "up" or "right", where an arrow to a node that is neither above nor beside another leads to.
    """

    kind = "diagram"
    nodes: list[Node]
    edges: list[Edge]
    title: Words
    lit: Callable[..., Any]
    written: Callable[..., Any] | None = None
    moved: Callable[..., Any] | None = None
    flow: str = "up"

    def spec(self, add: Add, add_words: AddWords) -> dict:
        where = f"diagram {str(self.title)!r}"
        self.check_parts(where)
        names = [node.name for node in self.nodes]
        colors = {node.name: node.color for node in self.nodes}
        places = {node.name: (node.column, node.row) for node in self.nodes}
        keys = [*names, *(edge.name for edge in self.edges)]
        moved = over(names, self.moved or dict, f"{where} moved", lambda name: places[name])
        lit = over(keys, self.lit, f"{where} lit", lambda _: 0)
        written = over(keys, self.written or dict, f"{where} written", lambda _: "")
        return {
            "kind": self.kind,
            "title": str(self.title),
            "parts": [
                {
                    "symbol": node.symbol,
                    "label": str(node.label),
                    "shape": node.shape,
                    "color": node.color,
                    "size": node.size,
                    "align": node.align,
                }
                for node in self.nodes
            ],
            "edges": [
                {
                    "ends": [names.index(edge.start), names.index(edge.end)],
                    "via": edge.via,
                    "color": edge.color or colors[edge.end],
                    "dashed": edge.dashed,
                }
                for edge in self.edges
            ],
            "flow": self.flow,
            "limits": self.limits,
            "places": add(moved, f"{where} moved", (None, 2), resolution=0.001),
            "lit": add(
                signed(lambda values: [strength(one) for one in values], lit), f"{where} lit", (None,), resolution=0.001
            ),
            "written": add_words(signed(lambda values: joined(values, where), written), f"{where} written"),
        }

    @property
    def limits(self) -> list[list[float]]:
        """The columns and rows that all nodes and corners take."""
        corners = [corner for edge in self.edges for corner in edge.via]
        columns, rows = [column for column, _ in corners], [row for _, row in corners]
        for node in self.nodes:
            wide, high = (0, 0) if node.shape in ("circle", "text") else node.size
            columns += [node.column - wide / 2, node.column + wide / 2]
            rows += [node.row - high / 2, node.row + high / 2]
        return [[min(columns), max(columns)], [min(rows), max(rows)]]

    def check_parts(self, where: str) -> None:
        """Raise a ValueError for parts that cannot be drawn."""
        names = [node.name for node in self.nodes]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"{where} has nodes {twice} more than once: give each its own name")
        for node in self.nodes:
            check_look(f"{where}, node {node.name!r},", node.color, "circle")
            if node.shape not in SHAPES or node.align not in ALIGNS:
                raise ValueError(
                    f"{where}, node {node.name!r}, has shape {node.shape!r} and align {node.align!r}: "
                    f"choose from {SHAPES} and {tuple(ALIGNS)}"
                )
        if self.flow not in FLOWS:
            raise ValueError(f"{where} has flow {self.flow!r}: choose from {FLOWS}")
        keys = [edge.name for edge in self.edges]
        if stray := sorted({end for ends in keys for end in ends} - set(names)):
            raise ValueError(f"{where}: edges end at nodes {stray}, but it has {names}")
        if twice_drawn := sorted({key for key in keys if keys.count(key) > 1}):
            raise ValueError(f"{where} has edges {twice_drawn} more than once: at most 1 leads from a node to another")

    def check(self, spec: dict, frames: Frames, where: str) -> None:
        for view in frames.views(spec["lit"]):
            lit = view.array(spec["lit"])
            if outside := [value for value in lit.tolist() if value > 1 or -np.inf < value < 0]:
                raise ValueError(f"{where}: lit gave {outside}: it must lie between 0 and 1, or be None")
        # the room that each node's words take at most, for which the browser chooses its type: no control changes it
        for i, part in enumerate(spec["parts"]):
            names = [name for name in (re.sub("[_{}]", "", part["symbol"]), part["label"]) if name]
            names = names if part["align"] == "middle" else [" ".join(names)]
            texts = [view.words(spec["written"]).split(TAB)[i] for view in frames.views(spec["written"])]
            written = [text.split("\n") for text in texts if text]
            part["widest"] = max((text_width(line) for line in [*names, *sum(written, [])]), default=0)
            part["texts"] = len(names) + max(map(len, written), default=0)

    def at(self, spec: dict, view: View) -> dict:
        """Where its nodes are, how strongly nodes and then edges are lit, and what is written on them."""
        return {
            "kind": self.kind,
            "limits": spec["limits"],
            "places": view.array(spec["places"]),
            "lit": view.array(spec["lit"]),
            "written": view.words(spec["written"]).split(TAB),
        }

    def draw(self, spec: dict, view: View, axes: Any) -> None:
        shown = self.at(spec, view)
        places, lit, written = shown["places"], shown["lit"].tolist(), shown["written"]
        (left, right), (low, high) = shown["limits"]
        across, upwards = 0.01 * (right - left), 0.03 * (high - low)  # for lines on the border
        axes.set(xlim=(left - across, right + across), ylim=(low - upwards, high + upwards))
        axes.axis("off")
        aspect = 2 * (high - low) / (right - left)  # axes are about twice as wide as they are high
        circle = CIRCLE * (right - left) * np.array([1, aspect])
        sizes = [circle if node.shape == "circle" else np.array(node.size) for node in self.nodes]
        for node, place, size, value, text in zip(self.nodes, places, sizes, lit, written):
            draw_node(node, place, size, value, text, aspect, axes)
        count = len(self.nodes)
        for edge, drawn, value, text in zip(self.edges, spec["edges"], lit[count:], written[count:]):
            start, end = drawn["ends"]
            boxes = [(places[start], sizes[start]), (places[end], sizes[end])]
            draw_edge(edge, self.flow, boxes, drawn["color"], value, text, axes)


def signed(function: Callable, inner: Callable) -> Callable:
    """Return function(inner(…)), with the parameters of inner, which name its controls."""

    def outer(**settings):
        return function(inner(**settings))

    outer.__signature__ = Signature() if inner is dict else signature(inner)  # type: ignore[attr-defined]
    return outer


def over(keys: list, function: Callable[..., Mapping], where: str, default: Callable) -> Callable[..., list]:
    """Return a function of the same controls that gives for each key in turn what the function names, or a default.

    It raises ValueError where the function names what is no key.
    """

    def values(given: Mapping) -> list:
        if stray := [key for key in given if key not in keys]:
            raise ValueError(f"{where} names {stray}: it must name some of {keys}")
        return [given.get(key, default(key)) for key in keys]

    return signed(values, function)


def text_width(text: str) -> float:
    """Return about how wide a text is in type of 13 pixels."""
    return sum(13 if letter > "⺀" else 4 if letter in " (),.:;|'il/½" else 7.6 for letter in text)


def strength(lit: float | None) -> float:
    """Return how strongly a part is lit, −∞ for one that is not there."""
    return -np.inf if lit is None else float(lit)


def joined(texts: list, where: str) -> str:
    """Return what is written as one text. Raises ValueError for what is no text, or would be read as several."""
    if wrong := [text for text in texts if not isinstance(text, str) or TAB in text]:
        raise ValueError(f"{where}: written gave {wrong}: each must be str, without a tab")
    return TAB.join(texts)


def shade(color: str, lit: float) -> tuple[float, ...]:
    """Return a color as a still picture mixes it with grey where it is not fully lit."""
    full, grey = (np.array(to_rgb(COLORS[name]["still"])) for name in (color, "grey"))
    return tuple(grey + (full - grey) * lit)


def draw_node(node: Node, place: np.ndarray, size: np.ndarray, lit: float, text: str, aspect: float, axes: Any) -> None:
    """Draw a node on a still picture, its symbol and what is written."""
    if lit < 0:
        return
    words = "\n".join([*([f"${node.symbol}$"] if node.symbol else []), *([text] if text else [])])
    axes.text(*place, words, ha=ALIGNS[node.align], va="center", fontsize=8, zorder=3)
    if node.shape == "text":
        return
    rounding = size[0] / 2 if node.shape == "circle" else ROUNDING
    style: dict[str, Any] = {
        "edgecolor": shade(node.color, lit),
        "linewidth": 0.7 + 0.8 * lit,
        "mutation_aspect": aspect,
    }
    style |= {"linestyle": "--", "facecolor": "none"} if node.shape == "frame" else {"facecolor": "white"}
    left, low = place - size / 2
    outline = f"round,pad=0,rounding_size={rounding}"
    axes.add_patch(FancyBboxPatch((left, low), size[0], size[1], boxstyle=outline, zorder=2, **style))


def draw_edge(edge: Edge, flow: str, boxes: list, color: str, lit: float, text: str, axes: Any) -> None:
    """Draw an arrow on a still picture, and what is written on its middle.  boxes: places and sizes of its two ends."""
    if lit < 0:
        return
    corners = [np.array(corner) for corner in edge.via]
    (place, size), (other, other_size) = boxes
    if corners:
        ends = [port(place, size, corners[0]), port(other, other_size, corners[-1])]
    else:
        ends = ports(place, size, other, other_size, flow)
    style: dict[str, Any] = {"color": shade(color, lit), "linewidth": 0.6 + 0.9 * lit, "zorder": 1}
    style["linestyle"] = "--" if edge.dashed else "-"
    points = [ends[0], *corners, ends[1]]
    for start, end in zip(points[:-2], points[1:]):
        axes.plot(*zip(start, end), **style)
    style |= {"arrowstyle": "-|>", "mutation_scale": 7, "shrinkA": 0, "shrinkB": 0}
    axes.add_patch(FancyArrowPatch(tuple(points[-2]), tuple(points[-1]), **style))
    if text:
        box = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
        axes.text(*(ends[0] + ends[1]) / 2, text, ha="center", va="center", fontsize=7, zorder=2, bbox=box)


def port(place: np.ndarray, size: np.ndarray, towards: np.ndarray) -> np.ndarray:
    """Return where the way from a box to a corner, which is above or beside its middle, leaves the box."""
    return place + np.sign(np.round(towards - place, 6)) * size / 2


def ports(
    place: np.ndarray, size: np.ndarray, other: np.ndarray, other_size: np.ndarray, flow: str
) -> list[np.ndarray]:
    """Return where an arrow leaves a box and enters another, as diagram.js does: straight where it can."""
    alongside = np.abs(place - other) <= np.abs(size - other_size) / 2 + 1e-6
    axis = int(alongside[0]) if alongside.any() else int(flow == "up")  # along which it goes: 1 is upwards
    half = np.eye(2)[axis] * np.sign(other - place) / 2
    ends = [place + half * size, other - half * other_size]
    if alongside.any():
        across = 1 - axis
        middle = place if size[across] < other_size[across] else other
        for one in ends:
            one[across] = middle[across]
    return ends
