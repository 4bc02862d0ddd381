"""Convolutions against torch's own with the same weights, forward and backward."""

import itertools
import math
from functools import partial

import numpy as np
import pytest
import torch
from torch import nn

from why_attention.convolution import Convolution, ConvolutionStack

N, D, BATCH = 11, 3, 4  # all different, so that a swapped axis cannot fit by luck
KERNELS = [(k, causal) for k, causal in itertools.product([1, 2, 3, 4, 5], [True, False]) if causal or k % 2]
each_kernel = pytest.mark.parametrize("k, causal", KERNELS)


def randn(*shape, seed=1):
    """Return float64 noise."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def random_layer(k, dilation=1, causal=True, seed=0):
    """Return a float64 layer whose weights and bias are random, none of them zero."""
    layer = Convolution(D, k, dilation, causal, dtype=torch.float64)
    layer.reset_parameters(torch.Generator().manual_seed(seed))
    nn.init.normal_(layer.b, generator=torch.Generator().manual_seed(seed + 100))
    return layer


def torch_twin(layer):
    """Return nn.Conv1d with the layer's weights, as a function from (batch, n, d) to (batch, n, d), and itself.

    A causal one is padded on both sides, and what comes out beyond position n is cut off; a centred one is "same".
    """
    pad = (layer.k - 1) * layer.dilation if layer.causal else "same"
    twin = nn.Conv1d(D, D, layer.k, padding=pad, dilation=layer.dilation).to(layer.W)
    twin.load_state_dict({"weight": layer.W.detach(), "bias": layer.b.detach()})
    return (lambda x: twin(x.transpose(1, 2))[..., : x.shape[1]].transpose(1, 2)), twin


def close(actual, expected):
    torch.testing.assert_close(actual, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("device", ["cpu", *["cuda"] * torch.cuda.is_available()])
@pytest.mark.parametrize("dilation", [1, 2, 3, 7])  # 7: wider than the input from k = 3 on
@each_kernel
def test_a_layer_equals_torchs_own_forward_and_backward(k, causal, dilation, device):
    layer = random_layer(k, dilation, causal).to(device)
    twin, conv = torch_twin(layer)
    ours, theirs = (randn(BATCH, N, D).to(device).requires_grad_() for _ in range(2))
    y, expected = layer(ours), twin(theirs)
    close(y, expected)
    close(layer(ours[1]), y[1])  # one sequence, without the batch axis
    weights = randn(BATCH, N, D, seed=2).to(device)  # of the outputs in the loss, all different
    (y * weights).sum().backward()
    (expected * weights).sum().backward()
    assert (ours.grad.abs() > 1e-9).any()
    for actual, oracle in ((ours.grad, theirs.grad), (layer.W.grad, conv.weight.grad), (layer.b.grad, conv.bias.grad)):
        close(actual, oracle)


@pytest.mark.parametrize("dilations", [[1], [1, 2, 4], [3, 1, 1]])
@each_kernel
def test_a_stack_equals_torchs_layers_one_after_another(k, causal, dilations):
    stack = ConvolutionStack(D, k, dilations, causal, dtype=torch.float64)
    stack.reset_parameters(torch.Generator().manual_seed(0))
    assert [layer.dilation for layer in stack.layers] == dilations
    x = expected = randn(BATCH, N, D)
    for layer in stack.layers:
        expected = torch_twin(layer)[0](expected)
    close(stack(x), expected)
    close(stack(x[1]), expected[1])


@pytest.mark.parametrize("d, k", [(64, 3), (16, 7)])
def test_noise_keeps_its_variance_and_the_generator_alone_decides(d, k):
    layers = [Convolution(d, k) for _ in range(2)]
    for layer in layers:
        nn.init.ones_(layer.b)
        layer.reset_parameters(torch.Generator().manual_seed(0))
    assert torch.equal(layers[0].W, layers[1].W)
    assert not layers[0].b.any()
    y = layers[0](randn(4000, d).float())[k:]
    assert y.std().item() == pytest.approx(1, rel=0.1)
    assert layers[0].W.std().item() == pytest.approx(1 / math.sqrt(k * d), rel=0.1)


def test_a_stack_draws_its_layers_one_after_another():
    shallow, deep = (ConvolutionStack(D, 3, [1] * depth) for depth in (2, 4))
    for stack in (shallow, deep):
        stack.reset_parameters(torch.Generator().manual_seed(0))
    for ours, theirs in zip(shallow.layers, deep.layers):
        assert torch.equal(ours.W, theirs.W)
    assert not torch.equal(deep.layers[0].W, deep.layers[1].W)


# What is refused


def test_whole_numbers_of_numpy_and_torch_are_whole_numbers():
    for dilations in (2 ** np.arange(3), torch.tensor([1, 2, 4]), (np.int32(1), torch.tensor(2), 4)):
        stack = ConvolutionStack(np.int64(D), torch.tensor(3), dilations)
        assert [(layer.padding, layer.dilation) for layer in stack.layers] == [((2 * d, 0), d) for d in (1, 2, 4)]
        assert all(type(layer.d) is type(layer.k) is type(layer.dilation) is int for layer in stack.layers)


REFUSED_SIZES = [
    *(
        (make, f"k={k} is even and has no middle: a centred kernel has an odd size, such as {k - 1} or {k + 1}$")
        for k in (2, 4)
        for make in (partial(Convolution, D, k, causal=False), partial(ConvolutionStack, D, k, [1], causal=False))
    ),
    *(
        (
            partial(Convolution, **{"d": D, "k": 3, name: bad}),
            rf"{name}={said}: it must be one whole number, at least 1",
        )
        for bad, said in ((0, 0), (-1, -1), (2.0, r"2\.0"), (True, True), ((3, 5), r"\(3, 5\)"), (np.True_, True))
        for name in ("d", "k", "dilation")
    ),
    (partial(ConvolutionStack, D, 3, []), "dilations has 0 entries: name at least 1"),
    *(
        (partial(Convolution, D, 3, dtype=dtype), f"dtype is {dtype}: it must be torch.float16 or")
        for dtype in (torch.int64, torch.complex64, torch.bool)
    ),
]


@pytest.mark.parametrize("make, words", REFUSED_SIZES)
def test_sizes_that_make_no_layer_are_refused(make, words):
    with pytest.raises(ValueError, match=f"^{words}"):
        make()


SPOILED = randn(N, D)
SPOILED[3:5, 1], SPOILED[0, 0] = math.nan, math.inf
TOO_LARGE = 1.5e308 * randn(N, D).sign()
REFUSED_INPUTS = [
    (randn(D), rf"x has 1 dimensions, shape \({D},\): it must be \(n, d\) or \(batch"),
    (randn(1, 1, N, D), rf"x has 4 dimensions, shape \(1, 1, {N}, {D}\): it must be"),
    (randn(2, 0, D), rf"x has n = 0 positions, shape \(2, 0, {D}\): n must be at least 1"),
    (randn(N, D + 1), f"x has size {D + 1} a position, but the layer reads size {D}"),
    (SPOILED, f"x has 3 NaN or infinite among its {N * D} numbers: it must have 0"),
    (TOO_LARGE, "the result has .* NaN or infinite among its .* torch.float64 ends at 1.8e.308"),
    (randn(N, D).float(), r"W is torch.float64, but x is torch.float32: both must be the same"),
    *(
        (x, f"x is a {type(x).__name__}: it must be 1 torch.Tensor")
        for x in (np.ones((N, D)), [[1.0] * D], (randn(N, D),))
    ),
]


@pytest.mark.parametrize("layer", [random_layer(3), ConvolutionStack(D, 3, [1, 2], dtype=torch.float64)])
@pytest.mark.parametrize("x, words", REFUSED_INPUTS)
def test_inputs_that_a_layer_cannot_read_are_refused(layer, x, words):
    with pytest.raises(ValueError, match=f"^{words}"):
        layer(x)


def test_a_weight_that_is_no_number_is_refused():
    stack = ConvolutionStack(D, 3, [1, 2], dtype=torch.float64)
    stack.layers[1].b.data[0] = math.nan
    with pytest.raises(ValueError, match=f"^b has 1 NaN or infinite among its {D} numbers: it must have 0"):
        stack(randn(N, D))
