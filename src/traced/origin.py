"""Where in the source an operation of a trace comes from."""

import sys
import traceback
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from torch.fx import Interpreter, Node
from torch.fx.experimental.proxy_tensor import get_proxy_mode
from torch.overrides import TorchFunctionMode

__all__ = ["Again", "Origins", "failing_line", "origin"]

NOT_THEIRS = (str(Path(torch.__file__).parent), str(Path(__file__).parent))  # frames of torch and of the tracer


class Origins(TorchFunctionMode):
    """Notes on every node of a trace the line that has called for it."""

    def __torch_function__(self, function, types, args=(), kwargs=None):  # noqa: ANN001, ANN204
        mode = get_proxy_mode()
        last = mode.tracer.graph._root.prev if mode else None
        result = function(*args, **(kwargs or {}))
        if mode:
            node, place = mode.tracer.graph._root.prev, calling_line()
            while node is not last:
                node.meta.setdefault("origin", place)
                node = node.prev
        return result


class Again(Interpreter):
    """Runs a trace, to be traced once more, each operation with the line that it comes from."""

    def run_node(self, n: Node) -> Any:
        graph = get_proxy_mode().tracer.graph
        last = graph._root.prev
        result = super().run_node(n)
        node = graph._root.prev
        while node is not last:
            if "origin" in n.meta:
                node.meta["origin"] = n.meta["origin"]
            node = node.prev
        return result


def calling_line() -> str:
    """Return the line that is running, of a file that is neither torch's nor ours."""
    frame: FrameType | None = sys._getframe(1)
    while frame and frame.f_code.co_filename.startswith(NOT_THEIRS):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame else "?"


def failing_line(error: BaseException) -> str:
    """Return the line of theirs from which an error came, the innermost."""
    lines = [
        f"{frame.filename}:{frame.lineno}"
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith(NOT_THEIRS) and "/" in frame.filename.replace("\\", "/")
    ]
    return lines[-1] if lines else "?"


def origin(node: Node) -> str:
    """Return where an operation comes from, as far as that is known: what autograd adds has no line."""
    return f"{node.target} at {node.meta['origin']}" if "origin" in node.meta else f"{node.target}"
