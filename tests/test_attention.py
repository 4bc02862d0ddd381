"""Attention against torch's own functions and layers, and against hand-made numbers; masks against both."""

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

from why_attention.attention import (
    AdditiveAttention,
    MultiHeadAttention,
    fused_attention,
    scaled_dot_product_attention,
)
from why_attention.masks import causal_mask, fill_empty_rows, masked_softmax, padding_mask

BATCH, HEADS, L, S, D_K, D_V = 3, 2, 5, 7, 4, 6  # all different, so that a swapped axis cannot fit by luck
D = HEADS * D_K
TOLERANCE = {torch.float64: 1e-12, torch.float32: 1e-5, torch.bfloat16: 3e-2}  # of outputs, which are of size 1 or 2
IN_SUMS = 3  # times more of gradients, each of which is a sum over tokens
DEVICES = [
    "cpu",
    pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")),
]
each_device = pytest.mark.parametrize("device", DEVICES)
each_dtype = pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
either_way = pytest.mark.parametrize("need_weights", [True, False])
MASKS = {
    "no mask": None,
    "causal": causal_mask(L, S)[None],
    "padding": padding_mask(torch.tensor([7, 2, 4]), S),
    "both": causal_mask(L, S) & padding_mask(torch.tensor([7, 2, 4]), S),
    "an empty row": (torch.arange(L).unsqueeze(-1).expand(L, S) != 1)[None],
    "an empty sequence": padding_mask(torch.tensor([7, 0, 4]), S),
}
each_mask = pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)


def randn(*shape, seed=1):
    """Return float64 noise."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def leaves(*tensors, like):
    """Return copies of tensors, of a dtype and device, that collect gradients."""
    return [tensor.detach().to(like).requires_grad_() for tensor in tensors]


def close(actual, expected, atol=1e-12):
    """Assert that both have one shape and dtype and differ by ``atol`` at most; NaN equals nothing."""
    torch.testing.assert_close(actual, expected, rtol=0, atol=atol)


def back(output, seed=9):
    """Send a random gradient back through an output."""
    output.backward(randn(*output.shape, seed=seed).to(output))


def layer_of(dtype=torch.float64, device="cpu", dropout=0.0):
    layer = MultiHeadAttention(D, HEADS, dropout, dtype=torch.float64)
    layer.reset_parameters(torch.Generator().manual_seed(0))
    return layer.to(device, dtype)


def torch_twin(layer):
    """Return torch's own layer with the weights of ours."""
    W_qkv = torch.cat([W.weight.detach() for W in (layer.W_q, layer.W_k, layer.W_v)])
    twin = nn.MultiheadAttention(layer.d, layer.heads, layer.dropout, bias=False, batch_first=True).to(W_qkv)
    twin.load_state_dict({"in_proj_weight": W_qkv, "out_proj.weight": layer.W_o.weight.detach()})
    return twin


# The function, against torch's


@each_device
@each_dtype
@each_mask
def test_the_function_equals_torchs_forward_and_back(mask, dtype, device):
    like = torch.empty(0, dtype=dtype, device=device)
    mask = None if mask is None else mask.unsqueeze(-3).to(device)  # the same for all heads
    data = randn(BATCH, HEADS, L, D_K), randn(BATCH, HEADS, S, D_K, seed=2), randn(BATCH, HEADS, S, D_V, seed=3)
    ours, fused, theirs = (leaves(*data, like=like) for _ in range(3))
    output, weights = scaled_dot_product_attention(*ours, mask)
    fused_output, expected = fused_attention(*fused, mask), F.scaled_dot_product_attention(*theirs, mask)
    for result in (output, fused_output):
        close(result, expected, TOLERANCE[dtype])
    assert weights.shape == (BATCH, HEADS, L, S)
    for result in (output, fused_output, expected):
        back(result)
    for ours_in, fused_in, theirs_in in zip(ours, fused, theirs):
        assert theirs_in.grad.isfinite().all()
        close(ours_in.grad, theirs_in.grad, IN_SUMS * TOLERANCE[dtype])
        close(fused_in.grad, theirs_in.grad, IN_SUMS * TOLERANCE[dtype])


