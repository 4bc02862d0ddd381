"""The kinds of panel that a figure is made of. A new kind is two files, such as heatmap.py and heatmap.js, and a place in this list."""

from .arcs import Arcs
from .diagram import Diagram
from .graph import Graph
from .heatmap import Heatmap
from .lines import Lines
from .panel import Panel
from .shares import Shares

__all__ = ["KINDS", "Panel"]

KINDS: list[type[Panel]] = [Lines, Heatmap, Graph, Diagram, Arcs, Shares]
