"""Attention: each query scores every key and returns the mean of the values, weighted by the softmax of the scores.

    Attention(Q, K, V) = softmax(Q Kᵀ / √d_k) V

Rows are queries i, columns are keys j: each row of the weights A (L, S), of L queries over S keys, sums to 1.
Masks are boolean, True = may attend; a query that may attend to no key gets exactly 0 (masks.py).

Sources: Vaswani et al. 2017, arXiv 1706.03762 (scaled dot products, many heads);
Bahdanau et al. 2015, arXiv 1409.0473 (additive attention).
"""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from why_attention.checks import (
    check_dtype,
    check_finite,
    check_floats,
    check_real,
    check_result,
    check_same_dtype,
    check_whole,
)
from why_attention.masks import check_mask, fill_empty_rows, softmax_where

__all__ = ["scaled_dot_product_attention", "fused_attention", "MultiHeadAttention", "AdditiveAttention"]


def scaled_dot_product_attention(
    Q: Tensor, K: Tensor, V: Tensor, mask: Tensor | None = None, dropout: float = 0.0
) -> tuple[Tensor, Tensor]:
    """Return softmax(Q Kᵀ / √d_k) V and the weights, softmax(Q Kᵀ / √d_k).

    Q: (…, L, d_k).  K: (…, S, d_k).  V: (…, S, d_v).  mask: see masks.py.  Returns (…, L, d_v), (…, L, S).
    dropout: the share of weights dropped for the output; the weights returned are those before dropout.
    Half precision is computed in float32, as in the fused kernels.  Raises ValueError for shapes that do not fit, no
    positions, mixed dtypes, NaN, scores that would overflow, and a mask that is not boolean.
    Source: Vaswani et al. 2017, eq. 1.
    """
    return attend(Q, K, V, mask, check(Q, K, V, mask, dropout))


def attend(Q: Tensor, K: Tensor, V: Tensor, mask: Tensor | None, dropout: float = 0.0) -> tuple[Tensor, Tensor]:
    """Return what ``scaled_dot_product_attention`` does, without its checks."""
    dtype, (Q, K, V) = Q.dtype, at_least_float32(Q, K, V)
    scores = Q / math.sqrt(Q.shape[-1]) @ K.mT  # scale Q: it is smaller than the scores
    weights = softmax_where(scores, mask)
    output = F.dropout(weights, dropout) @ V
    return output.to(dtype), weights.to(dtype)


def fused_attention(Q: Tensor, K: Tensor, V: Tensor, mask: Tensor | None = None, dropout: float = 0.0) -> Tensor:
    """Return only the output, by torch's fused kernels, which never store the (L, S) weights.

    Parameters and errors are those of ``scaled_dot_product_attention``.
    """
    return fuse(Q, K, V, mask, check(Q, K, V, mask, dropout))


def fuse(Q: Tensor, K: Tensor, V: Tensor, mask: Tensor | None, dropout: float = 0.0) -> Tensor:
    """Return what ``fused_attention`` does, without its checks."""
    if Q.ndim == 3:  # the kernels take (batch, heads, …, …) only
        return fuse(Q[None], K[None], V[None], None if mask is None else mask[None], dropout)[0]
    if mask is None:
        return F.scaled_dot_product_attention(Q, K, V, dropout_p=dropout)
    mask, empty = fill_empty_rows(mask)  # kernels disagree on fully masked rows
    return F.scaled_dot_product_attention(Q, K, V, mask, dropout).masked_fill(empty, 0)