@each_mask
def test_weights_are_what_carries_each_value_to_the_output(mask):
    mask = None if mask is None else mask.unsqueeze(-3)
    Q, K = randn(BATCH, HEADS, L, D_K), randn(BATCH, HEADS, S, D_K, seed=2)
    identity = torch.eye(S, dtype=torch.float64).expand(BATCH, HEADS, S, S)
    _, weights = scaled_dot_product_attention(Q, K, randn(BATCH, HEADS, S, D_V, seed=3), mask)
    close(weights, F.scaled_dot_product_attention(Q, K, identity, mask))


def test_batches_of_any_rank_and_none_at_all_give_the_same():
    Q, K, V = randn(2, 3, 4, L, D_K), randn(2, 3, 4, S, D_K, seed=2), randn(2, 3, 4, S, D_V, seed=3)
    output, weights = scaled_dot_product_attention(Q, K, V)
    alone = scaled_dot_product_attention(Q[1, 2, 3], K[1, 2, 3], V[1, 2, 3])
    close(output[1, 2, 3], alone[0])
    close(weights[1, 2, 3], alone[1])


def test_huge_scores_give_one_key_everything_and_no_nan():
    Q = torch.tensor([[1e4, 0], [0, 1e4]])
    output, weights = scaled_dot_product_attention(Q, Q, Q)
    assert torch.equal(weights, torch.eye(2)) and torch.equal(output, Q)


# The layer, against torch's


def torch_masks(mask):
    """Return our mask in the two arguments of torch's layer, in which True hides."""
    if mask is None:
        return {}
    return {"attn_mask": ~mask.expand(BATCH, L, S).repeat_interleave(HEADS, 0)}


@each_device
@each_dtype
@either_way
@pytest.mark.parametrize("name", ["no mask", "causal", "padding", "both"])
def test_the_layer_equals_torchs_forward_and_back(name, need_weights, dtype, device):
    mask = None if MASKS[name] is None else MASKS[name].to(device)
    ours = layer_of(dtype, device)
    theirs = torch_twin(ours)
    like = ours.W_q.weight
    (x, y), (x_2, y_2) = (leaves(randn(BATCH, L, D), randn(BATCH, S, D, seed=2), like=like) for _ in range(2))
    output, weights = ours(x, y, mask, need_weights)
    expected = theirs(x_2, y_2, y_2, need_weights=True, average_attn_weights=False, **torch_masks(mask))
    close(output, expected[0], TOLERANCE[dtype])
    if need_weights:
        close(weights, expected[1], TOLERANCE[dtype])
    else:
        assert weights is None
    back(output)
    back(expected[0])
    close(x.grad, x_2.grad, IN_SUMS * TOLERANCE[dtype])
    close(y.grad, y_2.grad, IN_SUMS * TOLERANCE[dtype])
    W_qkv = torch.cat([W.weight.grad for W in (ours.W_q, ours.W_k, ours.W_v)])
    close(W_qkv, theirs.in_proj_weight.grad, IN_SUMS * TOLERANCE[dtype])
    close(ours.W_o.weight.grad, theirs.out_proj.weight.grad, IN_SUMS * TOLERANCE[dtype])


@each_device
@either_way
def test_padding_means_what_torchs_key_padding_mask_means(need_weights, device):
    ours, x = layer_of(device=device), randn(BATCH, S, D).to(device)
    lengths = torch.tensor([7, 2, 4], device=device)
    hidden = torch.arange(S, device=device) >= lengths.unsqueeze(-1)
    output, _ = ours(x, mask=padding_mask(lengths, S), need_weights=need_weights)
    close(output, torch_twin(ours)(x, x, x, key_padding_mask=hidden)[0])


@either_way
@each_mask
def test_one_sequence_without_a_batch_gives_what_it_gives_in_one(mask, need_weights):
    layer, x, y = layer_of(), randn(BATCH, L, D), randn(BATCH, S, D, seed=2)
    output, weights = layer(x, y, mask, need_weights)
    alone, weights_alone = layer(x[1], y[1], None if mask is None else mask.expand(BATCH, L, S)[1], need_weights)
    close(alone, output[1])
    if need_weights:
        close(weights_alone, weights[1])


