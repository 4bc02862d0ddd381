"""Attention against torch's own functions and layers, and against hand-made numbers; masks against both."""

import itertools
import math
import re

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode

from why_attention.attention import AdditiveAttention, MultiHeadAttention, fused_attention, scaled_dot_product_attention
from why_attention.masks import causal_mask, fill_empty_rows, masked_softmax, padding_mask

BATCH, HEADS, L, S, D_K, D_V = 3, 2, 5, 7, 4, 6  # all different, so that a swapped axis cannot fit by luck
D = HEADS * D_K
TOLERANCE = {torch.float64: 1e-12, torch.float32: 1e-5, torch.bfloat16: 3e-2}  # of outputs, which are of size 1 or 2
IN_SUMS = 3  # times more of gradients, each of which is a sum over tokens
each_device = pytest.mark.parametrize("device", ["cpu", *["cuda"] * torch.cuda.is_available()])
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
    layer = MultiHeadAttention(D, HEADS, dropout, dtype=dtype)
    layer.reset_parameters(torch.Generator().manual_seed(0))
    return layer.to(device)


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


def test_weights_are_drawn_with_variance_1_over_d_by_the_generator_alone():
    layer, again = (MultiHeadAttention(200, 4) for _ in range(2))
    for one in (layer, again):
        one.reset_parameters(torch.Generator().manual_seed(3))
    for name, weight in layer.named_parameters():
        assert weight.std().item() == pytest.approx(1 / math.sqrt(200), rel=0.05)
        assert torch.equal(weight, again.get_parameter(name))
    assert len({weight.sum().item() for weight in layer.parameters()}) == 4  # four draws, not one


# A query that may look at nothing (case A1)


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
def test_a_mask_of_numbers_is_refused(mask, words):
    x, y = randn(L, D), randn(S, D)
    for call in (
        lambda: layer_of()(x, y, mask, need_weights=True),
        lambda: layer_of()(x, y, mask),
        lambda: scaled_dot_product_attention(x, y, y, mask),
        lambda: fused_attention(x, y, y, mask),
        lambda: AdditiveAttention(D, D, 8, dtype=torch.float64)(x, y, mask),
        lambda: masked_softmax(randn(L, S), mask),
        lambda: fill_empty_rows(mask),
    ):
        with pytest.raises(
            ValueError, match=f"^mask is {mask.dtype}: it must be torch.bool, True where a query may look; .*{words}"
        ):
            call()


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


@pytest.mark.parametrize("mask", [None, MASKS["both"]], ids=["no mask", "both"])
def test_additive_attention_equals_a_loop_over_targets_and_sources(mask):
    attention = AdditiveAttention(D_K, D_V, 8, dtype=torch.float64)
    s, h = randn(BATCH, L, D_K), randn(BATCH, S, D_V, seed=2)
    context, weights = attention(s, h, mask)
    W, U, v = attention.W.weight, attention.U.weight, attention.v
    for b, i in itertools.product(range(BATCH), range(L)):
        scores = torch.stack([v @ torch.tanh(W @ s[b, i] + U @ h[b, j]) for j in range(S)])
        seen = scores.exp() * (1 if mask is None else mask[b, i])
        close(weights[b, i], seen / seen.sum())
        close(context[b, i], seen / seen.sum() @ h[b])
    close(attention(s[1], h[1], None if mask is None else mask[1])[0], context[1])  # without a batch


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


# What is refused


def spoiled(*shape, places=1, bad=math.nan):
    """Return noise with numbers that are none."""
    tensor = randn(*shape)
    tensor.view(-1)[:places] = bad
    return tensor


Q_, K_, V_, ONE = randn(3, L, D_K), randn(3, S, D_K), randn(3, S, D_V), torch.ones(1, 1)
AXES = "it must have at least 2 axes, none of them empty"
REFUSED_BY_FUNCTIONS = [  # Q, K, V, mask; words
    ((Q_, K_[..., :3], V_), "K has size 3 a token, but Q has 4: both must be the same, d_k"),
    ((Q_, K_[:, :6], V_), "V has 7 tokens, but K has 6: both must be the same, S"),
    ((Q_[:2], K_, V_), r"K has shape \(3, 7, 4\), but Q has \(2, 5, 4\): .*last two axes"),
    ((Q_, K_, V_[0]), r"V has shape \(7, 6\), but K has \(3, 7, 4\): .*last two axes"),
    ((Q_[0, 0], K_, V_), rf"Q has shape \(4,\): {AXES}"),
    ((Q_, K_[:, :0], V_[:, :0]), rf"K has shape \(3, 0, 4\): {AXES}"),
    ((Q_[:, :0], K_, V_), rf"Q has shape \(3, 0, 4\): {AXES}"),
    ((spoiled(L, D_K, places=2), K_[0], V_[0]), "Q has 2 NaN or infinite among its 20 numbers: it must"),
    ((Q_[0], spoiled(S, D_K, bad=math.inf), V_[0]), "K has 1 NaN or infinite among its 28 numbers: it must"),
    ((Q_[0], K_[0], spoiled(S, D_V, bad=-math.inf)), "V has 1 NaN or infinite among its 42 numbers: it must"),
    ((Q_, K_, V_.float()), r"V is torch\.float32, but Q is torch\.float64: both must be the same"),
    ((1e20 * ONE, 1e20 * ONE, ONE), r"Q has numbers up to 1e\+20 and K up to 1e\+20: scores may reach 1e\+40"),
    ((ONE, ONE, 3e38 * ONE), r"V has numbers up to 3e\+38, above 1.7e\+38: scale V down"),
    *(
        (
            (Q_, K_, V_, torch.ones(shape, dtype=torch.bool)),
            rf"mask has shape {re.escape(str(shape))}, but the scores have \(3, {L}, {S}\)",
        )
        for shape in [(S,), (S, L), (L, S + 1), (2, L, S), (1, 1, 1, L, S)]
    ),
    *(
        ((Q_, K_, V_, None, dropout), f"dropout={dropout}: it must be {words}")
        for dropout, words in (
            (-0.1, "at least 0 and below 1"),
            (1.0, "at least 0 and below 1"),
            (math.nan, "1 finite"),
        )
    ),
]


