"""The written form of a trace: a list of core operations, which js/traced.js runs.

    {"inputs": n, "nodes": [[operation, *arguments], …], "outputs": [name, …]}

A value's name is a string: the number of an input, or n + the number of the node that makes it; numbers, lists and null
stand for themselves. The body of a scan is a graph of the same form. Constants are nodes ["weight", number of floats
before it, shape]; their numbers stand in one array beside the graph.
"""

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor
from torch.fx import GraphModule, Node

from .origin import origin

__all__ = ["OPERATIONS", "Weights", "changes", "written"]

SAME = {"alias", "clone", "detach", "lift_fresh", "_to"}  # of the first argument: all numbers are floats
RENAMED = {
    "_unsafe_view": "view",
    "squeeze_": "squeeze",
    "unsqueeze_": "unsqueeze",
    "add_": "add",
    "truediv": "div",
    "sym_size": "size",
    "sym_numel": "size",
    "getitem": "item",
}
REWRITTEN: dict[str, Callable[..., list]] = {  # in operations that there are
    "reciprocal": lambda x: ["div", 1, x],
    "neg": lambda x: ["mul", x, -1],
    "sqrt": lambda x: ["pow", x, 0.5],
    "rsqrt": lambda x: ["pow", x, -0.5],
    "rsub": lambda x, y: ["sub", y, x],
    "abs": lambda x: ["maximum", x, ["mul", x, -1]],
    "logical_not": lambda x: ["eq", x, 0],
    "bitwise_not": lambda x: ["eq", x, 0],  # of truth values
    "logical_and": lambda x, y: ["mul", x, y],
    "bitwise_and": lambda x, y: ["mul", x, y],
    "logical_or": lambda x, y: ["maximum", x, y],
    "bitwise_or": lambda x, y: ["maximum", x, y],
    "gt": lambda x, y: ["lt", y, x],
    "ge": lambda x, y: ["le", y, x],
    "amin": lambda x, *rest: ["mul", ["amax", ["mul", x, -1], *rest], -1],
    "any": lambda x, *rest: ["amax", ["ne", x, 0], *rest],
    "relu": lambda x: ["maximum", x, 0],
    "clamp": lambda x, low=None, high=None: bounded(x, low, high),
    "full_like": lambda x, value: ["mul", ["add", ["eq", x, x], ["ne", x, x]], value],
    "scalar_tensor": lambda value: ["full", [], value],
    "arange": lambda *ends: ["arange", *((0, *ends, 1) if len(ends) == 1 else (*ends, 1)[:3])],
    "floordiv": lambda x, y: ["floor", ["div", x, y]],
    "remainder": lambda x, y: ["sub", x, ["mul", ["floor", ["div", x, y]], y]],
    "mod": lambda x, y: ["sub", x, ["mul", ["floor", ["div", x, y]], y]],
    "sym_max": lambda x, y: ["maximum", x, y],
    "sym_min": lambda x, y: ["minimum", x, y],
    "embedding": lambda weights, x, *rest: ["index", weights, [x]],
    "sign": lambda x: ["sub", ["lt", 0, x], ["lt", x, 0]],
    "sgn": lambda x: ["sub", ["lt", 0, x], ["lt", x, 0]],
    "masked_fill": lambda x, mask, value: ["where", mask, value, x],
}
BINARY = ["add", "sub", "mul", "div", "pow", "maximum", "minimum", "eq", "ne", "lt", "le", "where"]
UNARY = ["exp", "log", "tanh", "sigmoid", "sin", "cos", "floor"]
OTHERS = [
    "sum",
    "amax",
    "mm",
    "bmm",
    "permute",
    "view",
    "expand",
    "unsqueeze",
    "squeeze",
    "select",
    "slice",
    "flip",
    "diagonal",
]
NEW = ["weight", "full", "arange", "cat", "gather", "scatter", "index", "index_put", "size", "item", "scan"]
OPERATIONS = [*BINARY, *UNARY, *OTHERS, *NEW]  # of the interpreter
IGNORED = {"dtype", "layout", "device", "pin_memory", "memory_format", "implicit", "non_blocking"}
FOREVER = 2**62  # torch's end of a slice that has none


def bounded(x: Any, low: Any, high: Any) -> list:
    least = x if low is None else ["maximum", x, low]
    return least if high is None else ["minimum", least, high]


class Weights:
    """The constants of graphs, one after another."""

    def __init__(self):
        self.tensors: list[Tensor] = []
        self.places: dict[Any, int] = {}
        self.count = 0

    def add(self, held: Tensor) -> list:
        key = (tuple(held.shape), held.detach().double().numpy().tobytes())
        if key not in self.places:
            self.places[key] = self.count
            self.tensors.append(held.detach().flatten().double())
            self.count += held.numel()
        return ["weight", self.places[key], list(held.shape)]

    def values(self) -> Tensor:
        """Return all numbers: (count,), float64."""
        return torch.cat(self.tensors) if self.tensors else torch.zeros(0, dtype=torch.float64)


def written(module: GraphModule, weights: Weights, where: str) -> dict:
    """Return a traced module as a graph.  Raises ValueError for an operation that the interpreter lacks."""
    return Writer(module, weights, where).graph()


