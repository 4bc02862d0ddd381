"""PyTorch in a web page: torch traces a function once, and a small interpreter in JavaScript runs the trace at any inputs."""

from .inputs import Choices, Length, Number
from .scan import scan
from .script import SCRIPT
from .traced import Traced

__all__ = ["SCRIPT", "Choices", "Length", "Number", "Traced", "scan"]
