"""Interactive figures that need no kernel: Python computes every frame once, the browser draws them."""

from .control import Control
from .explorable import Explorable
from .panels import Axis, Companion, Graph, Heatmap, Lines, Rule, Series
from .sentence import Choice, Sentence
from .text import Text, language, set_language

__all__ = [
    "Axis",
    "Companion",
    "Choice",
    "Control",
    "Explorable",
    "Graph",
    "Heatmap",
    "Lines",
    "Rule",
    "Sentence",
    "Series",
    "Text",
    "language",
    "set_language",
]
