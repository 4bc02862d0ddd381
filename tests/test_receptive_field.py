"""Receptive fields against gradients of torch's own convolutions, published numbers and closed forms."""

import itertools
import math
import random

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


def test_published_supports_agree_with_torchs_gradients():
    for layers, R, _ in PUBLISHED.values():
        if layers:
            assert torch.equal(support(layers), read_by_torch(layers)[:R])


def test_a_stride_wider_than_the_kernel_never_reads_every_third_input():
    layers, read = [Layer(2, stride=3)], torch.zeros(9, dtype=torch.bool)
    for output in range(3):
        read[3 * output :][: span(layers)] |= support(layers)
    assert (~read).nonzero().flatten().tolist() == [2, 5, 8]


@pytest.mark.parametrize("k, dilations, R", [(3, [1, 2, 4], 29), (2, [1, 2], 7)])
def test_a_block_of_two_convolutions_counts_twice(k, dilations, R):
    blocks = [nn.Sequential(*(Convolution(1, k, d, dtype=torch.float64) for _ in range(2))) for d in dilations]
    model = nn.Sequential(*blocks)
    found = [Layer(m.k, m.dilation) for m in model.modules() if isinstance(m, Convolution)]
    for module in model.modules():
        if isinstance(module, Convolution):
            nn.init.constant_(module.W, 1 / k)
    n = R + 5
    read = effective_field(model, torch.zeros(n, 1, dtype=torch.float64), n - 1) != 0
    assert read.sum() == span(found) == R
    assert torch.equal(cone(found, n, n - 1)[0], read)


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


