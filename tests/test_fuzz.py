"""Every public function of the package, given what may come: it answers, or refuses with a ValueError of its own.

An answer is finite, but for the −∞ that a logarithm of an exact zero is; where a second way to the same number is
cheap, both agree.  A refusal is raised by the package, not from inside torch or NumPy, and names a number or a value.
`make test` tries a few inputs with a fixed seed, `make fuzz` thousands of new ones.
"""

import ast
import dataclasses
import importlib
import math
import os
import re
import traceback
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from torch.nn import functional as F

import explorable
import why_attention
from why_attention import (
    attention,
    checks,
    convolution,
    cost,
    dependency_graph,
    fused_rnn,
    influence,
    masks,
    parallel_iteration,
    parallel_scan,
    positions,
    pretrained,
    receptive_field,
    rnn,
    stack,
    timing,
    transformer,
)
from why_attention.pages import bertviz_views, show_source, symbols

EXAMPLES = int(os.environ.get("FUZZ", 0))  # of every function; 0: a few, always the same
QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much, HealthCheck.large_base_example]
tried = settings(
    max_examples=EXAMPLES or 20,
    derandomize=not EXAMPLES,
    phases=[Phase.generate, Phase.shrink] if EXAMPLES else [Phase.generate],
    report_multiple_bugs=False,
    database=None,
    deadline=None,
    suppress_health_check=QUIET,
)
PACKAGE, FIGURES = (Path(package.__file__).parent for package in (why_attention, explorable))
FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
DTYPES = [torch.float32] * 3 + [torch.float64] * 3 + FLOATS[:2] + [torch.int32, torch.int64, torch.bool]
SPECIAL = [float(n) for n in "0 -0 1 -1.5 5e-324 1e-45 1e-40 1e-8 300 65504 1e20 1e30 3e38 1e300 inf nan".split()]
SCALES = [1.0, 1.0, 1.0, 0.0, 1e-40, 1e-8, 300.0, 1e20, 3e38]
NO_NUMBERS = [None, "3", 2.5, True, np.True_, math.nan, math.inf, 1j, (3, 3), [], np.array([1, 2]), torch.ones(2)]


# What is drawn


class Draw:
    """Draws what a function is given: mostly what it is made for, one time in twelve something else."""

    def __init__(self, data):
        self.data = data

    def one(self, options):
        return options[self.data.draw(st.integers(0, len(options) - 1))]

    def odd(self) -> bool:
        return self.data.draw(st.integers(0, 11)) == 11

    def flag(self) -> bool:
        return self.data.draw(st.booleans())

    def size(self, most: int = 5) -> int:
        return self.data.draw(st.integers(1, most))

    def whole(self, low: int = 1, high: int = 5):
        """Return a whole number of Python's, NumPy's or torch's; or no whole number, or one outside."""
        if self.odd():
            return self.one([*NO_NUMBERS, low - 1, -3, float(low), np.float32(2), torch.tensor(1.5)])
        number = self.data.draw(st.integers(low, high))
        return self.one([int, int, np.int64, np.int32, np.uint8, torch.tensor])(number)

    def wholes(self, low: int = 1, high: int = 5, most: int = 3):
        """Return a list, tuple, array or tensor of whole numbers; or something else."""
        if self.odd():
            return self.one(
                [[], [low - 1], [1.5], 3, None, np.ones(2), torch.tensor([1.5]), ["a"], [10**30], np.eye(2)]
            )
        numbers = [self.data.draw(st.integers(low, high)) for _ in range(self.size(most))]
        return self.one([list, tuple, np.array, torch.tensor])(numbers)

    def real(self, *usual: float):
        if self.odd():
            return self.one([*SPECIAL, *NO_NUMBERS, -1, np.float32(0.5)])
        number = self.one(usual)
        return self.one([float, np.float64, np.float32, torch.tensor])(number)

    def tensor(self, *shape: int, dtype: torch.dtype | None = None):
        """Return a tensor of this shape and dtype, or of others; with special numbers among it, or none at all."""
        dtype = self.one(DTYPES) if dtype is None or self.odd() else dtype
        if self.odd():
            shape = self.one([shape[1:], (*shape, 1), (1, *shape), (0, *shape[1:]), (*shape[:-1], shape[-1] + 1), ()])
        generator = torch.Generator().manual_seed(self.data.draw(st.integers(0, 99)))
        numbers = self.one(SCALES) * torch.randn(shape, generator=generator, dtype=torch.float64)
        for _ in range(self.data.draw(st.integers(0, 2))):
            if numbers.numel():
                numbers.view(-1)[self.data.draw(st.integers(0, numbers.numel() - 1))] = self.one(SPECIAL)
        tensor = numbers.nan_to_num().clamp(-100, 100).to(dtype) if not dtype.is_floating_point else numbers.to(dtype)
        return self.one([tensor.numpy, tensor.tolist])() if self.odd() and dtype != torch.bfloat16 else tensor

    def mask(self, *shape: int):
        """Return no mask, or one that fits scores of a shape, or one that does not."""
        if self.flag():
            return None
        if self.odd():
            return self.one([torch.ones(shape), np.ones(shape, dtype=bool), torch.ones(shape[-1], dtype=torch.bool)])
        shape = [self.one([1, size]) for size in shape]
        generator = torch.Generator().manual_seed(self.data.draw(st.integers(0, 99)))
        mask = torch.rand(shape, generator=generator) > 0.4
        return mask[0] if self.odd() else mask

    def module(self, make, *sizes, **options):
        """Return a layer of a dtype, with weights drawn or special; or None where it was refused."""
        dtype = self.one(FLOATS)
        layer = answer(lambda: make(*sizes, dtype=dtype, **options))
        if layer is not None and self.odd():
            weight = self.one(list(layer.parameters()))
            with torch.no_grad():
                weight.view(-1)[0] = torch.tensor(self.one(SPECIAL), dtype=torch.float64).to(dtype)
        return layer


