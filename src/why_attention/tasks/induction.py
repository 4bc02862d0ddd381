"""Induction: continuing a repetition takes two layers of attention whose heads work together; one layer cannot do it.

A sequence starts with distinct symbols, and then its last part repeats to the end: D A B C A B C A …
From the second copy on, the next symbol is the one that followed the same symbol before, at a distance that differs
from sequence to sequence. The model is attention only: every layer adds the output of its heads to the residual stream,

    x ← x + MultiHead(x).

Two means over many sequences describe the weights a_ij of a head:

    previous-token score = mean of a_{i,i−1} over all i > 1
    induction score      = mean of Σ_j a_ij over all i that repeat, the sum over j ≤ i whose x_{j−1} = x_i

and ablation measures how often the model is still right when the head's output is 0.

Whether weights explain the answer is measured by intervention (replace a token, and see the answer change), and by the
rank correlation of weights and influence.

Sources: Olsson et al. 2022, arXiv 2209.11895 (attention-only models, previous-token and induction heads, measured on
random sequences that repeat, and ablated); Jain & Wallace 2019, arXiv 1902.10186 (weights against gradients, by rank).
"""

import copy
import string
from functools import cache

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from why_attention import transformer
from why_attention.attention import MultiHeadAttention
from why_attention.device import pick_device
from why_attention.influence import influence_matrix
from why_attention.masks import causal_mask
from why_attention.tasks.experiment import Experiment, Trained

__all__ = [
    "SYMBOLS",
    "LENGTH",
    "EXPERIMENT",
    "AttentionOnly",
    "sequences",
    "tokens_of",
    "follows_earlier",
    "accuracy",
    "previous_token_score",
    "induction_score",
    "remove_head",
    "interventions",
    "spearman",
    "rank_correlations",
    "load",
    "maps",
]

SYMBOLS = string.ascii_uppercase + "012345"  # the vocabulary
LENGTH = 40  # n, of the sequences for training
PERIODS = 4, 16  # least and greatest length of the part that repeats
SIZE, HEADS = 64, 2  # d, and heads a layer
STEPS, EVERY = 800, 50  # of training, and between two measurements
BATCH, LEARNING_RATE, CLIP = 32, 3e-3, 1.0
TESTED = 256  # sequences measured on, never trained on
RANKED = 200  # of them, those whose influence matrix is compared with the weights (slow)


class AttentionOnly(nn.Module):
    """Token and position embeddings, layers of causal attention in a residual stream, and logits of the next token.

    Raises ValueError for fewer than one layer.
    """

    def __init__(self, layers: int):
        super().__init__()
        if layers < 1:
            raise ValueError(f"layers={layers}: there must be at least 1")
        self.tokens = nn.Embedding(len(SYMBOLS), SIZE)
        self.positions = nn.Embedding(LENGTH, SIZE)
        self.layers = nn.ModuleList(MultiHeadAttention(SIZE, HEADS) for _ in range(layers))
        self.logits = nn.Linear(SIZE, len(SYMBOLS), bias=False)

    @torch.no_grad()
    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw the embeddings from N(0, 1), and every other weight from N(0, 1/d)."""
        self.tokens.weight.normal_(generator=generator)
        self.positions.weight.normal_(generator=generator)
        for layer in self.layers:
            layer.reset_parameters(generator)
        self.logits.weight.normal_(0, SIZE**-0.5, generator=generator)

    def forward(self, tokens: Tensor, need_weights: bool = False) -> tuple[Tensor, Tensor | None]:
        """Return logits of the next tokens, and the weights of all heads, or None without need_weights.

        tokens: whole numbers below 32, (batch, n), n ≤ 40.  Returns (batch, n, 32), (batch, layers, heads, n, n).
        Raises ValueError for other shapes, lengths and numbers.
        """
        check_tokens(tokens)
        return self.from_embeddings(self.embed(tokens), need_weights)

    def embed(self, tokens: Tensor) -> Tensor:
        """Return the sum of token and position embeddings: (…, n) to (…, n, d)."""
        return self.tokens(tokens) + self.positions.weight[: tokens.shape[-1]]

    def from_embeddings(self, x: Tensor, need_weights: bool = False) -> tuple[Tensor, Tensor | None]:
        """The same from embeddings (batch, n, d), for derivatives by them."""
        n = x.shape[-2]
        mask = causal_mask(n, n, device=x.device)[None]  # the same for all sequences
        weights = []
        for layer in self.layers:
            output, A = layer(x, mask=mask, need_weights=need_weights)
            x = x + output
            weights.append(A)
        return self.logits(x), torch.stack(weights, dim=1) if need_weights else None


def sequences(count: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Return random sequences, (count, 40), and where the second copy starts in each, from 0, (count,).

    The part that repeats has 4 to 16 symbols and at least two copies.  Raises ValueError for count < 1.
    """
    if count < 1:
        raise ValueError(f"count={count}: there must be at least 1 sequence")
    low, high = PERIODS
    period = torch.randint(low, high + 1, (count, 1), generator=generator)
    latest = torch.minimum(LENGTH - 2 * period, len(SYMBOLS) - period)  # later, the symbols run out
    start = (torch.rand(count, 1, generator=generator) * (latest + 1)).long()
    i = torch.arange(LENGTH)
    source = torch.where(i < start, i, start + (i - start) % period)  # the place that each place copies
    symbols = torch.rand(count, len(SYMBOLS), generator=generator).argsort(-1)  # all of them, in random order
    return symbols.gather(-1, source), (start + period).squeeze(-1)


