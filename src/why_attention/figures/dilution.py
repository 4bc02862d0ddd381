"""Figure dilution: each position is one step away from every other, with an influence of about 1/n.

The bars show one query's weights: the same row, with more and more keys among which its 1 is shared out.

The influence of position j on position i of one random attention layer is ‖∂y_i/∂x_j‖_F, by exact Jacobians. It falls
like 1/n off the diagonal and stays on it; it is flat in the distance, because a layer without positions and mask ignores
order: shuffled inputs give shuffled outputs.
"""

import math
from functools import cache

import torch

from explorable import Axis, Bar, Choice, Control, Explorable, Lines, Sentence, Series, Shares, Text
from explorable.grid import OnGrid
from explorable.numbers import power_text
from why_attention.attention import MultiHeadAttention
from why_attention.device import pick_device
from why_attention.figure_cache import figure_cache
from why_attention.influence import influence_matrix
from why_attention.masks import causal_mask
from why_attention.one_thread import one_thread
from why_attention.positions import sinusoidal_positions

SIZE, SEEDS = 16, 3  # d; draws of weights and inputs
LENGTHS = [8, 16, 32, 64, 128]
BLOCK = 16  # queries in one Jacobian, to limit memory
ROUNDING = 1e-9  # outputs in float64 that differ by less are equal


def random_layer(seed: int, n: int) -> tuple[MultiHeadAttention, torch.Tensor]:
    """Return an attention layer of one head and n tokens from N(0, 1), (n, d), the first of the longest sequence."""
    generator = torch.Generator().manual_seed(seed)
    layer = MultiHeadAttention(SIZE, 1, dtype=torch.float64)
    layer.reset_parameters(generator)
    x = torch.randn(LENGTHS[-1], SIZE, generator=generator, dtype=torch.float64)[:n]
    return layer.to(pick_device()), x.to(pick_device())


def order(n: int, shuffled: bool) -> torch.Tensor:
    """Return the order in which the tokens are read: (n,)."""
    return torch.randperm(n, generator=torch.Generator().manual_seed(0)) if shuffled else torch.arange(n)


