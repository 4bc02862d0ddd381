"""Translation: a recurrent translator with attention, and the same one with a fixed context (bottleneck).

A sentence is a sequence of phrases: N, A N, Q N or Q A N (noun, adjective, quantifier).  The translation into a made-up
language keeps the order of the phrases, reverses the words within each, and replaces every word:

    every red cat   no dog   ↦   felo rufa omni   kano nuli

The alignment of target to source words is known, to compare with the weights of attention.

Two GRUs, one a direction, read the sentence into a state h_j of every source word.  The decoder's state s_i reads the
previous word and a context c_i.  With attention c_i = Σ_j α_ij h_j, where α_ij depends on s_{i-1} and h_j (attention.py).
Without it c_i = h for every i: the final states of the two GRUs.

Sources: Bahdanau et al. 2015, arXiv 1409.0473, §3 and appendix A (the model; here its GRUs are those of PyTorch, and the
readout is linear); Cho et al. 2014, arXiv 1406.1078, §2.2 (one context for all target words).
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from why_attention.attention import AdditiveAttention
from why_attention.device import pick_device
from why_attention.fused_rnn import fused_layer
from why_attention.masks import padding_mask
from why_attention.rnn import GRUCell
from why_attention.tasks.experiment import Experiment, Trained
from why_attention.tasks.rates import RateSearch

__all__ = [
    "LEXICON",
    "Pair",
    "pair",
    "batch",
    "decode",
    "load",
    "LENGTHS",
    "LONGEST",
    "EXPERIMENT",
    "RATES",
]

# The language

NOUNS = {
    "cat": "felo", "dog": "kano", "bird": "avo", "fish": "piso", "cow": "bovo", "horse": "equo", "wolf": "lupo",
    "bear": "urso", "frog": "rano", "duck": "anaso", "goat": "kapro", "fox": "vulpo", "hen": "galo", "bee": "abelo",
    "ant": "formo", "boat": "navo", "tree": "arbo", "rose": "rozo", "moon": "luno", "star": "stelo", "sun": "solo",
    "sea": "maro", "hill": "kolo", "house": "domo", "road": "vojo", "bread": "pano", "milk": "lakto", "king": "rego",
    "book": "libro", "door": "pordo",
}  # fmt: skip
ADJECTIVES = {
    "red": "rufa", "blue": "azura", "green": "verda", "white": "alba", "black": "nigra", "big": "magna",
    "small": "parva", "old": "veta", "new": "nova", "young": "juna", "good": "bona", "fast": "rapa",
}  # fmt: skip
QUANTIFIERS = {"every": "omni", "no": "nuli", "some": "keli", "each": "singi", "any": "ani"}

LEXICON = {**NOUNS, **ADJECTIVES, **QUANTIFIERS}
N, A, Q = list(NOUNS), list(ADJECTIVES), list(QUANTIFIERS)
PHRASES = [(N,), (A, N), (Q, N), (Q, A, N)]

SOURCE_WORDS, TARGET_WORDS = list(LEXICON), sorted(LEXICON.values())  # in the order of their numbers
SOURCE_NUMBER = {word: number for number, word in enumerate(SOURCE_WORDS)}
TARGET_NUMBER = {word: number for number, word in enumerate(TARGET_WORDS)}
END = len(LEXICON)  # before the first word of a translation, after its last, and padding


@dataclass(frozen=True)
class Pair:
    """A sentence, its translation, and for each target word the index of its source word."""

    source: list[str]
    target: list[str]
    alignment: list[int]


def pair(length: int, rng: random.Random) -> Pair:
    """Draw a sentence of ``length`` words, phrase by phrase, and translate it.  Raises ValueError for length < 1."""
    if length < 1:
        raise ValueError(f"length={length}: a sentence has at least 1 word")
    source, target, alignment = [], [], []
    while left := length - len(source):
        classes = rng.choice([classes for classes in PHRASES if len(classes) <= left])
        phrase = [rng.choice(words) for words in classes]
        alignment += reversed(range(len(source), len(source) + len(phrase)))
        source += phrase
        target += [LEXICON[word] for word in reversed(phrase)]
    return Pair(source, target, alignment)


@dataclass(frozen=True)
class Batch:
    """Pairs as numbers, padded: source (batch, S), lengths (batch,), target (batch, S + 1) and alignment (batch, S)."""

    source: Tensor
    lengths: Tensor
    target: Tensor
    alignment: Tensor

    @property
    def real(self) -> Tensor:
        """Which entries of the target are not padding: words and the END after them, (batch, S + 1)."""
        return padding_mask(self.lengths + 1, self.target.shape[1]).squeeze(1)


def batch(pairs: list[Pair]) -> Batch:
    """Return pairs as numbers, on the GPU if there is one.  Raises ValueError for no pairs and unknown words."""
    if not pairs:
        raise ValueError("pairs has 0 entries: a batch needs at least 1")
    if unknown := {word for one in pairs for word in one.source} - set(LEXICON):
        raise ValueError(f"{sorted(unknown)} are none of the {len(LEXICON)} words of the lexicon")
    lengths = torch.tensor([len(one.source) for one in pairs])
    S = int(lengths.max())

    def pad(rows: list[list[int]], width: int) -> Tensor:
        return torch.tensor([row + [END] * (width - len(row)) for row in rows]).to(pick_device())

    return Batch(
        pad([[SOURCE_NUMBER[word] for word in one.source] for one in pairs], S),
        lengths.to(pick_device()),
        pad([[TARGET_NUMBER[word] for word in one.target] for one in pairs], S + 1),
        pad([one.alignment for one in pairs], S),
    )


def decode(numbers: Tensor) -> list[str]:
    """Return the words of a translation (n,), up to END."""
    numbers = numbers.tolist()
    return [TARGET_WORDS[number] for number in numbers[: numbers.index(END) if END in numbers else None]]


# The model


class Translator(nn.Module):
    """Encoder, attention or a fixed context, and decoder, of one width.

        s_i = GRU([y_{i-1}; c_i], s_{i-1}),    y_i = argmax W_o [s_i; c_i],    s_0 = tanh(W_s h)

    Source: Bahdanau et al. 2015, appendix A.2.
    """

    def __init__(self, attention: bool, size: int = 64):
        super().__init__()
        words = END + 1
        self.source, self.target = nn.Embedding(words, size), nn.Embedding(words, size)
        self.forwards, self.backwards = fused_layer(GRUCell(size, size)), fused_layer(GRUCell(size, size))
        self.attention = AdditiveAttention(size, 2 * size, size) if attention else None
        self.start = nn.Linear(2 * size, size)
        self.decoder = GRUCell(3 * size, size)
        self.readout = nn.Linear(3 * size, words)

    def encode(self, source: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Return the states h_j of the source words, (batch, S, 2 size), and h, the final states, (batch, 2 size)."""
        S = source.shape[1]
        order = (lengths.unsqueeze(1) - 1 - torch.arange(S, device=source.device)) % S  # reversed, without the padding
        x = self.source(source)
        forwards = self.forwards(x)[0]
        backwards = reorder(self.backwards(reorder(x, order))[0], order)
        last = forwards[torch.arange(len(source), device=source.device), lengths - 1]
        return torch.cat([forwards, backwards], dim=-1), torch.cat([last, backwards[:, 0]], dim=-1)

    def forward(self, source: Tensor, lengths: Tensor, target: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
        """Return the scores of every word at steps 1 … S + 1, and the weights, or None without attention.

        source: (batch, S).  lengths: (batch,).  target: (batch, S + 1), for teacher forcing; without it a step reads the
        word that the model has written.  Returns (batch, S + 1, words) and (batch, S + 1, S).
        Raises ValueError for shapes that do not fit, and lengths outside 1 … S.
        """
        check(source, lengths, target)
        h, last = self.encode(source, lengths)
        mask = padding_mask(lengths, source.shape[1])
        s, c = torch.tanh(self.start(last)), last
        word, scores, weights = torch.full_like(lengths, END), [], []
        for step in range(source.shape[1] + 1):
            if self.attention:
                c, alpha = (one.squeeze(1) for one in self.attention(s.unsqueeze(1), h, mask))
                weights.append(alpha)
            s = self.decoder(torch.cat([self.target(word), c], dim=-1), s)
            scores.append(self.readout(torch.cat([s, c], dim=-1)))
            word = scores[-1].argmax(-1) if target is None else target[:, step]
        return torch.stack(scores, dim=1), torch.stack(weights, dim=1) if self.attention else None


def reorder(states: Tensor, order: Tensor) -> Tensor:
    """Reorder the states (batch, S, size) of each sequence by indices (batch, S)."""
    return states.gather(1, order.unsqueeze(-1).expand_as(states))


def check(source: Tensor, lengths: Tensor, target: Tensor | None) -> None:
    """Raise a ValueError where an argument does not fit."""
    if source.ndim != 2 or source.numel() == 0:
        raise ValueError(f"source has shape {tuple(source.shape)}: it must be (batch, S), neither of them 0")
    if tuple(lengths.shape) != source.shape[:1]:
        raise ValueError(f"lengths has shape {tuple(lengths.shape)}, but source has {len(source)} sentences")
    S = source.shape[1]
    if outside := [length for length in lengths.tolist() if not 1 <= length <= S]:
        raise ValueError(f"lengths {outside} lie outside 1 … {S}, the words of a sentence")
    if target is not None and tuple(target.shape) != (len(source), S + 1):
        raise ValueError(f"target has shape {tuple(target.shape)}, but source needs {(len(source), S + 1)}")


# Training

LONGEST = 12  # words of a sentence in training
LENGTHS = [2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24]  # words of the sentences for testing
BATCH = 64  # sentences a step
HELD_OUT = 40  # sentences of each length whose loss ends training
TESTED = 100  # sentences of each length for testing

EVERY = 250  # steps between evaluations of the held-out loss
BETTER = 0.001  # the least improvement over the lowest loss so far, in nats a word
PATIENCE = 4  # evaluations without improvement after which the rate falls
DIVISOR, FALLS = 4, 2  # of the rate; falls before training ends
CAP = 400  # evaluations; no stored run reaches it


def train(
    model: str, seed: int, rate: float | None = None, longest: int = LONGEST, size: int = 64, cap: int = CAP
) -> Trained:
    """Train a model, "attention" or "bottleneck", until it no longer improves, and measure it at LENGTHS.

    It learns sentences of 1 to ``longest`` words.  rate: by default the best one of the search.
    """
    translator, optimiser = begin(model, seed, RATES.best(model) if rate is None else rate, size)
    rng = random.Random(seed)
    held_out = draw(HELD_OUT * longest, longest, rng)
    how = train_to_plateau(
        lambda: learn(translator, draw(BATCH, longest, rng), optimiser),
        lambda: held_out_loss(translator, held_out),
        optimiser,
        cap,
    )
    weights = {name: weight.half() for name, weight in translator.state_dict().items()}
    translator.load_state_dict(weights)  # measure the weights that are stored
    measured = [measure(translator, length) for length in LENGTHS]
    return Trained(
        {**how, **{name: [one[name] for one in measured] for name in measured[0]}}, weights if seed == 0 else None
    )


def train_to_plateau(
    step: Callable[[], None], loss: Callable[[], float], optimiser: torch.optim.Optimizer, cap: int = CAP
) -> dict[str, Any]:
    """Take steps until the loss no longer improves: the stopping rule of both translators.

    The loss is evaluated every EVERY steps. After PATIENCE evaluations without improvement the rate is divided by
    DIVISOR; after FALLS falls, the next one ends training.
    Returns the number of steps, the losses, the rate before each, and whether the cap ended training.
    """
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(
        optimiser, factor=1 / DIVISOR, patience=PATIENCE - 1, threshold=BETTER, threshold_mode="abs"
    )
    losses, rates = [], []
    while len(losses) < cap:
        rates.append(optimiser.param_groups[0]["lr"])
        for _ in range(EVERY):
            step()
        losses.append(loss())
        plateau.step(losses[-1])
        falls = len({*rates, optimiser.param_groups[0]["lr"]}) - 1
        if falls > FALLS:
            break
    return {"steps": EVERY * len(losses), "losses": losses, "rates": rates, "capped": falls <= FALLS}


def begin(model: str, seed: int, rate: float, size: int = 64) -> tuple[Translator, torch.optim.Optimizer]:
    """Return a new translator and its optimiser."""
    check_model(model)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        translator = Translator(model == "attention", size).to(pick_device())
    return translator, torch.optim.Adam(translator.parameters(), rate)


def draw(count: int, longest: int, rng: random.Random) -> Batch:
    """Draw ``count`` sentences of lengths 1, 2 … longest, 1, 2 …"""
    return batch([pair(1 + number % longest, rng) for number in range(count)])


def learn(translator: Translator, told: Batch, optimiser: torch.optim.Optimizer) -> None:
    """Take one step of gradient descent."""
    optimiser.zero_grad()
    cross_entropy(translator.train(), told).backward()
    nn.utils.clip_grad_norm_(translator.parameters(), 1.0)
    optimiser.step()


def cross_entropy(translator: Translator, told: Batch) -> Tensor:
    """Return the mean cross-entropy of the words and the END, with teacher forcing."""
    scores, _ = translator(told.source, told.lengths, told.target)
    return F.cross_entropy(scores[told.real], told.target[told.real])


@torch.no_grad()
def held_out_loss(translator: Translator, held_out: Batch) -> float:
    return cross_entropy(translator.eval(), held_out).item()


@torch.no_grad()
def exact_match(translator: Translator, given: Batch) -> float:
    """Return the share of sentences that the model writes without any error, including END."""
    scores, _ = translator.eval()(given.source, given.lengths)
    right = (scores.argmax(-1) == given.target) | ~given.real
    return right.all(-1).double().mean().item()


@torch.no_grad()
def measure(translator: Translator, length: int) -> dict[str, float | None]:
    """Measure a model on sentences of one length.

    exact_match: see above.  top1 and mass: the share of words whose largest weight is on their source word, and the mean
    weight there, with teacher forcing; None without attention.
    """
    rng = random.Random(f"test {length}")
    given = batch([pair(length, rng) for _ in range(TESTED)])
    _, weights = translator.eval()(given.source, given.lengths, given.target)
    measured = {"exact_match": exact_match(translator, given), "top1": None, "mass": None}
    if weights is not None:
        weights = weights[:, :length]  # END has no source word
        right = weights.gather(-1, given.alignment.unsqueeze(-1))
        measured["top1"] = (weights.argmax(-1) == given.alignment).double().mean().item()
        measured["mass"] = right.double().mean().item()
    return measured


def check_model(model: str) -> None:
    if model not in MODELS:
        raise ValueError(f"model={model!r}: it must be one of {MODELS}")


# The search for learning rates, with other seeds than the experiment's, and the experiment

MODELS = ["attention", "bottleneck"]
SEEDS = [0, 1, 2]
SEARCH = 1000  # steps


def search(variant: str, rate: float, seed: int) -> Trained:
    """Train a model at one rate for SEARCH steps."""
    translator, optimiser = begin(variant, seed, rate)
    rng = random.Random(seed)
    held_out = draw(HELD_OUT * LONGEST, LONGEST, rng)
    for _ in range(SEARCH):
        learn(translator, draw(BATCH, LONGEST, rng), optimiser)
    return Trained({"loss": held_out_loss(translator, held_out)})


RATES = RateSearch("translation", MODELS, rates=[8e-4, 2e-3, 5e-3, 1.25e-2], seeds=[10, 11, 12], train=search)
EXPERIMENT = Experiment(
    "translation", [{"model": model, "seed": seed} for model in MODELS for seed in SEEDS], train, search=RATES
)


def load(model: str) -> Translator:
    """Return the stored translator of seed 0, on the CPU and in eval mode."""
    check_model(model)
    translator = Translator(model == "attention")
    translator.load_state_dict(EXPERIMENT.weights(model=model, seed=0))
    return translator.eval()