# What may come out


def numbers_in(result) -> list[float]:
    """Return every number of a result that may be no number: of tensors, arrays, lists, dicts and records."""
    if isinstance(result, float):
        return [result]
    if isinstance(result, torch.Tensor):
        return result.detach().double().flatten().tolist()
    if isinstance(result, np.ndarray):
        return result.astype(float).ravel().tolist()
    if isinstance(result, torch.nn.Module):
        result = result.parameters()
    elif dataclasses.is_dataclass(result):
        result = vars(result).values()
    elif isinstance(result, dict):
        result = result.values()
    elif not isinstance(result, list | tuple | set):
        return []
    return [number for one in result for number in numbers_in(one)]


def answer(call, logarithm=False):
    """Return what a call gives, all of it finite, or None where the package refuses with a ValueError.

    logarithm: whether −∞ is an answer.
    """
    try:
        result = call()
    except ValueError as error:
        raiser = traceback.extract_tb(error.__traceback__)[-1].filename
        ours = any(Path(raiser).is_relative_to(package) for package in (PACKAGE, FIGURES))
        assert ours, f"{error} comes from {raiser}"
        assert re.search(r"\d|['\[]|None|\ba \w+:", str(error)), f"{error} names nothing"
        return None
    numbers = numbers_in(result)
    assert not any(map(math.isnan, numbers)), "NaN"
    assert not any(n == math.inf or (n == -math.inf and not logarithm) for n in numbers), "infinite"
    return result


def close(actual, expected, relative):
    """Assert that two tensors differ by a share of the largest number in them, at most."""
    allowed = relative * expected.abs().max().item() + torch.finfo(actual.dtype).tiny  # below it digits are lost
    torch.testing.assert_close(actual.double(), expected.double(), rtol=0, atol=allowed)


def rounding(dtype) -> float:
    return 50 * torch.finfo(dtype).eps


CASES = {}


def case(*names):
    """Enter a function that draws the arguments of these public names, calls them and judges what they give."""

    def enter(function):
        for name in names:
            CASES[name] = function
        return function

    return enter


# Attention


@case("attention.scaled_dot_product_attention", "attention.fused_attention")
def both_paths_of_attention(draw):
    batch = tuple(draw.size(3) for _ in range(draw.one([0, 1, 2, 3])))
    L, S, d_k, d_v = (draw.size(4) for _ in range(4))
    dtype = draw.one(DTYPES)
    Q, K, V = (draw.tensor(*batch, *shape, dtype=dtype) for shape in ((L, d_k), (S, d_k), (S, d_v)))
    mask = draw.mask(*batch, L, S)
    naive = answer(lambda: attention.scaled_dot_product_attention(Q, K, V, mask))
    fused = answer(lambda: attention.fused_attention(Q, K, V, mask))
    assert (naive is None) == (fused is None)
    if naive is not None:
        output, weights = naive
        *batch, L, d_k = Q.shape  # an odd shape may fit
        S, d_v = V.shape[-2:]
        assert output.shape == fused.shape == (*batch, L, d_v) and weights.shape == (*batch, L, S)
        assert output.dtype == fused.dtype == weights.dtype == Q.dtype
        q, k, v = (tensor.double() for tensor in (Q, K, V))
        scores = (q / math.sqrt(d_k)) @ k.mT
        size = max(1.0, scores.abs().max().item())  # a score of this size is exact to its rounding only
        if torch.finfo(torch.promote_types(dtype, torch.float32)).eps * size < 1e-3:
            scores = scores if mask is None else scores.masked_fill(~mask, -math.inf)
            expected = scores.softmax(-1).nan_to_num() @ v
            half = 8 * d_k * size * rounding(torch.float32) * (dtype != torch.float64)
            allowed = v.abs().max().item() * (1e-300 + rounding(dtype) + half + size * 1e-13)
            allowed += float(torch.finfo(dtype).smallest_normal)
            for one in (output, fused):
                torch.testing.assert_close(one.double(), expected, rtol=0, atol=allowed)
    dropout = draw.real(0.0, 0.5)
    for function in (attention.scaled_dot_product_attention, attention.fused_attention):
        answer(lambda function=function: function(Q, K, V, mask, dropout))