class MultiHeadAttention(nn.Module):
    """MultiHead(x, m) = [head_1 … head_h] W_o,  head_i = Attention(x W_q,i, m W_k,i, m W_v,i).

    Each of the h heads has d_k = d/h dimensions.  Without biases, as in the paper.
    Source: Vaswani et al. 2017, §3.2.2.
    """

    def __init__(self, d: int, heads: int, dropout: float = 0.0, *, dtype: torch.dtype | None = None):
        super().__init__()
        check_dtype(dtype)
        d, heads = check_whole(d=d, heads=heads)
        if d % heads:
            raise ValueError(f"d={d} and heads={heads}: d must be a multiple of heads")
        (dropout,) = check_real(dropout=dropout, least=0, below=1)
        self.d, self.heads, self.dropout = d, heads, dropout
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d, d, bias=False, dtype=dtype) for _ in range(4))
        self.reset_parameters()

    @torch.no_grad()
    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw every weight from N(0, 1/d)."""
        for W in (self.W_q, self.W_k, self.W_v, self.W_o):
            W.weight.normal_(0, 1 / math.sqrt(self.d), generator=generator)

    def forward(
        self, x: Tensor, memory: Tensor | None = None, mask: Tensor | None = None, need_weights: bool = False
    ) -> tuple[Tensor, Tensor | None]:
        """Attend from the L tokens of x to the S tokens of a memory m, or to x itself.

        x: (L, d) or (batch, L, d).  memory: (S, d) or (batch, S, d).  mask: the same for all heads, with as many axes as
        x: (L, S), or (batch, L, S) where batch and L may be 1.  Returns the output, shaped like x, and the weights of
        every head before dropout, (heads, L, S) or (batch, heads, L, S); without need_weights None, and then only a
        mask has L × S entries.
        Raises ValueError for shapes and dtypes that do not fit, NaN, and a mask that is not boolean.
        """
        memory = x if memory is None else memory
        check_tokens("x", x, self.d, self.W_q.weight)
        check_tokens("memory", memory, self.d, self.W_q.weight)
        check_batches(x=x, memory=memory)
        if mask is not None:
            check_mask(mask, (*x.shape[:-1], memory.shape[-2]))
        output, weights = self.compute(x, memory, mask, need_weights)
        return check_result(output), weights

    def compute(
        self, x: Tensor, memory: Tensor, mask: Tensor | None = None, need_weights: bool = False
    ) -> tuple[Tensor, Tensor | None]:
        """Return what ``forward`` does, without its checks."""
        mask = None if mask is None else mask.unsqueeze(-3)
        dropout = self.dropout if self.training else 0.0
        Q, K, V = self.split(self.W_q(x)), self.split(self.W_k(memory)), self.split(self.W_v(memory))
        if need_weights:
            output, weights = attend(Q, K, V, mask, dropout)
        else:
            output, weights = fuse(Q, K, V, mask, dropout), None
        return self.W_o(output.transpose(-3, -2).flatten(-2)), weights

    def split(self, tokens: Tensor) -> Tensor:
        """Cut (…, n, d) into heads: (…, heads, n, d_k)."""
        return tokens.unflatten(-1, (self.heads, -1)).transpose(-3, -2)


class AdditiveAttention(nn.Module):
    """c_i = Σ_j α_ij h_j,  α_ij = softmax_j(e_ij),  e_ij = vᵀ tanh(W s_i + U h_j).

    Source: Bahdanau et al. 2015, §3.1 and appendix A.1.2.
    """

    def __init__(self, query_size: int, key_size: int, hidden_size: int, *, dtype: torch.dtype | None = None):
        super().__init__()
        check_dtype(dtype)
        sizes = {"query_size": query_size, "key_size": key_size, "hidden_size": hidden_size}
        query_size, key_size, hidden_size = check_whole(**sizes)
        self.query_size, self.key_size = query_size, key_size
        self.W = nn.Linear(query_size, hidden_size, bias=False, dtype=dtype)
        self.U = nn.Linear(key_size, hidden_size, bias=False, dtype=dtype)
        self.v = nn.Parameter(torch.empty(hidden_size, dtype=dtype))
        self.reset_parameters()

    @torch.no_grad()
    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw W, U and v from N(0, 1/m), where m is the fan-in of each."""
        for weight in (self.W.weight, self.U.weight, self.v):
            weight.normal_(0, 1 / math.sqrt(weight.shape[-1]), generator=generator)

    def forward(self, s: Tensor, h: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Attend from the states s_1 … s_L of a decoder to the states h_1 … h_S of an encoder.

        s: (L, query_size) or (batch, L, query_size).  h: (S, key_size) or (batch, S, key_size).  mask: with as many axes,
        (L, S), or (batch, L, S) where batch and L may be 1.  Returns the contexts c, (…, L, key_size), and the weights
        α, (…, L, S): rows are targets, columns are sources.
        Raises ValueError for shapes and dtypes that do not fit, NaN, and a mask that is not boolean.
        """
        check_tokens("s", s, self.query_size, self.v)
        check_tokens("h", h, self.key_size, self.v)
        check_batches(s=s, h=h)
        if mask is not None:
            check_mask(mask, (*s.shape[:-1], h.shape[-2]))
        contexts, weights = self.compute(s, h, mask)
        return check_result(contexts), weights

    def compute(self, s: Tensor, h: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Return what ``forward`` does, without its checks."""
        scores = torch.tanh(self.W(s).unsqueeze(-2) + self.U(h).unsqueeze(-3)) @ self.v
        weights = softmax_where(scores, mask)
        return weights @ h, weights


def at_least_float32(*tensors: Tensor) -> list[Tensor]:
    """Convert half precision to float32, and leave other dtypes."""
    return [tensor.to(torch.promote_types(tensor.dtype, torch.float32)) for tensor in tensors]


def check(Q: Tensor, K: Tensor, V: Tensor, mask: Tensor | None, dropout: float) -> float:
    """Return dropout as a float.  Raises ValueError where an argument does not fit."""
    check_floats(Q=Q, K=K, V=V)
    for name, tensor in (("Q", Q), ("K", K), ("V", V)):
        check_axes(name, tensor)
    check_same_dtype(Q=Q, K=K, V=V)
    check_batches(Q=Q, K=K)
    check_batches(K=K, V=V)
    if K.shape[-1] != Q.shape[-1]:
        raise ValueError(f"K has size {K.shape[-1]} a token, but Q has {Q.shape[-1]}: both must be the same, d_k")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"V has {V.shape[-2]} tokens, but K has {K.shape[-2]}: both must be the same, S")
    if mask is not None:
        check_mask(mask, (*Q.shape[:-1], K.shape[-2]))
    check_finite(Q=Q, K=K, V=V)
    check_sizes(Q, K, V)
    return check_real(dropout=dropout, least=0, below=1)[0]


