"""Traced functions: gradients, recurrences and training steps in JavaScript against torch; what a trace refuses."""

import gzip
import math

import pytest
import torch
from torch.nn import functional as F
from traced_run import farthest, in_node, wanted

from traced import SCRIPT, Choices, Length, Number, Traced, scan

LIMITS = {torch.float32: 1e-5, torch.float64: 1e-12}
KILOBYTES = 6  # of the interpreter, gzipped


def normal(*shape, dtype=torch.float64, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def number(value, dtype=torch.float64):
    return torch.tensor(value, dtype=dtype)


def attention(dtype):
    E, W = normal(4, 8, dtype=dtype), normal(8, 8, dtype=dtype, seed=1) / 3

    def map_and_gradient(n, beta, mask):
        x = E[torch.arange(n) % 4].detach().requires_grad_()
        scores = beta * (x @ W) @ x.T / math.sqrt(8)
        if mask:
            scores = scores.masked_fill(~torch.ones(n, n, dtype=torch.bool).tril(), -torch.inf)
        A = scores.softmax(-1)
        (g,) = torch.autograd.grad((A @ x).square().sum(), x)
        return A.log10(), g

    calls = [
        {"n": n, "beta": number(b, dtype), "mask": m} for n, b, m in [(2, 0.2, True), (17, 3.3, False), (48, 40, True)]
    ]
    return Traced(map_and_gradient, Length(2, 48), Number(0.1, 40.0), Choices([False, True])), calls


def recurrence(dtype):
    W, U, b = normal(6, 6, dtype=dtype) / 2, normal(6, 5, dtype=dtype, seed=1) / 2, normal(6, dtype=dtype, seed=2) / 5

    def states_and_gradient(x, gain):
        x = x.detach().requires_grad_()

        def step(state, row, more):
            h = torch.tanh(state[0] @ more[0].T + row[0])
            return [h], [h]

        (last,), (states,) = scan(step, [x.new_zeros(6)], [x @ U.T + b], [gain * W])
        (g,) = torch.autograd.grad(last.square().sum(), x)
        return states, g

    calls = [
        {"x": normal(n, 5, dtype=dtype, seed=n), "gain": number(g, dtype)} for n, g in [(2, 0.3), (9, 1.0), (256, 1.4)]
    ]
    return Traced(states_and_gradient, calls[1]["x"], Number(0.1, 3.0), dynamic={"x": {0: (2, 256)}}), calls


def convolution(dtype):
    W, b = normal(6, 5, 3, dtype=dtype) / 3, normal(6, dtype=dtype, seed=1)

    def outputs_and_gradient(x):
        x = x.detach().requires_grad_()
        y = F.conv1d(F.pad(x.T, (4, 0))[None], W, b, dilation=2)[0].relu()
        (g,) = torch.autograd.grad(y.square().sum(), x)
        return y, g

    calls = [{"x": normal(n, 5, dtype=dtype, seed=n)} for n in (3, 8, 64)]
    return Traced(outputs_and_gradient, calls[1]["x"], dynamic={"x": {0: (2, 64)}}), calls


@pytest.mark.parametrize("dtype", LIMITS)
@pytest.mark.parametrize("make", [attention, recurrence, convolution])
def test_values_and_gradients_are_those_of_torch_at_every_length(make, dtype):
    traced, calls = make(dtype)
    for made, call in zip(in_node([(traced, calls)]), calls):
        assert not isinstance(made, dict), made
        assert farthest(made, wanted(traced, call)) <= LIMITS[dtype]


def test_an_example_may_be_a_list_and_the_function_a_training_step():
    """Adam on an embedding and an attention layer: the weights after 20 steps."""

    def step(weights, means, squares, t, x, answer):
        weights = [w.detach().requires_grad_() for w in weights]
        E, W, U = weights
        e = E[x]
        A = (e @ W @ e.mT / 4).softmax(-1)
        loss = F.cross_entropy((A @ e)[:, -1] @ U, answer)
        gradients = torch.autograd.grad(loss, weights)
        t = t + 1
        means = [0.9 * m + 0.1 * g for m, g in zip(means, gradients)]
        squares = [0.999 * v + 0.001 * g * g for v, g in zip(squares, gradients)]
        moved = [
            w.detach() - 0.01 * (m / (1 - 0.9**t)) / ((v / (1 - 0.999**t)).sqrt() + 1e-8)
            for w, m, v in zip(weights, means, squares)
        ]
        return moved, means, squares, t, loss

    weights = [
        normal(9, 16, dtype=torch.float32),
        normal(16, 16, dtype=torch.float32) / 4,
        normal(16, 9, dtype=torch.float32) / 4,
    ]
    zeros = [torch.zeros_like(w) for w in weights]
    x, answer = torch.randint(9, (8, 7), generator=torch.Generator().manual_seed(0)), torch.arange(8)
    traced = Traced(step, weights, zeros, zeros, torch.tensor(0.0), x, answer)
    state = [weights, zeros, zeros, torch.tensor(0.0)]
    right = [*state, None]
    for _ in range(20):
        right = step(*right[:4], x, answer)
        given = dict(zip(["weights", "means", "squares", "t"], state), x=x, answer=answer)
        (made,) = in_node([(traced, [given])])
        state = [[one.float() for one in made[3 * i : 3 * i + 3]] for i in range(3)] + [made[9].float()]
    assert right[4] < 0.9 * math.log(9)  # it has learned
    assert farthest(state[0], list(right[0])) <= 1e-4


def test_float64_keeps_what_float32_loses():
    def shrinking(n):
        return torch.full((1,), 1e-3, dtype=torch.float64) ** n * torch.ones(n, dtype=torch.float64)

    traced = Traced(shrinking, Length(2, 100))
    ((made,),) = in_node([(traced, [{"n": 83}])])
    torch.testing.assert_close(made, shrinking(83), rtol=1e-12, atol=0)
    assert 0 < made[0] < 1e-240


@pytest.mark.parametrize(
    "given, words",
    [
        ({"n": 49, "beta": 1.0, "mask": True}, "n = 49: it must lie between 2 and 48"),
        ({"n": 1, "beta": 1.0, "mask": True}, "n = 1: it must lie between 2 and 48"),
        ({"n": 2.5, "beta": 1.0, "mask": True}, "n = 2.5"),
        ({"n": 8, "beta": 40.1, "mask": True}, "beta = 40.1: it must lie between 0.1 and 40"),
        ({"n": 8, "beta": None, "mask": True}, "beta = null"),
        ({"n": 8, "beta": 1.0, "mask": "yes"}, "mask = yes"),
    ],
)
def test_what_lies_outside_the_ranges_is_refused(given, words):
    traced, _ = attention(torch.float64)
    (made,) = in_node([(traced, [given])])
    assert made["refused"] and words in made["error"]


@pytest.mark.parametrize("shape", [(257, 5), (1, 5), (9, 4), (9, 5, 1)])
def test_tensors_of_other_shapes_are_refused(shape):
    traced, _ = recurrence(torch.float64)
    (made,) = in_node([(traced, [{"x": torch.zeros(shape), "gain": 1.0}])])
    assert made["refused"]


def test_an_operation_that_the_interpreter_lacks_is_named_with_its_place():
    def unknown(x):
        return torch.cumprod(x, 0)

    with pytest.raises(ValueError, match=r"(?s)unknown.*cumprod.*test_traced\.py"):
        Traced(unknown, torch.ones(3)).to_bytes()


def test_a_function_that_branches_on_a_length_is_refused():
    def branches(n):
        return torch.ones(n) if n < 10 else torch.zeros(n)

    with pytest.raises(ValueError, match=r"branches.*10"):
        Traced(branches, Length(2, 20)).to_bytes()
    Traced(branches, Length(2, 9)).to_bytes()


def test_changes_in_place_reach_all_that_share_the_numbers():
    def changes(x):
        y = torch.zeros(4, 4, dtype=x.dtype)
        row = y[2]
        y[0] = 1.0
        y[1:3, 2] = x[0]
        y.diagonal(1).copy_(x[:3])
        y[:, -1] += 2
        return y.mul_(2), row

    call = {"x": normal(4)}
    traced = Traced(changes, normal(4))
    assert farthest(in_node([(traced, [call])])[0], wanted(traced, call)) <= 1e-12


def test_an_argument_that_changes_in_place_is_refused():
    with pytest.raises(ValueError, match="in place"):
        Traced(lambda x: x[0].add_(1), torch.ones(3)).to_bytes()


def test_a_branch_on_numbers_is_refused_with_its_place():
    def branches(x):
        return x if x.sum() > 0 else -x

    with pytest.raises(ValueError, match=r"branches.*numbers.*test_traced\.py:\d+"):
        Traced(branches, torch.ones(3)).to_bytes()


def test_whole_numbers_become_truth_values():
    traced = Traced(lambda x: (x.bool().sum(), (~x.bool()).sum()), torch.arange(4))
    ((made, others),) = in_node([(traced, [{"x": [0, 3, 2, 0]}])])
    assert (made, others) == (2, 2)


@pytest.mark.parametrize("index", [4, -5, 1.5e9])
def test_an_index_beyond_the_end_is_refused(index):
    held = torch.arange(4.0)
    for function in (lambda x: held[x], lambda x: held.index_put((x,), held[:2])):
        (made,) = in_node([(Traced(function, torch.arange(2)), [{"x": [1, index]}])])
        assert made["refused"] and f"index {int(index)} of 4" in made["error"]


def test_a_list_of_one_is_a_list():
    traced = Traced(lambda all: [2 * x for x in all], [torch.ones(3)])
    ((made,),) = in_node([(traced, [{"all": [[1.0, 2.0, 3.0]]}])])
    torch.testing.assert_close(made, torch.tensor([2.0, 4.0, 6.0], dtype=torch.float64))


def test_a_constant_that_is_no_number_is_refused():
    with pytest.raises(ValueError, match="NaN"):
        Traced(lambda x: torch.where(x > 0, x, torch.nan), torch.ones(3)).to_bytes()


def test_a_conversion_that_would_change_numbers_is_refused():
    with pytest.raises(ValueError, match="float32 cannot become torch.int64"):
        Traced(lambda x: x.long() * 2, torch.ones(3)).to_bytes()


@pytest.mark.parametrize(
    "make",
    [
        lambda: Number(1.0, 1.0),
        lambda: Length(1, 8),
        lambda: Length(8, 8),
        lambda: Choices([]),
        lambda: Traced(lambda x: x),
        lambda: Traced(lambda x: x, torch.ones(2), dynamic={"y": {0: (2, 3)}}),
        lambda: Traced(lambda x: x, torch.ones(2), dynamic={"x": {0: (1, 3)}}),
        lambda: Traced(lambda x: x, "words").to_bytes(),
        lambda: scan(lambda s, x, w: (s, x), [], [torch.ones(2), torch.ones(3)]),
        lambda: scan(lambda s, x, w: (s, x), [], []),
    ],
)
def test_bad_examples_are_refused(make):
    with pytest.raises(ValueError):
        make()


def test_a_traced_function_is_called_as_before():
    traced, calls = attention(torch.float64)
    torch.testing.assert_close(traced(**calls[1])[0].exp().shape, torch.Size((17, 17)))
    assert traced.parameters == ["n", "beta", "mask"]


def test_the_interpreter_is_small():
    assert len(gzip.compress(SCRIPT.encode(), 9)) <= 1000 * KILOBYTES