@case("attention.MultiHeadAttention")
def layer_of_attention(draw):
    heads, d_k = draw.size(2), draw.size(3)
    answer(
        lambda: attention.MultiHeadAttention(draw.whole(), draw.whole(), draw.real(0.0, 0.2), dtype=draw.one(DTYPES))
    )
    layer = draw.module(attention.MultiHeadAttention, heads * d_k, heads)
    batch, L, S = draw.one([(), (draw.size(3),)]), draw.size(4), draw.size(4)
    dtype = layer.W_q.weight.dtype
    x, memory = (draw.tensor(*batch, n, heads * d_k, dtype=dtype) for n in (L, S))
    mask = draw.mask(*batch, L, S)
    answers = [answer(lambda needed=needed: layer(x, memory, mask, needed)) for needed in (True, False)]
    if all(answers):
        assert answers[0][0].shape == x.shape and answers[0][1].shape == (*batch, heads, L, S)


@case("attention.AdditiveAttention")
def additive_attention(draw):
    sizes = [draw.size(3) for _ in range(3)]
    answer(lambda: attention.AdditiveAttention(draw.whole(), draw.whole(), draw.whole(), dtype=draw.one(DTYPES)))
    layer = draw.module(attention.AdditiveAttention, *sizes)
    batch, L, S = draw.one([(), (draw.size(3),)]), draw.size(4), draw.size(4)
    s, h = (draw.tensor(*batch, *shape, dtype=layer.v.dtype) for shape in ((L, sizes[0]), (S, sizes[1])))
    mask = draw.mask(*batch, L, S)
    result = answer(lambda: layer(s, h, mask))
    if result is not None:
        assert result[0].shape == (*batch, L, sizes[1]) and result[1].shape == (*batch, L, S)


@case("masks.causal_mask")
def causal(draw):
    L, S = draw.whole(), draw.whole()
    mask = answer(lambda: masks.causal_mask(L, S))
    if mask is not None:
        assert mask.tolist() == [[j <= int(S) - int(L) + i for j in range(int(S))] for i in range(int(L))]


@case("masks.padding_mask")
def padded(draw):
    lengths = draw.tensor(3, dtype=torch.int64) if draw.odd() else draw.wholes(0, 4)
    S = draw.whole()
    mask = answer(lambda: masks.padding_mask(lengths, S))
    if mask is not None:
        assert mask.shape == (len(lengths), 1, int(S)) and mask.sum(-1).flatten().tolist() == [int(n) for n in lengths]


@case("masks.masked_softmax", "masks.check_mask", "masks.fill_empty_rows")
def softmax(draw):
    shape = [draw.size(4) for _ in range(draw.one([2, 3]))]
    scores, mask = draw.tensor(*shape), draw.mask(*shape)
    weights = answer(lambda: masks.masked_softmax(scores, mask))
    if weights is not None:
        sums = weights.double().sum(-1)
        assert ((sums == 0) | ((sums - 1).abs() < rounding(scores.dtype))).all()
    answer(lambda: masks.fill_empty_rows(mask))
    answer(lambda: masks.check_mask(mask, tuple(shape)))


# Convolution


@case("convolution.Convolution", "convolution.ConvolutionStack")
def convolutions(draw):
    d, k, dilation, causal = draw.size(3), draw.size(4), draw.size(3), draw.flag()
    bad = draw.whole(), draw.whole(), draw.whole(), causal
    answer(lambda: convolution.Convolution(*bad, dtype=draw.one(DTYPES)))
    dilations = draw.wholes()
    answer(lambda: convolution.ConvolutionStack(d, draw.whole(), dilations, causal))
    layer = draw.module(convolution.Convolution, d, k, dilation, causal)
    if layer is None:
        return
    batch, n = draw.one([(), (draw.size(3),)]), draw.size(6)
    x = draw.tensor(*batch, n, d, dtype=layer.W.dtype)
    y = answer(lambda: layer(x))
    if y is not None:
        assert y.shape == x.shape and y.dtype == x.dtype
        padded = F.pad(x.double().mT, layer.padding)
        expected = F.conv1d(padded, layer.W.double(), layer.b.double(), dilation=dilation).mT
        terms = F.conv1d(padded.abs(), layer.W.double().abs(), layer.b.double().abs(), dilation=dilation).max().item()
        tiny = float(torch.finfo(x.dtype).smallest_normal)
        torch.testing.assert_close(y.double(), expected, rtol=0, atol=rounding(x.dtype) * terms + k * d * tiny)


@case("convolution.padding")
def padding(draw):
    k, dilation, causal = draw.whole(), draw.whole(), draw.flag()
    zeros = answer(lambda: convolution.padding(k, dilation, causal))
    if zeros is not None:
        assert sum(zeros) == (int(k) - 1) * int(dilation)


# Recurrence

CELLS = {cell.__name__: cell for cell in (rnn.RNNCell, rnn.GRUCell, rnn.LSTMCell)}


