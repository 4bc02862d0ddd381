"""Recall: which networks learn to carry the first symbol of a sequence to its end, and over what distance.

    x_1, x_2 … x_{T−1} ~ U{0 … 7},   x_T = query,   answer: x_1

The distractors x_2 … x_{T−1} are drawn from the same symbols: only its position distinguishes the first. The answer is
read out at the last position, T − 1 steps later; chance is 1/8.

Measured before training: the gradient of the loss that arrives at the first symbol, ‖∂L/∂e_1‖, e_1 its embedding.

Sources: Hochreiter & Schmidhuber 1997, §5 (recall over long gaps); Arjovsky et al. 2016, arXiv 1511.06464, §5.1 (the
copying task); Bai et al. 2018, arXiv 1803.01271 (dilated convolutions on such tasks).
"""

import copy
import math
from collections.abc import Sequence
from functools import cache
from statistics import median
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from why_attention.attention import MultiHeadAttention
from why_attention.checks import check_whole
from why_attention.convolution import Convolution
from why_attention.device import pick_device
from why_attention.fused_rnn import fused_layer
from why_attention.receptive_field import Layer, span
from why_attention.rnn import Cell, LSTMCell, RNNCell
from why_attention.tasks.experiment import Experiment, Trained
from why_attention.tasks.rates import RateSearch

__all__ = [
    "draw",
    "best_without_order",
    "MODELS",
    "build",
    "parameters",
    "initial_gradient",
    "accuracy",
    "RATES",
    "train",
    "EXPERIMENT",
    "HELD_OUT",
    "stored_runs",
    "stored_accuracy",
    "median_accuracy",
    "longest_learned",
    "load",
]

# The task

SYMBOLS = 8
QUERY = SYMBOLS  # the token after the symbols 0 … 7
CHANCE = 1 / SYMBOLS