def test_a_path_that_leaves_the_input_does_not_come_back():
    layers = [Layer(3, 5), Layer(3, 4)]  # 0 − 4 + 5 = 1, but there is no −4
    assert support(layers)[span(layers) // 2 + 1]
    assert cone(layers, 3, 0, causal=False)[0].tolist() == [True, False, False]


@pytest.mark.parametrize("k, dilations", [(3, [1, 2, 4]), (3, [1, 4, 16]), (2, [1, 2, 4]), (5, [1, 6])])
def test_far_from_the_ends_the_cone_ends_in_the_support(k, dilations):
    layers = [Layer(k, d) for d in dilations]
    R = span(layers)
    assert torch.equal(cone(layers, R, R - 1)[0], support(layers))
    if k % 2:
        assert torch.equal(cone(layers, R, R // 2, causal=False)[0], support(layers))


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
        (10**18 + 1, 3, True, 1, 5 * 10**17 + 1),  # a float would lose the last step
    ],
)
def test_published_depths(distance, k, causal, growth, depth):
    assert depth_needed(distance, k, causal, growth) == depth


@pytest.mark.parametrize("k, causal", [(2, True), (3, True), (5, True), (3, False), (5, False)])
def test_the_depth_without_dilation_is_the_ceiling(k, causal):
    for distance in range(60):
        assert depth_needed(distance, k, causal) == math.ceil((1 if causal else 2) * distance / (k - 1))


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


@pytest.mark.parametrize("k, causal, growth", [(1, True, 1), (1, False, 2), (3, True, 1), (3, False, 2)])
def test_distance_0_needs_no_layer(k, causal, growth):
    assert depth_needed(0, k, causal, growth) == 0


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


def test_published_deviations():
    assert [round(uniform_deviation(3, L), 2) for L in (4, 16, 64)] == [1.63, 3.27, 6.53]


def test_the_effective_field_of_two_layers_by_hand():
    stack = ConvolutionStack(1, 3, [1, 1], causal=False, dtype=torch.float64)
    for layer in stack.layers:
        nn.init.constant_(layer.W, -1 / 3)  # the sign does not matter
    profile = effective_field(stack, torch.zeros(7, 1, dtype=torch.float64), 3)
    expected = torch.tensor([0, 1, 2, 3, 2, 1, 0], dtype=torch.float64) / 9
    torch.testing.assert_close(profile, expected)


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


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("size", [2.0**-14, 1.0, 1000.0])
def test_profiles_of_every_dtype_and_size_are_counted_alike(dtype, size):
    even = torch.full((50,), size, dtype=dtype)
    assert [positions_holding(part, even) for part in (0.1, 0.5, 0.9, 1.0)] == [5, 25, 45, 50]
    assert deviation(torch.full((100,), size, dtype=dtype)) == pytest.approx(math.sqrt((100**2 - 1) / 12), rel=1e-12)


@pytest.mark.parametrize("size", [1e-45, 1e-38, 1e38, 3.4e38])
def test_profiles_at_the_ends_of_float32_are_counted_alike(size):
    even = torch.full((50,), size)
    assert positions_holding(0.1, even) == 5 and positions_holding(0.9, even) == 45
    assert deviation(even) == pytest.approx(math.sqrt((50**2 - 1) / 12), rel=1e-12)


@pytest.mark.parametrize("size", [5e-324, 1e-300, 1e300, 1.7e308])
def test_profiles_at_the_ends_of_float64_are_counted_alike(size):
    even = torch.full((50,), size, dtype=torch.float64)
    assert positions_holding(0.1, even) == 5 and positions_holding(1.0, even) == 50
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


# What is refused


@pytest.mark.parametrize("bad", [0, -3, 2.0, True, (3, 5)])
def test_layers_take_whole_numbers_alone(bad):
    """A pair, of an image's two axes, is refused too: read at its first number, it would give one axis's field."""
    for name in ("k", "dilation", "stride"):
        with pytest.raises(ValueError) as error:
            Layer(**{"k": 3, name: bad})
        assert str(error.value) == f"{name}={bad!r}: it must be one whole number, at least 1"


def test_a_cone_beyond_its_positions_or_with_strides_or_without_a_middle_is_refused():
    with pytest.raises(ValueError, match="^position 5 lies outside 0 … 4, the positions of n=5"):
        cone([CONV], 5, 5)
    with pytest.raises(ValueError, match="^position=-1: it must be one whole number, at least 0"):
        cone([CONV], 5, -1)
    with pytest.raises(ValueError, match="^position=0.5: it must be one whole number, at least 0"):
        cone([CONV], 5, 0.5)
    with pytest.raises(ValueError, match=r"^strides \[2\] leave fewer than the n=5 positions of the input"):
        cone([CONV, POOL], 5, 4)
    with pytest.raises(ValueError, match="^k=4 is even and has no middle"):
        cone([Layer(4)], 5, 2, causal=False)
    with pytest.raises(ValueError, match="^n=0: it must be one whole number, at least 1"):
        cone([CONV], 0, 0)


def test_depths_that_do_not_exist_are_refused():
    for causal, growth in itertools.product([True, False], [1, 2]):
        with pytest.raises(ValueError, match="^k=1 reads its own position alone: no depth reaches a distance of 7"):
            depth_needed(7, 1, causal, growth)
    with pytest.raises(ValueError, match="^k=2 is even and has no middle"):
        depth_needed(7, 2, causal=False)
    with pytest.raises(ValueError, match="^distance=-1: it must be one whole number, at least 0"):
        depth_needed(-1, 3)
    with pytest.raises(ValueError, match="^distance=2.5: it must be one whole number, at least 0"):
        depth_needed(2.5, 3)
    with pytest.raises(ValueError, match="^growth=0: it must be one whole number, at least 1"):
        depth_needed(7, 3, growth=0)
    with pytest.raises(ValueError, match="^k=0: it must be one whole number, at least 1"):
        depth_needed(7, 0)


def test_profiles_that_hold_no_influence_are_refused():
    for function in (deviation, lambda profile: positions_holding(0.9, profile)):
        with pytest.raises(ValueError, match=r"^the profile has 2 dimensions, shape \(2, 2\): it must be \(n,\)"):
            function(torch.ones(2, 2))
        with pytest.raises(ValueError, match="^the profile has 0 numbers above 0 among its 3"):
            function(torch.zeros(3))
        with pytest.raises(ValueError, match="^the profile has 2 negative, NaN or infinite among its 3 numbers"):
            function(torch.tensor([1, -1, math.nan]))
    for part in (0, 1.5):
        with pytest.raises(ValueError, match=f"^part={part}: it must lie above 0 and be at most 1"):
            positions_holding(part, torch.ones(3))
    with pytest.raises(ValueError, match="^layers=0: it must be one whole number, at least 1"):
        uniform_deviation(3, 0)
    with pytest.raises(ValueError, match=r"^k=10+ and layers=1: L \(k² − 1\) must be below 1e308"):
        uniform_deviation(10**200, 1)


def test_effective_fields_of_what_is_not_there_are_refused():
    layer = Convolution(2, 3)
    with pytest.raises(ValueError, match="^position 4 lies outside 0 … 3, the positions of y"):
        effective_field(layer, torch.zeros(4, 2), 4)
    with pytest.raises(ValueError, match=r"^x has 3 dimensions, shape \(1, 4, 2\): it must be \(n, d\)"):
        effective_field(layer, torch.zeros(1, 4, 2), 0)
    for position in (-1, 0.5, True):
        with pytest.raises(ValueError, match=f"^position={position}: it must be one whole number, at least 0"):
            effective_field(layer, torch.zeros(4, 2), position)
    with pytest.raises(ValueError, match="^position 3 lies outside 0 … 1, the positions of y"):
        effective_field(lambda x: x[:2], torch.zeros(4, 2), 3)
    for rank, model in [(1, torch.ravel), (3, lambda x: x[None])]:
        with pytest.raises(ValueError, match=rf"^the layer gave y with {rank} dimensions: it must give \(n', d'\)"):
            effective_field(model, torch.zeros(4, 2), 0)
    with pytest.raises(ValueError, match="^the layer gave a tuple: wrap it in a function that returns y alone"):
        effective_field(nn.LSTM(2, 2), torch.zeros(4, 2), 2)


def test_an_output_that_does_not_depend_on_its_inputs_has_an_effective_field_of_zeros():
    weight = nn.Parameter(torch.ones(4, 2))
    for model in (lambda x: torch.ones(4, 2), lambda x: weight):
        assert effective_field(model, torch.zeros(4, 2), 2).tolist() == [0, 0, 0, 0]


def test_a_finite_derivative_has_a_finite_norm():
    field = effective_field(lambda x: 1e30 * x, torch.ones(2, 8), 0)
    torch.testing.assert_close(field, torch.tensor([1e30 * math.sqrt(8), 0], dtype=torch.float64), rtol=1e-6, atol=0)