def tokens_of(text: str) -> Tensor:
    """Return the tokens of a text, one a symbol: (n,).  Raises ValueError unless it is 1 to 40 known symbols."""
    if strange := sorted(set(text) - set(SYMBOLS)):
        raise ValueError(f"{text!r} has {strange}, which are none of the {len(SYMBOLS)} symbols {SYMBOLS}")
    tokens = torch.tensor([SYMBOLS.index(symbol) for symbol in text], dtype=torch.long)
    check_tokens(tokens.unsqueeze(0))
    return tokens


def follows_earlier(tokens: Tensor) -> Tensor:
    """Return for each query i the keys j right after an earlier occurrence of its token: x_{j−1} = x_i, j ≤ i.

    tokens: (batch, n).  Returns booleans (batch, n, n).
    """
    n = tokens.shape[-1]
    same = (tokens.unsqueeze(-1) == tokens.unsqueeze(-2)).tril(-1)  # x_i = x_j, j < i
    return F.pad(same, (1, 0))[..., :n]  # one place later


@torch.no_grad()
def accuracy(model: AttentionOnly, tokens: Tensor) -> float:
    """Return the accuracy of the next token after all tokens that have occurred before.

    tokens: (batch, n).  Raises ValueError where no token except the last repeats an earlier one.
    """
    logits, _ = model(tokens)
    repeats = follows_earlier(tokens).any(-1)[:, :-1]  # the last has no next token
    if not repeats.any():
        raise ValueError(f"0 of {tokens.shape[-1] - 1} tokens with a next one repeat an earlier one: at least 1 must")
    right = logits[:, :-1].argmax(-1) == tokens[:, 1:]
    return right[repeats].double().mean().item()


def previous_token_score(A: Tensor) -> Tensor:
    """Return the mean of a_{i,i−1} over all i > 1 and over the batch.

    A: (batch, layers, heads, n, n), n ≥ 2.  Returns (layers, heads).
    """
    if A.shape[-1] < 2:
        raise ValueError(f"weights of shape {tuple(A.shape)} have no previous token: n must be at least 2")
    return A.diagonal(-1, -2, -1).mean((0, -1))


def induction_score(A: Tensor, tokens: Tensor) -> Tensor:
    """Return the mean of Σ_j a_ij over all i that repeat an earlier token, the sum over the j right after it.

    A: (batch, layers, heads, n, n).  tokens: (batch, n).  Returns (layers, heads).
    Raises ValueError where no token repeats an earlier one.  After Olsson et al. 2022 (prefix matching).
    """
    after = follows_earlier(tokens)
    repeats = after.any(-1).sum()
    if not repeats:
        raise ValueError(f"0 of the {tokens.numel()} tokens repeat an earlier one: at least 1 must")
    return torch.einsum("blhij,bij->lh", A, after.to(A.dtype)) / repeats


def remove_head(model: AttentionOnly, layer: int, head: int) -> AttentionOnly:
    """Return a copy of the model in which the output of one head is 0; layers and heads count from 1.

    Raises ValueError for an unknown layer or head.
    """
    if not (1 <= layer <= len(model.layers) and 1 <= head <= HEADS):
        has = f"the model has layers 1 … {len(model.layers)} of heads 1 … {HEADS}"
        raise ValueError(f"layer={layer} and head={head}: {has}")
    without = copy.deepcopy(model)
    d_k = SIZE // HEADS
    with torch.no_grad():  # MultiHead = [head_1 … head_h] W_o: only these columns read the head
        without.layers[layer - 1].W_o.weight[:, (head - 1) * d_k : head * d_k] = 0
    return without


