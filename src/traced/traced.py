"""A traced function: its graphs, its weights, and the ranges in which they hold, as bytes."""

import contextlib
import functools
import inspect
import itertools
import json
import struct
import warnings
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import sympy
import torch
from torch import Tensor
from torch._subclasses import FakeTensorMode
from torch._subclasses.fake_tensor import DataDependentOutputException
from torch.fx import GraphModule
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.experimental.symbolic_shapes import (
    DimDynamic,
    GuardOnDataDependentSymNode,
    ShapeEnv,
    StatelessSymbolicContext,
    StrictMinMaxConstraint,
)
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._pytree import tree_flatten, tree_unflatten
from torch.utils._sympy.value_ranges import ValueRanges

from .decompositions import DECOMPOSITIONS, Taps
from .graph import Weights, changes, written
from .inputs import Choices, Length, Number
from .origin import Again, Origins, failing_line
from .script import SCRIPT

__all__ = ["Traced"]

Ranges = dict[int, tuple[int, int]]  # of the axes of an input that may have any length between two


class Traced:
    """A function of tensors, numbers, lengths and choices that runs in a web page as it does in torch.

    Each example says what the function is given: a tensor, or a list of them, of that shape; a ``Number``; a ``Length``;
    or ``Choices``.  dynamic: {parameter: {axis: (least, most)}}, the axes of tensors that may have any length in a range.
    The function itself may read other tensors, which become constants of the graph.  It computes in float64 if any number
    in it is float64, else in float32.

    Called, it calls the function.  ``to_bytes()`` is what the interpreter reads.  Raises ValueError for an operation that
    the interpreter lacks, with where it comes from, and for a function that does not take every length in its ranges in
    the same way.
    """

    script = SCRIPT  # the program that runs the bytes in a page

    def __init__(self, function: Callable, *examples: Any, dynamic: dict[str, Ranges] | None = None):
        functools.update_wrapper(self, function)
        self.function, self.examples, self.dynamic = function, examples, dynamic or {}
        self.parameters = list(inspect.signature(function).parameters)
        if len(examples) != len(self.parameters):
            raise ValueError(
                f"{self.where}: {len(examples)} examples for the {len(self.parameters)} parameters {self.parameters}"
            )
        if unknown := set(self.dynamic) - set(self.parameters):
            raise ValueError(f"{self.where}: dynamic names {sorted(unknown)}, but the parameters are {self.parameters}")
        for ranges in self.dynamic.values():
            for low, high in ranges.values():
                Length(low, high)  # raises where it is none: torch takes a length of 1 for a broadcast

    def __call__(self, *args: Any, **settings: Any) -> Any:
        return self.function(*args, **settings)

    def __getitem__(self, output: int) -> "Output":
        """Return the function that gives one of the results."""
        return Output(self, output)

    @property
    def where(self) -> str:
        return getattr(self.function, "__qualname__", repr(self.function))

    @functools.cached_property
    def graphs(self) -> dict:
        """The graphs and their inputs, without the weights."""
        choices = [(n, e) for n, e in zip(self.parameters, self.examples) if isinstance(e, Choices)]
        cases = list(itertools.product(*(list(example.values) for _, example in choices)))
        self.weights, self.is_double = Weights(), False
        return {
            "choices": [[name, list(example.values)] for name, example in choices],
            "graphs": [self.trace(dict(zip((name for name, _ in choices), case))) for case in cases],
        }

    def trace(self, chosen: dict[str, Any]) -> dict:
        """Return the graph of the function with some parameters fixed, and what it is given."""
        given = {n: e for n, e in zip(self.parameters, self.examples) if n not in chosen}
        self.function(
            **{name: first(example) for name, example in given.items()}, **chosen
        )  # what it remembers is real
        shape_env = ShapeEnv()
        mode = FakeTensorMode(shape_env=shape_env, allow_non_fake_inputs=True)
        inputs, made = [], {}
        for name, example in given.items():
            tensors, inputs_here = fakes(mode, name, example, self.dynamic.get(name, {}))
            made[name] = tensors
            inputs += inputs_here
        flat, tree = tree_flatten(made)
        # as they are before the trace narrows them
        bounds = {
            size.node.expr: (int(span.lower), int(span.upper))
            for leaf in flat
            for size in leaf.shape
            if isinstance(size, torch.SymInt)
            for span in [shape_env.var_to_range[size.node.expr]]
        }

        def function(*leaves: Tensor) -> list[Tensor]:
            settings = tree_unflatten(list(leaves), tree)
            for name, example in given.items():
                if isinstance(example, Length):
                    settings[name] = settings[name].shape[0]
            results, _ = tree_flatten(self.function(**settings, **chosen))
            return [one if isinstance(one, Tensor) else torch.full((), one) for one in results]

        # no operation that is fused, for its way back has no decomposition
        with (
            without_warnings(),
            torch.backends.mkldnn.flags(enabled=False),
            sdpa_kernel(SDPBackend.MATH),
            Origins(),
            Taps(),
            mode,
        ):
            module = self.traced(function, flat)
            if any(changes(module)):  # as operations that change nothing
                module = self.traced(torch.func.functionalize(Again(module).run), flat)
        self.check_guards(shape_env, bounds, partial(is_same, module, function, flat))
        self.is_double |= has_doubles(module)
        return {"given": inputs, **written(module, self.weights, self.where)}

    def traced(self, function: Callable, tensors: list[Tensor]) -> GraphModule:
        """Return the trace of a function.  Raises ValueError where it depends on the numbers of a tensor."""
        try:
            return make_fx(function, decomposition_table=DECOMPOSITIONS)(*tensors)
        except (GuardOnDataDependentSymNode, DataDependentOutputException) as error:
            raise ValueError(f"{self.where} branches on the numbers of a tensor, at {failing_line(error)}") from error

    def check_guards(self, shape_env: ShapeEnv, bounds: dict, is_same: Callable[[dict], bool]) -> None:
        """Raise a ValueError where the trace holds for some lengths of the ranges only.

        bounds: of each symbol.  is_same: whether the trace gives what the function does at some lengths, which is asked
        where torch has noted that it is made for all but a single one.
        """
        for guard in shape_env.guards:
            symbols = sorted(guard.expr.free_symbols, key=str)
            spans = [range(bounds[symbol][0], bounds[symbol][1] + 1) for symbol in symbols]
            for lengths in itertools.product(*spans):
                at = dict(zip(symbols, lengths))
                if not guard.expr.subs(at) and not (isinstance(guard.expr, sympy.Ne) and is_same(at)):
                    raise ValueError(
                        f"{self.where} is another graph at lengths {list(lengths)}, where {guard.expr} does not hold ({guard.sloc})"
                    )

    def to_bytes(self) -> bytes:
        """Return the graphs, their inputs and their weights: deflated, a length, JSON, and floats."""
        graphs = self.graphs
        kind, floats = ("Float64Array", "<f8") if self.is_double else ("Float32Array", "<f4")
        header = json.dumps({"kind": kind, **graphs}, separators=(",", ":")).replace("Infinity", "1e999")
        head = header.encode()
        head += b" " * (-len(head) % 8)  # floats start at multiples of their size
        body = self.weights.values().numpy().astype(floats)
        return zlib.compress(struct.pack("<Q", len(head)) + head + body.tobytes(), 9)


