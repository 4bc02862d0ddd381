"""Figure influence: a decaying triangle, a band, a full square: recurrence, convolution and attention by one measure.

Three matrices I_ij = ‖∂y_i/∂x_j‖_F of three stacks of random layers on the same inputs, by autodiff, with the shortest
path from input j to output i, by search in the dependency graph. Below them the mean influence against the distance
i − j, and the token diversity after every layer.
"""

import math
from collections.abc import Callable
from functools import cache, partial, wraps

import torch
from torch import Tensor
from torch.nn import Module

from explorable import Axis, Choice, Companion, Control, Explorable, Heatmap, Lines, Sentence, Series, Text
from explorable.numbers import power_text
from why_attention import dependency_graph
from why_attention.attention import MultiHeadAttention
from why_attention.convolution import Convolution
from why_attention.dependency_graph import DependencyGraph, path_lengths
from why_attention.figure_cache import figure_cache
from why_attention.influence import influence_matrix, token_diversity
from why_attention.masks import causal_mask
from why_attention.one_thread import one_thread
from why_attention.receptive_field import depth_needed
from why_attention.rnn import RNNCell, unroll
from why_attention.stack import hidden_states

SIZE = 16  # d
LENGTHS, KERNELS, DEPTHS = [8, 16, 32, 48], [3, 5, 7, 9], [1, 2, 4, 8]  # centred kernels are odd
GAINS = [0.5, 0.8, 1.0, 1.5]
FLOOR = 1e-16  # lower diversity is rounding in float64
ALIKE = 0.01  # tokens of lower diversity are nearly equal

Layers = list[Callable[[Tensor], Tensor]]


