"""Costs against torch's own counter, searches in graphs, measured memory, and the equations solved by scanning."""

import itertools

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from why_attention import cost, dependency_graph
from why_attention.attention import MultiHeadAttention, fused_attention, scaled_dot_product_attention
from why_attention.convolution import Convolution
from why_attention.cost import (
    attention,
    attention_core,
    convolution,
    costs,
    counted_flops,
    crossovers,
    dilated_convolution,
    doubling,
    gru,
    lstm,
    restricted_attention,
    rnn,
    searched_path_length,
    separable_convolution,
)

SIZES = [(1, 4), (7, 16), (24, 8), (33, 32)]  # n and d
each_size = pytest.mark.parametrize("n, d", SIZES)


def tokens(n, d):
    return torch.randn(1, n, d, generator=torch.Generator().manual_seed(0))


# FLOPs against the counter


@each_size
@pytest.mark.parametrize("formula, layer", [(rnn, nn.RNN), (gru, nn.GRU), (lstm, nn.LSTM)])
def test_recurrent_layers_of_torch_take_as_many_flops(n, d, formula, layer):
    torchs = layer(d, d, batch_first=True).eval()
    assert counted_flops(lambda: torchs(tokens(n, d))) == formula(n, d).flops


@each_size
@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_convolutions_take_as_many_flops(n, d, k):
    x, padding = tokens(n, d), (k - 1, 0)
    torchs = nn.Conv1d(d, d, k)
    assert counted_flops(lambda: torchs(F.pad(x.mT, padding))) == counted_flops(lambda: Convolution(d, k)(x))
    if k == 1:
        return  # joins no two positions, so that it has no cost in this table
    assert counted_flops(lambda: Convolution(d, k)(x)) == convolution(n, d, k).flops
    assert counted_flops(lambda: Convolution(d, k, dilation=k)(x)) == dilated_convolution(n, d, k).flops
    separable = nn.Sequential(nn.Conv1d(d, d, k, groups=d), nn.Conv1d(d, d, 1))
    assert counted_flops(lambda: separable(F.pad(x.mT, padding))) == separable_convolution(n, d, k).flops


