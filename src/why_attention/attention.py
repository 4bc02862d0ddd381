"""Attention: every query scores every key, and returns the values' mean by these scores.

    Attention(Q, K, V) = softmax(Q Kᵀ / √d_k) V

Rows are queries i, columns are keys j: the weights A (L, S) of L queries over S keys add up to 1 in each row.
Masks are boolean, True = may look, and a query that may look at nothing gets exactly 0 (masks.py).

Sources: Vaswani et al. 2017, arXiv 1706.03762 (scaled dot products, many heads);
Bahdanau et al. 2015, arXiv 1409.0473 (additive attention).
"""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from why_attention.masks import check_mask, fill_empty_rows, masked_softmax

__all__ = ["scaled_dot_product_attention", "fused_attention", "MultiHeadAttention", "AdditiveAttention"]


def scaled_dot_product_attention(
    Q: Tensor, K: Tensor, V: Tensor, mask: Tensor | None = None, dropout: float = 0.0
) -> tuple[Tensor, Tensor]:
    """Return softmax(Q Kᵀ / √d_k) V and the weights, the softmax itself.

    Q: (…, L, d_k).  K: (…, S, d_k).  V: (…, S, d_v).  mask: broadcasts to (…, L, S).  Returns (…, L, d_v), (…, L, S).
    dropout: the share of weights dropped on their way to the output; the weights returned are those before it.
    Raises ValueError for shapes that do not fit, no positions, two dtypes, NaN, and a mask that is not boolean.
    Source: Vaswani et al. 2017, eq. 1.
    """
    check(Q, K, V, mask)
    scores = Q / math.sqrt(Q.shape[-1]) @ K.mT  # √d_k divides Q, for that has fewer numbers than the scores
    weights = masked_softmax(scores, mask)
    return F.dropout(weights, dropout) @ V, weights


def fused_attention(Q: Tensor, K: Tensor, V: Tensor, mask: Tensor | None = None, dropout: float = 0.0) -> Tensor:
    """Return the output alone, by torch's fused kernels, which never hold the (L, S) weights.

    Q, K, V: (batch, heads, …, …).  Errors as for ``scaled_dot_product_attention``.
    """
    check(Q, K, V, mask)
    if mask is None:
        return F.scaled_dot_product_attention(Q, K, V, dropout_p=dropout)
    mask, empty = fill_empty_rows(mask)  # what a kernel makes of an empty row is its own affair
    return F.scaled_dot_product_attention(Q, K, V, mask, dropout).masked_fill(empty, 0)


