"""Every operation of the interpreter against torch, over shapes, strides, broadcasts and types of numbers."""

import json
import random
from collections import Counter

import pytest
import torch
from torch import Tensor
from traced_run import farthest, in_node, wanted

from traced import Traced, scan
from traced.graph import OPERATIONS

LIMITS = {torch.float32: 1e-5, torch.float64: 1e-12}


def mixed(x: Tensor) -> list[Tensor]:
    """Return a matrix under other strides: as it is, turned, every second number, backwards, and one row for all."""
    return [x, x.T.contiguous().T, x[:, ::2], x.flip(0), x[:1].expand_as(x)]


def each(function):
    """Return a function of a matrix that applies another to all its strides."""
    return lambda x: [function(one) for one in mixed(x)]


def pairs(function):
    """Return a function of two matrices: under other strides, with a row, a column, a number and one axis more."""

    def both(x, y):
        a, b = mixed(x), mixed(y)
        return [
            *(function(one, other) for one, other in zip(a, b)),
            function(x, y[0]),
            function(x[:, :1], y),
            function(x, y[0, 0]),
            function(x, y.expand(2, *y.shape)),
            function(x, 2.5),
        ]

    return both


def positive(x):
    return x.abs() + 0.1


TRUE = torch.tensor([[1, 0, 1, 1], [0, 1, 1, 0], [1, 1, 0, 0]], dtype=torch.bool)
HELD = torch.linspace(-1, 1, 12).reshape(3, 4)
ROWS, CELLS = torch.tensor([2, 0, 2, -1]), torch.tensor([[0, 3], [2, 2], [1, 0]])
ONE = {  # of a matrix (3, 4)
    "exp": each(torch.exp),
    "log": each(lambda x: positive(x).log()),
    "tanh": each(torch.tanh),
    "sigmoid": each(torch.sigmoid),
    "sin": each(torch.sin),
    "cos": each(torch.cos),
    "floor": each(lambda x: (3 * x).floor()),
    "sum": each(lambda x: [x.sum(), x.sum(0), x.sum(-1, keepdim=True), x.sum((0, 1))]),
    "amax": each(lambda x: [x.log().amax(1), x.amax(), x.amax(0), x.amax(-1, keepdim=True), x.amin(1)]),
    "permute": lambda x: [x.T @ x, x.reshape(3, 2, 2).permute(2, 0, 1) * 1],
    "view": each(lambda x: [x.reshape(-1), x.reshape(x.shape[1], -1), x.unsqueeze(1).reshape(3, -1)]),
    "expand": lambda x: [x[:, :1].expand(3, 5), x.expand(2, 3, 4), x[0].expand(3, -1)],
    "unsqueeze": each(lambda x: [x.unsqueeze(0), x.unsqueeze(-1), x.unsqueeze(1)]),
    "squeeze": lambda x: [x[:1].squeeze(), x[:, :1].squeeze(1), x.unsqueeze(0).squeeze(0), x.squeeze(0)],
    "select": each(lambda x: [x[1], x[:, -1], x.select(0, -2)]),
    "slice": each(lambda x: [x[1:], x[:-1], x[:, 1:3], x[::2], x[5:], x[-2:], x[2:1]]),
    "flip": each(lambda x: [x.flip(0), x.flip(1), x.flip(0, 1)]),
    "diagonal": each(lambda x: [x.diagonal(), x.diagonal(1), x.diagonal(-2), x.T.diagonal(-1)]),
    "weight": lambda x: [x + HELD, x @ HELD.T.to(x), HELD.T[ROWS] * 1],
    "full": lambda x: [x.new_full((2, 3), 1.5), x.new_zeros(2) + x[0, 0], torch.full_like(x, -torch.inf)],
    "arange": lambda x: [torch.arange(5) + x[0, 0], torch.arange(2, 11, 3) * x[0, 0], torch.arange(x.shape[0]) * 1.0],
    "cat": each(lambda x: [torch.cat([x, x[:1]]), torch.cat([x, x * 2, x[:, :0]], 1), torch.stack([x, x], -1)]),
    "gather": each(lambda x: [x.gather(1, CELLS % 2), x.gather(0, CELLS[:, :1] % 3)]),
    "scatter": lambda x: [
        x.scatter(1, CELLS, 0.5),
        x.scatter(1, CELLS[:, :1], x[:, 1:2]),
        x.scatter(0, CELLS[:2] % 3, 2.0),
    ],
    "index": each(lambda x: [x[ROWS], x[:, ROWS % 2], x[ROWS, ROWS % 2], x.unsqueeze(0)[:, ROWS]]),
    "index_put": lambda x: [
        x.index_put((ROWS[:2],), x[:2] * 2),
        x.index_put((ROWS,), x[ROWS] * 2, accumulate=True),
        x.index_put((ROWS, ROWS % 2), x[0], accumulate=True),
    ],
    "size": lambda x: x / x.shape[1] + x.shape[0],
    "item": lambda x: [part * 2 for part in x.split([1, 3], dim=1)],
    "scan": lambda x: sum(  # one state becomes the other
        scan(lambda s, x, w: ([s[1] * w[0] + x[0], s[0]], [s[0], x[0] * w[0]]), [x[0], x[2]], [x], [x[1].tanh()]), []
    ),
}
TWO = {  # of two matrices (3, 4)
    "add": pairs(torch.add),
    "sub": pairs(torch.sub),
    "mul": pairs(torch.mul),
    "div": pairs(lambda x, y: x / (positive(torch.as_tensor(y)) if isinstance(y, Tensor) else y)),
    "pow": pairs(lambda x, y: [positive(x) ** y, x**2, x**3, positive(x) ** 0.5]),
    "maximum": pairs(lambda x, y: torch.maximum(x, torch.as_tensor(y).to(x))),
    "minimum": pairs(lambda x, y: torch.minimum(x, torch.as_tensor(y).to(x))),
    "eq": pairs(lambda x, y: [x == y, x == x]),
    "ne": pairs(lambda x, y: [x != y, x != x]),
    "lt": pairs(lambda x, y: [x < y, x > y]),
    "le": pairs(lambda x, y: [x <= y, x >= y, x <= x]),
    "where": lambda x, y: [torch.where(TRUE, x, y), torch.where(x > 0, x, y[0]), x.masked_fill(TRUE, -torch.inf)],
    "mm": lambda x, y: [x @ y.T, x.T @ y, x[:, ::2] @ y.T[::2], x[:1] @ y.T, x @ y[0], torch.outer(x[0], y[1])],
    "bmm": lambda x, y: [
        torch.bmm(x.expand(2, 3, 4), y.T.expand(2, 4, 3)),
        x.reshape(3, 2, 2) @ y.reshape(3, 2, 2).mT,
        torch.einsum("ij,kj->ik", x, y),
    ],
}


