"""Figure receptive-field: a stack of convolutions reaches k − 1 steps further with each layer.

One panel shows which positions of each layer one output reads, by a search in the stack (``cone``); the other the reach
against the number of layers, up to a distance to cover.
"""

import math
from collections.abc import Iterable
from functools import cache

from explorable import Axis, Choice, Control, Explorable, Graph, Lines, Sentence, Series, Text
from why_attention.convolution import padding
from why_attention.figure_cache import figure_cache
from why_attention.one_thread import one_thread
from why_attention.receptive_field import Layer, cone, depth_needed, span, support

KERNELS, DISTANCES = [3, 5, 7], [10, 30, 100, 300, 1000]  # centred kernels are odd
GROWTHS = {  # of the dilation with each layer
    1: Text(zh="不膨胀", en="no dilation"),
    2: Text(zh="膨胀 ×2", en="dilation ×2"),
    4: Text(zh="膨胀 ×4", en="dilation ×4"),
}
WIDTH = 31  # positions drawn: the span of four layers of k = 3 with doubling dilation
REACHES = (-0.15, 4.0)  # limits of log10 of the reach
# all small depths, where lines bend, then twenty a decade
CURVE = sorted({*range(1, 20), 500} | {round(10 ** (i / 20)) for i in range(26, 61)})


def stack(k: int, depth: int, growth: int) -> list[Layer]:
    """Return the layers of a setting, the lowest first."""
    return [Layer(k, growth**i) for i in range(depth)]


