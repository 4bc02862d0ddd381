"""A latch, trained in seconds: keep the first symbol while noise follows, for any length.

    x_1 ~ one of 8 symbols,   x_2 … x_T ~ N(0, 1) on separate inputs,   answer: x_1

Symbol and noise have separate inputs; in tasks/recall.py the distractors are symbols too.

Source: Hochreiter & Schmidhuber 1997, §5.3 (noise and signal on the way to a distant answer).
"""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from why_attention.fused_rnn import fused_layer
from why_attention.rnn import Cell

__all__ = ["INPUTS", "draw", "train", "accuracy"]

SYMBOLS, NOISE = 8, 4
INPUTS = SYMBOLS + NOISE


def draw(batch: int, T: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Return sequences of T inputs, (batch, T, 12), and their answers, (batch,)."""
    answer = torch.randint(SYMBOLS, (batch,), generator=generator)
    x = torch.zeros(batch, T, INPUTS)
    x[:, 0, :SYMBOLS] = F.one_hot(answer, SYMBOLS)
    x[:, 1:, SYMBOLS:] = torch.randn(batch, T - 1, NOISE, generator=generator)
    return x, answer


class Latch(nn.Module):
    """A recurrent layer, and a linear read-out of its last state h_T."""

    def __init__(self, cell: Cell, generator: torch.Generator):
        super().__init__()
        self.layer, H = fused_layer(cell), cell.hidden_size
        self.readout = nn.Linear(H, SYMBOLS)
        nn.init.normal_(self.readout.weight, std=1 / math.sqrt(H), generator=generator)
        nn.init.zeros_(self.readout.bias)

    def forward(self, x: Tensor) -> Tensor:
        """Map inputs (batch, T, 12) to scores (batch, 8)."""
        return self.readout(self.layer(x)[0][:, -1])


def train(cell: Cell, T: int, steps: int) -> Latch:
    """Return a latch trained with Adam on sequences of T, 32 a step, from a cell's weights."""
    generator = torch.Generator().manual_seed(0)
    latch = Latch(cell, generator)
    adam = torch.optim.Adam(latch.parameters(), lr=0.01)
    for _ in range(steps):
        x, answer = draw(32, T, generator)
        adam.zero_grad()
        F.cross_entropy(latch(x), answer).backward()
        nn.utils.clip_grad_norm_(latch.parameters(), 1.0)
        adam.step()
    return latch


@torch.no_grad()
def accuracy(latch: Latch, T: int) -> float:
    """Return the share of 200 new sequences of T whose highest score is the answer's."""
    x, answer = draw(200, T, torch.Generator().manual_seed(10_000))
    return (latch(x).argmax(-1) == answer).float().mean().item()