@pytest.mark.parametrize("function", [scaled_dot_product_attention, fused_attention])
@pytest.mark.parametrize("given, words", REFUSED_BY_FUNCTIONS)
def test_the_functions_name_what_they_refuse(function, given, words):
    with pytest.raises(ValueError, match=f"^{words}"):
        function(*given)


LAYER, ADDITIVE = layer_of(), AdditiveAttention(D, D_V, 8, dtype=torch.float64)
X, Y, SOURCES = randn(BATCH, L, D), randn(BATCH, S, D, seed=2), randn(BATCH, S, D_V)
WHOLE = "it must be one whole number, at least 1"
REFUSED_BY_LAYERS = [
    (lambda: LAYER(X[0, 0]), rf"x has 1 dimensions, shape \({D},\): it must be \(n, {D}\) or \(batch, n, {D}\)"),
    (lambda: LAYER(X[None]), r"x has 4 dimensions, shape \(1, 3"),
    (lambda: LAYER(SOURCES), f"x has size {D_V} a token, but the layer reads size {D}"),
    (lambda: LAYER(X, SOURCES), f"memory has size {D_V} a token, but the layer reads size {D}"),
    (lambda: LAYER(X, Y[:2]), rf"memory has shape \(2, {S}, {D}\), but x has \({BATCH}, {L}, {D}\)"),
    (lambda: LAYER(X, Y[0]), rf"memory has shape \({S}, {D}\), but x has \({BATCH}, {L}, {D}\)"),
    (lambda: LAYER(X, spoiled(BATCH, S, D)), f"memory has 1 NaN or infinite among its {Y.numel()} numbers"),
    (lambda: LAYER(X[:, :0]), rf"x has shape \({BATCH}, 0, {D}\): {AXES}"),
    (lambda: LAYER(X, Y, causal_mask(S, L)), r"mask has shape \(7, 5\), but the scores have \(3, 5, 7\)"),
    (lambda: LAYER(X.float()), "x is torch.float32, but weights is torch.float64"),
    (lambda: LAYER(X.long()), "x is torch.int64: it must be torch.float16 or"),
    (lambda: LAYER(X.numpy()), "x is a ndarray: it must be 1 torch.Tensor"),
    (lambda: LAYER(None), "x is a NoneType: it must be 1 torch.Tensor"),
    (lambda: ADDITIVE(SOURCES, SOURCES), f"s has size {D_V} a token, but the layer reads size {D}"),
    (lambda: ADDITIVE(X, X), f"h has size {D} a token, but the layer reads size {D_V}"),
    (lambda: ADDITIVE(X, SOURCES[:1]), rf"h has shape \(1, {S}, {D_V}\), but s has \({BATCH}, {L}, {D}\)"),
    (lambda: ADDITIVE(X, spoiled(BATCH, S, D_V)), f"h has 1 NaN or infinite among its {SOURCES.numel()} numbers"),
    (lambda: ADDITIVE(X, SOURCES, causal_mask(S, L)), r"mask has shape \(7, 5\), but the scores have \(3, 5, 7\)"),
    (lambda: ADDITIVE(X.float(), SOURCES), "s is torch.float32, but weights is torch.float64"),
    (lambda: MultiHeadAttention(10, 3), "d=10 and heads=3: d must be a multiple of heads"),
    (lambda: MultiHeadAttention(4, 2, 1.0), "dropout=1.0: it must be at least 0 and below 1"),
    (lambda: MultiHeadAttention(8, 0), f"heads=0: {WHOLE}"),
    (lambda: MultiHeadAttention(8.0, 2), rf"d=8\.0: {WHOLE}"),
    (lambda: AdditiveAttention(2, 0, 3), f"key_size=0: {WHOLE}"),
    (lambda: causal_mask(3, 0), f"S=0: {WHOLE}"),
    (lambda: padding_mask(torch.tensor([4, 3, -1]), 3), r"lengths \[4, -1\] lie outside 0 … 3, the number of keys"),
    *(
        (lambda bad=bad: padding_mask(torch.tensor(bad), 3), r"lengths is torch\.\w+ of shape .*: it must be whole")
        for bad in ([1.0], [True], [[1]], 1)
    ),
]


@pytest.mark.parametrize("call, words", REFUSED_BY_LAYERS)
def test_layers_and_masks_name_what_they_refuse(call, words):
    with pytest.raises(ValueError, match=f"^{words}"):
        call()


def test_a_padding_mask_shows_the_first_keys_of_each_sequence():
    assert padding_mask(torch.tensor([0, 2, 3]), 3).tolist() == [[[False] * 3], [[True, True, False]], [[True] * 3]]