@contextlib.contextmanager
def without_warnings() -> Iterator[None]:
    """Say nothing of kernels that this machine lacks anyway."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "TF32 acceleration")
        yield


def first(example: Any) -> Any:
    """Return what a function may be given for an example."""
    return example.low if isinstance(example, Number | Length) else example


class Output:
    """One result of a traced function, as a function."""

    def __init__(self, trace: Traced, output: int):
        functools.update_wrapper(self, trace.function)
        self.trace, self.output = trace, output

    def __call__(self, *args: Any, **settings: Any) -> Any:
        return self.trace(*args, **settings)[self.output]


def fakes(mode: FakeTensorMode, name: str, example: Any, ranges: Ranges) -> tuple[Any, list[dict]]:
    """Return an example as tensors without numbers, and how the page is told of them."""
    if isinstance(example, Number):
        return mode.from_tensor(torch.tensor(float(example.low), dtype=torch.float64)), [
            {"name": name, "kind": "number", "range": [example.low, example.high]}
        ]
    if isinstance(example, Length):
        fake = symbolic(mode, torch.zeros((example.low + example.high) // 2), {0: (example.low, example.high)})
        return fake, [{"name": name, "kind": "length", "range": [example.low, example.high]}]
    leaves, tree = tree_flatten(example)
    if not all(isinstance(leaf, Tensor) for leaf in leaves):
        raise ValueError(f"{name} = {example!r}: an example is a tensor, a list of them, a Number, a Length or Choices")
    told = [
        {
            "name": name,
            "place": None if leaf is example else place,  # in a list
            "kind": "tensor",
            "shape": [list(ranges[axis]) if axis in ranges else size for axis, size in enumerate(leaf.shape)],
        }
        for place, leaf in enumerate(leaves)
    ]
    return tree_unflatten([symbolic(mode, leaf, ranges) for leaf in leaves], tree), told


def symbolic(mode: FakeTensorMode, x: Tensor, ranges: Ranges) -> Tensor:
    """Return a tensor without numbers, some of whose axes have any length in a range."""
    sizes = [DimDynamic.DYNAMIC if axis in ranges else DimDynamic.STATIC for axis in range(x.ndim)]
    bounds = [
        StrictMinMaxConstraint(vr=ValueRanges(*ranges[axis]), warn_only=False) if axis in ranges else None
        for axis in range(x.ndim)
    ]
    own = torch.zeros(x.shape, dtype=x.dtype)  # for a tensor given twice would be one
    return mode.from_tensor(
        own, symbolic_context=StatelessSymbolicContext(dynamic_sizes=sizes, constraint_sizes=bounds)
    )


def is_same(module: GraphModule, function: Callable, leaves: list[Tensor], lengths: dict) -> bool:
    """Return whether a trace gives what the function does, for noise of some lengths.  lengths: of the sizes' symbols."""
    generator = torch.Generator().manual_seed(0)

    def noise(leaf: Tensor) -> Tensor:
        shape = [lengths.get(n.node.expr, n.node.hint) if isinstance(n, torch.SymInt) else n for n in leaf.shape]
        return torch.rand(shape, generator=generator).to(leaf.dtype)

    given = [noise(leaf) for leaf in leaves]
    with without_warnings(), Taps():  # gradients may be among what the function computes
        made, right = module(*given), function(*given)
    return all(a.shape == b.shape and torch.allclose(a, b, equal_nan=True) for a, b in zip(made, right))


def has_doubles(module: GraphModule) -> bool:
    """Return whether any tensor is of float64, but for those without axes, which take on the type of the others."""
    held = [node.meta.get("val") for node in module.graph.nodes]
    return any(isinstance(one, Tensor) and one.dtype == torch.float64 and one.ndim > 0 for one in held)
