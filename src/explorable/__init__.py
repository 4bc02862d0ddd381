"""Interactive figures that need no kernel: Python computes every frame once, the browser draws them."""

from .address import set_address
from .axis import Axis
from .cache import Cache
from .control import Control
from .explorable import Explorable
from .names import Names
from .panels.arcs import Arcs
from .panels.diagram import Diagram, Edge, Node
from .panels.graph import Graph, Rounds
from .panels.heatmap import Companion, Heatmap
from .panels.lines import Lines, Rule, Series, Span
from .panels.shares import Bar, Shares
from .sentence import Choice, Fixed, Sentence
from .text import Text, language, set_language

__all__ = [
    "Arcs",
    "Axis",
    "Bar",
    "Cache",
    "Choice",
    "Companion",
    "Control",
    "Diagram",
    "Edge",
    "Explorable",
    "Fixed",
    "Graph",
    "Heatmap",
    "Lines",
    "Names",
    "Node",
    "Rounds",
    "Rule",
    "Sentence",
    "Series",
    "Shares",
    "Span",
    "Text",
    "language",
    "set_address",
    "set_language",
]

__version__ = "0.1.0"