@case("rnn.RNNCell", "rnn.GRUCell", "rnn.LSTMCell")
def cells(draw):
    make = draw.one(list(CELLS.values()))
    answer(lambda: make(draw.whole(), draw.whole(), dtype=draw.one(DTYPES)))
    d, H = draw.size(3), draw.size(3)
    cell = make(d, H, dtype=draw.one(FLOATS))
    options = {"gain": draw.real(0.5, 1.0)}
    if make is rnn.LSTMCell:
        options |= {"forget_bias": draw.real(0.0, 1.0), "chrono": draw.one([None, draw.whole(3, 50)])}
    answer(lambda: cell.reset_parameters(**options))
    assert not any(map(math.isnan, numbers_in(cell)))
    assume(all(map(math.isfinite, numbers_in(cell))))  # a gain of 1e300 is for float64 only
    batch = draw.one([(), (2,)])
    x, s = draw.tensor(*batch, d, dtype=cell.b.dtype), draw.tensor(*batch, cell.state_size, dtype=cell.b.dtype)
    given = [tensor for tensor in (x, s) if isinstance(tensor, torch.Tensor)]
    # numbers are checked once for all steps, by unroll: here those of an ordinary size
    assume(all(tensor.numel() == 0 or (tensor.double().abs() < 1e4).all() for tensor in given))
    assume(all(abs(number) < 1e3 for number in numbers_in(cell)))
    for function in (cell, cell.jacobian):
        answer(lambda function=function: function(x, s))


@case("rnn.unroll", "rnn.step_jacobians", "rnn.gradient_decay", "rnn.decay_bound")
def trajectories(draw):
    make, d, H, T = draw.one(list(CELLS.values())), draw.size(3), draw.size(3), draw.size(5)
    cell, batch = draw.module(make, d, H), draw.one([(), (draw.size(3),)])
    dtype = cell.b.dtype
    x = draw.tensor(T, *batch, d, dtype=dtype)
    s_0 = draw.one([None, draw.tensor(*batch, cell.state_size, dtype=dtype)])
    lags = draw.wholes(0, T)
    states = answer(lambda: rnn.unroll(cell, x, s_0))
    J = answer(lambda: rnn.step_jacobians(cell, x, s_0))
    decay = answer(lambda: rnn.gradient_decay(cell, x, lags, s_0), logarithm=True)
    bound = answer(lambda: rnn.decay_bound(cell, x, lags, s_0), logarithm=True)
    if states is not None:
        T, *batch, d = x.shape  # an odd shape may fit
        assert states.shape == (T, *batch, cell.state_size)
    if decay is not None and bound is not None:
        assert states is not None and J is not None and decay.shape == bound.shape == (len(lags), *batch)
        both = decay.isfinite() & bound.isfinite()
        slack = 1e-3 * (1 + bound.abs()) if dtype == torch.float32 else 1e-9 * (1 + bound.abs())
        assert (decay[both] <= (bound + slack)[both]).all()
    answer(lambda: rnn.unroll(draw.one([None, torch.nn.RNNCell(d, H), 3]), x))


@case("rnn.ensemble")
def ensembles(draw):
    make = [draw.one(list(CELLS.values()))] * 3 if draw.flag() else [draw.one(list(CELLS.values())) for _ in range(3)]
    dtypes = [draw.one(FLOATS)] * 3 if draw.flag() else [draw.one(FLOATS) for _ in range(3)]
    d, H = draw.size(3), draw.size(3)
    members = [one(d, H, dtype=dtype) for one, dtype in zip(make, dtypes)][: draw.one([0, 1, 2, 3])]
    if draw.odd():
        members.append(draw.one([None, torch.nn.Linear(1, 1)]))
    together = answer(lambda: rnn.ensemble(members))
    if together is not None:
        x = draw.tensor(2, len(members), d, dtype=together.b.dtype)
        states = answer(lambda: rnn.unroll(together, x))
        if states is not None:
            alone = torch.stack([rnn.unroll(cell, x[:, i]) for i, cell in enumerate(members)], dim=1)
            close(states, alone, 10 * rounding(x.dtype))


@case("fused_rnn.fused_layer", "fused_rnn.cell_of")
def fused_layers(draw):
    make, d, H = draw.one(list(CELLS.values())), draw.size(3), draw.size(3)
    cell = draw.one(
        [make(d, H, dtype=draw.one(FLOATS))] * 5 + [rnn.ensemble([make(d, H)] * 2), None, torch.nn.Linear(2, 2)]
    )
    layer = answer(lambda: fused_rnn.fused_layer(cell))
    if layer is not None:
        again = answer(lambda: fused_rnn.cell_of(layer))
        assert all(torch.equal(weight, again.get_parameter(name)) for name, weight in cell.named_parameters())
    other = draw.one([torch.nn.RNN, torch.nn.GRU, torch.nn.LSTM])
    other = other(d, H, num_layers=draw.size(2), bidirectional=draw.odd())
    answer(lambda: fused_rnn.cell_of(draw.one([other, None, cell])))