# Weights against influence, and against the answer when a token is replaced


def interventions(model: AttentionOnly, tokens: Tensor, second: Tensor, generator: torch.Generator) -> Tensor:
    """Return four measures of four keys, for one query of each sequence: (batch, 4, 4).

    The query is the third token of the second copy, A; the right answer is B, which follows A in the first copy.
    Keys: B of the first copy, A of the first copy, the token before the query, the query itself.
    Measures: the weight in the last layer, mean of its heads; the influence ‖∂(logits of the query)/∂(embedding of the
    key)‖; the probability of B with the key replaced by a symbol that the sequence does not use, and by one that it uses.

    tokens: (batch, 40), second: (batch,), as ``sequences`` draws them.  generator: draws the replacements.
    Raises ValueError for a sequence that uses every symbol.
    """
    used = F.one_hot(tokens, len(SYMBOLS)).any(1)
    if used.all(-1).any():
        raise ValueError(
            f"{int(used.all(-1).sum())} of {len(tokens)} sequences use all {len(SYMBOLS)} symbols: leave 1"
        )
    rows, i = torch.arange(len(tokens)), second + 2
    answer = tokens[rows, i + 1]
    A = (tokens == tokens[rows, i].unsqueeze(-1)).int().argmax(-1)  # the first occurrence
    weights = model(tokens, need_weights=True)[1][:, -1].mean(1)[rows, i]  # (batch, 40)
    influence = influence_on(model, tokens, i)
    measured = []
    for j in (A + 1, A, i - 1, i):
        of_key = [weights[rows, j], influence[rows, j]]
        for allowed in (~used, used & ~F.one_hot(tokens[rows, j], len(SYMBOLS)).bool()):
            other = tokens.clone()
            other[rows, j] = allowed.double().multinomial(1, generator=generator).squeeze(-1)
            of_key.append(model(other)[0][rows, i].softmax(-1)[rows, answer])
        measured.append(torch.stack(of_key, dim=-1))
    return torch.stack(measured, dim=1).detach()


def influence_on(model: AttentionOnly, tokens: Tensor, i: Tensor) -> Tensor:
    """Return row i of the influence matrix of each sequence (influence.py), i of shape (batch,): (batch, n)."""
    x = model.embed(tokens).detach().requires_grad_()
    logits = model.from_embeddings(x)[0][torch.arange(len(tokens)), i]
    # sequences are independent: one backward pass gives the gradient of a logit for all of them
    gradients = [torch.autograd.grad(one.sum(), x, retain_graph=True)[0] for one in logits.unbind(-1)]
    return sum(gradient.square().sum(-1) for gradient in gradients).sqrt()


def ranks(x: Tensor) -> Tensor:
    """Return the rank of every number along the last axis, from 1; equal numbers share their mean rank."""
    below = (x.unsqueeze(-1) > x.unsqueeze(-2)).sum(-1)
    alike = (x.unsqueeze(-1) == x.unsqueeze(-2)).sum(-1)
    return below + (alike + 1) / 2


def spearman(a: Tensor, b: Tensor) -> Tensor:
    """Return Spearman's rank correlation along the last axis of two tensors of one shape.

    Raises ValueError for different shapes, and where all numbers of a or of b are equal.
    """
    if a.shape != b.shape:
        raise ValueError(f"a has shape {tuple(a.shape)} and b {tuple(b.shape)}: they must have one shape")
    a, b = (one.double() - one.double().mean(-1, keepdim=True) for one in (ranks(a), ranks(b)))
    sizes = a.norm(dim=-1) * b.norm(dim=-1)
    if none := int((sizes == 0).sum()):
        raise ValueError(f"{none} of {sizes.numel()} rows have numbers that are all equal: they have no order")
    return (a * b).sum(-1) / sizes


FEWEST_KEYS = 8  # of a query in a rank correlation: with fewer keys it is mostly chance