class MultiHeadAttention(nn.Module):
    """MultiHead(x, m) = [head_1 … head_h] W_o,  head_i = Attention(x W_q,i, m W_k,i, m W_v,i).

    Each of h heads works in d_k = d/h of the d dimensions.  Without biases, as in the paper.
    Source: Vaswani et al. 2017, §3.2.2.
    """

    def __init__(self, d: int, heads: int, dropout: float = 0.0, *, device=None, dtype=None):
        super().__init__()
        if heads < 1 or d < 1 or d % heads:
            raise ValueError(f"d={d} and heads={heads}: both must be at least 1, and d a multiple of heads")
        if not 0 <= dropout < 1:
            raise ValueError(f"dropout={dropout}: it must be at least 0 and below 1")
        self.d, self.heads, self.dropout = d, heads, dropout
        factory = {"bias": False, "device": device, "dtype": dtype}
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d, d, **factory) for _ in range(4))
        self.reset_parameters()

    @torch.no_grad()
    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw every weight from N(0, 1/d)."""
        for W in (self.W_q, self.W_k, self.W_v, self.W_o):
            W.weight.normal_(0, 1 / math.sqrt(self.d), generator=generator)

    def forward(
        self, x: Tensor, memory: Tensor | None = None, mask: Tensor | None = None, need_weights: bool = False
    ) -> tuple[Tensor, Tensor | None]:
        """Let the L tokens of x look at the S tokens m of a memory, or, without one, at themselves.

        x: (L, d) or (batch, L, d).  memory: (S, d) or (batch, S, d).  mask: the same for all heads, broadcasts to
        (L, S) or (batch, L, S).  Returns the output, shaped like x, and the weights of every head before dropout,
        (heads, L, S) or (batch, heads, L, S), or None where they are not needed: then nothing but a mask has L × S entries.
        Raises ValueError for shapes that do not fit, NaN, and a mask that is not boolean.
        """
        memory = x if memory is None else memory
        check_tokens("x", x, self.d)
        check_tokens("memory", memory, self.d)
        check_batches(x=x, memory=memory)
        if mask is not None:
            check_mask(mask, (*x.shape[:-1], memory.shape[-2]))
            mask = mask.unsqueeze(-3)
        dropout = self.dropout if self.training else 0.0
        Q, K, V = self.split(self.W_q(x)), self.split(self.W_k(memory)), self.split(self.W_v(memory))
        if need_weights:
            output, weights = scaled_dot_product_attention(Q, K, V, mask, dropout)
        elif x.ndim == 2:  # the fused kernels take batches alone
            output, weights = fused_attention(Q[None], K[None], V[None], mask, dropout)[0], None
        else:
            output, weights = fused_attention(Q, K, V, mask, dropout), None
        return self.W_o(output.transpose(-3, -2).flatten(-2)), weights

    def split(self, tokens: Tensor) -> Tensor:
        """Cut (…, n, d) into heads: (…, heads, n, d_k)."""
        return tokens.unflatten(-1, (self.heads, -1)).transpose(-3, -2)


class AdditiveAttention(nn.Module):
    """c_i = Σ_j α_ij h_j,  α_ij = softmax_j(e_ij),  e_ij = vᵀ tanh(W s_i + U h_j).

    Source: Bahdanau et al. 2015, §3.1 and appendix A.1.2.
    """

    def __init__(self, query_size: int, key_size: int, hidden_size: int, *, device=None, dtype=None):
        super().__init__()
        if min(query_size, key_size, hidden_size) < 1:
            sizes = f"query_size={query_size}, key_size={key_size} and hidden_size={hidden_size}"
            raise ValueError(f"{sizes}: all must be at least 1")
        self.query_size, self.key_size = query_size, key_size
        factory = {"device": device, "dtype": dtype}
        self.W = nn.Linear(query_size, hidden_size, bias=False, **factory)
        self.U = nn.Linear(key_size, hidden_size, bias=False, **factory)
        self.v = nn.Parameter(torch.empty(hidden_size, **factory))
        self.reset_parameters()

    @torch.no_grad()
    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw W, U and v from N(0, 1/m), where m is how many numbers each reads."""
        for weight in (self.W.weight, self.U.weight, self.v):
            weight.normal_(0, 1 / math.sqrt(weight.shape[-1]), generator=generator)

    def forward(self, s: Tensor, h: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Let the states s_1 … s_L of a decoder look at the states h_1 … h_S of an encoder.

        s: (L, query_size) or (batch, L, query_size).  h: (S, key_size) or (batch, S, key_size).  mask: broadcasts to
        (L, S) or (batch, L, S).  Returns the contexts c, (…, L, key_size), and the weights α, (…, L, S): rows are
        targets, columns are sources.
        Raises ValueError for shapes that do not fit, NaN, and a mask that is not boolean.
        """
        check_tokens("s", s, self.query_size)
        check_tokens("h", h, self.key_size)
        check_batches(s=s, h=h)
        if mask is not None:
            check_mask(mask, (*s.shape[:-1], h.shape[-2]))
        scores = torch.tanh(self.W(s).unsqueeze(-2) + self.U(h).unsqueeze(-3)) @ self.v
        weights = masked_softmax(scores, mask)
        return weights @ h, weights


def check(Q: Tensor, K: Tensor, V: Tensor, mask: Tensor | None) -> None:
    """Raise a ValueError that names what does not fit."""
    for name, tensor in (("Q", Q), ("K", K), ("V", V)):
        check_finite(name, tensor)
        if tensor.dtype != Q.dtype:
            raise ValueError(f"{name} is {tensor.dtype}, but Q is {Q.dtype}: both must be the same")
    check_batches(Q=Q, K=K)
    check_batches(K=K, V=V)
    if K.shape[-1] != Q.shape[-1]:
        raise ValueError(f"K has size {K.shape[-1]} a token, but Q has {Q.shape[-1]}: both must be the same, d_k")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"V has {V.shape[-2]} tokens, but K has {K.shape[-2]}: both must be the same, S")
    if mask is not None:
        check_mask(mask, (*Q.shape[:-1], K.shape[-2]))


def check_batches(**tensors: Tensor) -> None:
    """Raise a ValueError where two tensors have not the same shape before their last two axes."""
    (a, first), (b, second) = tensors.items()
    if first.shape[:-2] != second.shape[:-2]:
        shapes = f"{b} has shape {tuple(second.shape)}, but {a} has {tuple(first.shape)}"
        raise ValueError(f"{shapes}: both must be the same, but for the last two axes")


def check_tokens(name: str, tokens: Tensor, size: int) -> None:
    """Raise a ValueError where tokens are not (n, size) or (batch, n, size), or hold NaN."""
    if tokens.ndim not in (2, 3):
        shape = f"{name} has {tokens.ndim} dimensions, shape {tuple(tokens.shape)}"
        raise ValueError(f"{shape}: it must be (n, {size}) or (batch, n, {size})")
    if tokens.shape[-1] != size:
        raise ValueError(f"{name} has size {tokens.shape[-1]} a token, but the layer reads size {size}")
    check_finite(name, tokens)


def check_finite(name: str, tensor: Tensor) -> None:
    """Raise a ValueError where a tensor has less than two axes, an empty axis, NaN or infinite numbers."""
    if tensor.ndim < 2 or tensor.numel() == 0:
        raise ValueError(f"{name} has shape {tuple(tensor.shape)}: it must have at least 2 axes, none of them empty")
    low, high = tensor.detach().aminmax()  # both are NaN where one number is: no second tensor of this size is needed
    if not (low.isfinite() and high.isfinite()):
        bad = int((~tensor.isfinite()).sum())
        raise ValueError(f"{name} has {bad} NaN or infinite among its {tensor.numel()} numbers: it must have 0")