@case("parallel_scan.loop", "parallel_scan.parallel_scan")
def scans(draw):
    shape = (draw.size(9), *draw.one([(), (draw.size(3),)]))
    dtype = draw.one(DTYPES)
    a, b = (draw.tensor(*shape, dtype=dtype) for _ in range(2))
    h, scanned = answer(lambda: parallel_scan.loop(a, b)), answer(lambda: parallel_scan.parallel_scan(a, b))
    if h is not None and (a.abs() <= 1).all():
        assert scanned is not None
        allowed = rounding(dtype) * b.double().abs().sum(0).max().item() + 1e-7 * (dtype in FLOATS[:2])
        torch.testing.assert_close(scanned.double(), h.double(), rtol=0, atol=allowed)


@case("parallel_scan.scan_rounds")
def rounds(draw):
    T = draw.whole(1, 100)
    result = answer(lambda: parallel_scan.scan_rounds(T))
    if result is not None:
        assert 2**result >= int(T) > 2 ** (result - 1) - (int(T) == 1)


@case("parallel_iteration.jacobi_iteration", "parallel_iteration.rounds_needed")
def jacobi(draw):
    make, d, H, T = draw.one(list(CELLS.values())), draw.size(3), draw.size(3), draw.size(5)
    cell = draw.module(make, d, H)
    x = draw.tensor(T, d, dtype=cell.b.dtype)
    rounds, tolerance = draw.whole(0, 5), draw.real(0.0, 1e-6)
    states = answer(lambda: parallel_iteration.jacobi_iteration(cell, x, rounds))
    if states is not None and int(rounds) >= T:
        close(states, rnn.unroll(cell, x), rounding(cell.b.dtype))
    needed = answer(lambda: parallel_iteration.rounds_needed(cell, x, tolerance))
    assert needed is None or 0 <= needed <= T


# Costs and graphs

COSTS = {  # what each takes beside n and d
    **dict.fromkeys(["rnn", "gru", "lstm", "crossovers", "doubling"], 0),
    **dict.fromkeys(["convolution", "dilated_convolution", "separable_convolution", "attention_core", "attention"], 1),
    "restricted_attention": 2,
    "costs": 3,
}


@case(*(f"cost.{name}" for name in COSTS))
def costs(draw):
    name = draw.one(list(COSTS))
    given = [draw.whole(1, 100) for _ in range(2 + COSTS[name])]
    result = answer(lambda: getattr(cost, name)(*given))
    if result is not None:
        assert result == getattr(cost, name)(*map(int, given))


@case("dependency_graph.recurrence", "dependency_graph.convolution", "dependency_graph.attention")
@case("dependency_graph.earliest_steps", "dependency_graph.sequential_steps", "dependency_graph.path_length")
@case("dependency_graph.path_lengths", "dependency_graph.DependencyGraph", "cost.searched_path_length")
def graphs(draw):
    n, layers = draw.whole(1, 6), draw.whole(1, 3)
    make = draw.one(
        [
            lambda: dependency_graph.recurrence(n, layers),
            lambda: dependency_graph.convolution(n, draw.whole(), layers, draw.whole(1, 3)),
            lambda: dependency_graph.attention(n, layers, draw.one([None, draw.whole(0, 5)])),
        ]
    )
    graph = answer(make)
    if graph is not None:
        steps = dependency_graph.earliest_steps(graph)
        assert dependency_graph.sequential_steps(graph) == max(steps)
        start, end = ((draw.whole(0, 3), draw.whole(1, 6)) for _ in range(2))
        length = answer(lambda: dependency_graph.path_length(graph, start, end))
        assert length is None or 0 <= length <= max(steps)
        answer(lambda: dependency_graph.path_lengths(graph, draw.one([start, 3, None])))
        answer(lambda: cost.searched_path_length(graph))
    edges = [(draw.whole(0, 3), draw.whole(0, 3)) for _ in range(2)]
    free = answer(lambda: dependency_graph.DependencyGraph([(0, 1), (0, 2), (1, 1), (1, 2)], edges))
    if free is not None:
        answer(lambda: dependency_graph.sequential_steps(free))


