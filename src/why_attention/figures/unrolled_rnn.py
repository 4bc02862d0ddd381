"""Figure unrolled-rnn: one recurrent cell used at every step; a state waits for all before it, and its gradient passes all.

The norms are those of the products of Jacobians ∂h_t/∂h_s along one trajectory of the chapter's RNN cell.
"""

from functools import cache

import torch

from explorable import Control, Diagram, Edge, Explorable, Node, Sentence, Text
from explorable.numbers import power_text
from why_attention.figure_cache import figure_cache
from why_attention.one_thread import one_thread
from why_attention.rnn import RNNCell, gradient_decay

WORDS = list(zip("咬 了 人 的 狗 跑 了".split(), "the dog that bit him ran away".split()))
STEPS, SIZE, SEEDS = len(WORDS), 64, 3  # T; H = d; draws of weights and inputs
DIGITS = 2  # of a norm
INPUT, STATE, GRADIENT, HEAD = 0, 1, 1.95, 2.36  # rows


@cache
def norms(seed: int) -> list[list[float]]:
    """Return log10 ‖∂h_t/∂h_s‖₂ for t = 1 … T and s = t … 1: the chapter's cell at gain 1, with noise as its input."""
    generator = torch.Generator().manual_seed(seed)
    cell = RNNCell(SIZE, SIZE)
    cell.reset_parameters(1.0, generator)
    x = torch.randn(STEPS, SIZE, generator=generator)
    return [gradient_decay(cell, x[:t], list(range(t))).tolist() for t in range(1, STEPS + 1)]


def norm(t: int, s: int, seed: int = 0) -> float:
    """Return log10 ‖∂h_t/∂h_s‖₂."""
    return norms(seed)[t - 1][t - s]


def lit(t: int) -> dict:
    """Return what is lit: the way from the first input to h_t, and the gradient on its way back, as strong as it is."""
    strengths: dict = {f"g {s}": None for s in range(t + 1, STEPS + 1)}
    strengths |= {(f"g {s + 1}", f"g {s}"): None for s in range(t, STEPS)}
    strengths |= {(f"h {s}", f"g {s}"): 1 if s == t else None for s in range(1, STEPS + 1)}
    for s in range(1, t + 1):
        strengths |= {f"x {s}": 1, f"h {s}": 1, (f"x {s}", f"h {s}"): 1}
        strengths[f"g {s}"] = min(1, 10 ** norm(t, s))
        if s < t:
            strengths |= {(f"h {s}", f"h {s + 1}"): 1, (f"g {s + 1}", f"g {s}"): min(1, 10 ** norm(t, s))}
    return strengths


def written(t: int) -> dict:
    return {f"g {s}": power_text(norm(t, s), DIGITS) for s in range(1, t + 1)}


def nodes() -> list[Node]:
    size = Text(zh="梯度的大小", en="size of the gradient")
    made = [Node("head", 0.6, HEAD, symbol="‖∂h_t/∂h_{t−l}‖_2", label=size, shape="text", align="start")]
    for s, (zh, en) in enumerate(WORDS, 1):
        made += [
            Node(f"x {s}", s, INPUT, symbol=f"x_{s}", label=Text(zh=zh, en=en), color="vermilion", size=(0.8, 0.46)),
            Node(f"h {s}", s, STATE, symbol=f"h_{s}", color="vermilion", size=(0.64, 0.36)),
            Node(f"g {s}", s, GRADIENT, color="vermilion", size=(0.8, 0.32)),
        ]
    return made


def edges() -> list[Edge]:
    made = []
    for s in range(1, STEPS + 1):
        made += [Edge(f"x {s}", f"h {s}"), Edge(f"h {s}", f"g {s}", dashed=True)]
        if s < STEPS:
            made += [Edge(f"h {s}", f"h {s + 1}"), Edge(f"g {s + 1}", f"g {s}", dashed=True)]
    return made


def figure() -> Explorable:
    """Return the figure in the page's language."""
    return Explorable(
        "unrolled-rnn",
        title=Text(zh="把循环网络沿时间展开", en="A recurrent network, unrolled in time"),
        caption=Text(
            zh="下：算出 hₜ 要经过的路。上：梯度反向传播的路，框里是它的大小。",
            en="Below: the way to the state hₜ. Above: its gradient’s way back, with its size in the boxes.",
        ),
        how_to_read=Text(
            zh="每一列是一步，用的是同一组权重：下面是输入 x，中间是隐状态 h。选一步 t：亮的是算 hₜ 之前必须先算完的。"
            "上面一行从 hₜ 反向传播，方框里是 ∂hₜ/∂hₜ₋ₗ 的谱范数，也就是一串雅可比矩阵乘积的大小，越小越淡；"
            "谱范数取放大最多的那个方向，所以头几步可以大于 1。",
            en="Each column is a step, and all use the same weights: the input x below, the hidden state h in the middle. Choose "
            "a step t: what is lit has to be computed before hₜ. The upper row goes back from hₜ; in the boxes stands the "
            "spectral norm of ∂hₜ/∂hₜ₋ₗ, a product of Jacobian matrices; the smaller, the fainter. It is that of the "
            "direction stretched most, and so may exceed 1 over the first steps.",
        ),
        limits=Text(
            zh="词的向量和权重都是随机的，没有训练过；别的增益、别的单元会怎样，看后面的图“梯度沿时间反向传播”。",
            en="The vectors of the words and the weights are random and untrained; what other gains and other cells do, the "
            "figure of the gradient on its way back through time shows.",
        ),
        controls=[
            Control(
                "t",
                list(range(1, STEPS + 1)),
                label=Text(zh="时间步", en="step"),
                symbol="t",
                start=5,
                continuous=False,
            )
        ],
        panels=[
            Diagram(
                nodes(),
                edges(),
                title=Text(zh="展开的循环网络", en="The unrolled network"),
                lit=lit,
                written=written,
            )
        ],
        sentence=Sentence(
            Text(
                zh="t = {t} 的状态要到第 {t} 轮才算得出；它的梯度回到 h₁ 时，大小是 {left}。",
                en="The state at t = {t} is ready in round {t}, no earlier; its gradient gets back to h₁ with a norm of {left}.",
            ),
            left=lambda t: power_text(norm(t, 1), DIGITS),
        ),
        detail=Sentence(
            Text(
                zh="H = {size}，三个随机种子里，∂hₜ/∂h₁ 的谱范数最小 {low}，最大 {high}；图中是第一个种子。",
                en="H = {size}; over three random seeds the spectral norm of ∂hₜ/∂h₁ lies between {low} and {high}; the first is "
                "drawn.",
            ),
            size=lambda: str(SIZE),
            low=lambda t: power_text(min(norm(t, 1, seed) for seed in range(SEEDS)), DIGITS),
            high=lambda t: power_text(max(norm(t, 1, seed) for seed in range(SEEDS)), DIGITS),
        ),
        cache=figure_cache(__name__),
        within=one_thread,
    )