@pytest.mark.parametrize("shape", [(S, D), (BATCH, S, D)])
def test_without_weights_the_fused_kernel_runs(shape):
    class Seen(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, arguments=(), options=None):
            names.append(str(function))
            return function(*arguments, **options or {})

    names = []
    with Seen():
        layer_of()(randn(*shape))
    assert any("flash_attention" in name for name in names), names
    assert not any("softmax" in name for name in names), names


def test_a_layer_without_positions_moves_its_outputs_with_its_inputs():
    layer, x = layer_of(), randn(S, D)
    order = torch.randperm(S, generator=torch.Generator().manual_seed(0))
    close(layer(x[order])[0], layer(x)[0][order])


def test_weights_are_drawn_with_variance_1_over_d_by_the_generator_alone():
    layer, again = (MultiHeadAttention(200, 4) for _ in range(2))
    for one in (layer, again):
        one.reset_parameters(torch.Generator().manual_seed(3))
    for name, weight in layer.named_parameters():
        assert weight.std().item() == pytest.approx(1 / math.sqrt(200), rel=0.05)
        assert torch.equal(weight, again.get_parameter(name))
    assert len({weight.sum().item() for weight in layer.parameters()}) == 4  # four draws, not one


def test_the_dtype_is_that_of_every_weight():
    for layer in (MultiHeadAttention(4, 2, dtype=torch.float64), AdditiveAttention(2, 3, 4, dtype=torch.float64)):
        assert {weight.dtype for weight in layer.parameters()} == {torch.float64}


# A query that may look at nothing (case A1)


@each_device
@each_dtype
def test_an_empty_row_gives_exactly_zero_and_finite_gradients_in_the_function(dtype, device):
    like = torch.empty(0, dtype=dtype, device=device)
    mask = torch.tensor([[True, True], [False, False]], device=device)
    values = torch.tensor([[2.0, 4.0], [6.0, 8.0]])
    for fused in (False, True):
        Q, K, V = leaves(torch.eye(2), torch.eye(2), values, like=like)
        if fused:
            output = fused_attention(Q[None, None], K[None, None], V[None, None], mask[None, None])[0, 0]
        else:
            output, weights = scaled_dot_product_attention(Q, K, V, mask)
            close(weights[0].double().cpu(), torch.tensor([0.66976, 0.33024]).double(), max(1e-5, TOLERANCE[dtype]))
            assert torch.equal(weights[1], torch.zeros_like(weights[1]))
        close(output[0].double().cpu(), torch.tensor([3.3210, 5.3210]).double(), max(1e-4, TOLERANCE[dtype]))
        assert torch.equal(output[1], torch.zeros_like(output[1]))
        back(output)
        assert all(tensor.grad.isfinite().all() for tensor in (Q, K, V))
        assert torch.equal(Q.grad[1], torch.zeros_like(Q.grad[1]))


@each_device
@each_dtype
@either_way
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("name", ["an empty row", "an empty sequence"])
def test_an_empty_row_gives_exactly_zero_and_finite_gradients_in_the_layer(name, training, need_weights, dtype, device):
    layer = layer_of(dtype, device).train(training)
    mask = MASKS[name].to(device)
    empty = ~mask.any(-1).expand(BATCH, L)
    (x, y) = leaves(randn(BATCH, L, D), randn(BATCH, S, D, seed=2), like=layer.W_q.weight)
    output, weights = layer(x, y, mask, need_weights)
    assert empty.any() and not empty.all()
    assert (output[empty] == 0).all() and (output[~empty] != 0).any(-1).all()
    if need_weights:
        weights = weights.transpose(1, 2)  # (batch, L, heads, S)
        assert (weights[empty] == 0).all()
        close(weights[~empty].sum(-1), torch.ones_like(weights[~empty].sum(-1)), TOLERANCE[dtype])
    back(output)
    assert all(tensor.grad.isfinite().all() for tensor in (x, y, *layer.parameters()))
    assert (x.grad[empty] == 0).all()


