"""Figure attention-map: each row shares 1 among all positions, by content; a sharper row passes less gradient.

Four kinds of tokens alternate, 1 2 3 4 1 2 3 4 …, each with a little noise, under one head with random projections. The
map is that of the first of several draws; the lines show all.
"""

from functools import cache

import torch

from explorable import Axis, Choice, Control, Explorable, Fixed, Heatmap, Lines, Names, Sentence, Series, Text
from traced import Choices, Length, Number, Traced
from why_attention.attention import attend
from why_attention.figure_cache import figure_cache
from why_attention.masks import causal_mask
from why_attention.one_thread import one_thread
from why_attention.positions import sinusoidal_positions

SIZE, KINDS, NOISE, DRAWS = 16, 4, 0.2, 7  # d; kinds of tokens; noise within a kind; draws
NAMES = {"A": "purple", "B": "ochre", "C": "rose", "D": "slate"}  # of the kinds, with their colours
LENGTHS = [4, 8, 16, 32]
SCALES = [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0]
LOG_SCALES = torch.linspace(-0.7, 1.6, 24, dtype=torch.float64)  # of the lines: a little past the slider


@cache
def random_inputs() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return the tokens (DRAWS, the longest n, d) and the projections W_q and W_k, each (DRAWS, d, d)."""
    generator = torch.Generator().manual_seed(1)  # its first draw has clearly different kinds

    def normal(*shape):
        return torch.randn(DRAWS, *shape, generator=generator, dtype=torch.float64)

    n = LENGTHS[-1]  # a shorter sequence is the start of the longest
    kinds = normal(KINDS, SIZE)[:, torch.arange(n) % KINDS]
    return kinds + NOISE * normal(n, SIZE), normal(SIZE, SIZE) / SIZE**0.5, normal(SIZE, SIZE) / SIZE**0.5


@cache
def inputs_of(draws: int) -> list[torch.Tensor]:
    """Return the inputs of the first draws."""
    return [one[:draws].clone() for one in random_inputs()]


def weights(n: int, scale: float, mask: bool, positions: bool, draws: int = DRAWS) -> torch.Tensor:
    """Return softmax(β Q Kᵀ / √d), β the scale, for some draws: (draws, n, n)."""
    tokens, W_q, W_k = inputs_of(draws)
    most = LENGTHS[-1]
    x = tokens[:, :n] + sinusoidal_positions(most, SIZE, dtype=torch.float64)[:n] if positions else tokens[:, :n]
    Q, K = x @ W_q.mT, x @ W_k.mT
    return attend(scale * Q, K, x, causal_mask(most, most)[None, :n, :n] if mask else None)[1]


def sensitivity(A: torch.Tensor) -> torch.Tensor:
    """Return Σ_j a_ij (1 − a_ij), the trace of ∂a_i/∂scores_i = diag(a_i) − a_i a_iᵀ, averaged over the rows of A."""
    return (A * (1 - A)).sum(-1).mean(-1)


def sensitivities(n: int, mask: bool, positions: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the sensitivity over LOG_SCALES of every draw, (DRAWS, 24), and of the first: (24,)."""
    all_draws = sensitivity(weights(n, 10 ** LOG_SCALES[:, None, None, None], mask, positions)).mT
    return all_draws, all_draws[0]


def effective_number(A: torch.Tensor) -> torch.Tensor:
    """Return exp(H), H the mean entropy of the rows: the number of positions of an equally spread uniform row."""
    return (A * torch.where(A > 0, A, 1).log()).sum(-1).mean().neg().exp()


def verdict(left: torch.Tensor) -> torch.Tensor:
    """Return 0, 1 or 2: of the sensitivity of a uniform row at least 1/2 is left, at least 1/10, or less."""
    return 1 * (left < 0.5) + 1 * (left < 0.1)


def measured(n: int, scale: float, mask: bool, positions: bool) -> tuple[torch.Tensor, ...]:
    """Return what the figure shows at one β, all of the first draw.

    log10 of the map (n, n), −∞ where the mask hides; its sensitivity; log10 β; the effective number; the largest weight; the
    number of the verdict; the sensitivity once more, and that of uniform rows.
    """
    A = weights(n, scale, mask, positions, draws=1)[0]
    uniform = sensitivity(weights(n, 0.0, mask, positions, draws=1)[0])
    beta = torch.as_tensor(scale, dtype=torch.float64).log10()
    return (
        A.log10(),
        sensitivity(A)[None],
        beta[None],
        effective_number(A),
        A.amax(),
        verdict(sensitivity(A) / uniform),
        sensitivity(A),
        uniform,
    )


ANY_LENGTH, EITHER = Length(LENGTHS[0], LENGTHS[-1]), Choices([False, True])
measures = Traced(measured, ANY_LENGTH, Number(SCALES[0], SCALES[-1]), EITHER, EITHER)


def kinds(n: int) -> torch.Tensor:
    """Return the number of every token's kind, 0 1 2 3 0 1 …: (n,)."""
    return torch.arange(n) % KINDS


curves = Traced(sensitivities, ANY_LENGTH, EITHER, EITHER)
numbers = Traced(lambda n: [kinds(n)], ANY_LENGTH)
names = Names(numbers[0], list(NAMES))


