"""Figure effective-field: an output reads its whole receptive field, but the effective width grows like √L with L layers.

The influence of input j on the middle output i is |∂y_i/∂x_j|, by autodiff, through a stack of centred convolutions
with uniform kernels 1/k, and the Frobenius norm of the Jacobian through stacks of random kernels.
"""

import math
from functools import cache

import torch
from torch import Tensor, nn

from explorable import Axis, Control, Explorable, Lines, Sentence, Series, Span, Text
from why_attention.convolution import ConvolutionStack
from why_attention.device import pick_device
from why_attention.figure_cache import figure_cache
from why_attention.one_thread import one_thread
from why_attention.receptive_field import (
    Layer,
    deviation,
    effective_field,
    positions_holding,
    span,
    uniform_deviation,
)

KERNELS, DEPTHS = [3, 5, 7], [1, 2, 3, 5, 8, 12, 20, 30, 50]  # centred kernels are odd
SIZE, SEEDS = 16, 3  # d of the random stacks; draws of their weights
PART = 0.9  # of the influence, held by the positions in the sentence


def profile(stack: ConvolutionStack) -> Tensor:
    """Return the share of each input in the influence on the middle output, in %: (R,)."""
    R = span([Layer(layer.k, layer.dilation) for layer in stack.layers])
    device = pick_device()
    x = torch.zeros(R, stack.layers[0].d, dtype=torch.float64, device=device)  # any x: the stack is linear
    influence = effective_field(stack.to(device), x, R // 2).cpu()
    return 100 * influence / influence.sum()


def stack(d: int, k: int, depth: int) -> ConvolutionStack:
    return ConvolutionStack(d, k, [1] * depth, causal=False, dtype=torch.float64)


@cache
def uniform_profile(k: int, depth: int) -> Tensor:
    """Return the profile of uniform kernels, d = 1: (R,)."""
    averages = stack(1, k, depth)
    for layer in averages.layers:
        nn.init.constant_(layer.W, 1 / k)
    return profile(averages)


@cache
def random_profiles(k: int, depth: int) -> Tensor:
    """Return the profiles of random kernels: (SEEDS, R). Stacks of one seed share their lowest layers."""
    profiles = []
    for seed in range(SEEDS):
        random = stack(SIZE, k, depth)
        random.reset_parameters(torch.Generator().manual_seed(seed))
        profiles.append(profile(random))
    return torch.stack(profiles)


def offsets(k: int, depth: int) -> Tensor:
    """Return the positions of the inputs, counted from the output's own: (R,)."""
    R = len(uniform_profile(k, depth))
    return torch.arange(R) - R // 2


def edge(k: int, depth: int) -> int:
    """Return the position of the last input read: half of the span."""
    return offsets(k, depth)[-1].item()


def deviations(k: int, depth: int) -> list[float]:
    """Return the standard deviations of the random profiles, in ascending order."""
    return sorted(map(deviation, random_profiles(k, depth)))


def now(k: int, depth: int) -> list[float]:
    """Return the heights of a line from the uniform deviation at a depth to the radius."""
    return [deviation(uniform_profile(k, depth)), edge(k, depth)]


def read(k: int, depth: int) -> int:
    """Return how many inputs the output reads."""
    return len(uniform_profile(k, depth))


def holding(k: int, depth: int) -> int:
    """Return how many positions hold PART of the influence, under uniform kernels."""
    return positions_holding(PART, uniform_profile(k, depth))


def around(count):
    """Return the ends of so many positions around the output, each 1 wide, as a function of the controls."""
    return lambda k, depth: (-count(k, depth) / 2, count(k, depth) / 2)


def figure() -> Explorable:
    """Return the figure in the page's language."""
    log_depths = [math.log10(depth) for depth in DEPTHS]
    return Explorable(
        "effective-field",
        title=Text(zh="读得到，不等于有影响", en="What is read may have little influence"),
        caption=Text(
            zh="均匀：每个权重都是 1/k；随机：权重随机，均值为 0；公式：σ = √(L(k²−1)/12)，σ 是影响的标准差。",
            en="Uniform: every weight is 1/k. Random: random weights of mean 0. Law: σ = √(L(k²−1)/12), the standard deviation of the influence.",
        ),
        how_to_read=Text(
            zh="一幅画影响的分布：横轴是输入离输出多远，纵轴是它占全部影响的百分之几；灰线的高度是所有输入影响都一样时各自的份额。"
            "两个括号说明读到多少个输入，以及均匀核下其中多少个就占九成影响。另一幅画宽度，两轴都是对数刻度：半径每层增加一样多，标准差只按层数的平方根增长，当前相差多少，看竖线。"
            "随机核的权重有正有负，服从同一条公式的是影响的平方，所以层数多时约为 √2 倍宽（细线是三个随机种子，粗线是中位数）。",
            en="One plot shows, across, how far an input lies from the output, and upwards its share of all influence; the grey line "
            "is as high as every share would be if all inputs counted alike. The brackets say how many inputs are read, and how "
            "many of them hold 90 % of the influence with uniform kernels. The other shows widths, on two logarithmic axes: the radius "
            "grows by the same amount with every layer, the standard deviation as the square root of their number; the vertical "
            "line is the current gap between them. The weights of random kernels have both signs, so it is the square of the "
            "influence that follows the law, and deep stacks are about √2 times as wide (thin lines are three random seeds, "
            "the bold one their median).",
        ),
        limits=Text(
            zh="这里的卷积都没有训练过，也没有激活函数；训练、残差和膨胀都能让有影响的那一段变宽，但它总在读到的范围之内。",
            en="These convolutions are not trained and have no activation function; training, residuals and dilation can widen the "
            "part that matters, though never beyond what is read.",
        ),
        controls=[
            Control("k", KERNELS, label=Text(zh="卷积核大小", en="kernel size"), symbol="k"),
            Control("depth", DEPTHS, label=Text(zh="层数", en="layers"), symbol="L", start=20),
        ],
        panels=[
            Lines(
                title=Text(zh="各个输入的影响", en="Influence of each input"),
                x=Axis(
                    Text(zh="相对输出的位置", en="position from the output"),
                    limits=lambda k, depth: (-1.1 * edge(k, depth) - 0.6, 1.1 * edge(k, depth) + 0.6),
                    symbol="j−i",
                ),
                y=Axis(
                    Text(zh="占全部影响", en="share of the influence"),
                    limits=lambda k, depth: (
                        0,
                        1.42 * uniform_profile(k, depth).max().item(),
                    ),  # with room for the brackets
                    symbol="|∂y_i/∂x_j|",
                    unit="%",
                    resolution=0.00005,
                ),
                series=[
                    Series(
                        lambda k, depth: [100 / len(uniform_profile(k, depth))] * 2,
                        lambda k, depth: [-edge(k, depth), edge(k, depth)],
                        Text(zh="都一样", en="all alike"),
                        "grey",
                        "cross",
                        dashed=True,
                    ),
                    Series(random_profiles, offsets, Text(zh="随机", en="random"), "green", "diamond"),
                    Series(uniform_profile, offsets, Text(zh="均匀", en="uniform"), "green", "square"),
                ],
                spans=[
                    Span(around(read), Text(zh="读到的输入：", en="inputs read: "), read),
                    Span(
                        around(holding),
                        Text(zh="占九成影响（均匀核）：", en="90 % of influence (uniform): "),
                        holding,
                        "green",
                        tinted=True,
                    ),
                ],
            ),
            Lines(
                title=Text(zh="宽度随层数的变化", en="Width against the number of layers"),
                x=Axis(Text(zh="层数", en="layers"), (-0.05, 1.75), symbol="L", log10=True, resolution=1e-6),
                y=Axis(
                    Text(zh="宽度", en="width"),
                    (-0.3, 2.3),
                    unit=Text(zh="个位置", en="positions"),
                    log10=True,
                    resolution=0.0005,
                ),
                series=[
                    Series(
                        lambda k: [math.log10(edge(k, depth)) for depth in DEPTHS],
                        log_depths,
                        Text(zh="半径", en="radius"),
                        "grey",
                        "cross",
                        dashed=True,
                    ),
                    Series(
                        lambda k: torch.tensor([deviations(k, depth) for depth in DEPTHS]).T.log10(),
                        log_depths,
                        Text(zh="随机 σ", en="random σ"),
                        "green",
                        "diamond",
                    ),
                    Series(
                        lambda k: [math.log10(deviation(uniform_profile(k, depth))) for depth in DEPTHS],
                        log_depths,
                        Text(zh="均匀 σ", en="uniform σ"),
                        "green",
                        "square",
                    ),
                    Series(
                        lambda k: [math.log10(uniform_deviation(k, depth)) for depth in DEPTHS],
                        log_depths,
                        Text(zh="公式 √L", en="√L law"),
                        "grey",
                        "circle",
                        dashed=True,
                    ),
                    Series(
                        lambda k, depth: [math.log10(width) for width in now(k, depth)],
                        lambda depth: 2 * [math.log10(depth)],
                        Text(zh="现在", en="now"),
                        "grey",
                        "wedge",
                    ),
                ],
            ),
        ],
        sentence=Sentence(
            Text(
                zh="一个输出读到 {span} 个输入；均匀核下，{positions} 个就占九成影响，标准差 {deviation} 个位置。",
                en="An output reads {span} inputs; with uniform kernels, {positions} of them hold 90 % of the influence (standard "
                "deviation {deviation}).",
            ),
            span=read,
            positions=holding,
            deviation=lambda k, depth: f"{deviation(uniform_profile(k, depth)):.2f}",
        ),
        detail=Sentence(
            Text(
                zh="均匀核：公式 √(L(k²−1)/12) 给出的标准差是 {law}。随机核：标准差 {drawn}，{drawn_positions} 个位置占九成影响（三个种子的中位数）。",
                en="Uniform kernels: the law √(L(k²−1)/12) gives a standard deviation of {law}. Random kernels: {drawn}, and "
                "{drawn_positions} positions hold 90 % of the influence (medians of three seeds).",
            ),
            law=lambda k, depth: f"{uniform_deviation(k, depth):.2f}",
            drawn=lambda k, depth: f"{deviations(k, depth)[SEEDS // 2]:.2f}",
            drawn_positions=lambda k, depth: sorted(positions_holding(PART, p) for p in random_profiles(k, depth))[
                SEEDS // 2
            ],
        ),
        cache=figure_cache(__name__),
        within=one_thread,
    )
