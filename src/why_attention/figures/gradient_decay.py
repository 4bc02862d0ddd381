"""Figure gradient-decay: how the gradient shrinks, holds or grows on its way back through a recurrent network.

Every line is log10 ‖∂s_T/∂s_{T−l}‖₂ along one trajectory of T = 1000 steps; the window shows a part of it. Three seeds
draw weights and inputs; their median is bold.
"""

from dataclasses import dataclass, field
from functools import cache

import torch

from explorable import Axis, Choice, Control, Explorable, Lines, Rule, Sentence, Series, Text
from explorable.grid import OnGrid
from explorable.numbers import power_text
from why_attention.device import pick_device
from why_attention.figure_cache import figure_cache
from why_attention.one_thread import one_thread
from why_attention.rnn import Cell, GRUCell, LSTMCell, RNNCell, decay_bound, ensemble, gradient_decay

STEPS, SIZE, SEEDS = 1000, 64, 3  # T; H = d; draws of weights and inputs
WINDOWS = {30: (-15, 10), 100: (-30, 15), 300: (-50, 40), 1000: (-50, 40)}  # steps: limits of log10 of the norm
# dense near step T, where the lines bend
LAGS = sorted({0, *WINDOWS} | {round(STEPS ** (i / 50)) for i in range(51)})
DIGITS = 2  # of a norm: the precision of a product of a thousand Jacobians in float32
GAINS, SCALES = [0.5, 0.6, 0.7, 0.8, 1.0, 1.2, 1.5, 2.0], [0.1, 0.3, 1.0]
FLOAT32 = (
    torch.tensor([2.0**-149, torch.finfo(torch.float32).max], dtype=torch.float64).log10().tolist()
)  # what it can hold


@dataclass(frozen=True)
class Row:
    """A cell of the figure: its class, its mark, its name in the menu and on its line, and the biases of its gates."""

    kind: type[Cell]
    mark: str
    label: str | Text
    biases: dict[str, float] = field(default_factory=dict)


CELLS = {
    "RNN": Row(RNNCell, "circle", Text(zh="普通 RNN", en="plain RNN")),
    "GRU": Row(GRUCell, "square", "GRU"),
    "LSTM": Row(LSTMCell, "triangle", Text(zh="LSTM，遗忘门偏置 0", en="LSTM, forget bias 0")),
    "LSTM, b=1": Row(
        LSTMCell, "diamond", Text(zh="LSTM，遗忘门偏置 1", en="LSTM, forget bias 1"), {"forget_bias": 1.0}
    ),
    "LSTM, b=5": Row(LSTMCell, "cross", Text(zh="LSTM，遗忘门偏置 5", en="LSTM, forget bias 5"), {"forget_bias": 5.0}),
    "LSTM, chrono": Row(LSTMCell, "wedge", Text(zh="LSTM，chrono", en="LSTM, chrono"), {"chrono": STEPS}),
}


def random_network(cell: str, gain: float, seed: int) -> tuple[torch.nn.Module, torch.Tensor]:
    """Return a cell and noise from N(0, 1) as its input: (T, d).

    One draw a seed: gain and scale only multiply it.
    """
    generator = torch.Generator().manual_seed(seed)
    network = CELLS[cell].kind(SIZE, SIZE)
    network.reset_parameters(gain, generator, **CELLS[cell].biases)
    return network, torch.randn(STEPS, SIZE, generator=generator)


def compute_decay(cell: str, gain: float, scale: float, lags: list[int] = LAGS) -> torch.Tensor:
    """Return log10 ‖∂s_T/∂s_{T−l}‖₂ for every seed and lag: (SEEDS, len(lags))."""
    networks, noise = zip(*(random_network(cell, gain, seed) for seed in range(SEEDS)))
    device = pick_device()
    x = scale * torch.stack(noise, dim=1).to(device)  # (T, SEEDS, d)
    return gradient_decay(ensemble(list(networks)).to(device), x, lags).T.cpu()


def compute_bound(cell: str, gain: float, scale: float) -> torch.Tensor:
    """Return log10 ∏‖J_t‖₂ of the first seed for every lag: (len(LAGS),)."""
    network, noise = random_network(cell, gain, seed=0)
    device = pick_device()
    return decay_bound(network.to(device), scale * noise.to(device), LAGS).cpu()


decays = OnGrid(compute_decay, cell=CELLS, gain=GAINS, scale=SCALES)
bounds = OnGrid(compute_bound, cell=CELLS, gain=GAINS, scale=SCALES)


def decay(cell: str):
    """Return the decay of one cell as a function of the other controls: (SEEDS, len(LAGS))."""
    return lambda gain, scale: decays(cell=cell, gain=gain, scale=scale)


@cache
def at_end(cell: str, gain: float, scale: float, window: int) -> torch.Tensor:
    """Return log10 of the norms at the window's last lag, in ascending order: (SEEDS,)."""
    if window in LAGS:
        return decays(cell=cell, gain=gain, scale=scale)[:, LAGS.index(window)].sort().values
    return compute_decay(cell, gain, scale, [window])[:, 0].sort().values