def test_an_empty_row_gives_exactly_zero_and_finite_gradients_in_additive_attention():
    attention = AdditiveAttention(D_K, D_V, 8, dtype=torch.float64)
    s, h = leaves(randn(BATCH, L, D_K), randn(BATCH, S, D_V, seed=2), like=attention.v)
    context, weights = attention(s, h, MASKS["an empty sequence"])
    assert (context[1] == 0).all() and (weights[1] == 0).all()
    back(context)
    assert all(tensor.grad.isfinite().all() for tensor in (s, h, *attention.parameters()))


# Which way round a mask is (case A2)


def means(mask, values):
    """Return what queries get that score all keys alike: the means of the values that the mask shows them."""
    Q, K = torch.zeros(mask.shape[0], 1), torch.zeros(mask.shape[1], 1)
    output, _ = scaled_dot_product_attention(Q, K, torch.tensor(values).unsqueeze(-1), mask)
    return output.squeeze(-1)


def test_a_causal_mask_shows_the_past():
    close(means(causal_mask(3, 3), [1.0, 10.0, 100.0]), torch.tensor([1, 5.5, 37]), atol=1e-5)


@either_way
def test_nothing_leaks_from_what_a_mask_hides(need_weights):
    layer, x = layer_of(), randn(S, D)
    changed = x.clone()
    changed[4] += 100
    before, after = (layer(tokens, mask=causal_mask(S, S), need_weights=need_weights)[0] for tokens in (x, changed))
    assert torch.equal(before[:4], after[:4])
    assert ((before[4:] - after[4:]).abs().amax(-1) > 1e-3).all()


NUMBERS = {  # masks that are no masks: what the refusal must say
    "float, 0 and 1": (torch.ones(L, S).tril(), "0 and 1 may mean either way round.*mask == 1 where 1 means look"),
    "whole, 0 and 1": (torch.ones(L, S, dtype=torch.int64).tril(), "0 and 1 may mean either way round"),
    "float, only 1": (torch.ones(L, S), "0 and 1 may mean either way round"),
    "0 and −inf": (torch.zeros(L, S).masked_fill(~causal_mask(L, S), -math.inf), "mask == 0 where it was to be added"),
    "0 and the lowest": (torch.zeros(L, S).masked_fill(~causal_mask(L, S), -3e38), "mask == 0 where it was to be"),
}


@pytest.mark.parametrize("mask, words", NUMBERS.values(), ids=NUMBERS)
@either_way
def test_a_mask_of_numbers_is_refused(mask, words, need_weights):
    with pytest.raises(
        ValueError, match=f"^mask is {mask.dtype}: it must be torch.bool, True where a query may look; .*{words}"
    ):
        layer_of()(randn(L, D), randn(S, D), mask, need_weights)


@pytest.mark.parametrize("mask, words", NUMBERS.values(), ids=NUMBERS)
def test_a_mask_of_numbers_is_refused_by_the_functions_and_by_additive_attention(mask, words):
    Q, K, V = randn(L, D_K), randn(S, D_K), randn(S, D_V)
    for function in (scaled_dot_product_attention, fused_attention):
        with pytest.raises(ValueError, match=words):
            function(Q, K, V, mask)
    with pytest.raises(ValueError, match=words):
        AdditiveAttention(D_K, D_V, 8).double()(Q, V, mask)


# How a causal mask is aligned (case A3)


@pytest.mark.parametrize(
    "L, S, values, expected",
    [
        (1, 1, [3.0], [3.0]),
        (1, 5, [1.0, 2, 3, 4, 5], [3.0]),  # one new query after a cache sees everything
        (2, 5, [1.0, 2, 3, 4, 5], [2.5, 3.0]),
        (5, 2, [1.0, 3], [0.0, 0, 0, 1, 2]),
        (5, 5, [1.0, 2, 3, 4, 5], [1.0, 1.5, 2, 2.5, 3]),
    ],
)
def test_a_causal_mask_is_aligned_bottom_right(L, S, values, expected):
    mask = causal_mask(L, S)
    assert mask.tolist() == [[j <= S - L + i for j in range(S)] for i in range(L)]
    close(means(mask, values), torch.tensor(expected), atol=1e-6)


def test_a_causal_mask_at_the_end_of_a_sequence_is_that_of_the_whole():
    assert torch.equal(causal_mask(2, 5), causal_mask(5, 5)[-2:])


# Weights before dropout (case A5)