def layer_inputs(x: torch.Tensor, positions: bool, mask: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the tokens, with or without positions, and the mask (n, n)."""
    n, device = len(x), x.device
    if positions:
        x = x + sinusoidal_positions(n, SIZE, device=device, dtype=x.dtype)
    return x, causal_mask(n, n, device=device) if mask else torch.ones(n, n, dtype=torch.bool, device=device)


def influence(layer: MultiHeadAttention, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Return ‖∂y_i/∂x_j‖_F for all i and j: (n, n)."""

    def answers(block: slice):  # with weights: the fused kernels have no batched backward pass
        return lambda x: layer(x[block], x, mask[block], need_weights=True)[0]

    return torch.cat([influence_matrix(answers(slice(i, i + BLOCK)), x) for i in range(0, len(x), BLOCK)])


def compute_influences(n: int, positions: bool, mask: bool, shuffled: bool) -> torch.Tensor:
    """Return the influence matrix of every seed, in the original order of the tokens: (SEEDS, n, n)."""
    matrices = []
    for seed in range(SEEDS):
        layer, x = random_layer(seed, n)
        new = order(n, shuffled).to(x.device)
        old = new.argsort()  # where each token is now
        M = influence(layer, *layer_inputs(x[new], positions, mask))
        matrices.append(M[old][:, old].cpu())
    return torch.stack(matrices)


influences = OnGrid(compute_influences, n=LENGTHS, positions=[False, True], mask=[False, True], shuffled=[False, True])


@cache
@torch.no_grad()
def row(n: int, positions: bool) -> torch.Tensor:
    """Return the weights of one query, the last of the shortest sequence, among the first n keys of the first seed: (n,)."""
    layer, x = random_layer(0, n)
    tokens, _ = layer_inputs(x, positions, mask=False)
    return layer(tokens, need_weights=True)[1][0, LENGTHS[0] - 1].cpu()


def bar(n: int) -> Bar:
    """Return the bar of one length, in colour where the figure has that length."""
    return Bar(lambda positions: row(n, positions), f"n = {n}", focus=("n", n))


@cache
@torch.no_grad()
def difference(n: int, positions: bool, mask: bool) -> float:
    """Return the largest change of any output by shuffling the inputs, outputs put back in order."""
    largest = 0.0
    for seed in range(SEEDS):
        layer, x = random_layer(seed, n)
        new = order(n, shuffled=True).to(x.device)
        y, y_shuffled = (
            layer(tokens, mask=keep)[0] for tokens, keep in (layer_inputs(t, positions, mask) for t in (x, x[new]))
        )
        largest = max(largest, (y[new] - y_shuffled).abs().max().item())
    return largest


def profile(n: int, positions: bool, mask: bool, shuffled: bool) -> torch.Tensor:
    """Return log10 of the mean influence over all pairs at distance r = 0 … n/2, at least n pairs: (SEEDS, n/2 + 1)."""
    M = influences(n=n, positions=positions, mask=mask, shuffled=shuffled)
    pairs = [torch.cat([M.diagonal(r, 1, 2), M.diagonal(-r, 1, 2)], dim=-1) for r in range(n // 2 + 1)]
    return torch.stack([influence.mean(-1) for influence in pairs], dim=-1).log10()


def on_others(n: int, positions: bool, mask: bool) -> torch.Tensor:
    """Return log10 of the mean influence of a position on another: (SEEDS,)."""
    M = influences(n=n, positions=positions, mask=mask, shuffled=False)
    return ((M.sum((1, 2)) - M.diagonal(0, 1, 2).sum(-1)) / (n * (n - 1))).log10()


def on_itself(n: int, positions: bool, mask: bool) -> torch.Tensor:
    """Return log10 of the mean influence of a position on itself: (SEEDS,)."""
    return influences(n=n, positions=positions, mask=mask, shuffled=False).diagonal(0, 1, 2).mean(-1).log10()


def over_lengths(function):
    """Turn a function of n into one over all LENGTHS: (SEEDS, len(LENGTHS))."""
    return lambda positions, mask: torch.stack([function(n, positions, mask) for n in LENGTHS], dim=-1)


def median(logs: torch.Tensor) -> float:
    """Return 10^log of the median seed."""
    return 10 ** logs.median().item()


INFLUENCE = Text(zh="影响的大小", en="size of the influence")
LOW, HIGH = -2.3, 0.6  # log10 of influence, in both panels


def figure() -> Explorable:
    """Return the figure in the page's language."""
    log_lengths = torch.tensor(LENGTHS).log10()
    return Explorable(
        "dilution",
        title=Text(
            zh="任意两个位置只隔一步，影响却与 n 成反比地变小",
            en="One step to everywhere, yet influence falls in proportion to 1/n",
        ),
        caption=Text(
            zh="一个查询的权重 1 由 n 个键来分。下图只与虚线 1/n 比斜率，不比高低。",
            en="n keys share one query’s weight of 1. Against the dashed 1/n below, compare slopes, not heights.",
        ),
        how_to_read=Text(
            zh="每一条都是第 8 个查询那一行的注意力权重，总长为 1，一段是一个键：n 加倍，同一个键的那一段就短一半左右。指向一段，可以读到这个键在每个 n 下的份额。"
            "下面两幅图的纵轴相同，都是输入 xⱼ 对输出 yᵢ 的影响，也就是雅可比矩阵 ∂yᵢ/∂xⱼ 的 Frobenius 范数，对数刻度。"
            "一幅的横轴是两个位置的距离，画到 n/2；另一幅的横轴是序列长度。虚线 1/n 供对照：要比的是斜率，不是高低。细线是三个随机种子，粗线是它们的中位数。",
            en="Each bar is the row of attention weights of query 8, 1 long, and each part of it is a key: when n doubles, the part "
            "of the same key is about half as long. Point at a part to read the share of its key at every n. Upwards in both "
            "plots below, the influence of input xⱼ on output yᵢ, the Frobenius norm of the Jacobian ∂yᵢ/∂xⱼ, on a logarithmic "
            "axis. Across in one, the distance between the two positions, up to n/2; in the other, the sequence length. The "
            "dashed 1/n is there to compare slopes, not heights. Thin lines are three random seeds, bold ones their median.",
        ),
        limits=Text(
            zh="一层、一个头的注意力，d = 16，矩阵和输入都是随机的，没有哪个键独占一行；训练过的头可以把大部分权重给一个键，那里就没有稀释。长条不用掩码。",
            en="One attention layer of one head, d = 16, random matrices and inputs, so that no key takes most of a row; a trained "
            "head may give most of its weight to one key, and then nothing is diluted. The bars know no mask.",
        ),
        controls=[
            Control("n", LENGTHS, label=Text(zh="序列长度", en="sequence length"), symbol="n", start=64),
            Control("positions", [False, True], label=Text(zh="加上正弦位置编码", en="add sinusoidal positions")),
            Control("shuffled", [False, True], label=Text(zh="打乱输入", en="shuffle the inputs"), advanced=True),
            Control(
                "mask",
                [False, True],
                label=Text(zh="因果掩码：不看后面", en="causal mask: nothing later"),
                advanced=True,
            ),
        ],
        panels=[
            Shares(
                title=Text(zh="一行的 1，分给 n 个键", en="one row's 1, shared among n keys"),
                bars=[bar(n) for n in LENGTHS],
                part=Text(zh="键 j", en="key j"),
                scale=Axis(Text(zh="权重", en="weight"), (0, 1), symbol="a_{8j}", resolution=0.0001),
            ),
            Lines(
                title=Text(zh="影响随距离的变化", en="Influence against distance"),
                x=Axis(Text(zh="距离", en="distance"), lambda n: (-0.02 * n, 0.52 * n), symbol="|i−j|"),
                y=Axis(INFLUENCE, (LOW, HIGH), symbol="‖∂y_i/∂x_j‖", log10=True, resolution=0.0005),
                series=[
                    Series(
                        lambda n, positions, mask: profile(n, positions, mask, shuffled=False),
                        lambda n: range(n // 2 + 1),
                        Text(zh="影响", en="influence"),
                        "blue",
                        "triangle",
                    ),
                    Series(
                        lambda n, positions, mask: profile(n, positions, mask, shuffled=True).median(0).values,
                        lambda n: range(n // 2 + 1),
                        Text(zh="打乱后", en="shuffled"),
                        "grey",
                        "cross",
                        dashed=True,
                        visible_if="shuffled",
                    ),
                    Series(lambda n: 2 * [-math.log10(n)], lambda n: [0, n / 2], "1/n", "grey", "square", dashed=True),
                ],
                narrow=True,
            ),
            Lines(
                title=Text(zh="影响随序列长度的变化", en="Influence against length"),
                x=Axis(Text(zh="序列长度", en="length"), (0.7, 2.2), symbol="n", log10=True, resolution=1e-6),
                y=Axis(INFLUENCE, (LOW, HIGH), symbol="‖∂y_i/∂x_j‖", log10=True, resolution=0.0005),
                series=[
                    Series(over_lengths(on_itself), log_lengths, Text(zh="对自己", en="on itself"), "blue", "diamond"),
                    Series(over_lengths(on_others), log_lengths, Text(zh="对别处", en="on others"), "blue", "triangle"),
                    Series(-log_lengths, log_lengths, "1/n", "grey", "square", dashed=True),
                    Series(
                        lambda n, positions, mask: on_others(n, positions, mask).median(0, keepdim=True).values,
                        lambda n: [math.log10(n)],
                        Text(zh="现在", en="now"),
                        "grey",
                        "circle",
                    ),
                ],
                narrow=True,
            ),
        ],
        rows=[1, 2],
        sentence=Sentence(
            Text(
                zh="{n} 个位置，任意两个只隔一步；一个对另一个的影响平均 {others}，乘以 n 是 {times_n}。",
                en="Of {n} positions, each is one step from every other; the influence of one on another averages {others}, times n {times_n}.",
            ),
            others=lambda n, positions, mask: f"{median(on_others(n, positions, mask)):.2g}",
            times_n=lambda n, positions, mask: f"{n * median(on_others(n, positions, mask)):.1f}",
        ),
        detail=Sentence(
            Text(
                zh="一个位置对自己的影响是 {itself}。{test}{difference}{meaning}",
                en="The influence of a position on itself is {itself}. {test}{difference}{meaning}",
            ),
            itself=lambda n, positions, mask: f"{median(on_itself(n, positions, mask)):.1f}",
            test=Choice(
                lambda shuffled: int(shuffled),
                [
                    "",
                    Text(
                        zh="打乱输入，再把输出排回原位，与原来最多差 ",
                        en="With shuffled inputs, the outputs put back into place differ by at most ",
                    ),
                ],
            ),
            difference=lambda n, positions, mask, shuffled: (
                power_text(log10(difference(n, positions, mask)), 2) if shuffled else ""
            ),
            meaning=Choice(
                lambda n, positions, mask, shuffled: shuffled * (1 + int(difference(n, positions, mask) > ROUNDING)),
                [
                    "",
                    Text(
                        zh="，只是舍入误差：输出跟着输入换位，这一层分不出谁先谁后、谁远谁近。",
                        en=", which is rounding: the outputs move with their inputs, and the layer cannot tell first from last or near from far.",
                    ),
                    Text(
                        zh="：位置编码或掩码让这一层看得出次序了。",
                        en=": positions or a mask let the layer see the order.",
                    ),
                ],
            ),
        ),
        cache=figure_cache(__name__),
        within=one_thread,
        slow=[influences],
    )


def log10(number: float) -> float:
    return math.log10(number) if number else -math.inf