@each_size
def test_attention_takes_as_many_flops_fused_or_not(n, d):
    x, layer = tokens(n, d), MultiHeadAttention(d, 4)
    assert counted_flops(lambda: layer(x)) == attention(n, d, 4, fused=True).flops
    assert counted_flops(lambda: layer(x, need_weights=True)) == attention(n, d, 4).flops
    heads = torch.randn(1, 4, n, d // 4)
    assert counted_flops(lambda: fused_attention(heads, heads, heads)) == attention_core(n, d, 4, fused=True).flops
    assert counted_flops(lambda: scaled_dot_product_attention(heads, heads, heads)) == attention_core(n, d, 4).flops
    torchs = nn.MultiheadAttention(d, 4, bias=False, batch_first=True)  # training: its fast path counts 0
    assert counted_flops(lambda: torchs(x, x, x, need_weights=False)) == attention(n, d).flops


@each_size
@pytest.mark.parametrize("r", [3, 5])
def test_attention_to_a_window_takes_as_many_flops(n, d, r):
    """Keys and values unfolded into windows of r, padded at both ends."""
    x, (W_q, W_k, W_v, W_o) = tokens(n, d)[0], (nn.Linear(d, d, bias=False) for _ in range(4))
    reach = r // 2

    def windows(x):
        return F.pad(x.T, (reach, reach)).T.unfold(0, r, 1)  # (n, d, r)

    def call():
        A = (W_q(x).unsqueeze(1) @ windows(W_k(x))).softmax(-1)  # (n, 1, r)
        W_o((A @ windows(W_v(x)).mT).squeeze(1))

    expected = restricted_attention(n, d, r).flops
    assert counted_flops(call) == (expected if n >= r else 8 * n * d**2 + 4 * n * r * d)


def test_the_cases_that_count_0_without_help():
    """Case A9: FlopCounterMode alone sees nothing of them."""
    from torch.utils.flop_counter import FlopCounterMode

    Q = torch.randn(1, 1, 8, 16)
    layer = nn.LSTM(4, 4, batch_first=True).eval()
    for call, flops in [(lambda: F.scaled_dot_product_attention(Q, Q, Q), 4096), (lambda: layer(tokens(5, 4)), 1280)]:
        with torch.no_grad(), FlopCounterMode(display=False) as alone:
            call()
        assert alone.get_total_flops() in (0, flops)  # 0 today; a torch that counts rightly is welcome
        assert counted_flops(call) == flops


def test_nothing_counted_is_an_error():
    for call in (lambda: None, lambda: torch.ones(3).sum()):
        with pytest.raises(ValueError, match="^counted 0 FLOPs: the call must run at least 1 "):
            counted_flops(call)


def test_counting_changes_neither_gradients_nor_onednn():
    before = torch.backends.mkldnn.enabled
    counted_flops(lambda: torch.ones(2, 2) @ torch.ones(2, 2))
    assert torch.is_grad_enabled() and torch.backends.mkldnn.enabled == before


# Steps and paths against searches in the graph


@pytest.mark.parametrize("n", [1, 2, 3, 4, 8, 9, 10, 13])
@pytest.mark.parametrize("k", [2, 3, 5])
def test_paths_are_as_long_as_the_search_finds_and_no_fewer_layers_do(n, k):
    w = k - 1  # of a window of r = 2k − 1
    families = {
        "convolution": (convolution(n, 4, k), lambda L: dependency_graph.convolution(n, k, L)),
        "separable": (separable_convolution(n, 4, k), lambda L: dependency_graph.convolution(n, k, L)),
        "dilated": (dilated_convolution(n, 4, k), lambda L: dependency_graph.convolution(n, k, L, growth=k)),
        "restricted": (restricted_attention(n, 4, 2 * w + 1), lambda L: dependency_graph.attention(n, L, window=w)),
        "attention": (attention(n, 4), lambda L: dependency_graph.attention(n, L)),
        "core": (attention_core(n, 4), lambda L: dependency_graph.attention(n, L)),
        "rnn": (rnn(n, 4), lambda L: dependency_graph.recurrence(n, L)),
        "lstm": (lstm(n, 4), lambda L: dependency_graph.recurrence(n, L)),
        "gru": (gru(n, 4), lambda L: dependency_graph.recurrence(n, L)),
    }
    for name, (row, graph) in families.items():
        assert searched_path_length(graph(row.layers)) == row.path, name
        if row.layers > 1:
            assert searched_path_length(graph(row.layers - 1)) is None, name
        assert dependency_graph.sequential_steps(graph(1)) == row.steps, name


def test_a_thousand_steps_of_the_chapter():
    """Science, rows 11 and 12: 500 layers of k = 3, and 7 of dilation 3^l."""
    assert convolution(1001, 1, 3).layers == 500
    assert dilated_convolution(1001, 1, 3).layers == 7
    assert dilated_convolution(1024, 1, 2).layers == 10


def test_of_two_directions_the_shorter_counts():
    forth, back = [(0, 3)], [(1, 2)]
    nodes = [(0, 1), (0, 2), (1, 1), (1, 2)]
    own = [(0, 2), (1, 3)]
    assert searched_path_length(dependency_graph.DependencyGraph(nodes, own + forth)) == 1
    assert searched_path_length(dependency_graph.DependencyGraph(nodes, own + back)) == 1
    assert searched_path_length(dependency_graph.DependencyGraph(nodes, own)) is None


# Crossovers against the formulae, scanned


@pytest.mark.parametrize("d, k", list(itertools.product([8, 64], [2, 3, 4, 5, 7, 9])))
def test_beyond_the_crossover_the_first_costs_more_and_before_it_less(d, k):
    assert len(crossovers(d, k)) == 5
    for (first, second), n in crossovers(d, k).items():
        dearer = [m for m in range(1, 8 * d) if costs(m, d, k)[first].flops > costs(m, d, k)[second].flops]
        equal = [m for m in range(1, 8 * d) if costs(m, d, k)[first].flops == costs(m, d, k)[second].flops]
        assert dearer == list(range(1 if n is None else int(n) + 1, 8 * d)), (first, second)
        assert equal == ([n] if n is not None and n == int(n) else []), (first, second)


@pytest.mark.parametrize("n, d", [(1, 1), (64, 512), (512, 512), (1024, 512), (4096, 512), (10**6, 64)])
def test_doubling_is_the_ratio_of_two_costs(n, d):
    assert doubling(n, d) == pytest.approx(attention(2 * n, d).flops / attention(n, d).flops, rel=1e-12)
    for one, two in zip(costs(n, d, r=3).items(), costs(2 * n, d, r=3).items()):
        if one[0] not in ("attention", "attention core") and n > 3:
            assert two[1].flops == 2 * one[1].flops, one[0]


def test_doubling_approaches_2_and_4():
    assert doubling(1, 10**9) == pytest.approx(2)
    assert doubling(10**9, 1) == pytest.approx(4)
    assert [round(doubling(n, 512), 2) for n in (64, 512, 1024, 4096)] == [2.12, 2.67, 3.00, 3.60]  # science, row 19


def test_the_table_passes_its_options_on():
    table = costs(100, 16, k=5, heads=4, r=9)
    assert table["dilated convolution"] == dilated_convolution(100, 16, 5)
    assert table["attention core"] == attention_core(100, 16, 4)
    assert table["restricted attention"] == restricted_attention(100, 16, 9, 4)


# Memory: torch's own record of what each operation makes


class Made(torch.utils._python_dispatch.TorchDispatchMode):
    """Adds up the numbers of every tensor of some shape that operations make, in memory of their own."""

    def __init__(self, counts):
        super().__init__()
        self.counts, self.seen, self.total = counts, {}, 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        out = function(*args, **(kwargs or {}))
        for tensor in out if isinstance(out, tuple | list) else [out]:
            if isinstance(tensor, torch.Tensor) and self.counts(tensor):
                key = tensor.untyped_storage().data_ptr()
                if key not in self.seen:
                    self.seen[key] = tensor  # held, so that no address is used twice
                    self.total += tensor.numel()
        return out


def test_naive_attention_makes_scores_and_weights_and_fused_makes_neither():
    n, d, heads = 64, 16, 4
    x, layer = tokens(n, d), MultiHeadAttention(d, heads)
    for need_weights in (True, False):
        with torch.no_grad(), Made(lambda tensor: tensor.shape[-2:] == (n, n)) as made:
            layer(x, need_weights=need_weights)
        held = attention(n, d, heads).memory - attention(n, d, heads, fused=True).memory
        assert made.total == (held if need_weights else 0)
    assert attention(n, d, heads, fused=True).memory == 5 * n * d  # Q, K, V, the heads' output and its projection


def test_memory_of_the_others():
    """RNN, GRU, LSTM; convolution, dilated, separable; attention's core, attention, restricted."""
    rows = costs(10, 4, k=3, heads=2, r=5)
    assert [row.memory for row in rows.values()] == [80, 160, 200, 40, 40, 80, 440, 600, 400]


# Errors


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: rnn(0, 4), "^n=0: it must be one whole number, at least 1"),
        (lambda: lstm(4, 0.5), "^d=0.5: it must be one whole number"),
        (lambda: convolution(4, 4, 0), "^k=0: "),
        (lambda: convolution(4, 4, 1), "^k=1 reads its own position alone: no depth reaches a distance of 3"),
        (lambda: attention(4, 4, 0), "^heads=0: "),
        (lambda: attention_core(-3, 4), "^n=-3: "),
        (lambda: restricted_attention(9, 4, 4), "^k=4 is even and has no middle"),
        (lambda: restricted_attention(9, 4, -1), "^r=-1: "),
        (lambda: crossovers(0, 3), "^d=0: "),
        (lambda: doubling(4, True), "^d=True: "),
    ],
)
def test_numbers_that_mean_nothing_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_one_position_needs_one_layer():
    assert {row.layers for row in costs(1, 4).values()} == {row.path for row in costs(1, 4).values()} == {1}
    assert cost.costs(1, 4, r=3)["restricted attention"].memory == 5 * 4 + 2


def test_numpys_whole_numbers_cost_what_pythons_do_and_never_overflow():
    large = 2**40  # its square, which attention takes, is no int64
    assert cost.attention(np.int64(large), np.int64(64)) == cost.attention(large, 64)
    assert cost.convolution(np.int64(16), 64, np.uint8(3)) == cost.convolution(16, 64, 3)