def median(cell: str, gain: float, scale: float, window: int) -> float:
    return at_end(cell, gain, scale, window)[SEEDS // 2].item()


def verdict(cell: str, gain: float, scale: float, window: int) -> int:
    """Return 0, 1 or 2: over the window the median shrinks more than tenfold, changes less, or grows more than tenfold."""
    decades = median(cell, gain, scale, window)
    return int(decades > -1) + int(decades > 1)


def figure() -> Explorable:
    """Return the figure in the page's language."""
    return Explorable(
        "gradient-decay",
        title=Text(zh="梯度沿时间反向传播", en="A gradient on its way back through time"),
        caption=Text(
            zh="彩色细线是三个种子，粗线是中位数；灰线是其他单元；箭头：线已出图。",
            en="Thin: three seeds; bold: their median; grey: the other cells; an arrow: the line leaves the plot.",
        ),
        how_to_read=Text(
            zh="读图：横轴是反向传播了多少步，纵轴是最后一步的状态对那么多步之前的状态的梯度有多大，每一格是好几个数量级。"
            "直线往下，就是每一步乘以同一个小于 1 的数。彩色细线是三个随机种子，粗线是它们的中位数，灰线是其他单元的中位数；"
            "箭头表示线已经走出图外。",
            en="How to read it: across, how many steps back; upwards, how large the gradient of the last state with respect "
            "to the state that many steps earlier is, each grid line many powers of ten from the next. A straight line "
            "down is the same factor below 1 at every step. The thin coloured lines are three random seeds and the bold one "
            "their median; grey lines are the medians of the other cells; an arrow says that a line has left the picture.",
        ),
        limits=Text(
            zh="网络没有训练过，输入是随机噪声；训练会改变权重，梯度也跟着变。谱范数说的是保住最多的那个方向，别的方向缩得更快。",
            en="The networks are untrained and their inputs noise; training changes the weights, and the gradient with them. "
            "The spectral norm is that of the direction of which most is left: others shrink faster.",
        ),
        controls=[
            Control("cell", {name: row.label for name, row in CELLS.items()}, label=Text(zh="循环单元", en="Cell")),
            Control(
                "gain",
                GAINS,
                label=Text(zh="循环权重的增益", en="gain of the recurrent weights"),
                symbol="g",
                start=1.0,
            ),
            Control(
                "window",
                list(WINDOWS),
                label=Text(zh="看多少步", en="steps shown"),
                start=1000,
                advanced=True,
            ),
            Control(
                "scale",
                SCALES,
                label=Text(zh="输入的尺度", en="scale of the inputs"),
                symbol="σ",
                start=1.0,
                advanced=True,
            ),
            Control(
                "bound",
                [False, True],
                label=Text(zh="画出上界 ∏‖J‖₂（第一个种子）", en="draw the bound ∏‖J‖₂ (first seed)"),
                advanced=True,
            ),
        ],
        panels=[
            Lines(
                title=Text(zh="梯度范数随步数的变化", en="Norm of the gradient against the number of steps"),
                x=Axis(
                    Text(zh="反向传播的步数", en="steps back"),
                    limits=lambda window: (0, window),
                    symbol="l",
                ),
                y=Axis(
                    Text(zh="梯度的谱范数", en="spectral norm of the gradient"),
                    limits=lambda window: WINDOWS[min(w for w in WINDOWS if w >= window)],
                    symbol="‖∂s_T/∂s_{T−l}‖_2",
                    log10=True,
                    resolution=0.005,
                ),
                series=[
                    Series(decay(cell), x=LAGS, label=row.label, mark=row.mark, focus=("cell", cell))
                    for cell, row in CELLS.items()
                ]
                + [
                    Series(
                        lambda cell, gain, scale: bounds(cell=cell, gain=gain, scale=scale),
                        x=LAGS,
                        label=Text(zh="上界", en="bound"),
                        color="blue",
                        dashed=True,
                        visible_if="bound",
                    )
                ],
                rules=[
                    Rule(0, Text(zh="不变", en="no change")),
                    Rule(FLOAT32[0], Text(zh="float32 的下限", en="float32 floor")),
                    Rule(FLOAT32[1], Text(zh="float32 的上限", en="float32 ceiling")),
                ],
            )
        ],
        sentence=Sentence(
            Text(
                zh="{cell}，增益 {gain}：反向传播 {window} 步，梯度范数是 {norm}，平均每步乘以 {factor}，{verdict}。",
                en="{cell}, gain {gain}: {window} steps back the gradient’s norm is {norm}, a factor of {factor} a step: "
                "{verdict}.",
            ),
            norm=lambda cell, gain, scale, window: power_text(median(cell, gain, scale, window), DIGITS),
            factor=lambda cell, gain, scale, window: f"{10 ** (median(cell, gain, scale, window) / window):.3f}",
            verdict=Choice(
                verdict,
                [
                    Text(zh="梯度消失", en="it vanishes"),
                    Text(zh="梯度保住", en="it holds"),
                    Text(zh="梯度增长", en="it grows"),
                ],
            ),
        ),
        detail=Sentence(
            Text(
                zh="输入尺度 {scale}，三个种子：最小 {low}，最大 {high}。"
                "剩下不到十分之一叫消失，变化不到十倍叫保住，大到十倍以上叫增长。",
                en="Input scale {scale}, three seeds: from {low} to {high}. "
                "A gradient vanishes if less than a tenth is left, holds if it changes less than tenfold, and grows if more.",
            ),
            low=lambda cell, gain, scale, window: power_text(at_end(cell, gain, scale, window)[0].item(), DIGITS),
            high=lambda cell, gain, scale, window: power_text(at_end(cell, gain, scale, window)[-1].item(), DIGITS),
        ),
        cache=figure_cache(__name__),
        within=one_thread,
        slow=[decays, bounds],
    )
