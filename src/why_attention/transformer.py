"""The Transformer: attention as the main part, and what it needs around it.

A block, in the order of later practice, which normalises before each part (pre-norm):

    x ← x + SelfAttention(LayerNorm(x))
    x ← x + CrossAttention(LayerNorm(x), memory)        only in a block that reads a memory
    x ← x + FFN(LayerNorm(x))

Vaswani et al. 2017, §3.1, normalised after each part instead (post-norm), x ← LayerNorm(x + SelfAttention(x)), as
stack.py does.

Sources: Vaswani et al. 2017, arXiv 1706.03762, §3 (the parts); Xiong et al. 2020, arXiv 2002.04745 (pre-norm).
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from why_attention.attention import MultiHeadAttention
from why_attention.attention import check_tokens as check_vectors
from why_attention.checks import (
    check_dtype,
    check_floats,
    check_real,
    check_result,
    check_same_dtype,
    check_tensors,
    check_whole,
)
from why_attention.masks import causal_mask
from why_attention.positions import sinusoidal_positions

__all__ = ["FeedForward", "Block", "Transformer", "next_token_loss", "generation_loss", "train"]


class FeedForward(nn.Module):
    """FFN(x) = W_2 max(0, W_1 x + b_1) + b_2, at every position by itself.

    Source: Vaswani et al. 2017, eq. 2.
    """

    def __init__(self, d: int, width: int, *, device=None, dtype=None):
        super().__init__()
        check_dtype(dtype)
        d, width = check_whole(d=d, width=width)
        self.W_1 = nn.Linear(d, width, device=device, dtype=dtype)  # with its bias b_1
        self.W_2 = nn.Linear(width, d, device=device, dtype=dtype)

    def forward(self, x: Tensor) -> Tensor:
        """Map x (…, d) to (…, d)."""
        check_floats(x=x)
        check_same_dtype(W_1=self.W_1.weight, x=x)
        if x.ndim == 0 or x.shape[-1] != self.W_1.in_features:
            raise ValueError(f"x has shape {tuple(x.shape)}: its last axis must be {self.W_1.in_features}")
        return check_result(self.W_2(self.W_1(x).relu()))


class Block(nn.Module):
    """Self-attention, then cross-attention where the block reads a memory, then the feed-forward network.

    Each reads the normalised tokens, and is added to the tokens, or, with residual=False, takes their place.
    The feed-forward network is 4 d wide, as in the paper.
    """

    def __init__(self, d: int, heads: int, *, cross: bool = False, residual: bool = True, device=None, dtype=None):
        super().__init__()
        check_dtype(dtype)
        d, heads = check_whole(d=d, heads=heads)
        self.residual = residual
        factory = {"device": device, "dtype": dtype}
        self.self_attention = MultiHeadAttention(d, heads, **factory)
        self.self_norm = nn.LayerNorm(d, **factory)
        self.cross_attention = MultiHeadAttention(d, heads, **factory) if cross else None
        self.cross_norm = nn.LayerNorm(d, **factory) if cross else None
        self.feed_forward = FeedForward(d, 4 * d, **factory)
        self.feed_forward_norm = nn.LayerNorm(d, **factory)

    def forward(self, x: Tensor, mask: Tensor | None = None, memory: Tensor | None = None) -> Tensor:
        """Map L tokens x to L tokens, (L, d) or (batch, L, d); a block with cross-attention also reads S of a memory.

        mask: (L, L), or (batch, L, L) where batch may be 1.  Raises ValueError for a memory that the block does not read,
        for none where it does, and as ``MultiHeadAttention`` does.
        """
        self.check(x, memory)
        x = self.add(x, self.self_attention(self.self_norm(x), mask=mask)[0])
        if memory is not None:
            x = self.add(x, self.cross_attention(self.cross_norm(x), memory)[0])
        return self.add(x, self.feed_forward(self.feed_forward_norm(x)))

    def check(self, x: Tensor, memory: Tensor | None) -> None:
        """Raise a ValueError that names what does not fit the block."""
        if memory is not None:
            check_tensors(memory=memory)
        if (memory is None) != (self.cross_attention is None):
            given = "None" if memory is None else f"{tuple(memory.shape)}, of {memory.ndim} axes"
            raise ValueError(
                f"memory is {given}: this block reads {'no' if self.cross_attention is None else 'a'} memory"
            )
        check_vectors("x", x, self.self_attention.d, self.self_attention.W_q.weight)

    def add(self, x: Tensor, part: Tensor) -> Tensor:
        """Return x + part, or the part alone in a block without residual connections."""
        return x + part if self.residual else part


class Transformer(nn.Module):
    """A decoder alone, which guesses the next token: embedding + positions, blocks under a causal mask, readout.

    Three switches leave out what the paper had to put beside attention: positions, causal (the mask) and residual.
    Raises ValueError for less than one block or token, and as ``MultiHeadAttention`` does.
    """

    def __init__(
        self, vocabulary: int, d: int, heads: int, depth: int, *, positions=True, causal=True, residual=True, dtype=None
    ):
        super().__init__()
        vocabulary, d, depth = check_whole(vocabulary=vocabulary, d=d, depth=depth)
        self.vocabulary, self.d, self.positions, self.causal = vocabulary, d, positions, causal
        self.embedding = nn.Embedding(vocabulary, d, dtype=dtype)  # N(0, 1), which is the size of the positions too
        self.blocks = nn.ModuleList(Block(d, heads, residual=residual, dtype=dtype) for _ in range(depth))
        self.norm = nn.LayerNorm(d, dtype=dtype)  # pre-norm leaves what the last block adds as it is
        self.readout = nn.Linear(d, vocabulary, dtype=dtype)

    def forward(self, tokens: Tensor) -> Tensor:
        """Map tokens (batch, n), whole numbers, to a score for every token that may follow each, (batch, n, vocabulary).

        Raises ValueError for another shape or type and for tokens outside the vocabulary.
        """
        check_tokens(tokens, self.vocabulary)
        n = tokens.shape[-1]
        x = self.embedding(tokens.long())
        if self.positions:
            x = x + sinusoidal_positions(n, self.d, device=x.device, dtype=x.dtype)
        mask = causal_mask(n, n, device=x.device)[None] if self.causal else None  # the same for all sequences
        for block in self.blocks:
            x = block(x, mask)
        return self.readout(self.norm(x))


def next_token_loss(model: Transformer, tokens: Tensor) -> Tensor:
    """Return the mean cross-entropy of the tokens 2 … n, each guessed from those before it, all positions at once.

    tokens: (batch, n).  Raises ValueError for n < 2.
    """
    check_next(tokens, model.vocabulary)
    scores = model(tokens[:, :-1])
    return F.cross_entropy(scores.flatten(0, 1), tokens[:, 1:].flatten().long())


@torch.no_grad()
def generation_loss(model: Transformer, tokens: Tensor) -> Tensor:
    """Return the cross-entropy of each of the tokens 2 … n when the model is handed only those before it: (n − 1,).

    So it is in generation: nothing stands to the right, and there is nothing to peek at.
    tokens: (batch, n).  Raises ValueError for n < 2.
    """
    check_next(tokens, model.vocabulary)
    n = tokens.shape[-1]
    return torch.stack([F.cross_entropy(model(tokens[:, :t])[:, -1], tokens[:, t].long()) for t in range(1, n)])


def train(
    model: Transformer,
    draw: Callable[[torch.Generator], Tensor],
    steps: int,
    seed: int = 0,
    lr: float = 0.01,
    enough: Callable[[list[float]], bool] = lambda losses: False,
) -> list[float]:
    """Train a model to guess the next token, with Adam, and return the loss at every step.

    draw: a function that draws a batch of tokens (batch, n) with a generator, a new one for every step.
    enough: of the losses so far, whether to stop before all steps are taken.
    The same model, seed and machine give the same losses.  Raises ValueError for steps < 1.
    """
    (steps,), (lr,) = check_whole(steps=steps), check_real(lr=lr, least=0)
    generator = torch.Generator().manual_seed(seed)
    adam = torch.optim.Adam(model.parameters(), lr=lr, fused=True)  # fused: so small a model waits for Python otherwise
    losses = []
    while len(losses) < steps and not enough(losses):
        loss = next_token_loss(model, draw(generator))
        adam.zero_grad()
        loss.backward()
        adam.step()
        losses.append(loss.item())
    return losses


def check_tokens(tokens: Tensor, vocabulary: int) -> None:
    """Raise a ValueError where tokens are not whole numbers (batch, n) below the size of the vocabulary."""
    if not isinstance(tokens, Tensor):
        raise ValueError(
            f"tokens are a {type(tokens).__name__}: they must be 1 torch.Tensor of whole numbers (batch, n)"
        )
    if tokens.ndim != 2 or tokens.numel() == 0 or tokens.is_floating_point() or tokens.dtype == torch.bool:
        shape = f"tokens are {tokens.dtype} of shape {tuple(tokens.shape)}"
        raise ValueError(f"{shape}: they must be whole numbers (batch, n), at least 1 of each")
    low, high = tokens.aminmax()
    if low < 0 or high >= vocabulary:
        raise ValueError(f"tokens from {low} to {high}: they must lie in 0 … {vocabulary - 1}, the vocabulary")


def check_next(tokens: Tensor, vocabulary: int) -> None:
    """Raise a ValueError where no token has a next one, and as ``check_tokens`` does."""
    check_tokens(tokens, vocabulary)
    if tokens.shape[-1] < 2:
        raise ValueError(f"tokens have shape {tuple(tokens.shape)}: n must be at least 2, for a token and its next one")