def test_weights_are_those_before_dropout():
    torch.manual_seed(0)
    layer, x = layer_of(dropout=0.2).train(), randn(BATCH, L, D)
    output, weights = layer(x, need_weights=True)
    close(weights.sum(-1), torch.ones(BATCH, HEADS, L).double())
    assert weights.max() <= 1
    close(weights, layer.eval()(x, need_weights=True)[1])
    assert not torch.allclose(output, layer(x)[0])  # but the output is that after it
    _, one_key = layer_of(dropout=0.2).train()(randn(6, D), x[0, :1], need_weights=True)
    assert torch.equal(one_key, torch.ones(HEADS, 6, 1).double())


@either_way
def test_dropout_keeps_the_mean_of_the_output_in_training_and_does_nothing_after_it(need_weights):
    torch.manual_seed(0)
    layer, x = layer_of(dropout=0.5), randn(1, L, D)
    expected = layer.eval()(x, need_weights=need_weights)[0]
    close(layer(x, need_weights=need_weights)[0], expected)
    outputs = layer.train()(x.expand(20_000, L, D), need_weights=need_weights)[0]
    spread = outputs.std(0)
    assert (spread > 0.05).all()
    close((outputs.mean(0) - expected) / spread * math.sqrt(20_000), torch.zeros_like(expected), atol=5)  # 5 σ


# Additive attention (case A8)


def test_additive_attention_equals_a_loop_over_targets_and_sources():
    attention = AdditiveAttention(D_K, D_V, 8, dtype=torch.float64)
    s, h = randn(L, D_K), randn(S, D_V, seed=2)
    context, weights = attention(s, h)
    W, U, v = attention.W.weight, attention.U.weight, attention.v
    for i in range(L):
        scores = torch.stack([v @ torch.tanh(W @ s[i] + U @ h[j]) for j in range(S)])
        shares = scores.exp() / scores.exp().sum()
        close(weights[i], shares)
        close(context[i], sum(shares[j] * h[j] for j in range(S)))


def score_012():
    """Return additive attention and three sources that it scores 0, 1 and 2, whatever the target."""
    attention = AdditiveAttention(1, 1, 1, dtype=torch.float64)
    with torch.no_grad():
        attention.W.weight.zero_()
        attention.U.weight.fill_(1)
        attention.v.fill_(4)
    return attention, torch.atanh(torch.tensor([[0.0], [0.25], [0.5]], dtype=torch.float64))


@pytest.mark.parametrize("batch", [(), (1,), (2,)])
def test_additive_weights_share_1_among_the_sources(batch):
    attention, h = score_012()
    s, h = torch.zeros(*batch, 2, 1).double(), h.expand(*batch, 3, 1)
    rounding = 5e-5  # the numbers below have four decimals
    expected = torch.tensor([0.0900, 0.2447, 0.6652]).double().expand(*batch, 2, 3)
    close(attention(s, h)[1], expected, rounding)
    masked = attention(s, h, torch.tensor([[True, True, False]]).expand(*(1 for _ in batch), 1, 3))[1]
    close(masked, torch.tensor([0.2689, 0.7311, 0]).double().expand(*batch, 2, 3), rounding)
    assert (masked[..., 2] == 0).all()


def test_additive_weights_are_not_shared_among_the_targets():
    attention = AdditiveAttention(D_K, D_V, 8, dtype=torch.float64)
    _, weights = attention(randn(BATCH, 2, D_K), randn(BATCH, 3, D_V, seed=2))
    assert weights.shape == (BATCH, 2, 3)  # rows: targets, columns: sources
    close(weights.sum(-1), torch.ones(BATCH, 2).double())
    assert ((weights.sum(-2) - 1).abs() > 1e-3).any()


def test_the_softmax_of_a_mask_runs_over_keys():
    scores = torch.tensor([[0.0, 1.0], [2.0, 0.0]])
    close(masked_softmax(scores), torch.tensor([[0.2689, 0.7311], [0.8808, 0.1192]]), atol=5e-5)
    close(masked_softmax(scores, torch.eye(2, dtype=torch.bool)), torch.eye(2))


# FLOPs (case A9)


def flops(function, *arguments, **options):
    with FlopCounterMode(display=False) as counter:
        function(*arguments, **options)
    return counter.get_total_flops()


