"""Influence matrices against closed forms and one backward pass per output; token diversity; stacks of layers."""

import math
import re
from functools import partial

import pytest
import torch
from torch import nn

from why_attention.attention import MultiHeadAttention
from why_attention.convolution import Convolution
from why_attention.influence import influence_matrix, token_diversity
from why_attention.masks import causal_mask
from why_attention.receptive_field import effective_field
from why_attention.rnn import GRUCell, LSTMCell, RNNCell, step_jacobians, unroll
from why_attention.stack import hidden_states

n, d = 7, 4


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


def tokens():
    return torch.randn(n, d, dtype=torch.float64)


def attend(layer, mask, x):
    return layer(x, mask=mask, need_weights=True)[0]


LAYERS = {
    "RNN": lambda: partial(unroll, RNNCell(d, 5, dtype=torch.float64)),
    "GRU": lambda: partial(unroll, GRUCell(d, 5, dtype=torch.float64)),
    "LSTM": lambda: partial(unroll, LSTMCell(d, 5, dtype=torch.float64)),
    "causal convolution": lambda: Convolution(d, 3, dtype=torch.float64),
    "centred, dilated convolution": lambda: Convolution(d, 3, 2, causal=False, dtype=torch.float64),
    "attention": lambda: partial(attend, MultiHeadAttention(d, 2, dtype=torch.float64), None),
    "causal attention": lambda: partial(attend, MultiHeadAttention(d, 1, dtype=torch.float64), causal_mask(n, n)),
    "torch's Linear": lambda: nn.Linear(d, 3, dtype=torch.float64),
}


def one_by_one(layer, x):
    """Return the matrix by one backward pass for every number of every output."""
    x = x.clone().requires_grad_()
    y = layer(x)
    squares = torch.zeros(len(y), len(x), dtype=x.dtype)
    for i in range(len(y)):
        for a in range(y.shape[1]):
            (gradient,) = torch.autograd.grad(y[i, a], x, retain_graph=True)
            squares[i] += gradient.square().sum(-1)
    return squares.sqrt()


@pytest.mark.parametrize("name", LAYERS)
def test_it_is_what_one_backward_pass_per_output_gives(name):
    layer, x = LAYERS[name](), tokens()
    M, expected = influence_matrix(layer, x), one_by_one(layer, x)
    torch.testing.assert_close(M, expected, rtol=1e-12, atol=0)
    assert torch.equal(M == 0, expected == 0) and not M.requires_grad
    for i in (0, 3, n - 1):  # and row by row what receptive_field measures
        torch.testing.assert_close(M[i], effective_field(layer, x, i), rtol=1e-12, atol=0)


def test_recurrence_is_a_product_of_jacobians():
    cell, x = RNNCell(d, 5, dtype=torch.float64), tokens()
    h, J = unroll(cell, x), step_jacobians(cell, x)
    M = influence_matrix(partial(unroll, cell), x)
    for j in range(n):
        derivative = (torch.diag(1 - h[j] ** 2) @ cell.W_x).detach()  # ∂h_j/∂x_j
        for i in range(j, n):
            assert math.isclose(M[i, j], torch.linalg.norm(derivative), rel_tol=1e-12)
            derivative = J[i + 1] @ derivative if i + 1 < n else derivative
    assert (M.triu(1) == 0).all()


def test_a_convolution_is_a_band_of_the_norms_of_its_weights():
    layer = Convolution(d, 3, dilation=2, dtype=torch.float64)
    M, W = influence_matrix(layer, tokens()), layer.W.detach()
    for i in range(n):
        for j in range(n):
            tap = [m for m in range(3) if i - 4 + 2 * m == j]
            assert math.isclose(M[i, j], torch.linalg.norm(W[:, :, tap[0]]) if tap else 0, rel_tol=1e-12)


def test_attention_is_the_closed_form_of_its_page():
    layer, x = MultiHeadAttention(d, 1, dtype=torch.float64), tokens()
    M = influence_matrix(partial(attend, layer, None), x)
    y, weights = layer(x, need_weights=True)
    W_q, W_k, W_v, W_o = (W.weight.detach() for W in (layer.W_q, layer.W_k, layer.W_v, layer.W_o))
    weights = weights.detach()
    context = weights[0] @ x @ W_v.T
    for i in range(n):
        for j in set(range(n)) - {i}:
            score = torch.outer(W_v @ x[j] - context[i], W_k.T @ W_q @ x[i]) / d**0.5
            assert math.isclose(M[i, j], torch.linalg.norm(weights[0, i, j] * W_o @ (W_v + score)), rel_tol=1e-10)


