"""The LSTMN, a recurrent network with a growing state: it keeps the states of all steps and attends to them.

    α_i = softmax_i(vᵀ tanh(W [x_t; h̃_{t-1}] + U h_i)),   s̃_t = Σ_{i<t} α_i s_i,   s_t = LSTM(x_t, s̃_t),   s = [h; c]

Source: Cheng et al. 2016, arXiv 1601.06733, §3.1 (here with one layer).
"""

import torch
from torch import Tensor

from why_attention.attention import AdditiveAttention
from why_attention.rnn import LSTMCell

__all__ = ["LSTMN"]


class LSTMN:
    """Maps an input x_t (d,) and a memory to the next memory, one row s = [h; c] longer.

    A memory is s̃_t, then s_0 … s_t, (t + 2, 2H); ``start`` is s̃_0 = s_0 = 0.
    """

    def __init__(self, d: int, H: int, generator: torch.Generator, dtype: torch.dtype | None = None):
        self.cell = LSTMCell(d, H, dtype=dtype)
        self.cell.reset_parameters(generator=generator)
        self.attention = AdditiveAttention(d + H, H, H, dtype=dtype)
        self.attention.reset_parameters(generator)
        self.start = torch.zeros(2, 2 * H, dtype=dtype)

    def __call__(self, x: Tensor, memory: Tensor) -> Tensor:
        s_tilde, tape = memory[0], memory[1:]
        h, h_tilde = (s[..., : self.cell.hidden_size] for s in (tape, s_tilde))
        _, weights = self.attention(torch.cat([x, h_tilde])[None], h)  # (1, t)
        s_tilde = weights[0] @ tape
        return torch.cat([s_tilde[None], tape, self.cell(x, s_tilde)[None]])