@pytest.fixture(scope="module")
def outcomes():
    """What every operation gives in the interpreter and in torch, in both types of numbers: one Node for all."""
    generator = torch.Generator().manual_seed(0)
    jobs, names = [], []
    for dtype in LIMITS:
        for count, functions in ((1, ONE), (2, TWO)):
            for name, function in functions.items():
                calls = []
                for _ in range(3):
                    given = [torch.randn(3, 4, generator=generator, dtype=dtype) for _ in range(count)]
                    calls.append(dict(zip("xy", given)))
                jobs.append((Traced(function, *calls[0].values()), calls))
                names.append((name, dtype))
    results = iter(in_node(jobs))
    return {name: [(next(results), wanted(one, call)) for call in calls] for name, (one, calls) in zip(names, jobs)}


@pytest.mark.parametrize("dtype", LIMITS)
@pytest.mark.parametrize("name", [*ONE, *TWO])
def test_an_operation_gives_what_torch_gives(outcomes, name, dtype):
    for made, right in outcomes[name, dtype]:
        assert not isinstance(made, dict), made
        assert farthest(made, right) <= LIMITS[dtype]


def operations(graph: dict) -> Counter:
    count = Counter(node[0] for node in graph["nodes"])
    for node in graph["nodes"]:
        count += operations(node[1]) if node[0] == "scan" else Counter()
    return count


