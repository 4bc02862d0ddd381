"""Layers without their checks of values: vmap, torch.export, one graph for torch.compile, and traces, as they stand."""

import pytest
import torch
from torch.func import functional_call
from traced_run import farthest, in_node

from traced import Traced, scan
from why_attention.attention import AdditiveAttention, MultiHeadAttention
from why_attention.convolution import ConvolutionStack
from why_attention.influence import influence_matrix, influences
from why_attention.masks import causal_mask
from why_attention.parallel_iteration import iterate, jacobi_iteration
from why_attention.rnn import GRUCell, LSTMCell, RNNCell, states, unroll
from why_attention.transformer import Block, FeedForward, Transformer

D = 8


def seeded(layer):
    torch.manual_seed(0)
    return layer()


def attention():
    layer = seeded(lambda: MultiHeadAttention(D, 2))
    return lambda x: layer.compute(x, x, causal_mask(5, 5), True), lambda x: layer(
        x, mask=causal_mask(5, 5), need_weights=True
    )


def fused():
    layer = seeded(lambda: MultiHeadAttention(D, 2))
    return lambda x: layer.compute(x, x)[0], lambda x: layer(x)[0]


def additive():
    layer = seeded(lambda: AdditiveAttention(D, D, 4))
    return lambda x: layer.compute(x, x), lambda x: layer(x, x)


def convolutions():
    layer = seeded(lambda: ConvolutionStack(D, 3, [1, 2]))
    return layer.compute, layer


def feed_forward():
    layer = seeded(lambda: FeedForward(D, 4 * D))
    return layer.compute, layer


def block():
    layer = seeded(lambda: Block(D, 2))
    return lambda x: layer.compute(x, causal_mask(5, 5)), lambda x: layer(x, causal_mask(5, 5))


def cell(kind):
    def make():
        layer = seeded(lambda: kind(D, D))
        run = lambda x: layer(x[0], torch.cat([x[1], x[2]])[: layer.state_size])  # noqa: E731
        return run, run

    return make


def unrolled():
    layer = seeded(lambda: RNNCell(D, D))
    return lambda x: states(layer, x, x.new_zeros(D)), lambda x: unroll(layer, x)


def iterated():
    layer = seeded(lambda: RNNCell(D, D))
    return lambda x: iterate(layer, x, x.new_zeros(D), 3), lambda x: jacobi_iteration(layer, x, 3)


LAYERS = [attention, fused, additive, convolutions, feed_forward, block, unrolled, iterated]
CELLS = {kind.__name__: cell(kind) for kind in (RNNCell, GRUCell, LSTMCell)}
MAKERS = {make.__name__: make for make in LAYERS} | CELLS


class Layer(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


@pytest.fixture(params=MAKERS)
def layer(request):
    return MAKERS[request.param]()


def inputs(*shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(1))


def test_without_checks_a_layer_gives_the_same(layer):
    compute, forward = layer
    torch.testing.assert_close(compute(inputs(5, D)), forward(inputs(5, D)), rtol=0, atol=0)


def test_vmap(layer):
    compute, _ = layer
    x = inputs(3, 5, D)
    with torch.no_grad():
        made = torch.func.vmap(compute)(x)
        for one, right in zip(torch.utils._pytree.tree_leaves(made), zip(*map(leaves, map(compute, x)))):
            torch.testing.assert_close(one, torch.stack(right))


def leaves(result):
    return torch.utils._pytree.tree_leaves(result)


def test_export(layer):
    compute, _ = layer
    exported = torch.export.export(Layer(compute), (inputs(5, D),)).module()
    torch.testing.assert_close(leaves(exported(inputs(5, D))), leaves(compute(inputs(5, D))))


@pytest.mark.slow
def test_one_graph_holds_all_of_it(layer):
    compute, _ = layer
    compiled = torch.compile(compute, fullgraph=True, backend="eager")
    torch.testing.assert_close(leaves(compiled(inputs(5, D))), leaves(compute(inputs(5, D))))


def test_a_trace_of_it_gives_what_torch_gives(layer):
    compute, _ = layer
    with torch.no_grad():
        traced = Traced(compute, inputs(5, D))
        (made,) = in_node([(traced, [{"x": inputs(5, D)}])])
        assert not isinstance(made, dict), made
        assert farthest(made, leaves(compute(inputs(5, D)))) <= 1e-5


def test_one_trace_of_a_transformer_serves_every_length():
    model = seeded(lambda: Transformer(7, D, 2, 2))
    tokens = torch.arange(40)[None] % 7
    traced = Traced(lambda x: model.compute(x), tokens[:, :9], dynamic={"x": {1: (2, 40)}})
    calls = [{"x": tokens[:, :n]} for n in (2, 9, 40)]
    for made, call in zip(in_node([(traced, calls)]), calls):
        assert farthest(made, [model(call["x"]).detach()]) <= 1e-5


@pytest.mark.parametrize("kind", [RNNCell, GRUCell, LSTMCell])
def test_one_trace_of_a_cell_and_its_gradient_serves_every_length(kind):
    cell = seeded(lambda: kind(D, 6))
    names, weights = zip(*cell.named_parameters())

    def last_and_gradient(x):
        x = x.detach().requires_grad_()

        def step(state, row, more):
            s = functional_call(cell, dict(zip(names, more)), (row[0], state[0]))
            return [s], [s]

        (s,), _ = scan(step, [x.new_zeros(cell.state_size)], [x], weights)
        (g,) = torch.autograd.grad(s[:6].square().sum(), x)
        return s, g

    traced = Traced(last_and_gradient, inputs(9, D), dynamic={"x": {0: (2, 64)}})
    calls = [{"x": inputs(n, D)} for n in (2, 9, 64)]
    for made, call in zip(in_node([(traced, calls)]), calls):
        assert farthest(made, [one.detach() for one in last_and_gradient(call["x"])]) <= 1e-5
        torch.testing.assert_close(made[0].float(), unroll(cell, call["x"])[-1])


def test_one_trace_of_an_influence_matrix_serves_every_length():
    layer = seeded(lambda: MultiHeadAttention(D, 2))
    traced = Traced(
        lambda x: influences(lambda y: layer.compute(y, y)[0], x), inputs(5, D), dynamic={"x": {0: (2, 20)}}
    )
    calls = [{"x": inputs(n, D)} for n in (2, 5, 20)]
    for made, call in zip(in_node([(traced, calls)]), calls):
        assert farthest(made, [influence_matrix(lambda y: layer(y)[0], call["x"])]) <= 1e-5