def figure() -> Explorable:
    """Return the figure in the page's language."""
    return Explorable(
        "attention-map",
        title=Text(zh="谁看谁，各看多少", en="Who looks at whom, and how much"),
        caption=Text(
            zh="每一行是一个查询，把 1 分给所有的键。",
            en="Each row is a query, which shares out 1 among all keys.",
        ),
        how_to_read=Text(
            zh="第 i 行第 j 列的颜色，是位置 i 分给位置 j 的注意力权重，每行加起来恰为 1。四类 token A、B、C、D 轮流出现，字母和色条标出每一行、每一列是哪一类："
            "同类的行彼此很像，同类的列也很像。给多少由内容定，远近不算（加上位置编码以后，位置才起作用）。"
            "曲线图的横轴是分数缩放 β，纵轴是 softmax 的灵敏度，也就是分数变一点，权重跟着变多少；"
            "细线是七次随机抽取，粗线是它们的中位数，灰线是这张注意力图的那一次抽取，灰圈是当前的 β。",
            en="The colour in row i and column j is the attention weight that position i gives to position j; each row adds up to "
            "exactly 1. Four kinds of tokens, A, B, C and D, take turns; a letter and a colour say which kind a row or a column "
            "is. Rows of one kind look alike, and so do columns: content decides how much is given; distance does not (until "
            "positions are added). The plot shows, against the score scale β, the sensitivity of the softmax: how "
            "much the weights follow a small change of the scores. Thin lines are seven random draws, the bold line is their "
            "median, the grey line is the draw that this map shows, and the grey ring marks the current β.",
        ),
        limits=Text(
            zh="W_q 和 W_k 是随机的，没有训练过：哪一类看哪一类，换一次抽取就变了；训练过的头在看什么，见本章后面的图。权重大，也不等于它对输出的影响大。",
            en="W_q and W_k are random, not trained: in another draw other kinds look at each other; what trained heads look at "
            "comes later in the chapter. And a large weight does not yet mean a large influence on the output.",
        ),
        controls=[
            Control("n", LENGTHS, label=Text(zh="序列长度", en="sequence length"), symbol="n", start=16),
            Control("scale", SCALES, label=Text(zh="分数缩放", en="score scale"), symbol="β", start=1.0),
            Control(
                "mask",
                [False, True],
                label=Text(zh="因果掩码：不看后面", en="causal mask: nothing later"),
                advanced=True,
            ),
            Control(
                "positions",
                [False, True],
                label=Text(zh="加上正弦位置编码", en="add sinusoidal positions"),
                advanced=True,
            ),
        ],
        panels=[
            Heatmap(
                measures[0],
                title=Text(zh="注意力图", en="attention map"),
                rows=Text(zh="查询 i", en="query i"),
                columns=Text(zh="键 j", en="key j"),
                row_words=names,
                column_words=names,
                word_colors=NAMES,
                scale=Axis(Text(zh="权重", en="weight"), (-3, 0), symbol="a_{ij}", log10=True, resolution=0.005),
            ),
            Lines(
                title=Text(
                    zh="softmax 的灵敏度随分数缩放的变化", en="Sensitivity of the softmax against the score scale"
                ),
                x=Axis(Text(zh="分数缩放", en="score scale"), (-0.7, 1.6), "β", log10=True, resolution=1e-6),
                y=Axis(
                    Text(zh="softmax 的灵敏度", en="sensitivity of the softmax"),
                    (0, 1),
                    symbol="Σ_j a_{ij}(1−a_{ij})",
                    resolution=0.002,
                ),
                series=[
                    Series(curves[0], LOG_SCALES, Text(zh="中位数", en="median"), "blue", "triangle"),
                    Series(
                        measures[1],
                        measures[2],
                        Text(zh="现在", en="now"),
                        "grey",
                        "circle",
                    ),
                    Series(curves[1], LOG_SCALES, Text(zh="这张图", en="this map"), "grey", "diamond"),
                ],
            ),
        ],
        sentence=Sentence(
            Text(
                zh="平均每个查询相当于均匀关注 {effective} 个位置；最大的权重是 {largest}。{verdict}",
                en="On average a query attends as if evenly to {effective} positions; the largest weight is {largest}. {verdict}",
            ),
            effective=Fixed(measures[3], 1),
            largest=Fixed(measures[4], 2),
            verdict=Choice(
                measures[5],
                [
                    Text(zh="分数一动，权重就跟着动。", en="Weights follow their scores."),
                    Text(zh="权重集中起来，不大跟着分数动了。", en="Concentrated weights follow less."),
                    Text(
                        zh="权重几乎不理会分数，几乎没有梯度传回去。",
                        en="Scores hardly matter: almost no gradient.",
                    ),
                ],
            ),
        ),
        detail=Sentence(
            Text(
                zh="softmax 的灵敏度平均是 {sensitivity}；权重均分时是 {most}，全给一个位置时是 0。",
                en="The softmax's mean sensitivity is {sensitivity}; even weights would make it {most}, a single weight of 1 would make it 0.",
            ),
            sensitivity=Fixed(measures[6], 2),
            most=Fixed(measures[7], 2),
        ),
        cache=figure_cache(__name__),
        within=one_thread,
    )