def test_the_function_takes_the_flops_of_its_formula():
    Q = randn(1, 2, 8, 16)
    assert flops(scaled_dot_product_attention, Q, Q, Q) == 8192
    Q, K, V = randn(BATCH, HEADS, L, D_K), randn(BATCH, HEADS, S, D_K), randn(BATCH, HEADS, S, D_V)
    assert flops(scaled_dot_product_attention, Q, K, V) == 2 * BATCH * HEADS * L * S * (D_K + D_V)


@either_way
def test_the_layer_takes_the_flops_of_its_formula(need_weights):
    layer = MultiHeadAttention(32, 2)
    with sdpa_kernel(SDPBackend.MATH):  # the counter does not see inside the fused kernel on a CPU
        counts = [flops(layer, torch.randn(n, 32), need_weights=need_weights) for n in (8, 512, 1024)]
    assert counts[0] == 73728
    assert counts == [8 * n * 32**2 + 4 * n**2 * 32 for n in (8, 512, 1024)]
    assert 3.5 < counts[2] / counts[1] < 4  # n doubles: nearly four times, for n is long against d


# What is refused

REFUSED = {
    "d_k": ((5, 4), (7, 3), (7, 6), "K has size 3 a token, but Q has 4: both must be the same, d_k"),
    "S": ((5, 4), (7, 4), (8, 6), "V has 8 tokens, but K has 7: both must be the same, S"),
    "batch": ((2, 5, 4), (3, 7, 4), (3, 7, 6), r"K has shape \(3, 7, 4\), but Q has \(2, 5, 4\): .*last two axes"),
    "batch of V": ((2, 5, 4), (2, 7, 4), (7, 6), r"V has shape \(7, 6\), but K has \(2, 7, 4\): .*last two axes"),
    "vector": ((4,), (7, 4), (7, 6), r"Q has shape \(4,\): it must have at least 2 axes, none of them empty"),
    "no keys": ((5, 4), (0, 4), (0, 6), r"K has shape \(0, 4\): it must have at least 2 axes, none of them empty"),
    "no queries": ((0, 4), (7, 4), (7, 6), r"Q has shape \(0, 4\): it must have at least 2 axes, none of them empty"),
}
both_functions = pytest.mark.parametrize("function", [scaled_dot_product_attention, fused_attention])


@both_functions
@pytest.mark.parametrize("Q, K, V, words", REFUSED.values(), ids=REFUSED)
def test_shapes_that_do_not_fit_are_refused(function, Q, K, V, words):
    with pytest.raises(ValueError, match=f"^{words}"):
        function(randn(*Q), randn(*K), randn(*V))


@both_functions
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("place", range(3))
def test_nan_and_infinity_are_refused_and_counted(function, place, bad):
    tensors = [randn(L, D_K), randn(S, D_K), randn(S, D_V)]
    tensors[place][1:3, 2] = bad
    size = tensors[place].numel()
    with pytest.raises(ValueError, match=f"^{'QKV'[place]} has 2 NaN or infinite among its {size} numbers: it must"):
        function(*tensors)


@both_functions
def test_two_dtypes_are_refused(function):
    with pytest.raises(ValueError, match=r"V is torch\.float32, but Q is torch\.float64: both must be the same"):
        function(randn(L, D_K), randn(S, D_K), randn(S, D_V).float())


@pytest.mark.parametrize("shape", [(S,), (S, L), (L, S + 1), (2, L, S), (1, 1, 1, L, S)])
@both_functions
def test_a_mask_that_does_not_broadcast_is_refused(function, shape):
    words = rf"mask has shape \({', '.join(map(str, shape))},?\), but the scores have \(3, {L}, {S}\)"
    with pytest.raises(ValueError, match=words):
        function(randn(3, L, D_K), randn(3, S, D_K), randn(3, S, D_V), torch.ones(shape, dtype=torch.bool))


