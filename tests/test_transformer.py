"""The Transformer against torch's own layers with the same weights; test_missing_parts.py trains it."""

import copy
import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from why_attention.masks import causal_mask
from why_attention.positions import sinusoidal_positions
from why_attention.transformer import Block, FeedForward, Transformer, generation_loss, next_token_loss, train

BATCH, L, S, D, HEADS = 3, 5, 7, 8, 2  # all different, so that a swapped axis cannot fit by luck
VOCABULARY, DEPTH = 11, 3


def randn(*shape, seed=1):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def close(actual, expected, atol=1e-12):
    torch.testing.assert_close(actual, expected, rtol=0, atol=atol)


def block(**options):
    """Return a block in which no weight is what it starts as, those of the normalisation too."""
    return shaken(Block(D, HEADS, dtype=torch.float64, **options))


def shaken(module):
    with torch.no_grad():
        for number, weight in enumerate(module.parameters()):
            weight.copy_(0.5 * randn(*weight.shape, seed=100 + number))
    return module


def attention_weights(name, layer):
    """Return the weights of an attention of ours under torch's names; ours has no biases."""
    W_qkv = torch.cat([W.weight for W in (layer.W_q, layer.W_k, layer.W_v)])
    zeros = {f"{name}.in_proj_bias": W_qkv.new_zeros(len(W_qkv)), f"{name}.out_proj.bias": W_qkv.new_zeros(layer.d)}
    return {f"{name}.in_proj_weight": W_qkv, f"{name}.out_proj.weight": layer.W_o.weight, **zeros}


def torch_twin(ours):
    """Return torch's own encoder layer, or decoder layer where there is cross-attention, with the weights of a block."""
    parts = {"norm1": ours.self_norm, "linear1": ours.feed_forward.W_1, "linear2": ours.feed_forward.W_2}
    weights = attention_weights("self_attn", ours.self_attention)
    if ours.cross_attention is None:
        kind, parts["norm2"] = nn.TransformerEncoderLayer, ours.feed_forward_norm
    else:
        kind, parts["norm2"], parts["norm3"] = nn.TransformerDecoderLayer, ours.cross_norm, ours.feed_forward_norm
        weights |= attention_weights("multihead_attn", ours.cross_attention)
    weights |= {f"{name}.{key}": value for name, part in parts.items() for key, value in part.state_dict().items()}
    twin = kind(D, HEADS, 4 * D, dropout=0.0, batch_first=True, norm_first=True, dtype=torch.float64)
    twin.load_state_dict(weights)
    return twin


# The block, against torch's


@pytest.mark.parametrize("mask", [None, causal_mask(L, L)[None]], ids=["no mask", "causal"])
def test_a_block_is_an_encoder_layer(mask):
    ours, x = block(), randn(BATCH, L, D).requires_grad_()
    theirs, z = torch_twin(ours), x.detach().clone().requires_grad_()
    y, expected = ours(x, mask), theirs(z, src_mask=None if mask is None else ~mask[0])  # torch: True = may not look
    close(y, expected)
    y.backward(randn(*y.shape, seed=9))
    expected.backward(randn(*y.shape, seed=9))
    close(x.grad, z.grad)
    close(ours.feed_forward.W_1.weight.grad, theirs.linear1.weight.grad)


def test_a_block_with_cross_attention_is_a_decoder_layer():
    ours, x, memory = block(cross=True), randn(BATCH, L, D), randn(BATCH, S, D, seed=2)
    close(ours(x, causal_mask(L, L)[None], memory), torch_twin(ours)(x, memory, tgt_mask=~causal_mask(L, L)))


def test_one_sequence_goes_without_a_batch():
    ours, x, memory = block(cross=True), randn(BATCH, L, D), randn(BATCH, S, D, seed=2)
    close(ours(x[0], causal_mask(L, L), memory[0]), ours(x, causal_mask(L, L)[None], memory)[0])


def test_without_residual_connections_each_part_takes_the_place_of_its_input():
    ours, x = block(residual=False), randn(BATCH, L, D)
    y = ours.self_attention(F.layer_norm(x, (D,), ours.self_norm.weight, ours.self_norm.bias))[0]
    y = F.layer_norm(y, (D,), ours.feed_forward_norm.weight, ours.feed_forward_norm.bias)
    close(ours(x), ours.feed_forward(y))