MANY = "^the layer gave a tuple: wrap it in a function that returns y alone"
REFUSED = [
    (Convolution(d, 3), torch.zeros(2, n, d), r"^x has 3 dimensions, shape \(2, 7, 4\): it must be \(n, d\)"),
    (lambda x: x.sum(-1), torch.zeros(n, d), r"^the layer gave y with 1 dimensions: it must give \(n', d'\)"),
    (lambda x: x.sqrt() * x, -torch.ones(n, d), "^49 of the 49 influences are NaN or infinite: all must be finite"),
    *((layer(d, 2), torch.zeros(n, d), MANY) for layer in (MultiHeadAttention, nn.LSTM, nn.GRU)),
    (lambda x: x, torch.ones(n, d, dtype=torch.int64), "^x is torch.int64: it must be torch.float16 or"),
    (lambda x: x.argsort(), torch.zeros(n, d), "^y is torch.int64"),
    (lambda x: x, torch.zeros(0, d), r"^x has shape \(0, 4\): it must have at least 1 number"),
    (lambda x: x[:0], torch.zeros(n, d), r"^the layer gave y of shape \(0, 4\): it must have at least 1 number"),
]


@pytest.mark.parametrize("layer, x, words", REFUSED)
def test_what_has_no_influence_matrix_is_refused(layer, x, words):
    with pytest.raises(ValueError, match=words):
        influence_matrix(layer, x)


# An exact 0 is a missing path


def halving(x):
    """h_t = h_{t−1} / 2 + x_t, whose derivatives are powers of two."""
    h, states = torch.zeros_like(x[0]), []
    for x_t in x:
        h = 0.5 * h + x_t
        states.append(h)
    return torch.stack(states)


def test_small_influences_are_not_0():
    M = influence_matrix(halving, torch.zeros(120, 2))
    lag = torch.arange(120)
    distance = lag.unsqueeze(1) - lag
    expected = torch.where(distance >= 0, 2.0 ** -distance.double() * math.sqrt(2), 0)
    torch.testing.assert_close(M, expected, rtol=1e-15, atol=0)
    assert torch.equal(effective_field(halving, torch.zeros(120, 2), 119), M[119])


def test_small_influences_in_float32_are_those_of_float64():
    cell = RNNCell(4, 4)
    cell.reset_parameters(0.5, torch.Generator().manual_seed(0))
    x = torch.randn(60, 4, generator=torch.Generator().manual_seed(1))
    M = influence_matrix(partial(unroll, cell), x)
    double = influence_matrix(partial(unroll, cell.double()), x.double())
    assert torch.equal(M > 0, torch.ones(60, 60).tril() > 0)
    assert 0 < M[-1, 19] < 1e-22  # whose square float32 does not hold
    torch.testing.assert_close(M, double, rtol=1e-3, atol=0)


def test_a_derivative_too_small_for_its_dtype_is_refused():
    with pytest.raises(
        ValueError, match="^21175 of the 40000 influences are 0, but 1426 others lie below 1.2e-38, where torch.float32"
    ):
        influence_matrix(halving, torch.zeros(200, 1))
    assert (influence_matrix(halving, torch.zeros(200, 1, dtype=torch.float64)).tril().diagonal(-199) > 0).all()


@pytest.mark.parametrize("size, dtype", [(1e30, torch.float32), (3e38, torch.float32), (6e4, torch.float16)])
def test_a_finite_derivative_has_a_finite_norm(size, dtype):
    M = influence_matrix(lambda x: size * x, torch.ones(n, d, dtype=dtype))
    torch.testing.assert_close(M, torch.eye(n, dtype=torch.float64) * size * math.sqrt(d), rtol=1e-3, atol=0)


# Token diversity