@cache
def inputs() -> Tensor:
    """Return the tokens of the longest sequence, (48, d), from N(0, 1); a shorter one is its start."""
    return torch.randn(LENGTHS[-1], SIZE, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def random_layer(kind: type[Module], number: int, *sizes, **draw) -> Module:
    """Return layer ``number`` with its random weights, always the same."""
    layer = kind(SIZE, *sizes, dtype=torch.float64)
    layer.reset_parameters(generator=torch.Generator().manual_seed(1 + number), **draw)  # 0 drew the inputs
    return layer


def recurrences(gain: float) -> Layers:
    return [partial(unroll, random_layer(RNNCell, number, SIZE, gain=gain)) for number in range(DEPTHS[-1])]


def convolutions(k: int, growth: int, mode: str) -> Layers:
    return [random_layer(Convolution, number, k, growth**number, mode == "causal") for number in range(DEPTHS[-1])]


def attentions(mode: str) -> Layers:
    return [partial(attend, random_layer(MultiHeadAttention, number, 1), mode) for number in range(DEPTHS[-1])]


def attend(layer: MultiHeadAttention, mode: str, x: Tensor) -> Tensor:
    mask = causal_mask(len(x), len(x)) if mode == "causal" else None
    return layer(x, mask=mask, need_weights=True)[0]  # with weights: the fused kernels have no batched backward


@cache
def influence(layers: Callable[..., Layers], n: int, depth: int, residual: bool, *setting) -> Tensor:
    """Return the influence matrix of the lowest layers of a stack: (n, n)."""
    stack = layers(*setting)[:depth]
    return influence_matrix(lambda x: hidden_states(stack, x, residual)[-1], inputs()[:n])


def recurrence_influence(gain: float, depth: int, residual: bool, n: int) -> Tensor:
    # causal: the matrix of a shorter sequence is a part of the longest one's
    return influence(recurrences, LENGTHS[-1], depth, residual, gain)[:n, :n]


def convolution_influence(k: int, depth: int, growth: int, mode: str, residual: bool, n: int) -> Tensor:
    length = LENGTHS[-1] if mode == "causal" else n
    return influence(convolutions, length, depth, residual, k, growth, mode)[:n, :n]


def attention_influence(depth: int, mode: str, residual: bool, n: int) -> Tensor:
    length = LENGTHS[-1] if mode == "causal" else n
    return influence(attentions, length, depth, residual, mode)[:n, :n]


@cache
def paths(graph: Callable[..., DependencyGraph], n: int, **setting) -> Tensor:
    """Return the length of the shortest path from input j to output i, −∞ without a path: (n, n)."""
    layered = graph(n, **setting)
    lengths = [path_lengths(layered, (0, j))[-n:] for j in range(1, n + 1)]  # the outputs are the last n nodes
    return torch.tensor([[-math.inf if length is None else length for length in row] for row in lengths]).T


def recurrence_paths(depth: int, n: int) -> Tensor:
    return paths(dependency_graph.recurrence, n, layers=depth)


def convolution_paths(k: int, depth: int, growth: int, mode: str, n: int) -> Tensor:
    return paths(dependency_graph.convolution, n, k=k, layers=depth, growth=growth, causal=mode == "causal")


def attention_paths(depth: int, mode: str, n: int) -> Tensor:
    return paths(dependency_graph.attention, n, layers=depth, causal=mode == "causal")


def profile(matrix: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Return a function of the same controls: log10 of the mean influence at distances i − j = 0 … n−1, (n,)."""

    @wraps(matrix)  # keeps the names of the controls
    def mean(n: int, **setting) -> Tensor:
        M = matrix(**setting, n=n)
        return torch.stack([M.diagonal(-distance).mean() for distance in range(n)]).log10()

    return mean


def log10_of(matrix: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Return a function of the same controls: log10 of the matrix, −∞ without a path."""
    return wraps(matrix)(lambda **setting: matrix(**setting).log10())


@cache
@torch.no_grad()
def diversity(layers: Callable[..., Layers], n: int, residual: bool, *setting) -> Tensor:
    """Return log10 of the token diversity of the inputs and after every layer, (9,), at least FLOOR."""
    return token_diversity(hidden_states(layers(*setting), inputs()[:n], residual)).clamp_min(FLOOR).log10()


def remaining_diversity(n: int, depth: int, mode: str, residual: bool) -> float:
    """Return log10 of the token diversity after ``depth`` layers of attention."""
    return diversity(attentions, n, residual, mode)[depth].item()


def far(matrix: Callable[..., Tensor], write: Callable[[float], str | int]) -> Callable[..., str | int]:
    """Return a slot of the sentence: the entry of the last output and the first input, as text."""
    return wraps(matrix)(lambda **setting: write(matrix(**setting)[-1, 0].item()))


def influence_text(influence: float) -> str:
    return power_text(math.log10(influence) if influence else -math.inf)


def edges_text(length: float) -> str:
    return "" if length == -math.inf else f"{length:.0f}"


SCALE = Axis(Text(zh="影响", en="influence"), (-6, 1), symbol="‖∂y_i/∂x_j‖", log10=True, resolution=0.125)


def heatmap(matrix: Callable[..., Tensor], path: Callable[..., Tensor], title: Text, color: str, mark: str) -> Heatmap:
    return Heatmap(
        log10_of(matrix),
        title=title,
        rows=Text(zh="输出 i", en="output i"),
        columns=Text(zh="输入 j", en="input j"),
        scale=SCALE,
        companion=Companion(path, Text(zh="路径长度", en="path length")),
        color=color,
        mark=mark,
    )


RECURRENCE = Text(zh="循环", en="recurrence")
CONVOLUTION = Text(zh="卷积", en="convolution")
ATTENTION = Text(zh="注意力", en="attention")


def figure() -> Explorable:
    """Return the figure in the page's language."""
    return Explorable(
        "influence",
        title=Text(zh="同一把尺子：谁能影响谁，影响多大", en="One measure: who influences whom, and how much"),
        caption=Text(
            zh="每格是输入 xⱼ 对输出 yᵢ 的影响；斜纹处没有通路。多样性：各 token 偏离均值的比例。",
            en="Each cell: the influence of input xⱼ on output yᵢ; hatched where no path leads. Diversity: how far tokens are from their mean.",
        ),
        how_to_read=Text(
            zh="第 i 行第 j 列的颜色是输入 xⱼ 对输出 yᵢ 的影响，也就是雅可比矩阵 ∂yᵢ/∂xⱼ 的 Frobenius 范数；三个方阵用同一批输入、同一个对数色标，"
            "斜纹处恰好为 0，没有通路。指向一格，可以同时读到三种网络在这里的影响和路径长度。"
            "平均影响是方阵沿对角线方向的平均：距离 i−j 步，影响还有多大，线断了就是 0。"
            "token 的多样性是每一层之后各 token 偏离均值的程度 ‖Y − 1ȳᵀ‖/‖Y‖：全都一样是 0，均值为 0 时是 1。",
            en="The colour in row i, column j is the influence of input xⱼ on output yᵢ, the Frobenius norm of the Jacobian "
            "∂yᵢ/∂xⱼ. The three matrices share their inputs and one logarithmic colour scale; hatching is an exact 0, where no "
            "path leads. Point at a cell to read influence and path length in all three. Mean influence is the mean along the "
            "diagonals: how much is left i−j steps back; where a line breaks off, it is 0. Token diversity is how far the tokens "
            "are from their mean after each layer, ‖Y − 1ȳᵀ‖/‖Y‖: 0 if all are the same, 1 if their mean is 0.",
        ),
        limits=Text(
            zh="权重都是随机的，没有训练过，特征维度 d = 16，只有一批输入：训练会改变每一格的颜色，改变不了斜纹。影响是一阶导数，说的是输入动一点点时输出动多少。",
            en="Weights are random, not trained, d = 16, and there is one set of inputs: training changes every colour but no "
            "hatching. Influence is a first derivative: how much an output moves when an input moves a little.",
        ),
        controls=[
            Control("n", LENGTHS, label=Text(zh="序列长度", en="sequence length"), symbol="n", start=32),
            Control("k", KERNELS, label=Text(zh="卷积核大小", en="kernel size"), symbol="k"),
            Control("depth", DEPTHS, label=Text(zh="层数", en="layers"), symbol="L"),
            Control(
                "gain",
                GAINS,
                label=Text(zh="循环的增益", en="gain of the recurrence"),
                symbol="g",
                start=1.0,
                advanced=True,
            ),
            Control(
                "growth",
                {
                    1: Text(zh="不膨胀，dₗ = 1", en="none, dₗ = 1"),
                    2: Text(zh="每层翻倍，dₗ = 1, 2, 4 …", en="doubles each layer, dₗ = 1, 2, 4 …"),
                },
                label=Text(zh="卷积的膨胀", en="Dilation of the convolution"),
                advanced=True,
            ),
            Control(
                "mode",
                {
                    "both": Text(zh="前后都看", en="to both sides"),
                    "causal": Text(zh="只看前面", en="causal (past only)"),
                },
                label=Text(zh="卷积和注意力看哪边", en="Convolution and attention look"),
                advanced=True,
            ),
            Control(
                "residual",
                [False, True],
                label=Text(zh="每层加残差和层归一化", en="residual and normalisation in every layer"),
                advanced=True,
            ),
        ],
        panels=[
            heatmap(recurrence_influence, recurrence_paths, RECURRENCE, "vermilion", "circle"),
            heatmap(convolution_influence, convolution_paths, CONVOLUTION, "green", "square"),
            heatmap(attention_influence, attention_paths, ATTENTION, "blue", "triangle"),
            Lines(
                title=Text(zh="影响随距离的变化", en="Influence against distance"),
                x=Axis(Text(zh="回溯距离", en="distance back"), lambda n: (-0.02 * n, n), symbol="i−j"),
                y=Axis(
                    Text(zh="平均影响", en="mean influence"), (-8, 1.5), "‖∂y_i/∂x_j‖", log10=True, resolution=0.005
                ),
                series=[
                    Series(profile(recurrence_influence), lambda n: range(n), RECURRENCE, "vermilion", "circle"),
                    Series(profile(convolution_influence), lambda n: range(n), CONVOLUTION, "green", "square"),
                    Series(profile(attention_influence), lambda n: range(n), ATTENTION, "blue", "triangle"),
                ],
                narrow=True,
            ),
            Lines(
                title=Text(zh="token 的多样性随层数的变化", en="Token diversity against depth"),
                x=Axis(Text(zh="层数", en="layers"), (-0.3, DEPTHS[-1] + 0.3), symbol="L"),
                y=Axis(
                    Text(zh="多样性：偏离均值的比例", en="token diversity"),
                    (-16.5, 0.8),
                    log10=True,
                    resolution=0.005,
                ),
                series=[
                    Series(
                        lambda n, gain, residual: diversity(recurrences, n, residual, gain),
                        range(DEPTHS[-1] + 1),
                        RECURRENCE,
                        "vermilion",
                        "circle",
                    ),
                    Series(
                        lambda n, k, growth, mode, residual: diversity(convolutions, n, residual, k, growth, mode),
                        range(DEPTHS[-1] + 1),
                        CONVOLUTION,
                        "green",
                        "square",
                    ),
                    Series(
                        lambda n, mode, residual: diversity(attentions, n, residual, mode),
                        range(DEPTHS[-1] + 1),
                        ATTENTION,
                        "blue",
                        "triangle",
                    ),
                    Series(
                        lambda n, depth, mode, residual: [remaining_diversity(n, depth, mode, residual)],
                        lambda depth: [depth],
                        Text(zh="现在", en="now"),
                        "grey",
                        "circle",
                    ),
                ],
                narrow=True,
            ),
        ],
        rows=[3, 2],
        sentence=Sentence(
            Text(
                zh="最远的一对，第 1 个输入对第 {n} 个输出的影响：循环 {r}，卷积 {c}，注意力 {a}。",
                en="The farthest pair, input 1 on output {n}: influence {r} by recurrence, {c} by convolution, {a} by attention.",
            ),
            r=far(recurrence_influence, influence_text),
            c=far(convolution_influence, influence_text),
            a=far(attention_influence, influence_text),
        ),
        detail=Sentence(
            Text(
                zh="这一对之间，循环的路径长度是 {r_path}，注意力是 {a_path}，卷积{reach}{c_path}；卷积要够到那里，至少得叠 {layers} 层。"
                "叠了 {depth} 层，注意力的输出还剩 {diversity} 的多样性{verdict}",
                en="Between the two, recurrence has a path of {r_path}, attention a path of {a_path}, convolution {reach}{c_path}; to get "
                "there, convolution needs at least {layers} layers. At depth L = {depth} the outputs of attention have a diversity of "
                "{diversity}{verdict}",
            ),
            r_path=far(recurrence_paths, edges_text),
            reach=Choice(
                far(convolution_paths, lambda length: int(length > -math.inf)),
                [Text(zh="没有通路", en="none"), Text(zh="是 ", en="a path of ")],
            ),
            c_path=far(convolution_paths, edges_text),
            layers=lambda n, k, growth, mode: str(depth_needed(n - 1, k, mode == "causal", growth)),
            a_path=far(attention_paths, edges_text),
            diversity=lambda n, depth, mode, residual: power_text(remaining_diversity(n, depth, mode, residual)),
            verdict=Choice(
                lambda n, depth, mode, residual: int(remaining_diversity(n, depth, mode, residual) < math.log10(ALIKE)),
                [
                    Text(zh="。", en="."),
                    Text(
                        zh="：它们几乎一模一样了，方阵上却不容易看出来。",
                        en=": they are nearly all the same, which is hard to see in the matrix.",
                    ),
                ],
            ),
        ),
        cache=figure_cache(__name__),
        within=one_thread,
    )
