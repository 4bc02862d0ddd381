"""Figure cost: who is cheaper depends on n against d.

One panel shows the formulae of cost.py: four quantities against n, at any d and k. The other shows measured times: on
the machine that built the figure, on a GPU if times are stored (``record``), and on the reader's machine (``time_here``).
"""

import json
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cache, partial, reduce
from operator import add
from pathlib import Path

import torch

from explorable import Axis, Choice, Control, Explorable, Lines, Sentence, Series, Text
from explorable.numbers import power_text
from why_attention.cost import Cost, attention, costs, crossovers, doubling
from why_attention.figure_cache import figure_cache
from why_attention.one_thread import one_thread
from why_attention.timing import LAYERS, LayerTimes, Machine, Timing, layer_times

LENGTHS, SIZES, KERNELS = [2**p for p in range(4, 14)], [64, 128, 256, 512, 1024], [3, 5, 7, 9]
HEAD_SIZE, WINDOW = 64, 129  # d_k; r, the positions that a query of restricted attention sees
TIMED_LENGTHS, TIMED_SIZE, TIMED_KERNEL = LENGTHS[:-1], 256, 3
GPU_TIMES = Path(__file__).with_name("gpu_times.json")

QUANTITIES = {
    "flops": Text(zh="运算量（FLOPs）", en="FLOPs"),
    "steps": Text(zh="顺序操作数", en="sequential steps"),
    "path": Text(zh="最长路径", en="longest path"),
    "memory": Text(zh="要存的数", en="numbers held"),
}
MARGIN = 0.2  # decades between the lines and the edges of the plot


@dataclass(frozen=True)
class Row:
    """A row of the table: its name in cost.py, and the look of its lines."""

    name: str
    label: Text
    color: str
    mark: str
    dashed: bool = False
    visible_if: str | None = None


ROWS = [
    Row("RNN", Text(zh="RNN", en="RNN"), "vermilion", "circle"),
    Row("LSTM", Text(zh="LSTM", en="LSTM"), "vermilion", "diamond", dashed=True),
    Row("convolution", Text(zh="卷积", en="convolution"), "green", "square"),
    Row("dilated convolution", Text(zh="膨胀卷积", en="dilated"), "green", "cross", dashed=True),
    Row("separable convolution", Text(zh="可分离", en="separable"), "green", "diamond", dashed=True),
    Row("attention", Text(zh="注意力", en="attention"), "blue", "triangle"),
    Row("attention core", Text(zh="核心部分", en="core"), "blue", "wedge", dashed=True),
    Row("GRU", Text(zh="GRU", en="GRU"), "vermilion", "cross", dashed=True, visible_if="every"),
    Row("restricted attention", Text(zh="窗口", en="restricted"), "blue", "diamond", dashed=True, visible_if="every"),
    Row("fused attention", Text(zh="融合", en="fused"), "blue", "cross", dashed=True, visible_if="every"),
]
SHORT = {"convolution": Text(zh="卷积", en="conv.")}  # beside the name of a machine
CHEAPEST = {  # of the rows visible at the start; ties go to the first
    "attention": Text(zh="注意力", en="attention takes"),
    "attention core": Text(zh="注意力的核心部分", en="the core takes"),
    "RNN": Text(zh="RNN", en="the RNN takes"),
    "LSTM": Text(zh="LSTM", en="the LSTM takes"),
    "convolution": Text(zh="卷积", en="the convolution takes"),
    "separable convolution": Text(zh="可分离卷积", en="the separable convolution takes"),
    "dilated convolution": Text(zh="膨胀卷积", en="the dilated convolution takes"),
}
ALIKE = Text(zh="循环以外的各层", en="all but the recurrent layers take")


# The formulae