def rank_correlations(model: AttentionOnly, tokens: Tensor) -> tuple[Tensor, Tensor]:
    """Return the rank correlation of weights and influence in each sequence, (batch,): over all pairs j < i, and within
    a query, averaged over queries with at least 8 earlier keys.

    tokens: (batch, n), n > 8.  Weights are those of the last layer, the mean of its heads.
    """
    n = tokens.shape[-1]
    if n <= FEWEST_KEYS:
        raise ValueError(
            f"n={n} tokens: no query has {FEWEST_KEYS} earlier keys; there must be at least {FEWEST_KEYS + 1}"
        )
    earlier = torch.ones(n, n, dtype=torch.bool).tril(-1)
    pooled, within = [], []
    for sequence in tokens:
        A = maps(sequence, model)[-1].mean(0)
        # with weights: torch has no batched derivative of fused attention
        influence = influence_matrix(lambda x: model.from_embeddings(x[None], True)[0][0], model.embed(sequence))
        pooled.append(spearman(A[earlier], influence[earlier]))
        each = [spearman(A[i, :i], influence[i, :i]) for i in range(FEWEST_KEYS, n)]
        within.append(torch.stack(each).mean())
    return torch.stack(pooled), torch.stack(within)


def train(layers: int, seed: int, steps: int = STEPS, ranked: int = RANKED) -> Trained:
    """Train a model on the tokens whose next one is determined, and measure it every 50 steps and at the end.

    rank_correlation, of two layers: the quantiles .1, .5 and .9 over ``ranked`` sequences.
    The checkpoint of seed 0 is kept in float16; the final measurements are of the rounded weights.
    """
    device, generator = pick_device(), torch.Generator().manual_seed(seed)
    model = AttentionOnly(layers)
    model.reset_parameters(generator)
    model.to(device)
    optimizer = torch.optim.Adam(model.parameters(), LEARNING_RATE)
    curves = {"step": [], "accuracy": [], "previous": [], "induction": []}
    for step in range(steps + 1):
        if step % EVERY == 0:
            curves["step"].append(step)
            for name, number in measures(model).items():
                curves[name].append(number)
        if step == steps:
            break
        tokens, second = (tensor.to(device) for tensor in sequences(BATCH, generator))
        logits, _ = model(tokens)
        copies = torch.arange(LENGTH - 1, device=device) >= second.unsqueeze(-1)
        loss = F.cross_entropy(logits[:, :-1][copies], tokens[:, 1:][copies])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimizer.step()
    weights = {name: weight.half() for name, weight in model.state_dict().items()}
    model.load_state_dict(weights)
    without = [
        [accuracy(remove_head(model, layer, head), held_out(device)) for head in range(1, HEADS + 1)]
        for layer in range(1, layers + 1)
    ]
    measured = {"curves": curves, **measures(model), "ablated": without}
    if layers == 2:
        both = rank_correlations(model.cpu().requires_grad_(False), held_out(torch.device("cpu"))[:ranked])
        quantiles = torch.stack(both).quantile(torch.tensor([0.1, 0.5, 0.9]).double(), dim=-1).T.tolist()
        measured["rank_correlation"] = dict(zip(("pooled", "within"), quantiles))
    return Trained(measured, weights if seed == 0 else None)


@torch.no_grad()
def measures(model: AttentionOnly) -> dict:
    """Return accuracy, and both scores of every head as lists (layers, heads), on the held-out sequences."""
    tokens = held_out(model.logits.weight.device)
    _, A = model(tokens, need_weights=True)
    return {
        "accuracy": accuracy(model, tokens),
        "previous": previous_token_score(A).tolist(),
        "induction": induction_score(A, tokens).tolist(),
    }


@cache
def held_out(device: torch.device) -> Tensor:
    """Return the sequences for testing, (256, 40), from a seed that is not used in training."""
    return sequences(TESTED, torch.Generator().manual_seed(1000))[0].to(device)


EXPERIMENT = Experiment(
    "induction",
    runs=[{"layers": layers, "seed": seed} for layers in (1, 2) for seed in range(3)],
    train=train,
)


@cache
def load(layers: int = 2) -> AttentionOnly:
    """Return the stored model of seed 0, on the CPU."""
    model = AttentionOnly(layers)
    model.load_state_dict(EXPERIMENT.weights(layers=layers, seed=0))
    return model.requires_grad_(False)


def maps(tokens: Tensor, model: AttentionOnly | None = None) -> Tensor:
    """Return the weights of all heads for one sequence of at most 40 tokens, (n,): (layers, heads, n, n).

    model: by default the stored one of two layers.
    """
    model = load() if model is None else model
    return model(tokens.unsqueeze(0), need_weights=True)[1].squeeze(0)


def check_tokens(tokens: Tensor) -> None:
    """Raise a ValueError for n > 40, and as ``transformer.check_tokens`` does."""
    transformer.check_tokens(tokens, len(SYMBOLS))
    if tokens.shape[-1] > LENGTH:
        raise ValueError(f"a sequence has n={tokens.shape[-1]} tokens: the model has positions for at most {LENGTH}")