def offsets(mode: str) -> range:
    """Return the positions drawn, relative to the output: only the past, or both sides."""
    return range(1 - WIDTH, 1) if mode == "causal" else range(-(WIDTH // 2), WIDTH // 2 + 1)


@cache
def graph(k: int, depth: int, growth: int, mode: str) -> tuple[list, list]:
    """Return the inputs drawn and all values that the output reads, as nodes (N, 3), and the edges (E, 3).

    A node is its offset, its layer, and 1, or 0 for an input that the output does not read.
    """
    layers, causal = stack(k, depth, growth), mode == "causal"
    rows = cone(layers, WIDTH, -offsets(mode)[0], causal).tolist()
    places = [(up, i) for up, row in enumerate(rows) for i, is_read in enumerate(row) if is_read or up == 0]
    number, edges = {place: number for number, place in enumerate(places)}, []
    for up, i in places[WIDTH:]:
        dilation_l = layers[up - 1].dilation
        before, _ = padding(k, dilation_l, causal)
        below = [(up - 1, i - before + m * dilation_l) for m in range(k)]
        edges += [(number[place], number[up, i], 0) for place in below if place in number]
    return [(offsets(mode)[i], up, int(rows[up][i])) for up, i in places], edges


def reach(k: int, depth: int, growth: int, mode: str) -> int:
    """Return how far back the output reads; a centred stack reads as far ahead."""
    return sum(padding(k, layer.dilation, mode == "causal")[0] for layer in stack(k, depth, growth))


def curve(growth: int):
    """Return log10 of the reach at the depths of CURVE, as a function of the other controls."""
    return lambda k, mode: log10_of(reach(k, depth, growth, mode) for depth in CURVE)


def log10_of(numbers: Iterable[int]) -> list[float]:
    return [math.log10(number) for number in numbers]


def needed_depth(k: int, distance: int, growth: int, mode: str) -> int:
    return depth_needed(distance, k, causal=mode == "causal", growth=growth)


def figure() -> Explorable:
    """Return the figure in the page's language."""
    return Explorable(
        "receptive-field",
        title=Text(zh="一层一层够得多远", en="How far each layer reaches"),
        caption=Text(
            zh="三角形：最上面的输出沿连线读到的值。曲线：多少层够得多远；“×2”：膨胀每层翻倍。",
            en="The cone: what the top output reads, along the edges. The lines: how far L layers reach; “×2”: dilation doubles with every layer.",
        ),
        how_to_read=Text(
            zh="三角形里，实心的是最上面那个输出读到的值，连线是它读的路径，空心的输入它读不到；指向一个值，它读到的那一部分就亮起来。"
            f"只画离输出最近的 {WIDTH} 个位置。曲线图两轴都是对数刻度：线说明多少层够得多远，粗的是当前的膨胀方式；"
            "绿圈是当前的层数，虚线是目标距离，灰圈是够到它所需的层数。",
            en="In the cone, filled marks are the values that the output at the top reads, along the edges; inputs that it "
            "cannot read are hollow. Point at a value, and what it reads lights up. "
            f"Only the {WIDTH} positions nearest to the output are drawn. The plot, on two logarithmic axes, shows how far a "
            "number of layers reach; the bold line has the chosen dilation. The green ring is the chosen depth, the dashed "
            "line the target distance, and the grey ring the depth needed to cover it.",
        ),
        limits=Text(
            zh="读得到不等于影响大：一层层叠起来，边缘的输入虽然读得到，影响却很小（见下一幅图）。",
            en="What is read may have little influence: in a deep stack the inputs at the edge are read but hardly matter (see the "
            "next figure).",
        ),
        controls=[
            Control("k", KERNELS, label=Text(zh="卷积核大小", en="kernel size"), symbol="k"),
            Control("depth", list(range(1, 11)), label=Text(zh="层数", en="layers"), symbol="L", start=4),
            Control(
                "distance",
                DISTANCES,
                label=Text(zh="目标距离", en="target distance"),
                symbol="|i−j|",
                start=1000,
            ),
            Control(
                "growth",
                {
                    1: Text(zh="不膨胀，dₗ = 1", en="none, dₗ = 1"),
                    2: Text(zh="每层翻倍，dₗ = 1, 2, 4 …", en="doubles each layer, dₗ = 1, 2, 4 …"),
                    4: Text(zh="每层乘 4，dₗ = 1, 4, 16 …", en="fourfold each layer, dₗ = 1, 4, 16 …"),
                },
                label=Text(zh="膨胀", en="Dilation"),
                advanced=True,
            ),
            Control(
                "mode",
                {
                    "causal": Text(zh="因果：只读过去", en="causal: the past only"),
                    "centred": Text(zh="居中：两边各一半", en="centred: half to either side"),
                },
                label=Text(zh="读哪一边", en="Reads"),
                advanced=True,
            ),
        ],
        panels=[
            Graph(
                lambda k, depth, growth, mode: graph(k, depth, growth, mode)[0],
                lambda k, depth, growth, mode: graph(k, depth, growth, mode)[1],
                title=Text(zh="输出读到的值", en="read by the output"),
                x=Axis(
                    Text(zh="相对输出的位置", en="position from the output"),
                    limits=lambda mode: (offsets(mode)[0] - 0.7, offsets(mode)[-1] + 0.7),
                    symbol="j−i",
                ),
                y=Axis(Text(zh="层", en="layer"), limits=lambda depth: (-0.4, depth + 0.4), symbol="l"),
                color="green",
                mark="square",
                lit=True,
                hollow=Text(zh="读不到的输入", en="not read"),
            ),
            Lines(
                title=Text(zh="够得多远", en="How far it reaches"),
                x=Axis(Text(zh="层数", en="layers"), (-0.05, 3.15), symbol="L", log10=True, resolution=1e-6),
                y=Axis(Text(zh="够得多远", en="steps reached"), REACHES, symbol="|i−j|", log10=True, resolution=1e-6),
                series=[
                    Series(curve(growth), log10_of(CURVE), label, "green", mark, focus=("growth", growth))
                    for (growth, label), mark in zip(GROWTHS.items(), ["square", "diamond", "wedge"])
                ]
                + [
                    Series(
                        lambda distance: 2 * [math.log10(distance)],
                        [math.log10(CURVE[0]), math.log10(CURVE[-1])],
                        Text(zh="目标距离", en="target distance"),
                        "grey",
                        "cross",
                        dashed=True,
                    ),
                    Series(
                        lambda distance: [math.log10(distance)],
                        lambda k, distance, growth, mode: [math.log10(needed_depth(k, distance, growth, mode))],
                        Text(zh="需要", en="needed"),
                        "grey",
                        "circle",
                    ),
                    Series(
                        lambda k, depth, growth, mode: [math.log10(reach(k, depth, growth, mode))],
                        lambda depth: [math.log10(depth)],
                        Text(zh="现在", en="now"),
                        "green",
                        "circle",
                    ),
                ],
            ),
        ],
        sentence=Sentence(
            Text(
                zh="k = {k} 的{kind}{dilations}：{depth} 层够到 {reach} 步，够到 {distance} 步要 {needed} 层。",
                en="A {kind} CNN with k = {k}{dilations}: {depth} layers reach {reach} steps; {distance} steps take {needed} layers.",
            ),
            kind=Choice(
                lambda mode: ["causal", "centred"].index(mode),
                [Text(zh="因果卷积", en="causal"), Text(zh="居中卷积", en="centred")],
            ),
            dilations=Choice(
                lambda growth: list(GROWTHS).index(growth),
                [
                    "",
                    Text(zh="，膨胀每层翻倍", en=" and doubling dilation"),
                    Text(zh="，膨胀每层乘 4", en=" and dilation growing fourfold"),
                ],
            ),
            reach=reach,
            needed=needed_depth,
        ),
        detail=Sentence(
            Text(
                zh="{depth} 层跨 {span} 个输入，读到其中 {count} 个。",
                en="At depth {depth} an output spans {span} inputs and reads {count} of them.",
            ),
            span=lambda k, depth, growth: span(stack(k, depth, growth)),
            count=lambda k, depth, growth: int(support(stack(k, depth, growth)).sum()),
        ),
        cache=figure_cache(__name__),
        within=one_thread,
    )