@cache
def table(n: int, d: int, k: int) -> dict[str, Cost]:
    """Return the costs of every row; attention has heads of d_k = 64."""
    heads = max(1, d // HEAD_SIZE)
    return {**costs(n, d, k, heads, WINDOW), "fused attention": attention(n, d, heads, fused=True)}


def amount(name: str, quantity: str, n: int, d: int, k: int) -> int:
    return getattr(table(n, d, k)[name], quantity)


def line(name: str) -> Callable:
    """Return a function: log10 of one row's cost over all LENGTHS."""
    return lambda d, k, quantity: [math.log10(amount(name, quantity, n, d, k)) for n in LENGTHS]


def crossing(first: str, second: str, d: int, k: int) -> int | None:
    """Return the n, rounded, at which two rows take equally many FLOPs, or None."""
    n = crossovers(d, k)[first, second]
    return None if n is None else round(n)


def point(first: str, second: str, label: str, mark: str) -> Series:
    """Return the point on the first row's line where two rows take equally many FLOPs; n = 0 is outside the plot."""

    def height(d: int, k: int, quantity: str) -> list[float]:
        n = crossing(first, second, d, k)
        return [math.log10(amount(first, quantity, n, d, k)) if n else -math.inf]

    def place(d: int, k: int) -> list[float]:
        n = crossing(first, second, d, k)
        return [math.log10(n) if n else -math.inf]

    return Series(height, place, label, "grey", mark)


def limits(d: int, quantity: str) -> tuple[float, float]:
    """Return limits for all rows, n and k: the axis does not move with these."""
    ends = [
        getattr(cost, quantity) for n in (LENGTHS[0], LENGTHS[-1]) for k in KERNELS for cost in table(n, d, k).values()
    ]
    return math.log10(min(ends)) - MARGIN, math.log10(max(ends)) + MARGIN


def now(n: int, d: int, k: int, quantity: str) -> list[float]:
    """Return the heights of a line from the least to the largest cost of a row at n."""
    amounts = [amount(row.name, quantity, n, d, k) for row in ROWS]
    return [math.log10(min(amounts)), math.log10(max(amounts))]


def cheapest(n: int, d: int, k: int, quantity: str) -> int:
    """Return the index of the cheapest row among CHEAPEST, or the next index where most are equal."""
    if quantity == "steps":
        return len(CHEAPEST)
    amounts = [amount(name, quantity, n, d, k) for name in CHEAPEST]
    return amounts.index(min(amounts))


def amount_text(number: float) -> str:
    """Write a positive number as the read-outs do: 131072 as 1.31×10⁵."""
    return power_text(math.log10(number))


def ratio_text(a: int, b: int) -> str:
    """Write a/b in digits, or as 1/512 if a is much smaller."""
    return amount_text(a / b) if a > 0.01 * b else f"1/{b / a:.0f}"


# Measured times


def time_here(threads: int | None = None) -> LayerTimes:
    """Measure every layer on this machine in some seconds, on CUDA if there is one, else on all threads."""
    return layer_times(TIMED_LENGTHS, TIMED_SIZE, TIMED_SIZE // HEAD_SIZE, TIMED_KERNEL, threads=threads)


@cache
def built_here() -> LayerTimes:
    return time_here(threads=1)  # robust against other work on the machine


def record(path: Path = GPU_TIMES) -> None:
    """Measure on this machine's GPU and store the times.  Raises ValueError without a GPU.

    Run: python -c "from why_attention.figures import cost; cost.record()".
    """
    times = time_here()
    if times.machine.device.startswith("CPU"):
        raise ValueError(f"measured on {times.machine.device}: GPU times must come from a CUDA device")
    path.write_text(json.dumps(asdict(times), indent=1), encoding="utf-8")


def stored_gpu_times(path: Path = GPU_TIMES) -> LayerTimes | None:
    """Return the times that ``record`` stored, or None."""
    if not path.exists():
        return None
    stored = json.loads(path.read_text(encoding="utf-8"))
    layers = {name: [Timing(**timing) for timing in timings] for name, timings in stored["layers"].items()}
    return LayerTimes(**{**stored, "machine": Machine(**stored["machine"]), "layers": layers})


@dataclass(frozen=True)
class Measured:
    """One set of timings: label, wording, loader."""

    name: str
    before: Text
    words: Text
    times: Callable[[], LayerTimes]  # a function: with cached frames nothing is measured

    def quartiles(self, layer: str) -> torch.Tensor:
        """Return log10 of lower quartile, median and upper quartile in ms, over the lengths: (3, L)."""
        timings = self.times().layers[layer]
        return torch.tensor([(t.low, t.median, t.high) for t in timings]).mul(1000).log10().T

    def series(self) -> list[Series]:
        """Return a line a layer; those of other machines are dashed, and fewer."""
        other = self.name != "built"
        rows = [row for row in ROWS if row.name in LAYERS and not (other and row.name in ("GRU", "attention core"))]
        return [
            Series(
                partial(self.quartiles, row.name),
                lambda: torch.tensor(self.times().lengths).log10(),
                self.before + (SHORT.get(row.name, row.label) if other else row.label),
                row.color,
                row.mark,
                dashed=row.dashed or other,
                visible_if=row.visible_if,
            )
            for row in rows
        ]

    def sentence(self) -> Text:
        def named(words: str) -> str:
            return words.replace("{", "{" + self.name + "_")

        return self.words + Text(
            zh=named(
                "（{device}，{threads} 个线程，batch {batch}，{heads} 个头，d = {d}）："
                "注意力{LSTM_from}{LSTM_n}{LSTM_slower}（按公式是 n = {formula}），{RNN_from}{RNN_n}{RNN_slower}。"
            ),
            en=named(
                " ({device}, threads: {threads}, batch: {batch}, heads: {heads}, d = {d}), attention is "
                "{LSTM_from}{LSTM_n}{LSTM_slower} (by formula, n = {formula}), {RNN_from}{RNN_n}{RNN_slower}. "
            ),
        )

    def slots(self) -> dict[str, Callable | Choice]:
        slots = {
            "device": lambda: self.times().machine.device,
            "threads": lambda: self.times().machine.threads,
            "batch": lambda: self.times().batch,
            "heads": lambda: self.times().heads,
            "d": lambda: self.times().d,
            "formula": lambda: crossing("attention", "LSTM", self.times().d, self.times().k),
            **self.comparison("LSTM"),
            **self.comparison("RNN"),
        }
        return {f"{self.name}_{name}": slot for name, slot in slots.items()}

    def comparison(self, other: str) -> dict[str, Callable | Choice]:
        """Return the slots of the length from which on attention is slower than another layer, if any."""

        def start() -> int | None:
            return self.times().slower_from("attention", other)

        def never() -> int:
            return int(start() is None)

        return {
            f"{other}_from": Choice(
                never,
                [
                    Text(zh="从 n = ", en=f"slower than the {other} from n = "),
                    Text(zh="到 n = ", en=f"no slower than the {other} up to n = "),
                ],
            ),
            f"{other}_n": lambda: start() or self.times().lengths[-1],
            f"{other}_slower": Choice(
                never, [Text(zh=f" 起比 {other} 慢", en=" on"), Text(zh=f" 都不比 {other} 慢", en="")]
            ),
        }


def limits_of(measured: list[Measured]) -> tuple[float, float]:
    """Return limits for all measured times."""
    every = torch.cat([one.quartiles(layer).flatten() for one in measured for layer in LAYERS])
    return every.min().item() - 0.1, every.max().item() + 0.1


# The figure

FORMULAE = Text(
    zh="n = {n}，d = {d}，k = {k}，比{quantity}：{cheapest}最少，是 {least}；注意力是 {attention}，与 LSTM 之比是 {ratio}。"
    "FLOPs 相等之处：核心部分与 RNN 在 n = {core_rnn}，与卷积在 n = {core_convolution}；"
    "整层注意力与 LSTM 在 n = {attention_lstm}，{meets}{attention_convolution}。"
    "n 加倍，整层注意力的 FLOPs 变成 {doubling} 倍，循环和卷积都是 2 倍。",
    en="n = {n}, d = {d}, k = {k}, {quantity}: {cheapest} the least, {least}; attention takes {attention}, {ratio} × the "
    "LSTM’s. FLOPs are equal here: the core and the RNN at n = {core_rnn}, the core and the convolution at n = "
    "{core_convolution}; whole attention and the LSTM at n = {attention_lstm}, {meets}{attention_convolution}. "
    "Twice the n takes {doubling} times the FLOPs in whole attention, 2 times in recurrence and convolution. ",
)


def formula_slots() -> dict[str, Callable | Choice]:
    def meeting(d: int, k: int) -> int | None:
        return crossing("attention", "convolution", d, k)

    return {
        "cheapest": Choice(cheapest, [*CHEAPEST.values(), ALIKE]),
        "least": lambda n, d, k, quantity: amount_text(min(amount(name, quantity, n, d, k) for name in CHEAPEST)),
        "attention": lambda n, d, k, quantity: amount_text(amount("attention", quantity, n, d, k)),
        "ratio": lambda n, d, k, quantity: ratio_text(
            amount("attention", quantity, n, d, k), amount("LSTM", quantity, n, d, k)
        ),
        "core_rnn": lambda d, k: crossing("attention core", "RNN", d, k),
        "core_convolution": lambda d, k: crossing("attention core", "convolution", d, k),
        "attention_lstm": lambda d, k: crossing("attention", "LSTM", d, k),
        "meets": Choice(
            lambda d, k: int(meeting(d, k) is not None),
            [
                Text(zh="卷积则不论 n 多大都比它省", en="and the convolution takes fewer at every n"),
                Text(zh="与卷积在 n = ", en="whole attention and the convolution at n = "),
            ],
        ),
        "attention_convolution": lambda d, k: meeting(d, k) or "",
        "doubling": lambda n, d: f"{doubling(n, d):.2f}",
    }


def figure(yours: LayerTimes | None = None) -> Explorable:
    """Return the figure in the page's language; yours: the times of ``time_here`` on the reader's machine."""
    gpu = stored_gpu_times(GPU_TIMES)
    measured = [Measured("built", Text(zh="", en=""), Text(zh="实测", en="Measured"), built_here)]
    if gpu:
        measured.append(
            Measured("gpu", Text(zh="GPU ", en="GPU "), Text(zh="GPU 实测", en="Measured on a GPU"), lambda: gpu)
        )
    if yours:
        measured.append(
            Measured(
                "yours", Text(zh="你的 ", en="your "), Text(zh="你的机器实测", en="On your machine"), lambda: yours
            )
        )
    words = [FORMULAE, *(one.sentence() for one in measured)]
    if not gpu:
        words.append(Text(zh="没有存下 GPU 上的时间。", en="No times on a GPU are stored."))
    x = Axis(Text(zh="序列长度", en="length"), (1.1, 4.0), symbol="n", log10=True, resolution=1e-6)
    log_lengths = [math.log10(n) for n in LENGTHS]
    return Explorable(
        "cost",
        title=Text(zh="谁更省，看 n 和 d 谁大", en="Who is cheaper depends on n against d"),
        caption=Text(
            zh="左：公式给出的一层的代价；右：实测的前向时间。",
            en="Left: the cost of one layer by formula. Right: measured times.",
        ),
        how_to_read=Text(
            zh="读图：左图是公式给出的一层的代价，一次乘加算 2 个 FLOP；灰色的点标出 FLOPs 相等之处，灰色的竖线是现在的 n。"
            "注意力的核心部分只有 QKᵀ 和 AV 两个乘积，整层还有四个投影，都不算前馈网络，也不减因果掩码省下的一半。"
            f"最长路径是把任意两个位置连上要经过的边数（卷积是因果的，只从前往后连），卷积要叠那么多层；多头时每头 dₖ = {HEAD_SIZE}；窗口是 {WINDOW} 个位置，融合指不存 n × n 权重。"
            "右图是实测的前向时间，粗线是中位数，细线是上下四分位数；循环层逐步的循环不在 Python 里，LSTM 和注意力用融合算子，"
            "所以实测的交点与公式的不同，也随机器和线程数而变。",
            en="How to read it: on the left, the cost of one layer by formula, a multiply-add counted as 2 FLOPs; grey dots mark "
            "where FLOPs are equal, the grey vertical line is the n chosen. The core is only the products QKᵀ and AV, whole attention has four projections besides; no feed-forward network is counted, nor the half of the core that a causal mask saves. The longest path counts the edges between any two "
            f"positions (convolutions are causal: from the earlier to the later), and convolutions need as many layers; every head has dₖ = {HEAD_SIZE}, a restricted query sees {WINDOW} "
            "positions, and fused attention holds no n × n weights. On the right, measured times of a forward pass, bold lines medians and thin ones the quartiles; "
            "no recurrent layer runs its steps in Python, the LSTM and attention run fused kernels, and so measured crossings are "
            "not those of the formulae and move with the machine and its threads.",
        ),
        controls=[
            Control("n", LENGTHS, label=Text(zh="序列长度", en="length of the sequence"), symbol="n", start=512),
            Control("d", SIZES, label=Text(zh="token 的分量个数", en="components of a token"), symbol="d", start=512),
            Control("k", KERNELS, label=Text(zh="卷积核大小", en="size of the kernel"), symbol="k"),
            Control("quantity", QUANTITIES, label=Text(zh="比什么", en="compare"), advanced=True),
            Control("every", [False, True], label=Text(zh="全部架构", en="every architecture"), advanced=True),
        ],
        panels=[
            Lines(
                title=Text(zh="一层的代价（公式）", en="Cost of one layer, by formula"),
                x=x,
                y=Axis(
                    Text(zh="一层的代价，按公式", en="cost of one layer, by formula"),
                    limits=limits,
                    log10=True,
                    resolution=1e-6,
                ),
                series=[
                    *(
                        Series(
                            line(row.name),
                            log_lengths,
                            row.label,
                            row.color,
                            row.mark,
                            row.dashed,
                            visible_if=row.visible_if,
                        )
                        for row in ROWS
                    ),
                    point("attention core", "RNN", "n = d", "circle"),
                    point("attention core", "convolution", "n = kd/2", "square"),
                    point("attention", "LSTM", "n = 2d", "diamond"),
                    point("attention", "convolution", "n = (k−4)d/2", "triangle"),
                    Series(now, lambda n: 2 * [math.log10(n)], Text(zh="现在", en="now"), "grey", "wedge"),
                ],
            ),
            Lines(
                title=Text(zh="前向时间（实测）", en="Forward time, measured"),
                x=x,
                y=Axis(
                    Text(zh=f"实测的前向时间，d = {TIMED_SIZE}", en=f"measured forward time, d = {TIMED_SIZE}"),
                    limits=lambda: limits_of(measured),
                    unit=Text(zh="毫秒", en="ms"),
                    log10=True,
                    resolution=0.0005,
                ),
                series=[series for one in measured for series in one.series()],
            ),
        ],
        sentence=Sentence(
            reduce(add, words),
            **formula_slots(),
            **{name: slot for one in measured for name, slot in one.slots().items()},
        ),
        cache=figure_cache(__name__) if yours is None else None,
        within=one_thread,
    )
