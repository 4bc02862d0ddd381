"""Missing parts: a Transformer that copies, and the same one without positions, causal mask or residual connections.

    x_1 … x_6 ~ U{0 … 7},   x_{i+6} = x_i,   predict x_{t+1} from x_1 … x_t

x_2 … x_6 are unpredictable and x_7 … x_12 are a copy: the least mean loss, without seeing the future, is 5 ln 8 / 11.

The best learning rate depends on the parts: at one common rate, a part may seem necessary for learning when it is
necessary for that rate only. Each variant has its own rate (rates.py), and is trained until its loss stops falling.

Source: Vaswani et al. 2017, arXiv 1706.03762, §3 (the parts).
"""

import torch
from torch import Tensor

from why_attention.tasks.experiment import Experiment, Trained
from why_attention.tasks.rates import RateSearch
from why_attention.transformer import Transformer, generation_loss
from why_attention.transformer import train as train_transformer

__all__ = [
    "VARIANTS",
    "draw",
    "build",
    "stopped_falling",
    "train",
    "RATES",
    "good_rates",
    "best_rate",
    "EXPERIMENT",
]

# The task

SYMBOLS, HALF = 8, 6  # kinds of tokens; tokens before the copy


def draw(generator: torch.Generator, count: int = 32) -> Tensor:
    """Draw 6 tokens at random, and repeat them: (count, 12)."""
    half = torch.randint(SYMBOLS, (count, HALF), generator=generator)
    return torch.cat([half, half], dim=-1)


# The models

VARIANTS = {  # name: what is switched off
    "all parts": {},
    "no positions": {"positions": False},
    "no causal mask": {"causal": False},
    "no residual connections": {"residual": False},
}


def build(variant: str, seed: int) -> Transformer:
    """Return an untrained model.  Raises ValueError for an unknown variant."""
    if variant not in VARIANTS:
        raise ValueError(f"variant {variant!r} is none of the {len(VARIANTS)}: {', '.join(VARIANTS)}")
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return Transformer(SYMBOLS, d=32, heads=2, depth=3, **VARIANTS[variant])


# Training

EVERY = 100  # steps in one point of the curve, their mean loss
PATIENCE, LEAST_FALL = 10, 0.01  # points of the curve; the least fall within them
CAP = 20_000  # steps after which a run that still falls is refused
TESTED, TEST = 1000, 10_000  # sequences for testing, and their seed


def curve(losses: list[float]) -> list[float]:
    """Return the mean loss of every 100 steps, without an unfinished hundred."""
    hundreds = [losses[start : start + EVERY] for start in range(0, len(losses) - EVERY + 1, EVERY)]
    return [sum(hundred) / EVERY for hundred in hundreds]


def stopped_falling(losses: list[float]) -> bool:
    """Whether the lowest mean of 100 steps has fallen by less than 0.01 in the last 1000 steps.

    The last mean must be within 0.01 of the lowest: no run ends on a spike of its loss.
    """
    if len(losses) % EVERY:
        return False
    means = curve(losses)
    if len(means) <= PATIENCE:
        return False
    return max(min(means[:-PATIENCE]), means[-1]) - min(means) < LEAST_FALL


def train(variant: str, seed: int) -> Trained:
    """Train a variant at its own rate until its loss has stopped falling, and measure it.

    Measured: the rate; the curve; the steps; the training loss, the last point of the curve; and the mean loss in
    generation over each half.  Raises ValueError where the loss still falls after 20,000 steps.
    """
    model, rate = build(variant, seed), best_rate(variant)
    losses = train_transformer(model, draw, CAP, seed, rate, enough=stopped_falling)
    if not stopped_falling(losses):
        raise ValueError(f"{variant}, seed {seed}: the loss still falls after {CAP} steps at rate {rate}")
    first, second = generation_loss(model, draw(torch.Generator().manual_seed(TEST), TESTED)).split([HALF - 1, HALF])
    means = curve(losses)
    return Trained(
        {
            "rate": rate,
            "curve": means,
            "steps": len(losses),
            "training": means[-1],
            "first": first.mean().item(),
            "second": second.mean().item(),
        }
    )


# The search for rates

SEARCHED = 1000  # steps


def search(variant: str, rate: float, seed: int) -> Trained:
    """Train a variant at one rate for 1000 steps; the loss is the mean of the last 100."""
    losses = train_transformer(build(variant, seed), draw, SEARCHED, seed, rate)
    return Trained({"loss": curve(losses)[-1]})


RATES = RateSearch(
    "missing-parts", list(VARIANTS), rates=[0.0003, 0.001, 0.003, 0.01, 0.03], seeds=[100, 101], train=search
)


def good_rates(variant: str) -> list[float]:
    """Return the rates at which the search ended within 0.01 of the lowest loss."""
    losses = RATES.losses(variant)
    return [rate for rate, loss in losses.items() if loss - min(losses.values()) < LEAST_FALL]


def best_rate(variant: str) -> float:
    """Return the middle good rate, of two the smaller: at the largest, training may still break down."""
    good = good_rates(variant)
    return good[(len(good) - 1) // 2]


EXPERIMENT = Experiment(
    "missing-parts",
    [{"variant": variant, "seed": seed} for variant in VARIANTS for seed in range(3)],
    train,
    search=RATES,
)
