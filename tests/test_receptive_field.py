"""Receptive fields against gradients of torch's own convolutions, published numbers and closed forms."""

import itertools
import math
import random
import re
from functools import partial

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from why_attention.convolution import Convolution, ConvolutionStack
from why_attention.receptive_field import (
    Layer,
    cone,
    depth_needed,
    deviation,
    effective_field,
    positions_holding,
    span,
    support,
    uniform_deviation,
)


def randn(*shape, seed=1):
    """Return float64 noise."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def read_by_torch(layers, n=None):
    """Return where the first output's gradient is not zero: torch's convolutions, weights 1/k, no padding, float64.

    With so few layers and no weight below 1/k nothing can underflow, so that the zeros are exact.
    """
    x = torch.zeros(1, 1, n or span(layers) + 3, dtype=torch.float64, requires_grad=True)
    y = x
    for layer in layers:
        kernel = torch.full((1, 1, layer.k), 1 / layer.k, dtype=torch.float64)
        y = F.conv1d(y, kernel, stride=layer.stride, dilation=layer.dilation)
    (gradient,) = torch.autograd.grad(y[0, 0, 0], x)
    return gradient.flatten() != 0


def dilated(k, dilations, times=1):
    return [Layer(k, d) for d in dilations for _ in range(times)]


CONV, POOL = Layer(3), Layer(2, stride=2)
VGG16 = [CONV, CONV, POOL] * 2 + [CONV, CONV, CONV, POOL] * 3
PUBLISHED = {  # layers, span, inputs read
    "no layers": ([], 1, 1),
    "k=1": ([Layer(1)] * 5, 1, 1),
    "C1": (dilated(3, [1, 2, 4]), 15, 15),
    "C1, one dilation of 5": (dilated(3, [5]), 11, 3),
    "C1, a stride wider than the kernel": ([Layer(2, stride=3)], 2, 2),
    "gaps": (dilated(3, [1, 4, 16]), 43, 27),
    "C3, two convolutions a block": (dilated(3, [1, 2, 4], times=2), 29, 29),
    "C3, k=2": (dilated(2, [1, 2], times=2), 7, 7),
    "C7": (dilated(4, [2**i for i in range(7)], times=2), 763, 763),
    "a block of WaveNet": (dilated(2, [2**i for i in range(10)]), 1024, 1024),
    "three blocks of WaveNet": (dilated(2, [2**i for i in range(10)]) * 3, 3070, 3070),
    "VGG16": (VGG16, 212, 212),
}


@pytest.mark.parametrize("layers, R, count", PUBLISHED.values(), ids=PUBLISHED)
def test_published_fields(layers, R, count):
    assert span(layers) == len(support(layers)) == R
    assert support(layers).sum() == count
    assert not layers or torch.equal(support(layers), read_by_torch(layers)[:R])


def mixed_stacks():
    """Every stack of one layer, and of two to four layers some hundred with a layer of each kind."""
    kinds = [Layer(k, d, s) for k, d, s in itertools.product([1, 2, 3, 4, 5], [1, 2, 3, 4], [1, 2, 3])]
    draw = random.Random(0)
    return [[kind] for kind in kinds] + [draw.sample(kinds, depth) for depth in (2, 3, 4) for _ in range(100)]


def test_the_span_and_the_support_agree_with_torchs_gradients():
    for layers in mixed_stacks():
        read = read_by_torch(layers)
        ends = read.nonzero().flatten()
        assert span(layers) == ends[-1] - ends[0] + 1, layers
        assert torch.equal(support(layers), read[: span(layers)]), layers
        assert not read[span(layers) :].any()


# The cone


@pytest.mark.parametrize("causal", [True, False])
def test_the_cone_is_what_a_gradient_through_our_layers_reaches(causal):
    for k, dilations in [(3, [1, 1, 1]), (3, [1, 2, 4]), (5, [3, 1, 2]), (1, [1, 1]), (3, [5, 4]), (9, [1, 7])]:
        layers, n = [Layer(k, d) for d in dilations], 12
        for position in (0, 1, 6, 11):
            stack = ConvolutionStack(1, k, dilations, causal, dtype=torch.float64)
            for layer in stack.layers:
                nn.init.constant_(layer.W, 1 / k)
            values = [torch.zeros(n, 1, dtype=torch.float64, requires_grad=True)]
            for layer in stack.layers:
                values.append(layer(values[-1]))
            gradients = torch.autograd.grad(values[-1][position, 0], values)
            expected = torch.stack([gradient[:, 0] != 0 for gradient in gradients])
            assert torch.equal(cone(layers, n, position, causal), expected), (k, dilations, position)


def test_five_hundred_layers_read_1001_inputs_where_float32_cannot_tell():
    layers = [Layer(3)] * 500
    assert support(layers).sum() == len(support(layers)) == 1001
    assert cone(layers, 1001, 500, causal=False)[0].sum() == 1001
    stack = ConvolutionStack(1, 3, [1] * 500, causal=False)  # float32
    for layer in stack.layers:
        nn.init.constant_(layer.W, 1 / 3)
    with pytest.raises(ValueError, match=r"influences are 0, but \d+ others lie below 1.2e-38"):
        effective_field(stack, torch.zeros(1001, 1), 500)
    assert (effective_field(stack.double(), torch.zeros(1001, 1, dtype=torch.float64), 500) > 0).all()


# The depth


@pytest.mark.parametrize(
    "distance, k, causal, growth, depth",
    [
        (1000, 3, True, 1, 500),
        (1000, 3, False, 1, 1000),
        (1000, 3, True, 2, 9),
        (1000, 3, True, 3, 7),
        (1000, 3, False, 2, 10),
        (1023, 2, True, 2, 10),  # one block of WaveNet, and not a step more
        (1024, 2, True, 2, 11),
        (1, 3, True, 1, 1),
        (0, 1, False, 2, 0),
        (0, 3, True, 1, 0),
        (10**18 + 1, 3, True, 1, 5 * 10**17 + 1),  # a float would lose the last step
    ],
)
def test_published_depths(distance, k, causal, growth, depth):
    assert depth_needed(distance, k, causal, growth) == depth


@pytest.mark.parametrize("k, causal", [(2, True), (3, True), (4, True), (3, False), (5, False)])
@pytest.mark.parametrize("growth", [1, 2, 3, 5])
def test_the_needed_depth_is_the_first_whose_span_covers_the_distance(k, causal, growth):
    for distance in range(1, 40):
        depth = depth_needed(distance, k, causal, growth)
        reaches = []
        for L in (depth - 1, depth):
            layers = [Layer(k, growth**i) for i in range(L)]
            n = distance + span(layers)  # room for the whole cone
            first = cone(layers, 2 * n + 1, n, causal)[0].nonzero()[0]
            reaches.append(n - first.item())
        assert reaches[0] < distance <= reaches[1]


# The effective field


@pytest.mark.parametrize("k, L", [(1, 3), (3, 1), (3, 4), (3, 16), (3, 64), (5, 7), (7, 20)])
def test_the_deviation_of_uniform_kernels_is_the_closed_form(k, L):
    stack = ConvolutionStack(1, k, [1] * L, causal=False, dtype=torch.float64)
    for layer in stack.layers:
        nn.init.constant_(layer.W, 1 / k)
    n = L * (k - 1) + 1
    profile = effective_field(stack, torch.zeros(n, 1, dtype=torch.float64), n // 2)
    assert profile.sum().item() == pytest.approx(1, abs=1e-12)
    assert deviation(profile) == pytest.approx(uniform_deviation(k, L), abs=1e-9)


@pytest.mark.parametrize("position", [0, 4, 8])
def test_the_effective_field_is_the_norm_of_each_block_of_the_jacobian(position):
    stack, x = ConvolutionStack(3, 3, [1, 2], causal=False, dtype=torch.float64), randn(9, 3)
    model = nn.Sequential(
        stack, nn.Tanh(), nn.Linear(3, 2, dtype=torch.float64)
    )  # a model of another width, not linear
    J = torch.autograd.functional.jacobian(model, x)[position]  # (2, 9, 3)
    expected = torch.stack([torch.linalg.matrix_norm(J[:, j]) for j in range(9)])
    with torch.no_grad():
        torch.testing.assert_close(effective_field(model, x, position), expected.detach())
    assert not x.requires_grad


def test_the_deviation_does_not_depend_on_the_scale_or_the_place():
    profile = torch.tensor([0.0, 1, 2, 1, 0, 0, 0], dtype=torch.float64)
    assert deviation(profile) == pytest.approx(math.sqrt(0.5))
    assert deviation(30 * profile.roll(2)) == pytest.approx(math.sqrt(0.5))


@pytest.mark.parametrize(
    "part, profile, count",
    [
        (0.9, [1.0] * 10, 9),  # whose sum, 0.9, is a rounding away from 0.9
        (0.91, [1.0] * 10, 10),
        (0.5, [0, 8, 1, 1], 1),
        (0.85, [1, 0, 8, 1], 2),
        (1, [1, 0, 8, 1], 3),
    ],
)
def test_the_largest_positions_are_counted(part, profile, count):
    assert positions_holding(part, torch.tensor(profile, dtype=torch.float64)) == count


@pytest.mark.parametrize(
    "dtype, size",
    [
        *itertools.product([torch.float16, torch.bfloat16, torch.float32, torch.float64], [2.0**-14, 1.0, 1000.0]),
        *itertools.product([torch.float32], [1e-45, 1e-38, 1e38, 3.4e38]),
        *itertools.product([torch.float64], [5e-324, 1e-300, 1e300, 1.7e308]),
    ],
)
def test_profiles_of_every_dtype_and_size_are_counted_alike(dtype, size):
    even = torch.full((50,), size, dtype=dtype)
    assert [positions_holding(part, even) for part in (0.1, 0.5, 0.9, 1.0)] == [5, 25, 45, 50]
    assert deviation(even) == pytest.approx(math.sqrt((50**2 - 1) / 12), rel=1e-12)


def test_all_of_a_profile_is_held_by_all_that_is_not_0():
    assert positions_holding(1.0, torch.tensor([0.1] * 10)) == 10
    assert positions_holding(1.0, torch.tensor([1.0, 1e-20, 0.0])) == 2


def test_numpys_whole_numbers_count_as_pythons():
    layers = [Layer(k, dilation) for k, dilation in zip(np.full(3, 3), 4 ** np.arange(3))]
    assert layers == [Layer(3, 1), Layer(3, 4), Layer(3, 16)]
    assert cone(layers[:1], np.int64(5), np.int64(4)).tolist() == cone([Layer(3)], 5, 4).tolist()
    assert depth_needed(np.int64(1000), np.int64(3), growth=np.int64(2)) == 9
    assert uniform_deviation(np.int32(10**9), np.int64(50)) == pytest.approx(math.sqrt(50 / 12) * 1e9)
    far = [Layer(np.int64(3), np.int64(2**61))] * 4  # whose span no int64 holds
    assert span(far) == 1 + 2**64
    stack = ConvolutionStack(1, 3, [1], dtype=torch.float64)
    x = torch.zeros(4, 1, dtype=torch.float64)
    assert torch.equal(effective_field(stack, x, np.int64(3)), effective_field(stack, x, 3))


def test_an_output_that_does_not_depend_on_its_inputs_has_an_effective_field_of_zeros():
    weight = nn.Parameter(torch.ones(4, 2))
    for model in (lambda x: torch.ones(4, 2), lambda x: weight):
        assert effective_field(model, torch.zeros(4, 2), 2).tolist() == [0, 0, 0, 0]


def test_a_finite_derivative_has_a_finite_norm():
    field = effective_field(lambda x: 1e30 * x, torch.ones(2, 8), 0)
    torch.testing.assert_close(field, torch.tensor([1e30 * math.sqrt(8), 0], dtype=torch.float64), rtol=1e-6, atol=0)


# What is refused


LAYER, TOKENS, ONES = Convolution(2, 3), torch.zeros(4, 2), torch.ones(3)
FIELD = partial(effective_field, LAYER)
WHOLE, WHOLE_0 = (f"it must be one whole number, at least {least}" for least in (1, 0))
REFUSED = [
    *(
        (partial(Layer, **{"k": 3, name: bad}), f"{name}={re.escape(repr(bad))}: {WHOLE}")
        for bad in (0, -3, 2.0, True, (3, 5))  # a pair, of an image's two axes, would give one axis's field
        for name in ("k", "dilation", "stride")
    ),
    (partial(cone, [CONV], 5, 5), "position 5 lies outside 0 … 4, the positions of n=5"),
    (partial(cone, [CONV], 5, -1), f"position=-1: {WHOLE_0}"),
    (partial(cone, [CONV], 5, 0.5), f"position=0.5: {WHOLE_0}"),
    (partial(cone, [CONV, POOL], 5, 4), r"strides \[2\] leave fewer than the n=5 positions of the input"),
    (partial(cone, [Layer(4)], 5, 2, causal=False), "k=4 is even and has no middle"),
    (partial(cone, [CONV], 0, 0), f"n=0: {WHOLE}"),
    *(
        (partial(depth_needed, 7, 1, *options), "k=1 reads its own position alone: no depth reaches a distance of 7")
        for options in itertools.product([True, False], [1, 2])
    ),
    (partial(depth_needed, 7, 2, causal=False), "k=2 is even and has no middle"),
    (partial(depth_needed, -1, 3), f"distance=-1: {WHOLE_0}"),
    (partial(depth_needed, 2.5, 3), f"distance=2.5: {WHOLE_0}"),
    (partial(depth_needed, 7, 3, growth=0), f"growth=0: {WHOLE}"),
    (partial(depth_needed, 7, 0), f"k=0: {WHOLE}"),
    *(
        (partial(function, profile), f"the profile has {words}")
        for function in (deviation, partial(positions_holding, 0.9))
        for profile, words in (
            (torch.ones(2, 2), r"2 dimensions, shape \(2, 2\): it must be \(n,\)"),
            (torch.zeros(3), "0 numbers above 0 among its 3"),
            (torch.tensor([1, -1, math.nan]), "2 negative, NaN or infinite among its 3 numbers"),
        )
    ),
    (partial(positions_holding, 0, ONES), "part=0: it must lie above 0 and be at most 1"),
    (partial(positions_holding, 1.5, ONES), "part=1.5: it must lie above 0 and be at most 1"),
    (partial(uniform_deviation, 3, 0), f"layers=0: {WHOLE}"),
    (partial(uniform_deviation, 10**200, 1), r"k=10+ and layers=1: L \(k² − 1\) must be below 1e308"),
    (partial(FIELD, TOKENS, 4), "position 4 lies outside 0 … 3, the positions of y"),
    (partial(FIELD, TOKENS[None], 0), r"x has 3 dimensions, shape \(1, 4, 2\): it must be \(n, d\)"),
    *((partial(FIELD, TOKENS, bad), f"position={bad}: {WHOLE_0}") for bad in (-1, 0.5, True)),
    (partial(effective_field, lambda x: x[:2], TOKENS, 3), "position 3 lies outside 0 … 1, the positions of y"),
    (partial(effective_field, torch.ravel, TOKENS, 0), r"the layer gave y with 1 dimensions: it must give \(n', d'\)"),
    (partial(effective_field, lambda x: x[None], TOKENS, 0), "the layer gave y with 3 dimensions: it must give"),
    (partial(effective_field, nn.LSTM(2, 2), TOKENS, 2), "the layer gave a tuple: wrap it in a function that"),
]


@pytest.mark.parametrize("call, words", REFUSED)
def test_what_has_no_field_is_refused_by_name(call, words):
    with pytest.raises(ValueError, match=f"^{words}"):
        call()