@pytest.mark.parametrize("name", [*ONE, *TWO])
def test_the_test_of_an_operation_uses_it(name):
    made = Traced({**ONE, **TWO}[name], *(torch.ones(3, 4) for _ in range(1 if name in ONE else 2)))
    used = operations(made.graphs["graphs"][0])
    assert name in used or name in ("item", "size"), json.dumps(made.graphs)


def test_there_are_few_operations_and_each_has_a_test():
    assert len(OPERATIONS) == len(set(OPERATIONS)) <= 45
    assert set(OPERATIONS) == {*ONE, *TWO}


def random_shapes(draw: random.Random) -> tuple[list[int], list[int]]:
    """Return two shapes that broadcast to the first: the second lacks axes in front, or has them of size 1."""
    shape = [draw.choice([1, 2, 3, 5, 8]) for _ in range(draw.randint(1, 4))]
    return shape, [draw.choice([size, 1]) for size in shape[draw.randint(0, len(shape)) :]]


def strided(draw: random.Random, shape: list[int], dtype: torch.dtype):
    """Return numbers, and a function that makes of them a tensor of this shape: turned, every second number, backwards."""
    axes = draw.sample(range(len(shape)), len(shape))
    steps, back = [draw.choice([1, 2]) for _ in shape], [d for d in range(len(shape)) if draw.random() < 0.4]
    held = torch.randn([size * step for size, step in zip(shape, steps)], dtype=dtype).permute(axes).contiguous()

    def view(x):
        x = x.permute([axes.index(d) for d in range(len(shape))])
        return x[tuple(slice(None, None, step) for step in steps)].flip(back)

    return held, view


def many(a: Tensor, b: Tensor, axis: int) -> list[Tensor]:
    matrices = (
        []
        if a.ndim < 2
        else [a @ a.mT, a.mT @ a, a.diagonal(0, -2, -1), a.reshape(-1, a.shape[-1]).T @ a.flatten(0, -2)]
    )
    return [
        *(a + b, b - a, a * b, b / positive(a), torch.maximum(a, b), torch.minimum(b, a), positive(a) ** b),
        *(
            1 * (a < b),
            1 * (a <= b),
            1 * (a == a + 0 * b),
            1 * (a != b),
            torch.where(a > b, a, b),
            b.expand(a.shape) * 1,
        ),
        *(
            a.sum(axis),
            a.amax(axis, True),
            a.amax(),
            a.sum((0, -1) if a.ndim > 1 else 0),
            a.cumsum(axis),
            a.argmax(axis),
        ),
        *(a.exp(), a.tanh(), a.sigmoid(), (3 * a).floor(), a.sin(), a.sign(), a.softmax(axis), a.log_softmax(axis)),
        *(
            a.reshape(-1),
            a.unsqueeze(axis),
            a.squeeze(),
            a.select(axis, -1),
            a.narrow(axis, 0, 1),
            a.movedim(axis, 0) * 2,
        ),
        *(
            torch.cat([a, a + b], axis),
            torch.stack([a, a], axis),
            a.index_select(axis, torch.tensor([0, a.shape[axis] - 1])),
        ),
        *(a.gather(axis, (b.expand(a.shape) > 0) * (a.shape[axis] - 1)), a.narrow(axis, 0, 1) + a),
        *matrices,
    ]


def of_views(view_x, view_y, axis: int):
    return lambda x, y: many(view_x(x), view_y(y), axis)


@pytest.mark.parametrize("dtype", LIMITS)
def test_operations_give_what_torch_gives_over_random_shapes_strides_and_broadcasts(dtype):
    draw = random.Random(0)
    torch.manual_seed(0)
    jobs = []
    for _ in range(40):
        shape, other = random_shapes(draw)
        (x, view_x), (y, view_y) = strided(draw, shape, dtype), strided(draw, other, dtype)
        axis = draw.randrange(len(shape))
        jobs.append((Traced(of_views(view_x, view_y, axis), x, y), [{"x": x, "y": y}]))
    for (one, (call,)), made in zip(jobs, in_node(jobs)):
        assert not isinstance(made, dict), made
        for number, (a, b) in enumerate(zip(made, wanted(one, call))):
            assert farthest([a], [b]) <= LIMITS[dtype], (number, [x.shape for x in call.values()])