def check_sizes(Q: Tensor, K: Tensor, V: Tensor) -> None:
    """Raise a ValueError where scores or outputs may overflow the dtype of the computation.

    A score is at most √d_k max|Q| max|K|, and a mean at most max|V|.  The factor 2 leaves room for rounding.
    """
    q, k, v = (largest(tensor) for tensor in (Q, K, V))
    end = torch.finfo(torch.promote_types(Q.dtype, torch.float32)).max
    if (score := math.sqrt(Q.shape[-1]) * q * k) > end / 2:
        raise ValueError(
            f"Q has numbers up to {q:.3g} and K up to {k:.3g}: scores may reach {score:.3g}, above {end / 2:.2g}, what "
            f"they may be; scale Q or K down"
        )
    if v > torch.finfo(V.dtype).max / 2:
        raise ValueError(f"V has numbers up to {v:.3g}, above {torch.finfo(V.dtype).max / 2:.3g}: scale V down")


def largest(tensor: Tensor) -> float:
    """Return the largest absolute value."""
    low, high = tensor.detach().aminmax()
    return max(-low.item(), high.item())


def check_batches(**tensors: Tensor) -> None:
    """Raise a ValueError where two tensors differ in the axes before the last two."""
    (a, first), (b, second) = tensors.items()
    if first.shape[:-2] != second.shape[:-2]:
        shapes = f"{b} has shape {tuple(second.shape)}, but {a} has {tuple(first.shape)}"
        raise ValueError(f"{shapes}: both must be the same, but for the last two axes")


def check_tokens(name: str, tokens: Tensor, size: int, weights: Tensor) -> None:
    """Raise a ValueError where tokens are not (n, size) or (batch, n, size), have another dtype than the weights, or NaN."""
    check_floats(**{name: tokens})
    if tokens.ndim not in (2, 3):
        shape = f"{name} has {tokens.ndim} dimensions, shape {tuple(tokens.shape)}"
        raise ValueError(f"{shape}: it must be (n, {size}) or (batch, n, {size})")
    if tokens.shape[-1] != size:
        raise ValueError(f"{name} has size {tokens.shape[-1]} a token, but the layer reads size {size}")
    check_axes(name, tokens)
    check_same_dtype(weights=weights, **{name: tokens})
    check_finite(**{name: tokens})


def check_axes(name: str, tensor: Tensor) -> None:
    """Raise a ValueError where a tensor has fewer than two axes, or an empty one."""
    if tensor.ndim < 2 or tensor.numel() == 0:
        raise ValueError(f"{name} has shape {tuple(tensor.shape)}: it must have at least 2 axes, none of them empty")
