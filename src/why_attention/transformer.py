"""The Transformer: attention as the main part, and the parts around it.

A block normalises before each part (pre-norm), as is usual today:

    x ← x + SelfAttention(LayerNorm(x))
    x ← x + CrossAttention(LayerNorm(x), memory)        only in blocks that read a memory
    x ← x + FFN(LayerNorm(x))

Vaswani et al. 2017, §3.1, normalise after each part (post-norm), x ← LayerNorm(x + SelfAttention(x)), as in stack.py.

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
from why_attention.masks import causal
from why_attention.positions import sinusoids

__all__ = ["FeedForward", "Block", "Transformer", "next_token_loss", "generation_loss", "train"]


class FeedForward(nn.Module):
    """FFN(x) = W_2 max(0, W_1 x + b_1) + b_2, at each position separately.

    Source: Vaswani et al. 2017, eq. 2.
    """

    def __init__(self, d: int, width: int, *, dtype: torch.dtype | None = None):
        super().__init__()
        check_dtype(dtype)
        d, width = check_whole(d=d, width=width)
        self.W_1 = nn.Linear(d, width, dtype=dtype)  # with its bias b_1
        self.W_2 = nn.Linear(width, d, dtype=dtype)

    def forward(self, x: Tensor) -> Tensor:
        """Map x (…, d) to (…, d)."""
        check_floats(x=x)
        check_same_dtype(W_1=self.W_1.weight, x=x)
        if x.ndim == 0 or x.shape[-1] != self.W_1.in_features:
            raise ValueError(f"x has shape {tuple(x.shape)}: its last axis must be {self.W_1.in_features}")
        return check_result(self.compute(x))

    def compute(self, x: Tensor) -> Tensor:
        """Return what ``forward`` does, without its checks."""
        return self.W_2(self.W_1(x).relu())


class Block(nn.Module):
    """Self-attention, then cross-attention if the block reads a memory, then a feed-forward network, 4 d wide.

    Each part reads the normalised tokens; its output is added to the tokens, or, with residual=False, replaces them.
    """

    def __init__(
        self, d: int, heads: int, *, cross: bool = False, residual: bool = True, dtype: torch.dtype | None = None
    ):
        super().__init__()
        check_dtype(dtype)
        d, heads = check_whole(d=d, heads=heads)
        self.residual = residual
        self.self_attention = MultiHeadAttention(d, heads, dtype=dtype)
        self.self_norm = nn.LayerNorm(d, dtype=dtype)
        self.cross_attention = MultiHeadAttention(d, heads, dtype=dtype) if cross else None
        self.cross_norm = nn.LayerNorm(d, dtype=dtype) if cross else nn.Identity()
        self.feed_forward = FeedForward(d, 4 * d, dtype=dtype)
        self.feed_forward_norm = nn.LayerNorm(d, dtype=dtype)

    def forward(self, x: Tensor, mask: Tensor | None = None, memory: Tensor | None = None) -> Tensor:
        """Map tokens x to tokens, (L, d) or (batch, L, d); a block with cross-attention also reads a memory.

        mask: (L, L), or (batch, L, L) where batch may be 1.  Raises ValueError for a missing or an unexpected memory, and
        as ``MultiHeadAttention`` does.
        """
        self.check(x, memory)
        x = self.add(x, self.self_attention(self.self_norm(x), mask=mask)[0])
        if self.cross_attention is not None:
            x = self.add(x, self.cross_attention(self.cross_norm(x), memory)[0])
        return self.add(x, self.feed_forward(self.feed_forward_norm(x)))

    def compute(self, x: Tensor, mask: Tensor | None = None, memory: Tensor | None = None) -> Tensor:
        """Return what ``forward`` does, without its checks."""
        normal = self.self_norm(x)
        x = self.add(x, self.self_attention.compute(normal, normal, mask)[0])
        if self.cross_attention is not None and memory is not None:
            x = self.add(x, self.cross_attention.compute(self.cross_norm(x), memory)[0])
        return self.add(x, self.feed_forward.compute(self.feed_forward_norm(x)))

    def check(self, x: Tensor, memory: Tensor | None) -> None:
        """Raise a ValueError where an input does not fit the block."""
        if memory is not None:
            check_tensors(memory=memory)
        if (memory is None) != (self.cross_attention is None):
            given = "None" if memory is None else f"{tuple(memory.shape)}, of {memory.ndim} axes"
            raise ValueError(
                f"memory is {given}: this block reads {'no' if self.cross_attention is None else 'a'} memory"
            )
        check_vectors("x", x, self.self_attention.d, self.self_attention.W_q.weight)

    def add(self, x: Tensor, part: Tensor) -> Tensor:
        """Return x + part, or only the part in a block without residual connections."""
        return x + part if self.residual else part


class Transformer(nn.Module):
    """A decoder-only language model: embedding + positions, blocks with a causal mask, readout.

    positions, causal (the mask) and residual switch off the parts that the paper needs besides attention.
    Raises ValueError for fewer than one block or token, and as ``MultiHeadAttention`` does.
    """

    def __init__(
        self,
        vocabulary: int,
        d: int,
        heads: int,
        depth: int,
        *,
        positions: bool = True,
        causal: bool = True,
        residual: bool = True,
    ):
        super().__init__()
        vocabulary, d, depth = check_whole(vocabulary=vocabulary, d=d, depth=depth)
        self.vocabulary, self.d, self.positions, self.causal = vocabulary, d, positions, causal
        self.embedding = nn.Embedding(vocabulary, d)  # N(0, 1), of the same size as the positions
        self.blocks = nn.ModuleList(Block(d, heads, residual=residual) for _ in range(depth))
        self.norm = nn.LayerNorm(d)  # pre-norm does not normalise the last output
        self.readout = nn.Linear(d, vocabulary)

    def forward(self, tokens: Tensor) -> Tensor:
        """Map tokens (batch, n) to scores of the next token, (batch, n, vocabulary).

        Raises ValueError for another shape or type and for tokens outside the vocabulary.
        """
        check_tokens(tokens, self.vocabulary)
        x, mask = self.embedded(tokens)
        for block in self.blocks:
            x = block(x, mask)
        return self.readout(self.norm(x))

    def compute(self, tokens: Tensor) -> Tensor:
        """Return what ``forward`` does, without its checks."""
        x, mask = self.embedded(tokens)
        for block in self.blocks:
            x = block.compute(x, mask)
        return self.readout(self.norm(x))

    def embedded(self, tokens: Tensor) -> tuple[Tensor, Tensor | None]:
        """Return what the first block reads: the tokens with their positions, and the mask, the same for all sequences."""
        n = tokens.shape[-1]
        x = self.embedding(tokens.long())
        if self.positions:
            x = x + sinusoids(n, self.d, device=x.device, dtype=x.dtype)
        return x, causal(n, n, device=x.device)[None] if self.causal else None


def next_token_loss(model: Transformer, tokens: Tensor) -> Tensor:
    """Return the mean cross-entropy of tokens 2 … n, each predicted from those before it, in one parallel pass.

    tokens: (batch, n).  Raises ValueError for n < 2.
    """
    check_next(tokens, model.vocabulary)
    scores = model(tokens[:, :-1])
    return F.cross_entropy(scores.flatten(0, 1), tokens[:, 1:].flatten().long())


@torch.no_grad()
def generation_loss(model: Transformer, tokens: Tensor) -> Tensor:
    """Return the cross-entropy of each of the tokens 2 … n, given only those before it, as in generation: (n − 1,).

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
    """Train a model to predict the next token, with Adam, and return the loss at every step.

    draw: a function that draws a batch of tokens (batch, n) with a generator.  enough: whether to stop early, given the
    losses so far.  Deterministic on one machine.  Raises ValueError for steps < 1.
    """
    (steps,), (lr,) = check_whole(steps=steps), check_real(lr=lr, least=0)
    generator = torch.Generator().manual_seed(seed)
    adam = torch.optim.Adam(model.parameters(), lr=lr, fused=True)  # fused: less Python overhead
    losses = []
    while len(losses) < steps and not enough(losses):
        loss = next_token_loss(model, draw(generator))
        adam.zero_grad()
        loss.backward()
        adam.step()
        losses.append(loss.item())
    return losses


def check_tokens(tokens: Tensor, vocabulary: int) -> None:
    """Raise a ValueError unless tokens are whole numbers (batch, n) below the size of the vocabulary."""
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
    """Raise a ValueError for n < 2, and as ``check_tokens`` does."""
    check_tokens(tokens, vocabulary)
    if tokens.shape[-1] < 2:
        raise ValueError(f"tokens have shape {tuple(tokens.shape)}: n must be at least 2, for a token and its next one")