@case("positions.sinusoidal_positions")
def places(draw):
    n, d, dtype = draw.whole(), draw.whole(), draw.one(DTYPES)
    PE = answer(lambda: positions.sinusoidal_positions(n, d, dtype=dtype))
    if PE is not None:
        angles = [
            [t / 10000 ** (2 * (i // 2) / int(d)) + (i % 2) * math.pi / 2 for i in range(int(d))] for t in range(int(n))
        ]
        close(PE, torch.tensor(angles, dtype=torch.float64).sin(), rounding(dtype))


# Receptive fields and influence


@case("receptive_field.Layer", "receptive_field.span", "receptive_field.support")
@case("receptive_field.cone")
def fields(draw):
    layers = [answer(lambda: receptive_field.Layer(draw.whole(), draw.whole(), draw.whole(1, 2))) for _ in range(2)]
    layers = [layer for layer in layers if layer is not None]
    R = answer(lambda: receptive_field.span(layers))
    assert R == len(receptive_field.support(layers))
    answer(lambda: receptive_field.cone(layers, draw.whole(), draw.whole(0, 4), draw.flag()))


@case("receptive_field.depth_needed")
def depths(draw):
    answer(lambda: receptive_field.depth_needed(draw.whole(0, 99), draw.whole(), draw.flag(), draw.whole(1, 3)))


@case("receptive_field.deviation", "receptive_field.positions_holding", "receptive_field.uniform_deviation")
def profiles(draw):
    profile = draw.tensor(draw.size())
    if isinstance(profile, torch.Tensor) and not draw.odd() and profile.dtype != torch.bool:
        profile = profile.abs()
    sigma = answer(lambda: receptive_field.deviation(profile))
    assert sigma is None or 0 <= sigma <= len(profile)
    held = answer(lambda: receptive_field.positions_holding(draw.real(0.5, 0.9, 1.0), profile))
    assert held is None or 1 <= held <= len(profile)
    answer(lambda: receptive_field.uniform_deviation(draw.whole(), draw.whole()))


def layer_of_any_kind(draw, d):
    dtype = draw.one(FLOATS[2:])
    attend = attention.MultiHeadAttention(d, 1, dtype=dtype)
    layers = [
        convolution.Convolution(d, draw.size(3), dtype=dtype),
        lambda x: attend(x, need_weights=True)[0],
        attend,  # gives a tuple
        torch.nn.LSTM(d, d, dtype=dtype),
        lambda x: x.sum(),
        torch.zeros_like,
        lambda x: x[None],
        lambda x: x[:0],
        torch.exp,
        torch.Tensor.tolist,
    ]
    return draw.one(layers), dtype


@case("influence.influence_matrix", "receptive_field.effective_field", "stack.hidden_states")
def influences(draw):
    n, d = draw.size(4), draw.size(3)
    layer, dtype = layer_of_any_kind(draw, d)
    x, position = draw.tensor(n, d, dtype=dtype), draw.whole(0, 4)
    assume(not (isinstance(layer, torch.nn.LSTM) and torch.is_tensor(x) and (x.dtype != dtype or x.shape != (n, d))))
    assume(torch.is_tensor(x) and x.ndim > 0)
    matrix = answer(lambda: influence.influence_matrix(layer, x))
    field = answer(lambda: receptive_field.effective_field(layer, x, position))
    if matrix is not None and field is not None:
        close(field, matrix[int(position)], 1e-4)
    answer(lambda: stack.hidden_states([layer] * draw.size(2), x, residual=draw.flag()))


@case("influence.token_diversity")
def diversity(draw):
    x = draw.tensor(draw.size(), draw.size())
    result = answer(lambda: influence.token_diversity(x))
    assert result is None or ((0 <= result) & (result <= 1 + 1e-9)).all()


# The Transformer


@case("transformer.FeedForward", "transformer.Block")
def blocks(draw):
    answer(lambda: transformer.FeedForward(draw.whole(), draw.whole()))
    answer(lambda: transformer.Block(draw.whole(), draw.whole()))
    d, cross, dtype = draw.one([2, 4]), draw.flag(), draw.one(FLOATS)
    block = transformer.Block(d, 2, cross=cross, residual=draw.flag(), dtype=dtype)
    batch, L, S = draw.one([(), (draw.size(3),)]), draw.size(4), draw.size(4)
    x, memory = draw.tensor(*batch, L, d, dtype=dtype), draw.one([None, draw.tensor(*batch, S, d, dtype=dtype)])
    mask = draw.mask(*batch, L, L)
    y = answer(lambda: block(x, mask, memory))
    assert y is None or y.shape == x.shape


@case("transformer.Transformer", "transformer.next_token_loss", "transformer.generation_loss", "transformer.train")
def transformers(draw):
    answer(lambda: transformer.Transformer(draw.whole(), 2 * draw.size(2), draw.whole(), draw.whole(1, 2)))
    vocabulary = draw.size(5)
    model = transformer.Transformer(vocabulary, 4, 2, draw.size(2), positions=draw.flag(), causal=draw.flag())
    dtype = draw.one([torch.int64, torch.int64, torch.int32, torch.uint8, torch.int16, torch.float32, torch.bool])
    shape = draw.one([(2, 3), (2, 3), (1, 1), (3,), (2, 0), (1, 2, 3), (2, 2)])
    tokens = torch.randint(0, vocabulary + draw.odd(), shape).to(dtype)
    answer(lambda: model(tokens))
    answer(lambda: transformer.next_token_loss(model, tokens))
    answer(lambda: transformer.generation_loss(model, tokens))
    answer(lambda: transformer.train(model, lambda generator: tokens, draw.whole(1, 2), lr=draw.real(0.01, 0.1)))


# Maps, figures, pages


@case("pretrained.stack_maps", "pages.bertviz_views.head_view", "pages.bertviz_views.model_view")
def maps(draw):
    layers, heads, n = draw.size(2), draw.size(2), draw.size(3)
    one = draw.tensor(heads, n, n)
    if isinstance(one, torch.Tensor) and one.is_floating_point() and one.ndim and one.numel() and not draw.odd():
        one = one.double().nan_to_num().clamp(-10, 10).softmax(-1)
    together = torch.stack([one] * layers) if torch.is_tensor(one) else one
    given = draw.one([[one] * layers, [one] * layers, together, None, 3])
    answer(lambda: None if pretrained.stack_maps(given) is None else None)
    tokens = draw.one([["a"] * n, ["[CLS]", *"bcd"][:n], ["[CLS]"] * n, "ab", ["</script>"] * n, list(range(n))])
    heads_shown = draw.one([None, draw.wholes(1, 2)])
    layer = draw.whole(1, 2)
    answer(lambda: bertviz_views.head_view(given, tokens, layer, heads_shown))
    answer(lambda: bertviz_views.model_view(given, tokens))


@case("pretrained.load_maps")
def stored_maps(draw):
    answer(lambda: pretrained.load_maps(draw.one(["tired", "wide", "", "x", 3])))


@case("pages.show_source.show_source")
def sources(draw):
    given = [draw.one([answer, Draw, len, int, 3, None, "x", math, np.sin]) for _ in range(draw.one([0, 1, 2]))]
    answer(lambda: show_source.show_source(*given))


@case("pages.symbols.table")
def table(draw):
    assert answer(symbols.table).data.count("\n") == len(symbols.SYMBOLS) + 1


@case("timing.forward_times", "timing.layer_call", "timing.layer_times", "timing.LayerTimes")
def times(draw):
    answer(lambda: timing.forward_times(draw.one([{}, {"one": int}]), draw.whole(1, 2)))
    names = [*timing.LAYERS, "naive attention core", "S4", 3]
    sizes = draw.whole(), draw.one([2, 4, 3, 0, 2.0]), draw.size(2), draw.whole()
    call = answer(lambda: timing.layer_call(draw.one(names), *sizes))
    if call is not None:
        answer(call)
    if draw.odd():
        times = answer(lambda: timing.layer_times(draw.wholes(1, 4, 1), 2, 1, 1, 1, draw.one([None, draw.whole(1, 1)])))
        if times is not None:
            answer(lambda: times.slower_from(draw.one(names), draw.one(names)))


@case("explorable.Control")
def controls(draw):
    name = draw.one(["n", "n", "gain", "class", "self", "_x", "a b", "", 3, None, "n" * 200, "名"])
    grids = [draw.wholes(0, 5), np.linspace(0, 1, 3), [False, True], {"a": "A", "b": "B"}, [draw.real(0.5, 1.0)] * 2]
    values = draw.one([*grids, [0.5, 1]])
    start = draw.one([None, draw.whole(), draw.real(0.5)])
    label = draw.one(["length", "", "l" * 200, 3, explorable.Text(zh="长", en="long")])
    control = answer(lambda: explorable.Control(name, values, label, start))
    if control is not None:
        assert control.kind == "select" or all(type(value) in (int, float, bool) for value in control.grid)
        value = draw.one([draw.whole(0, 5), draw.real(0.5, 0.7), "a"])
        taken = answer(lambda: control.checked(value))
        assert taken is None or control.kind == "select" or control.grid[0] <= taken <= control.grid[-1]


@case("explorable.Explorable", "explorable.Sentence", "explorable.Choice", "explorable.Fixed", "explorable.Names")
def figures(draw):
    name = draw.one(["made-up", "made-up", "", "a/b", "a b", 3, "x" * 99])
    grids = [draw.one([[1, 2], np.arange(2), [0.5, 1.5], [False, True]]) for _ in range(2)]
    names = draw.one([("n", "m"), ("n", "n"), ("n", "keys")])
    made = [explorable.Control(one, grid, one) for one, grid in zip(names, grids)]
    axis = explorable.Axis("size", draw.one([(0, 1), (0, 1), (1, 0), (0, math.inf)]))
    numbers = draw.one([[0, 1], [math.nan, 1], [0.0, -math.inf], [[1, 2], [3]], "ab", [math.inf, 0]])
    drawn = explorable.Lines("lines", axis, axis, [explorable.Series(lambda n, m: numbers, [0, 1], "line")])
    named = explorable.Names(lambda n: draw.one([[0], [1], [3], ["x"], [0.5]]), ["a", "b"])
    map_ = explorable.Heatmap(lambda n: [[0.5]], "map", "row", "column", axis, row_words=named)
    words = draw.one(["n = {n}", "", "{", "{x}", "{n:.2f}", "{said}"])
    fixed = answer(lambda: explorable.Fixed(lambda n: draw.one([0.5, 2, "x", None]), draw.one([0, 2, -1])))
    slots = draw.one(
        [
            {},
            {"said": lambda n: "x"},
            {"said": explorable.Choice(lambda n: 0, ["a"])},
            {"said": fixed or (lambda n: "x")},
        ]
    )
    figure = answer(
        lambda: explorable.Explorable(
            name,
            title=draw.one(["Title", 3]),
            caption="Caption",
            how_to_read="Reading",
            controls=made,
            panels=draw.one([[drawn], [drawn], [drawn, map_]]),
            rows=draw.one([None, None, [1], [2], [1.0], np.array([1])]),
            sentence=explorable.Sentence(words, **slots),
        )
    )
    if figure is not None:
        value = draw.one([1, np.int64(2), np.float32(0.7), 99, "x", math.nan, np.array([1, 2])])
        answer(lambda: setattr(figure, "n", value))


@case("explorable.set_address")
def addresses(draw):
    answer(
        lambda: explorable.set_address(draw.one(["", "https://example.org/page.html", "#", 3, None, "ftp://x", "a b"]))
    )
    explorable.set_address("")


@case("explorable.Text", "explorable.set_language", "explorable.language")
def texts(draw):
    text = answer(lambda: explorable.Text(zh=draw.one(["长", 3, None]), en=draw.one(["long", 3])))
    answer(lambda: explorable.set_language(draw.one(["zh", "en", "fr", 3, None])))
    assert text is None or str(text) in text.words.values()


# Checks


@case("checks.check_whole", "checks.check_all_whole", "checks.check_real")
def numbers(draw):
    n = draw.whole()
    taken = answer(lambda: checks.check_whole(n=n))
    assert taken is None or (type(taken[0]) is int and taken[0] >= 1)
    taken = answer(lambda: checks.check_all_whole("n", draw.wholes()))
    assert taken is None or all(type(one) is int for one in taken)
    taken = answer(lambda: checks.check_real(x=draw.real(*SPECIAL)))
    assert taken is None or math.isfinite(taken[0])


CHECKS = ["check_dtype", "check_tensors", "check_floats", "check_same_dtype", "check_finite", "check_result"]
RECORDS = ["cost.Cost", "timing.Timing", "timing.Machine", "pretrained.StoredMaps"]
EXEMPT = {  # public names that no case calls, and why
    **{f"checks.{name}": "every layer's case calls it" for name in CHECKS},
    **{f"explorable.{name}": "the case of Explorable calls it" for name in ("Axis", "Series", "Lines")},
    **{f"explorable.{name}": "tests/test_explorable.py gives it hostile frames" for name in ("Heatmap", "Graph")},
    **{f"explorable.{name}": "tests/test_panels.py gives it hostile numbers and words" for name in ("Arcs", "Shares")},
    "explorable.Diagram": "tests/test_diagram.py gives it hostile functions",
    **dict.fromkeys(
        [*RECORDS, *(f"explorable.{name}" for name in ("Rule", "Span", "Bar", "Rounds", "Companion", "Node", "Edge"))],
        "a record",
    ),
    **dict.fromkeys(["timing.machine", "device.pick_device"], "takes nothing, and tells of the machine"),
    "norms.frobenius_norm": "the cases of influence and of effective_field call it",
    "cost.counted_flops": "calls what it is given",
    "peak_memory.peak_memory": "starts a process",
    "peak_memory.peak_of": "measures the whole process, and calls what it is given",
    "pretrained.attention_maps": "reads an encoder from a disk or a network",
    "pretrained.store_maps": "writes a file; tools/extract_maps.py calls it",
    "pages.bertviz_scripts.elements": "takes nothing, and reads files",
    "pages.bertviz_scripts.opener": "takes nothing, and reads a file",
    "one_thread.one_thread": "takes nothing",
    "figure_cache.figure_cache": "inside: tests/test_cache.py has the cache",
    "explorable.Cache": "inside: keeps a figure's frames in a file",
}
ELSEWHERE = ("figures", "tasks", "claims")  # trained and measured with fixed settings, each with tests of its own


def public_names() -> set[str]:
    """Return what ``explorable`` offers, and the functions and classes that each module of the chapter lists."""
    names = {f"explorable.{name}" for name in explorable.__all__}
    for path in PACKAGE.rglob("*.py"):
        module = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        if module.split(".")[0] in ELSEWHERE or path.stem in ("__init__", "__main__"):
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", None) == "__all__":
                named = ast.literal_eval(node.value)
                loaded = importlib.import_module(f"why_attention.{module}")
                names |= {f"{module}.{name}" for name in named if callable(getattr(loaded, name))}
    return names


def test_every_public_name_has_a_case_or_a_reason():
    assert public_names() - set(CASES) - set(EXEMPT) == set(), "write a case for these, or say why not"
    assert (set(CASES) | set(EXEMPT)) - public_names() == set(), "these are public no more"
    assert set(CASES) & set(EXEMPT) == set()


@pytest.mark.parametrize("function", dict.fromkeys(CASES.values()), ids=lambda case: case.__name__)
def test_it_answers_or_refuses_with_a_reason(function):
    @tried
    @given(st.data())
    def tries(data):
        torch.manual_seed(0)
        function(Draw(data))

    tries()