@either_way
def test_the_layer_names_what_it_was_given(need_weights):
    layer, x, y = layer_of(), randn(BATCH, L, D), randn(BATCH, S, D)
    bad = y.clone()
    bad[0, 2, 3] = math.nan
    for arguments, words in [
        ((randn(D),), rf"x has 1 dimensions, shape \({D},\): it must be \(n, {D}\) or \(batch, n, {D}\)"),
        ((randn(1, 1, L, D),), r"x has 4 dimensions, shape \(1, 1"),
        ((randn(L, D + 1),), f"x has size {D + 1} a token, but the layer reads size {D}"),
        ((x, randn(BATCH, S, D - 1)), f"memory has size {D - 1} a token, but the layer reads size {D}"),
        ((x, y[:2]), rf"memory has shape \(2, {S}, {D}\), but x has \({BATCH}, {L}, {D}\)"),
        ((x, y[0]), rf"memory has shape \({S}, {D}\), but x has \({BATCH}, {L}, {D}\)"),
        ((x, bad), f"memory has 1 NaN or infinite among its {y.numel()} numbers: it must have 0"),
        ((x[:, :0],), rf"x has shape \({BATCH}, 0, {D}\): it must have at least 2 axes, none of them empty"),
        ((x, y, causal_mask(S, L)), rf"mask has shape \({S}, {L}\), but the scores have \({BATCH}, {L}, {S}\)"),
    ]:
        with pytest.raises(ValueError, match=f"^{words}"):
            layer(*arguments, need_weights=need_weights)


def test_additive_attention_names_what_it_was_given():
    attention = AdditiveAttention(D_K, D_V, 8, dtype=torch.float64)
    s, h = randn(BATCH, L, D_K), randn(BATCH, S, D_V)
    for arguments, words in [
        ((h, s), f"s has size {D_V} a token, but the layer reads size {D_K}"),
        ((s, s), f"h has size {D_K} a token, but the layer reads size {D_V}"),
        ((s, h[:1]), rf"h has shape \(1, {S}, {D_V}\), but s has \({BATCH}, {L}, {D_K}\)"),
        ((s, h * math.nan), f"h has {h.numel()} NaN or infinite among its {h.numel()} numbers"),
        ((s, h, causal_mask(S, L)), rf"mask has shape \({S}, {L}\), but the scores have \({BATCH}, {L}, {S}\)"),
    ]:
        with pytest.raises(ValueError, match=f"^{words}"):
            attention(*arguments)


@pytest.mark.parametrize("d, heads", [(10, 3), (2, 4)])
def test_sizes_that_do_not_divide_are_refused(d, heads):
    with pytest.raises(ValueError, match=f"^d={d} and heads={heads}: d must be a multiple of heads"):
        MultiHeadAttention(d, heads)


def test_other_sizes_are_refused():
    for dropout, words in ((-0.1, "at least 0 and below 1"), (1.0, "at least 0 and below 1"), (math.nan, "1 finite")):
        with pytest.raises(ValueError, match=f"^dropout={dropout}: it must be {words}"):
            MultiHeadAttention(4, 2, dropout)
        for function in (scaled_dot_product_attention, fused_attention):
            with pytest.raises(ValueError, match=f"^dropout={dropout}: it must be {words}"):
                function(randn(L, D_K), randn(S, D_K), randn(S, D_V), dropout=dropout)
    for make, words in (
        (lambda: MultiHeadAttention(8, 0), "heads=0"),
        (lambda: MultiHeadAttention(0, 1), "d=0"),
        (lambda: MultiHeadAttention(8, -2), "heads=-2"),
        (lambda: MultiHeadAttention(8.0, 2), r"d=8\.0"),
        (lambda: AdditiveAttention(2, 0, 3), "key_size=0"),
        (lambda: causal_mask(3, 0), "S=0"),
    ):
        with pytest.raises(ValueError, match=f"^{words}: it must be one whole number, at least 1"):
            make()


def test_lengths_that_pad_nothing_sensible_are_refused():
    assert padding_mask(torch.tensor([0, 2, 3]), 3).tolist() == [[[False] * 3], [[True, True, False]], [[True] * 3]]
    with pytest.raises(ValueError, match=r"^lengths \[4, -1\] lie outside 0 … 3, the number of keys"):
        padding_mask(torch.tensor([4, 3, -1]), 3)
    for bad in (torch.tensor([1.0]), torch.tensor([True]), torch.tensor([[1]]), torch.tensor(1)):
        with pytest.raises(
            ValueError, match=r"^lengths is torch\.\w+ of shape .*: it must be whole numbers \(batch,\)"
        ):
            padding_mask(bad, 3)


