"""Graph: nodes and the edges between them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.ticker import MaxNLocator

from ..axis import Axis
from ..frames import Frames, View
from ..look import COLORMAP, COLORS, MARKS, SHADES, check_look
from ..source import Add
from ..text import Words
from .panel import AddWords, Panel

__all__ = ["Graph", "Rounds"]


@dataclass(frozen=True)
class Rounds:
    """The number of a node is the round in which it can be computed.

    now: a function that gives [round], the last one that has run: its nodes stand out, later ones are still hollow and
    faint.  label: the name of the number.
    """

    now: Callable[..., Any]
    label: Words


@dataclass(frozen=True)
class Graph(Panel):
    """Nodes and edges.

    nodes: a function that gives (N, 3): x, y and a number.  edges: a function that gives (E, 3): the node it leaves,
    the node it enters (counted from 0) and its strength from 0 to 1.  The number colours its node on the scale; a
    graph without a scale has one color and mark, and its nodes of number 0 are hollow.  lit: whether the last node's
    path, all that it comes from, is in colour until the reader picks a node.  hollow: what nodes of number 0 are, for the
    key beside the title.  rounds: where the number is a round.
    y_axis: whether y has ticks and a name.
    """

    kind = "graph"
    nodes: Callable[..., Any] | Any
    edges: Callable[..., Any] | Any
    title: Words
    x: Axis
    y: Axis
    scale: Axis | None = None
    color: str | None = None
    mark: str = "circle"
    lit: bool = False
    hollow: Words = ""
    rounds: Rounds | None = None
    y_axis: bool = True

    def spec(self, add: Add, add_words: AddWords) -> dict:
        where = f"graph {str(self.title)!r}"
        if (self.scale is None) == (self.color is None):
            raise ValueError(f"{where} has scale {self.scale} and color {self.color}: give one of the two")
        check_look(where, next(iter(COLORS)) if self.color is None else self.color, self.mark)
        return {
            "kind": self.kind,
            "title": str(self.title),
            "x": self.x.spec(add, f"{where} x"),
            "y": self.y.spec(add, f"{where} y"),
            **({"scale": self.scale.spec(add, f"{where} scale"), "colormap": COLORMAP} if self.scale else {}),
            "color": self.color,
            "mark": self.mark,
            "lit": self.lit,
            "hollow": str(self.hollow),
            "rounds": self.rounds
            and {"label": str(self.rounds.label), "now": add(self.rounds.now, f"{where} round", (1,))},
            "y_axis": self.y_axis,
            "nodes": add(self.nodes, f"{where} nodes", (None, 3), resolution=0.001),
            "edges": add(self.edges, f"{where} edges", (None, 3), resolution=0.001),
        }

    def check(self, spec: dict, frames: Frames, where: str) -> None:
        for name, axis in (("x", self.x), ("y", self.y), ("scale", self.scale)):
            if axis:
                axis.check(spec[name], frames, where)
        spec["places"] = 1  # across, at most: the browser leaves room for as many
        for view in frames.views(spec["nodes"], spec["edges"]):
            nodes, edges = view.array(spec["nodes"]), view.array(spec["edges"])
            if stray := [end for end in edges[:, :2].ravel().tolist() if end not in range(len(nodes))]:
                raise ValueError(f"{where}: edges end at nodes {stray}, but there are {len(nodes)}")
            if not np.isfinite(nodes).all():
                raise ValueError(f"{where} has nodes at −∞, where nothing can be drawn")
            spec["places"] = max(spec["places"], len(np.unique(nodes[:, 0])))

    def at(self, spec: dict, view: View) -> dict:
        limits = [view.array(spec[axis]["limits"]) for axis in "xy"]
        now = {"now": view.array(spec["rounds"]["now"]).item()} if self.rounds else {}
        return {
            "kind": self.kind,
            "limits": limits,
            **{part: view.array(spec[part]) for part in ("nodes", "edges")},
        } | now

    def draw(self, spec: dict, view: View, axes: Any) -> None:
        shown = self.at(spec, view)
        nodes = shown["nodes"]
        path = path_to(len(nodes) - 1, shown["edges"]) if self.lit else set()
        for start, end, strength in shown["edges"]:
            if self.lit and end not in path:
                continue  # too faint for a still picture
            color = (self.lit and self.color) or "grey"
            ends = nodes[[int(start), int(end)]]
            width = 1.2 if self.lit else 0.5 + 1.5 * strength
            axes.plot(ends[:, 0], ends[:, 1], color=COLORS[color]["still"], linewidth=width, zorder=1)
        if self.color:
            color = COLORS[self.color]["still"]
            faces = [color if 0 < number <= shown.get("now", np.inf) else "white" for number in nodes[:, 2]]
            style = {"c": faces, "edgecolors": color, "marker": MARKS[self.mark]["still"]}
        else:
            low, high = view.array(spec["scale"]["limits"])
            style = {"c": nodes[:, 2], "cmap": SHADES, "vmin": low, "vmax": high}
        axes.set(xlim=shown["limits"][0], ylim=shown["limits"][1])
        self.x.draw(axes.xaxis)
        self.y.draw(axes.yaxis)
        axes.spines[["top", "right"]].set_visible(False)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(MaxNLocator(integer=True))
        if not self.y_axis:
            axes.set(yticks=[], ylabel="")
            axes.spines["left"].set_visible(False)
        size = min(6, 0.6 * gap(axes, nodes))
        axes.scatter(nodes[:, 0], nodes[:, 1], zorder=2, s=size**2, linewidths=size / 5, **style)


def path_to(node: int, edges: np.ndarray) -> set[float]:
    """Return all nodes that a node comes from, with itself."""
    path, reached = set(), {float(node)}
    while reached - path:
        path |= reached
        reached = {start for start, end, _ in edges.tolist() if end in path}
    return path


def gap(axes: Any, nodes: np.ndarray) -> float:
    """Return the smallest distance across between two nodes in points, a little less than after the layout."""
    low, high = axes.get_xlim()
    points = 72 * axes.figure.bbox.width / axes.figure.dpi * axes.get_position().width
    return np.diff(np.unique(nodes[:, 0])).min(initial=high - low) / (high - low) * points