class Writer:
    def __init__(self, module: GraphModule, weights: Weights, where: str):
        check_changes(module, where)
        module.graph.eliminate_dead_code(lambda node: node.op in ("placeholder", "output"))
        self.module, self.weights, self.where = module, weights, where
        self.inputs = [node for node in module.graph.nodes if node.op == "placeholder"]
        self.values: dict[Node, Any] = {node: str(number) for number, node in enumerate(self.inputs)}
        self.nodes: list[list] = []
        self.known: dict[str, str] = {}  # a node that is there already is not written again

    def graph(self) -> dict:
        for node in self.module.graph.nodes:
            if node.op == "get_attr":
                self.values[node] = self.constant(getattr(self.module, node.target))
            elif node.op == "output":
                outputs = node.args[0] if isinstance(node.args[0], list | tuple) else [node.args[0]]
                return {"inputs": len(self.inputs), "nodes": self.nodes, "outputs": self.plain(outputs)}
            elif node.op == "call_function":
                self.values[node] = self.call(node)
        raise ValueError(f"{self.where}: the trace has no outputs")

    def constant(self, held: Any) -> Any:
        if isinstance(held, GraphModule):
            return written(held, self.weights, self.where)
        if held.numel() == 1 and held.ndim == 0:
            return self.put(["full", [], self.plain(held.item())])
        return self.put(self.weights.add(held))

    def plain(self, a: Any) -> Any:
        if isinstance(a, Node):
            return self.values[a]
        if isinstance(a, list | tuple):
            return [self.plain(b) for b in a]
        if isinstance(a, bool):
            return int(a)
        if isinstance(a, int) and a > FOREVER:
            return None
        if isinstance(a, float) and math.isnan(a):
            raise ValueError(f"{self.where}: NaN cannot stand in a graph: only numbers can")
        if isinstance(a, float) and a.is_integer():
            return int(a)
        if a is None or isinstance(a, int | float):
            return a
        raise ValueError(f"{self.where}: {a!r} cannot stand in a graph: only numbers, lists and tensors can")

    def put(self, made: list) -> str:
        """Write a node whose arguments may be nodes themselves; return its name."""
        made = [self.put(a) if isinstance(a, list) and a and a[0] in OPERATIONS else a for a in made]
        if made[0] not in OPERATIONS:
            raise ValueError(f"{self.where}: the interpreter lacks the operation {made[0]}")
        key = repr(made)
        if key not in self.known:
            self.known[key] = str(len(self.inputs) + len(self.nodes))
            self.nodes.append(made)
        return self.known[key]

    def call(self, node: Node) -> Any:
        args = [self.plain(a) for a in node.args]
        if node.target is torch.ops.higher_order.scan:
            body, init, xs, *more = args
            return self.put(["scan", body, init, xs, more[0] if more else []])
        name = named(node)
        if name == "split_with_sizes":
            x, sizes, *axis = args
            ends = list(itertools.accumulate(sizes, lambda end, size: self.put(["add", end, size])))
            return [self.put(["slice", x, *(axis or [0]), start, end]) for start, end in zip([0, *ends], ends)]
        if name == "item" and isinstance(args[0], list):
            return args[0][args[1]]
        if name in SAME:
            self.check_conversion(node)
            return self.put(["ne", args[0], 0]) if becomes_truth(node) else args[0]
        made = REWRITTEN[name](*args) if name in REWRITTEN else [name, *args]
        if not isinstance(made, list):
            return made
        try:
            return self.put(made)
        except ValueError as error:
            raise ValueError(f"{error}, which comes from {origin(node)}") from None

    def check_conversion(self, node: Node) -> None:
        """Raise a ValueError where a conversion would change numbers."""
        before, after = (one.meta.get("val") for one in (node.args[0], node))
        if after is not None and after.dtype == torch.bool:
            return
        if before is not None and before.dtype.is_floating_point and not after.dtype.is_floating_point:
            raise ValueError(
                f"{self.where}: {before.dtype} cannot become {after.dtype} in a trace, at {origin(node)}: round it with floor"
            )


def becomes_truth(node: Node) -> bool:
    """Return whether numbers become truth values, 0 or 1."""
    before, after = (one.meta.get("val") for one in (node.args[0], node))
    return before is not None and before.dtype != torch.bool and after.dtype == torch.bool


def check_changes(module: GraphModule, where: str) -> None:
    """Raise a ValueError where a tensor changes in place that something else reads: a graph knows values only."""
    if node := next(changes(module), None):
        raise ValueError(f"{where}: a tensor that something else reads cannot change in place, {origin(node)}")


def changes(module: GraphModule) -> Iterator[Node]:
    """Yield the nodes that change a tensor in place which something else reads, itself or as a view."""
    for node in module.graph.nodes:
        schema = getattr(node.target, "_schema", None)
        if schema and schema.is_mutable and "squeeze_" not in schema.name:
            changed = node.args[0]
            if len(changed.users) > 1 or getattr(changed.target, "is_view", False):
                yield node


def named(node: Node) -> str:
    """Return the name of a node's operation.  Raises ValueError where it is told more than can be traced."""
    if not isinstance(node.target, torch._ops.OpOverload):
        return RENAMED.get(node.target.__name__, node.target.__name__)
    name = node.target._schema.name.split("::")[1]
    options = {key: value for key, value in node.kwargs.items() if key not in IGNORED}
    if name == "div" and options == {"rounding_mode": "floor"}:
        return "floordiv"
    if options and options != {"alpha": 1}:
        raise ValueError(f"{name} with {options} cannot be traced, at {origin(node)}")
    name = RENAMED.get(name, name).removesuffix("_copy")
    return RENAMED.get(name, name)