def draw(batch: int, T: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Return sequences of T tokens, (batch, T), and their answers, the first token of each, (batch,).

    Raises ValueError for T < 2 (a symbol and the query) and for a batch below 1.
    """
    check_whole(batch=batch)
    check_whole(least=2, T=T)
    x = torch.randint(SYMBOLS, (batch, T), generator=generator)
    x[:, -1] = QUERY
    return x, x[:, 0]


def best_without_order(T: int) -> float:
    """Return the highest accuracy of a network that sees how often each symbol occurs, but not where.

    Each of the n = T − 1 symbols may be the first, so the best answer is the most frequent: E[max count]/n, where
    E[max] = Σ_m P(max > m). The counts of n draws are eight Poisson variables of mean n/8, given that their sum is n.
    """
    check_whole(least=2, T=T)
    n = T - 1
    counts = np.arange(n + 1)
    logs = np.array([math.lgamma(count + 1) for count in counts])
    poisson = np.exp(counts * math.log(n / SYMBOLS) - n / SYMBOLS - logs)
    sum_is_n = math.exp(n * math.log(n) - n - logs[n])
    most = 0.0
    for m in range(n):
        below = np.where(counts <= m, poisson, 0)  # P(a count is i and at most m), over i
        for _ in range(3):  # of two symbols, of four, of eight
            below = np.convolve(below, below)[: n + 1]
        most += 1 - below[n] / sum_is_n
    return most / n


# The models: an embedding, a body that maps e (batch, T, d) to the last output, and a linear read-out

D, HIDDEN = 32, 64  # d, of embeddings, convolutions and attention; H, of recurrent states


class Recurrence(nn.Module):
    """h_T of a cell."""

    width = HIDDEN

    def __init__(self, cell: Cell):
        super().__init__()
        self.layer = fused_layer(cell)

    def forward(self, e: Tensor) -> Tensor:
        return self.layer(e)[0][:, -1]


class Convolutions(nn.Module):
    """The last output of causal convolutions with a ReLU after each.

    Weights are drawn from N(0, 2/(k d)), because a ReLU halves the second moment (He et al. 2015, arXiv 1502.01852,
    §2.2).
    """

    width = D

    def __init__(self, k: int, dilations: list[int], generator: torch.Generator):
        super().__init__()
        self.layers = nn.ModuleList(Convolution(D, k, dilation) for dilation in dilations)
        self.span = span([Layer(k, dilation) for dilation in dilations])
        for layer in self.layers:
            layer.reset_parameters(generator)
            layer.W.data *= math.sqrt(2)

    def forward(self, e: Tensor) -> Tensor:
        y = e[:, -self.span :]  # all that the last output reads; zero padding does not reach it
        for layer in self.layers:
            y = F.relu(layer(y))
        return y[:, -1]


class DilatedConvolutions(Convolutions):
    """The same for k = 2 and dilations 1, 2, 4 …, computing only what the last output reads.

    That is T, T − 2, T − 4 … of the first layer, T, T − 4, T − 8 … of the second: a tree, with stride 2.
    """

    def __init__(self, layers: int, generator: torch.Generator):
        super().__init__(2, [2**number for number in range(layers)], generator)

    def forward(self, e: Tensor) -> Tensor:
        y = e[:, -self.span :]
        for layer in self.layers:
            y = F.pad(y, (0, 0, y.shape[1] % 2, 0))  # pairs end at the last position
            pairs = y.reshape(len(y), -1, 2 * D)
            y = F.relu(pairs @ layer.W.permute(2, 1, 0).flatten(0, 1) + layer.b)
        return y[:, -1]


class Attention(nn.Module):
    """The output of one layer of one head at the last position."""

    width = D

    def __init__(self, generator: torch.Generator):
        super().__init__()
        self.layer = MultiHeadAttention(D, heads=1)
        self.layer.reset_parameters(generator)

    def forward(self, e: Tensor) -> Tensor:
        return self.layer(e[:, -1:], memory=e)[0][:, 0]  # one query: the other T − 1 outputs are not read


class Recall(nn.Module):
    """Scores of the eight symbols: an embedding, a body, and a linear read-out of its output."""

    def __init__(self, body: nn.Module, T: int, positions: bool, generator: torch.Generator):
        super().__init__()
        self.embedding = nn.Parameter(torch.empty(SYMBOLS + 1, D).normal_(generator=generator))
        self.positions = None
        if positions:  # learned; small at first: attention starts as a mean over all positions
            self.positions = nn.Parameter(torch.empty(T, D).normal_(std=0.1, generator=generator))
        self.body = body
        self.readout = nn.Linear(body.width, SYMBOLS)
        nn.init.normal_(self.readout.weight, std=1 / math.sqrt(body.width), generator=generator)
        nn.init.zeros_(self.readout.bias)

    def embed(self, x: Tensor) -> Tensor:
        """Return the embeddings e of tokens x: (batch, T) to (batch, T, d)."""
        e = self.embedding[x]
        return e if self.positions is None else e + self.positions

    def scores(self, e: Tensor) -> Tensor:
        """Map embeddings e (batch, T, d) to scores (batch, 8)."""
        return self.readout(self.body(e))

    def forward(self, x: Tensor) -> Tensor:
        """Map tokens x (batch, T) to scores (batch, 8)."""
        return self.scores(self.embed(x))


def recurrence(kind: type[Cell], generator: torch.Generator, **biases) -> Recurrence:
    """Return a cell with these biases, and W drawn from U(−1/√H, 1/√H) as in torch."""
    cell = kind(D, HIDDEN)
    cell.reset_parameters(generator=generator, **biases)
    for W in (cell.W_x, cell.W_h):
        nn.init.uniform_(W, -1 / math.sqrt(HIDDEN), 1 / math.sqrt(HIDDEN), generator)
    return Recurrence(cell)


def orthogonal(generator: torch.Generator) -> Recurrence:
    """Return an RNN whose W_h starts orthogonal: without the tanh it would preserve norms."""
    body = recurrence(RNNCell, generator)
    nn.init.orthogonal_(body.layer.weight_hh_l0, generator=generator)
    return body


MODELS = {  # name: body for sequences of T
    "RNN": lambda T, generator: recurrence(RNNCell, generator),
    "RNN orthogonal": lambda T, generator: orthogonal(generator),
    "LSTM b=0": lambda T, generator: recurrence(LSTMCell, generator, forget_bias=0.0),
    "LSTM b=1": lambda T, generator: recurrence(LSTMCell, generator, forget_bias=1.0),
    "LSTM chrono": lambda T, generator: recurrence(LSTMCell, generator, chrono=T),
    "CNN": lambda T, generator: Convolutions(3, 8 * [1], generator),
    "dilated CNN": lambda T, generator: DilatedConvolutions(8, generator),
    "attention": lambda T, generator: Attention(generator),
    "attention without positions": lambda T, generator: Attention(generator),
}


def build(model: str, T: int, generator: torch.Generator) -> Recall:
    """Return an untrained network for sequences of T tokens.  Raises ValueError for an unknown model."""
    if model not in MODELS:
        raise ValueError(f"model {model!r} is none of the {len(MODELS)}: {', '.join(MODELS)}")
    return Recall(MODELS[model](T, generator), T, model == "attention", generator)


def parameters(model: str, T: int) -> int:
    """Return the number of parameters of a model for sequences of T: learned positions grow with T."""
    return sum(W.numel() for W in build(model, T, torch.Generator()).parameters())


# Before training

SCALE = 2.0**900


def initial_gradient(network: Recall, T: int) -> float:
    """Return log10 of the mean of ‖∂L/∂e_1‖ over 64 sequences, L the loss of one of them; −∞ without a path.

    In float64 and with the loss scaled up: after a thousand steps the gradient may be 1e-320.
    """
    x, answer = draw(BATCH, T, torch.Generator().manual_seed(TEST))
    network = copy.deepcopy(network).double()
    device = network.embedding.device
    e = network.embed(x.to(device)).detach().requires_grad_()
    loss = F.cross_entropy(network.scores(e), answer.to(device), reduction="sum")  # sequences are independent
    (gradient,) = torch.autograd.grad(SCALE * loss, e)
    largest = gradient[:, 0].abs().max().item()
    if largest == 0:
        return -math.inf
    norms = (gradient[:, 0] / largest).norm(dim=-1)  # against under- and overflow of squares
    return math.log10(norms.mean().item()) + math.log10(largest) - math.log10(SCALE)


# Training

BATCH, STEPS, EVERY = 64, 2000, 100  # sequences a step; maximum steps; steps between checks
CLIP = 1.0  # the largest norm of a gradient
ENOUGH = 0.99  # accuracy at which training stops
LEARNED = 0.9  # accuracy that counts as learned


def learn(network: Recall, T: int, rate: float, generator: torch.Generator, new: torch.Generator) -> list[float]:
    """Train a network on sequences of one generator; return its accuracy on another's after 0, 100, 200 … steps."""
    device, accuracies = network.embedding.device, []
    optimizer = torch.optim.Adam(network.parameters(), rate)
    for step in range(STEPS + 1):
        if step % EVERY == 0:
            accuracies.append(accuracy(network, *draw(CHECKED, T, new)))
            if accuracies[-1] >= ENOUGH or step == STEPS:
                break
        x, answer = draw(BATCH, T, generator)
        optimizer.zero_grad()
        F.cross_entropy(network(x.to(device)), answer.to(device)).backward()
        nn.utils.clip_grad_norm_(network.parameters(), CLIP)
        optimizer.step()
    return accuracies


# Evaluation

TEST = 10_000  # the seed of the sequences for testing
CHECKED, TESTED = 1000, 2000  # sequences tested during and after training


@torch.no_grad()
def accuracy(network: Recall, x: Tensor, answer: Tensor) -> float:
    """Return the share of sequences x (batch, T) whose highest score is the answer's (batch,)."""
    device = network.embedding.device
    blocks = zip(x.to(device).split(250), answer.to(device).split(250))  # fits the cache
    return sum((network(x).argmax(-1) == answer).sum().item() for x, answer in blocks) / len(x)


def round_weights(network: Recall) -> dict[str, Tensor]:
    """Round the weights of a network to float16, and return them so: half the size to store."""
    weights = {name: W.half() for name, W in network.state_dict().items()}
    network.load_state_dict(weights)
    return weights


# The learning rate of each model

TUNED = {  # the T of the search: the model learns at some rates, and late or never at others
    "RNN": 16,
    "RNN orthogonal": 16,
    "LSTM b=0": 12,
    "LSTM b=1": 20,
    "LSTM chrono": 64,
    "CNN": 16,
    "dilated CNN": 256,
    "attention": 256,
    "attention without positions": 8,
}


def tune(variant: str, rate: float, seed: int) -> Trained:
    """Measure the error of a model at its length of TUNED, averaged over all checks: early learning counts."""
    T, generator = TUNED[variant], torch.Generator().manual_seed(seed)
    network = build(variant, T, generator).to(pick_device())
    accuracies = learn(network, T, rate, generator, new=torch.Generator().manual_seed(TEST + 1 + seed))
    left = 1 + STEPS // EVERY - len(accuracies)  # checks after early stopping, with the last accuracy
    wrong = 1 - (sum(accuracies) + left * accuracies[-1]) / (1 + STEPS // EVERY)
    return Trained({"loss": wrong, "accuracy": accuracies[-1], "steps": (len(accuracies) - 1) * EVERY})


RATES = RateSearch(
    "recall", list(MODELS), rates=[0.0003, 0.001, 0.003, 0.01, 0.03, 0.1], seeds=[100, 101, 102], train=tune
)


# The experiment


def train(model: str, T: int, seed: int) -> Trained:
    """Measure the initial gradient of a model for sequences of T; up to T = TRAINED[model], train and test it."""
    generator = torch.Generator().manual_seed(seed)  # draws the weights, then the training sequences
    network = build(model, T, generator).to(pick_device())
    gradient = initial_gradient(network, T)
    measured: dict[str, Any] = {"log_gradient": gradient if gradient > -math.inf else None}  # JSON has no −∞
    if T > TRAINED[model]:
        return Trained(measured)
    rate = RATES.best(model)
    accuracies = learn(network, T, rate, generator, new=torch.Generator().manual_seed(TEST + 1 + seed))
    weights = round_weights(network)
    final = accuracy(network, *draw(TESTED, T, torch.Generator().manual_seed(TEST)))
    measured |= {"rate": rate, "accuracies": accuracies, "accuracy": final}
    return Trained(measured, weights if (model, seed) == ("attention", 0) else None)


LENGTHS, SEEDS = [8, 16, 32, 64, 128, 256, 512, 1024], [0, 1, 2]
TRAINED = {  # the longest T of training; beyond it only the initial gradient is measured
    "RNN": 64,
    "RNN orthogonal": 64,
    "LSTM b=0": 64,
    "LSTM b=1": 64,
    "LSTM chrono": 256,
    "CNN": 64,
    "dilated CNN": 512,
    "attention": 1024,
    "attention without positions": 64,
}

EXPERIMENT = Experiment(
    "recall",
    runs=[{"model": model, "T": T, "seed": seed} for T in LENGTHS for model in MODELS for seed in SEEDS],
    train=train,
    search=RATES,
)

NEW_LENGTHS, NEW_SEEDS = [12, 24, 48, 96, 192], [3, 4]

HELD_OUT = Experiment(  # tests what was found on the runs above
    "recall-held-out",
    runs=[
        {"model": model, "T": T, "seed": seed}
        for T in NEW_LENGTHS
        for model in MODELS
        for seed in NEW_SEEDS
        if T <= TRAINED[model]
    ],
    train=train,
    search=RATES,
)


# What is stored


@cache
def stored_runs() -> dict[tuple[str, int, int], dict]:
    """Return what was measured in each run, by model, T and seed."""
    return {tuple(run.settings[name] for name in ("model", "T", "seed")): run.measured for run in EXPERIMENT.results()}


def stored_accuracy(model: str, T: int, seed: int, step: int = STEPS) -> float:
    """Return the accuracy of a run after ``step`` steps; a run that stopped earlier keeps its last one.

    Raises ValueError for a run that was not trained.
    """
    measured = stored_runs().get((model, T, seed), {})
    if "accuracies" not in measured:
        raise ValueError(f"model {model!r} was not trained with T={T}, seed={seed}: the longest T of each is {TRAINED}")
    curve = [*measured["accuracies"][:-1], measured["accuracy"]]
    return curve[min(step // EVERY, len(curve) - 1)]


def median_accuracy(model: str, T: int, seeds: Sequence[int] = SEEDS, step: int = STEPS) -> float:
    """Return the median accuracy over some seeds, as ``stored_accuracy`` has them."""
    return median(stored_accuracy(model, T, seed, step) for seed in seeds)


def longest_learned(model: str, seeds: Sequence[int] = SEEDS, step: int = STEPS) -> int:
    """Return the largest T at which the median of the seeds has learned the task, or 0."""
    trained = [T for T in LENGTHS if T <= TRAINED[model]]
    return max((T for T in trained if median_accuracy(model, T, seeds, step) >= LEARNED), default=0)


def load(model: str, T: int) -> Recall:
    """Return the stored network of seed 0.  Raises ValueError for any but attention: no others are kept."""
    network = build(model, T, torch.Generator())
    network.load_state_dict(EXPERIMENT.weights(model=model, T=T, seed=0))
    return network