def test_diversity_of_closed_forms():
    assert token_diversity(torch.ones(5, 3)) == 0
    assert token_diversity(torch.tensor([[1.0, 2.0], [-1.0, -2.0]])) == 1  # the mean is 0
    assert math.isclose(token_diversity(torch.eye(2)), math.sqrt(1 / 2), rel_tol=1e-6)
    x = tokens()
    assert math.isclose(token_diversity(x), token_diversity(1e-6 * x), rel_tol=1e-12)
    batch = torch.stack([x, x + 100])
    torch.testing.assert_close(token_diversity(batch), torch.stack([*map(token_diversity, batch)]))
    assert token_diversity(batch)[1] < 0.02 < token_diversity(batch)[0]


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_diversity_does_not_depend_on_the_size(dtype):
    ends = torch.finfo(dtype)
    for size in (1, ends.smallest_normal, ends.max):
        x = torch.eye(2, dtype=dtype) * size
        assert math.isclose(token_diversity(x), math.sqrt(1 / 2), rel_tol=1e-12)


def test_a_small_difference_is_one():
    x = torch.tensor([[1.0, 1e-300], [1.0, 0.0]], dtype=torch.float64)
    assert math.isclose(token_diversity(x), 1e-300 / 2, rel_tol=1e-12)  # ‖(±½)·10⁻³⁰⁰‖ / ‖x‖ = (10⁻³⁰⁰/√2) / √2
    assert token_diversity(torch.tensor([[1, 0], [0, 1]])) == token_diversity(torch.eye(2))


@pytest.mark.parametrize(
    "x, words",
    [
        (torch.zeros(2, 2), r"^x, of shape \(2, 2\), has tokens of which 0 numbers are not 0"),
        (torch.tensor([[1, math.nan], [0, 1]]), "^x has 1 NaN or infinite among its 4 numbers: it must have 0"),
        (torch.tensor([[1, math.inf], [0, 1]]), "^x has 1 NaN or infinite among its 4 numbers: it must have 0"),
        *(
            (torch.ones(shape), rf"^x has shape {re.escape(str(shape))}: it must")
            for shape in [(3,), (), (0, 3), (3, 0)]
        ),
    ],
)
def test_tokens_without_a_diversity_are_refused(x, words):
    with pytest.raises(ValueError, match=words):
        token_diversity(x)


def test_diversity_is_the_distance_to_the_nearest_matrix_of_like_rows():
    x = tokens()
    row = torch.zeros(d, dtype=x.dtype, requires_grad=True)
    optimizer = torch.optim.LBFGS([row], max_iter=50, tolerance_grad=1e-12, line_search_fn="strong_wolfe")

    def distance():
        optimizer.zero_grad()
        loss = (x - row).square().sum()
        loss.backward()
        return loss

    optimizer.step(distance)
    assert math.isclose(token_diversity(x), distance().item() ** 0.5 / torch.linalg.norm(x), rel_tol=1e-9)


# Stacks


def test_a_plain_stack_is_torchs_sequential():
    layers, x = [nn.Linear(d, d, dtype=torch.float64) for _ in range(3)], tokens()
    states = hidden_states(layers, x)
    assert states.shape == (4, n, d) and torch.equal(states[0], x)
    for depth in range(1, 4):
        torch.testing.assert_close(states[depth], nn.Sequential(*layers[:depth])(x))


def test_a_residual_stack_is_normalised_as_torch_does():
    layers, x = [nn.Linear(d, d, dtype=torch.float64) for _ in range(2)], tokens()
    norm = nn.LayerNorm(d, dtype=torch.float64)
    first = norm(x + layers[0](x))
    expected = torch.stack([x, first, norm(first + layers[1](first))])
    torch.testing.assert_close(hidden_states(layers, x, residual=True), expected)


def test_a_layer_that_changes_the_shape_is_refused():
    layers = [nn.Identity(), nn.Linear(d, 3)]
    with pytest.raises(ValueError, match=r"^layer 2 made \(7, 3\) of \(7, 4\): it must keep the shape"):
        hidden_states(layers, torch.zeros(n, d))


def test_a_layer_of_a_stack_that_returns_more_than_y_is_named():
    with pytest.raises(ValueError, match="^layer 1 gave a tuple: wrap it in a function that returns y alone"):
        hidden_states([nn.LSTM(d, d)], torch.zeros(n, d))
