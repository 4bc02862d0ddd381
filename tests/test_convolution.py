"""Convolutions against torch's own with the same weights, forward and backward."""

import itertools
import math

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from why_attention.convolution import Convolution, ConvolutionStack, padding

N, D, BATCH = 11, 3, 4  # all different, so that a swapped axis cannot fit by luck
KERNELS = [(k, causal) for k, causal in itertools.product([1, 2, 3, 4, 5], [True, False]) if causal or k % 2]
each_kernel = pytest.mark.parametrize("k, causal", KERNELS)
DEVICES = [
    "cpu",
    pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")),
]


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


@pytest.mark.parametrize("device", DEVICES)
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


def test_an_impulse_comes_out_later_only_where_the_kernel_is_causal():
    x = torch.zeros(10, 1)
    x[5] = 1
    for causal, moved in ((True, [5, 7, 9]), (False, [3, 5, 7])):
        layer = Convolution(1, 3, dilation=2, causal=causal)
        nn.init.ones_(layer.W)
        assert layer(x).flatten().nonzero().flatten().tolist() == moved


@pytest.mark.parametrize("k, dilation", [(1, 1), (2, 1), (3, 2), (4, 3)])
def test_a_causal_output_is_bit_equal_when_what_comes_later_changes(k, dilation):
    stack = ConvolutionStack(D, k, [dilation, 2 * dilation], dtype=torch.float64)
    x = randn(N, D)
    y = stack(x)
    assert y.shape == x.shape
    for t in range(N):
        changed = x.clone()
        changed[t] += 100
        assert torch.equal(stack(changed)[:t], y[:t])
        assert not torch.equal(stack(changed)[t], y[t])  # its own position is read


@pytest.mark.parametrize("causal", [True, False])
def test_a_kernel_of_1_reads_its_own_position_alone(causal):
    layer, x = random_layer(1, causal=causal), randn(N, D)
    assert layer.padding == (0, 0)
    close(layer(x), x @ layer.W[:, :, 0].T + layer.b)


def test_a_kernel_wider_than_the_input_meets_zeros():
    layer, x = random_layer(9, causal=False), randn(1, D)
    close(layer(x), x @ layer.W[:, :, 4].T + layer.b)  # only its middle meets the one input


def test_padding_keeps_every_length():
    for (k, causal), dilation in itertools.product(KERNELS, [1, 2, 3]):
        before, after = padding(k, dilation, causal)
        assert before + after == (k - 1) * dilation
        assert after == (0 if causal else before)


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


@pytest.mark.parametrize("k", [2, 4])
def test_an_even_centred_kernel_is_refused(k):
    message = f"^k={k} is even and has no middle: a centred kernel has an odd size, such as {k - 1} or {k + 1}$"
    with pytest.raises(ValueError, match=message):
        Convolution(D, k, causal=False)
    with pytest.raises(ValueError, match=message):
        ConvolutionStack(D, k, [1], causal=False)
    Convolution(D, k)  # causal, it is taken


@pytest.mark.parametrize("bad", [0, -1, 2.0, True, (3, 5)])
def test_sizes_that_are_no_whole_number_are_refused(bad):
    for name, sizes in (("d", (bad, 3, 1)), ("k", (D, bad, 1)), ("dilation", (D, 3, bad))):
        with pytest.raises(ValueError) as error:
            Convolution(*sizes)
        assert str(error.value) == f"{name}={bad!r}: it must be one whole number, at least 1"


def test_a_stack_of_no_layers_is_refused():
    with pytest.raises(ValueError, match="^dilations has 0 entries: name at least 1"):
        ConvolutionStack(D, 3, [])


MODELS = {
    "layer": lambda: Convolution(D, 3, dtype=torch.float64),
    "stack": lambda: ConvolutionStack(D, 3, [1, 2], dtype=torch.float64),
}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_bad_shapes_are_refused(model):
    with pytest.raises(ValueError, match=rf"^x has 1 dimensions, shape \({D},\): it must be \(n, d\) or \(batch"):
        model()(randn(D))
    with pytest.raises(ValueError, match=rf"^x has 4 dimensions, shape \(1, 1, {N}, {D}\): it must be"):
        model()(randn(1, 1, N, D))
    with pytest.raises(ValueError, match=rf"^x has n = 0 positions, shape \(2, 0, {D}\): n must be at least 1"):
        model()(randn(2, 0, D))
    with pytest.raises(ValueError, match=f"^x has size {D + 1} a position, but the layer reads size {D}"):
        model()(randn(N, D + 1))


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_nan_and_another_dtype_are_refused(model):
    x = randn(N, D)
    x[3:5, 1] = math.nan
    x[0, 0] = math.inf
    with pytest.raises(ValueError, match=f"^x has 3 NaN or infinite among its {N * D} numbers: it must have 0"):
        model()(x)
    with pytest.raises(ValueError, match=r"^W is torch.float64, but x is torch.float32: both must be the same"):
        model()(randn(N, D).float())
    broken = model()
    layer = broken if isinstance(broken, Convolution) else broken.layers[1]
    layer.b.data[0] = math.nan
    with pytest.raises(ValueError, match=f"^b has 1 NaN or infinite among its {D} numbers: it must have 0"):
        broken(randn(N, D))


def test_the_formula_of_the_file_is_the_layer():
    k, dilation = 3, 2
    x = randn(N, D)
    for causal, p in ((True, (k - 1) * dilation), (False, (k - 1) * dilation // 2)):
        layer = random_layer(k, dilation, causal)
        padded = F.pad(x, (0, 0, p, k * dilation))  # zeros before and after the positions
        y = [sum(layer.W[..., m] @ padded[i + m * dilation] for m in range(k)) + layer.b for i in range(N)]
        close(layer(x), torch.stack(y))


def test_whole_numbers_of_numpy_and_torch_are_whole_numbers():
    expected = ConvolutionStack(D, 3, [1, 2, 4])
    for dilations in (2 ** np.arange(3), torch.tensor([1, 2, 4]), (np.int32(1), torch.tensor(2), 4)):
        stack = ConvolutionStack(np.int64(D), torch.tensor(3), dilations)
        assert str(stack.layers) == str(expected.layers)
        assert [(layer.padding, layer.dilation) for layer in stack.layers] == [((2 * d, 0), d) for d in (1, 2, 4)]
        assert all(type(layer.d) is type(layer.k) is type(layer.dilation) is int for layer in stack.layers)
    for bad in (np.float64(2), np.True_, torch.tensor(2.0), torch.tensor(True), np.array([1, 2])):
        with pytest.raises(ValueError, match="^k=.*: it must be one whole number, at least 1"):
            Convolution(D, bad)


def test_numbers_too_large_and_what_is_no_tensor_are_refused():
    layer = random_layer(3)
    with pytest.raises(
        ValueError, match="^the result has .* NaN or infinite among its .* torch.float64 ends at 1.8e.308"
    ):
        layer(1e308 * 1.5 * torch.ones(N, D, dtype=torch.float64) * randn(N, D).sign())
    for x in (np.ones((N, D)), [[1.0] * D], (randn(N, D),)):
        with pytest.raises(ValueError, match=f"^x is a {type(x).__name__}: it must be 1 torch.Tensor"):
            layer(x)
    for dtype in (torch.int64, torch.complex64, torch.bool):
        with pytest.raises(ValueError, match=f"^dtype is {dtype}: it must be torch.float16 or"):
            Convolution(D, 3, dtype=dtype)