# Both paths in every dtype


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("size, d", [(300.0, 1), (300.0, 128), (1.0, 8)])
def test_both_paths_equal_float64_where_scores_are_large(size, d, dtype):
    """In half precision q k = 90,000 is no number: scores and softmax are computed in float32, as the kernels do."""
    Q, K, V = (size * randn(1, 1, n, d, seed=seed).sign().to(dtype) for n, seed in ((L, 1), (S, 2), (S, 3)))
    expected = (Q.double() @ K.double().mT / math.sqrt(d)).softmax(-1) @ V.double()
    naive, fused = scaled_dot_product_attention(Q, K, V)[0], fused_attention(Q, K, V)
    for output in (naive, fused):
        assert output.dtype == dtype
        close(output.double(), expected, 4 * size * max(torch.finfo(dtype).eps, 1e-5 * (dtype != torch.float64)))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_both_paths_of_the_layer_agree_on_300(dtype):
    layer = MultiHeadAttention(128, 1, dtype=torch.float64)
    with torch.no_grad():
        for W in layer.parameters():
            W.copy_(torch.eye(128))
    layer, x = layer.to(dtype), torch.full((3, 128), 300.0, dtype=dtype)
    for need_weights in (True, False):
        assert torch.equal(layer(x, need_weights=need_weights)[0], x)


@both_functions
def test_scores_and_values_too_large_for_the_dtype_are_refused_with_the_largest(function):
    one = torch.ones(1, 1)
    with pytest.raises(ValueError, match=r"^Q has numbers up to 1e\+20 and K up to 1e\+20: scores may reach 1e\+40"):
        function(1e20 * one, 1e20 * one, one)
    with pytest.raises(ValueError, match=r"^V has numbers up to 3e\+38, above 1.7e\+38: scale V down"):
        function(one, one, 3e38 * one)


def test_a_padding_mask_without_its_axis_is_refused_also_where_batch_L_and_S_are_equal():
    layer, x = layer_of(), randn(3, 3, D)
    padding = torch.arange(3) < torch.tensor([3, 1, 2]).unsqueeze(-1)  # (batch, S)
    words = (
        r"^mask has shape \(3, 3\), but the scores have \(3, 3, 3\): it must have as many axes, 3; write mask\[None\]"
    )
    with pytest.raises(ValueError, match=words):
        layer(x, mask=padding)
    with pytest.raises(ValueError, match=words):
        AdditiveAttention(D, D, 4, dtype=torch.float64)(x, x, padding)
    alone = layer(x[1, :1], x[1, :1])[0]  # the one token of sequence 1 that is no padding, by itself
    close(layer(x, mask=padding[:, None])[0][1, 0], layer(x[1], x[1, :1])[0][0])
    close(layer(x, mask=padding_mask(torch.tensor([3, 1, 2]), 3))[0][1, :1], alone)


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bool])
def test_tokens_of_another_dtype_than_the_weights_are_refused(dtype):
    words = "it must be torch.float16 or" if dtype != torch.float32 else "but weights is torch.float64"
    for call in (
        lambda x: layer_of()(x),
        lambda x: AdditiveAttention(D, D, 4, dtype=torch.float64)(x, randn(S, D)),
    ):
        with pytest.raises(ValueError, match=f"is {dtype}.*{words}"):
            call(torch.ones(L, D, dtype=dtype))


def test_arrays_lists_and_tuples_are_refused_by_name():
    for x in (torch.ones(L, D).numpy(), [[1.0] * D], (torch.ones(L, D),), None, 3):
        with pytest.raises(ValueError, match=f"^x is a {type(x).__name__}: it must be 1 torch.Tensor"):
            layer_of()(x, torch.ones(L, D))


def test_the_functions_of_masks_refuse_numbers():
    for function in (lambda mask: masked_softmax(torch.ones(2, 2), mask), fill_empty_rows):
        with pytest.raises(ValueError, match=r"^mask is torch.float32: it must be torch.bool"):
            function(torch.ones(2, 2))