def test_the_feed_forward_network_sees_one_position_at_a_time():
    layer, x = shaken(FeedForward(D, 20, dtype=torch.float64)), randn(BATCH, L, D)
    W_1, b_1, W_2, b_2 = (weight.detach() for weight in layer.parameters())
    expected = torch.stack([W_2 @ (W_1 @ one + b_1).clamp_min(0) + b_2 for one in x[0]])
    close(layer(x)[0], expected)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: FeedForward(0, 4), "d=0: it must be one whole number"),
        (lambda: Block(6, 4), "d=6 and heads=4"),
        (lambda: block()(randn(L, D), memory=randn(S, D)), r"memory is \(7, 8\), of 2 axes: this block reads no"),
        (lambda: block(cross=True)(randn(L, D)), "memory is None: this block reads a memory"),
        (lambda: block(cross=True)(randn(L, D), memory=randn(S, D + 1)), "memory has size 9"),
        (lambda: block()(randn(L, D), torch.zeros(L, L)), "mask is torch.float32"),
        (lambda: Transformer(0, D, HEADS, 1), "vocabulary=0: it must be one whole number"),
        (lambda: Transformer(5, D, HEADS, 0), "depth=0: it must be one whole number"),
        (lambda: Transformer(5, D, HEADS, 1)(torch.tensor([[1, 5]])), "tokens from 1 to 5: they must lie in 0 … 4"),
        (lambda: Transformer(5, D, HEADS, 1)(torch.tensor([[-1]])), "tokens from -1 to -1"),
        (lambda: Transformer(5, D, HEADS, 1)(torch.tensor([1, 2])), r"torch.int64 of shape \(2,\)"),
        (lambda: Transformer(5, D, HEADS, 1)(torch.ones(1, 2)), "tokens are torch.float32"),
        (lambda: Transformer(5, D, HEADS, 1)(torch.ones(2, 0).long()), r"of shape \(2, 0\)"),
        (lambda: next_token_loss(Transformer(5, D, HEADS, 1), torch.ones(2, 1).long()), r"shape \(2, 1\)"),
        (lambda: generation_loss(Transformer(5, D, HEADS, 1), torch.ones(2, 1).long()), r"shape \(2, 1\)"),
        (lambda: train(Transformer(8, D, HEADS, 1), lambda generator: None, steps=0), "steps=0"),
    ],
)
def test_bad_input_is_refused_with_its_numbers(make, message):
    with pytest.raises(ValueError, match=message):
        make()


# The whole, against torch's


def transformer(**switches):
    return shaken(Transformer(VOCABULARY, D, HEADS, DEPTH, **switches).double())


def some_tokens(n=L, seed=4):
    return torch.randint(VOCABULARY, (BATCH, n), generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("positions", [True, False])
def test_a_transformer_is_torchs_encoder_between_embedding_and_readout(positions, causal):
    ours, tokens = transformer(positions=positions, causal=causal), some_tokens()
    theirs = nn.TransformerEncoder(torch_twin(block()), DEPTH, copy.deepcopy(ours.norm), enable_nested_tensor=False)
    for layer, one in zip(theirs.layers, ours.blocks):
        layer.load_state_dict(torch_twin(one).state_dict())
    x = F.embedding(tokens, ours.embedding.weight)
    x = x + sinusoidal_positions(L, D, dtype=torch.float64) if positions else x
    hidden = theirs(x, mask=nn.Transformer.generate_square_subsequent_mask(L, dtype=x.dtype) if causal else None)
    close(ours(tokens), F.linear(hidden, ours.readout.weight, ours.readout.bias))


def test_all_at_once_is_one_by_one():
    model, tokens = transformer(), some_tokens()
    one_by_one = torch.stack([model(tokens[:, :t])[:, -1] for t in range(1, L + 1)], dim=1)
    close(model(tokens), one_by_one)
    close(generation_loss(model, tokens).mean(), next_token_loss(model, tokens).detach())


@torch.no_grad()
def test_without_positions_and_mask_a_transformer_knows_no_order():
    tokens, order = some_tokens(), torch.tensor([3, 0, 4, 2, 1])
    blind = transformer(positions=False, causal=False)
    close(blind(tokens[:, order]), blind(tokens)[:, order])
    for switches in ({"causal": False}, {"positions": False}):
        model = transformer(**switches)
        assert (model(tokens[:, order]) - model(tokens)[:, order]).abs().max() > 1e-3


# Training


def test_the_losses_are_those_of_the_scores():
    model, tokens = transformer(), some_tokens()
    log_p = model(tokens[:, :-1]).log_softmax(-1).gather(-1, tokens[:, 1:, None]).squeeze(-1)
    close(next_token_loss(model, tokens), -log_p.mean())
    close(generation_loss(model, tokens), -log_p.detach().mean(0))
    with torch.no_grad():
        model.readout.weight.zero_()
        model.readout.bias.zero_()  # all tokens alike
    close(next_token_loss(model, tokens).item(), math.log(VOCABULARY))


def test_training_is_the_same_for_the_same_seed():
    def losses(seed):
        torch.manual_seed(0)
        return train(
            Transformer(8, 16, 2, 2), lambda generator: torch.randint(8, (32, 12), generator=generator), 5, seed
        )

    assert losses(0) == losses(0) != losses(1)
