"""Figure cost: who is cheaper depends on n against d.

One layer of each family, by the formulae of cost.py: four quantities against n, at any d and k.  Beside it the same
layers as measured: on the machine that built the figure, on a GPU if times are stored (``record``), and on the reader's
machine (``time_here``).  The cheapest of the three at n is in colour, the others are grey.
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
from why_attention.cost import Cost, attention, costs
from why_attention.figure_cache import figure_cache
from why_attention.one_thread import one_thread
from why_attention.timing import LayerTimes, Machine, Timing, layer_times

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
    """A row of the table: its label, its name in a sentence, the look of its lines, and its name in timing.py."""

    label: Text
    said: Text
    color: str
    mark: str
    dashed: bool = False
    timed: str = ""  # no name: not measured


def row(zh: str, en: str, said: str, color: str, mark: str, dashed: bool = False, timed: str = "") -> Row:
    return Row(Text(zh=zh, en=en), Text(zh=zh, en=said), color, mark, dashed, timed)


ROWS = {  # by their names in cost.py
    "RNN": row("RNN", "RNN", "the RNN", "vermilion", "circle", timed="RNN"),
    "GRU": row("GRU", "GRU", "the GRU", "vermilion", "circle", True, timed="GRU"),
    "LSTM": row("LSTM", "LSTM", "the LSTM", "vermilion", "diamond", timed="LSTM"),
    "convolution": row("卷积", "convolution", "convolution", "green", "square", timed="convolution"),
    "dilated convolution": row("膨胀卷积", "dilated convolution", "dilated convolution", "green", "square", True),
    "separable convolution": row("可分离卷积", "separable conv.", "separable convolution", "green", "cross"),
    "attention": row("注意力", "attention", "attention", "blue", "triangle", timed="attention"),
    "attention core": row("核心部分", "attention’s core", "attention’s core", "blue", "wedge", timed="attention core"),
    "restricted attention": row("窗口注意力", "restricted attention", "restricted attention", "blue", "triangle", True),
    "fused attention": row(
        "融合注意力", "fused attention", "fused attention", "blue", "wedge", True, timed="attention"
    ),
}
COMPARED = {  # one layer of each family
    "whole": ("LSTM", "convolution", "attention"),
    "core": ("RNN", "convolution", "attention core"),
    "least": ("RNN", "separable convolution", "attention core"),
    "restricted": ("GRU", "dilated convolution", "restricted attention"),
    "fused": ("LSTM", "dilated convolution", "fused attention"),
}
CHEAPEST: dict[tuple[bool, ...], str | Text] = {  # the families in words, for those of the three that cost least
    (True, False, False): Text(zh="循环", en="recurrence"),
    (False, True, False): Text(zh="卷积", en="convolution"),
    (False, False, True): Text(zh="注意力", en="attention"),
    (True, True, False): Text(zh="循环和卷积", en="recurrence and convolution"),
    (True, False, True): Text(zh="循环和注意力", en="recurrence and attention"),
    (False, True, True): Text(zh="卷积和注意力", en="convolution and attention"),
    (True, True, True): Text(zh="循环、卷积、注意力", en="all three alike"),
}
CROSSINGS = {  # where two rows take equally many FLOPs
    "n = d": [("attention core", "RNN"), ("restricted attention", "GRU")],
    "n = 2d": [("attention", "LSTM"), ("fused attention", "LSTM")],
    "n = kd/2": [("attention core", "convolution")],
    "n = (k−4)d/2": [
        (one, other)
        for one in ("attention", "restricted attention", "fused attention")
        for other in ("convolution", "dilated convolution")
    ],
    "n = (d+k)/2": [("attention core", "separable convolution")],
}
POINTS = dict(zip(CROSSINGS, ["circle", "diamond", "square", "triangle", "wedge"]))


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


def lengths_if_compared(name: str, lengths: list[int]) -> Callable:
    """Return a function: log10 of the lengths where a row is among those compared; else a place outside the plot."""
    shown = [math.log10(n) for n in lengths]
    return lambda compare: shown if name in COMPARED[compare] else [-math.inf] * len(shown)


def cheapest(n: int, d: int, k: int, quantity: str, compare: str) -> tuple[str, ...]:
    """Return those of the three rows compared that cost least."""
    amounts = {name: amount(name, quantity, n, d, k) for name in COMPARED[compare]}
    return tuple(name for name, number in amounts.items() if number == min(amounts.values()))


def is_cheapest(name: str) -> Callable:
    return lambda n, d, k, quantity, compare: name in cheapest(n, d, k, quantity, compare)


def crossing(first: str, second: str, d: int, k: int) -> int | None:
    """Return the least n at which the first row takes no fewer FLOPs than the second; None without a crossing."""

    def caught_up(n: int) -> bool:
        return amount(first, "flops", n, d, k) >= amount(second, "flops", n, d, k)

    below, above = LENGTHS[0], LENGTHS[-1]
    if caught_up(below) or not caught_up(above):
        return None
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (below, middle) if caught_up(middle) else (middle, above)
    return above


def point(label: str) -> Series:
    """Return the point where two of the rows compared take equally many FLOPs; without one it is outside the plot."""

    def at(d: int, k: int, quantity: str, compare: str) -> tuple[str, int | None]:
        recurrence, convolution, one = COMPARED[compare]
        met = [other for other in (recurrence, convolution) if (one, other) in CROSSINGS[label]]
        return one, crossing(one, met[0], d, k) if met and quantity == "flops" else None

    def height(d: int, k: int, quantity: str, compare: str) -> list[float]:
        name, n = at(d, k, quantity, compare)
        return [math.log10(amount(name, quantity, n, d, k)) if n else -math.inf]

    def place(d: int, k: int, quantity: str, compare: str) -> list[float]:
        _, n = at(d, k, quantity, compare)
        return [math.log10(n) if n else -math.inf]

    return Series(height, place, label, "grey", POINTS[label])


def limits(d: int, quantity: str, compare: str) -> tuple[float, float]:
    """Return limits for all n and k: the axis does not move with these."""
    ends = [
        amount(name, quantity, n, d, k)
        for name in COMPARED[compare]
        for n in (LENGTHS[0], LENGTHS[-1])
        for k in KERNELS
    ]
    return around(math.log10(min(ends)), math.log10(max(ends)))


def around(low: float, high: float) -> tuple[float, float]:
    """Return limits with a margin, rounded so that a line from edge to edge, kept in steps, ends on the edges."""
    return round(low - MARGIN, 2), round(high + MARGIN, 2)


def chosen(height: Callable) -> Series:
    """Return the upright line at the n that the reader has chosen. height: the limits of the plot."""
    return Series(height, lambda n: [math.log10(n)] * 2, "n", "grey", "cross")


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


def timed_length(n: int) -> int:
    """Return the longest length that was timed up to n."""
    return max(length for length in TIMED_LENGTHS if length <= n)


@dataclass(frozen=True)
class Measured:
    """One set of timings, a panel of its own: its name in slots, whose they are, a loader."""

    name: str
    whose: Text
    times: Callable[[], LayerTimes]  # a function: with cached frames nothing is measured

    def quartiles(self, layer: str) -> torch.Tensor:
        """Return log10 of lower quartile, median and upper quartile in ms, over the lengths: (3, L)."""
        timings = self.times().layers[layer]
        return torch.tensor([(t.low, t.median, t.high) for t in timings]).mul(1000).log10().T

    def timing(self, layer: str, n: int) -> Timing:
        """Return a layer's timing at the longest length up to n."""
        return self.times().layers[layer][self.times().lengths.index(timed_length(n))]

    def is_fastest(self, name: str) -> Callable:
        """Return a function: is a row the fastest, by the median, of those compared and timed?"""

        def fastest(n: int, compare: str) -> bool:
            medians = {one: self.timing(ROWS[one].timed, n).median for one in COMPARED[compare] if ROWS[one].timed}
            return name in medians and medians[name] == min(medians.values())

        return fastest

    def panel(self, x: Axis, limits: Callable) -> Lines:
        timed = {name: one for name, one in ROWS.items() if one.timed}
        return Lines(
            title=Text(zh="前向时间，", en="Forward time, ") + self.whose,
            x=x,
            y=Axis(
                Text(zh=f"前向时间，d 固定为 {TIMED_SIZE}，", en=f"forward time, d fixed at {TIMED_SIZE}, ")
                + self.whose,
                limits=limits,
                unit=Text(zh="毫秒", en="ms"),
                log10=True,
                resolution=0.0005,
            ),
            series=[
                Series(
                    partial(self.quartiles, one.timed),
                    lengths_if_compared(name, TIMED_LENGTHS),
                    one.label,
                    one.color,
                    one.mark,
                    one.dashed,
                    focus=self.is_fastest(name),
                )
                for name, one in timed.items()
            ]
            + [chosen(limits)],
        )

    def words(self) -> Text:
        """Return the template of what the detail says of these times."""

        def named(words: str) -> str:
            return words.replace("{_", "{" + self.name + "_")

        return (
            Text(zh="前向时间，", en="Forward time ")
            + self.whose
            + Text(
                zh=named(
                    "（{_device}，{_threads} 个线程，batch {_batch}，{_heads} 个头，d = {_d}），n = {_at}："
                    "{recurrence} {_recurrence} 毫秒，{convolution} {_convolution} 毫秒，{attention} {_attention} 毫秒；"
                    "{attention}从 n = {_slower} 起比 {recurrence} 慢，按公式是 n = {_formula}（– 是没有，或没有量）。"
                ),
                en=named(
                    " ({_device}, threads: {_threads}, batch: {_batch}, heads: {_heads}, d = {_d}), at n = {_at}: "
                    "{recurrence} {_recurrence} ms, {convolution} {_convolution} ms, {attention} {_attention} ms; "
                    "{attention} is slower than {recurrence} from n = {_slower} on, by formula from n = {_formula} "
                    "(–: nowhere, or not timed). "
                ),
            )
        )

    def slots(self) -> dict[str, Callable]:
        def spread(family: int) -> Callable:
            def milliseconds(n: int, compare: str) -> str:
                layer = ROWS[COMPARED[compare][family]].timed
                if not layer:
                    return "–"
                timing = self.timing(layer, n)
                low, median, high = (amount_text(1000 * t) for t in (timing.low, timing.median, timing.high))
                return f"{median} ({low} … {high})"

            return milliseconds

        def slower(compare: str) -> str:
            recurrence, _, one = (ROWS[name].timed for name in COMPARED[compare])
            return str(self.times().slower_from(one, recurrence) or "–") if one and recurrence else "–"

        def formula(compare: str) -> str:
            recurrence, _, one = COMPARED[compare]
            return str(crossing(one, recurrence, self.times().d, self.times().k) or "–")

        slots: dict[str, Callable] = {
            "device": lambda: self.times().machine.device,
            "threads": lambda: self.times().machine.threads,
            "batch": lambda: self.times().batch,
            "heads": lambda: self.times().heads,
            "d": lambda: self.times().d,
            "at": lambda n: timed_length(n),
            "recurrence": spread(0),
            "convolution": spread(1),
            "attention": spread(2),
            "slower": slower,
            "formula": formula,
        }
        return {f"{self.name}_{name}": slot for name, slot in slots.items()}


def limits_of(measured: list[Measured]) -> tuple[float, float]:
    """Return limits for all measured times."""
    layers = {one.timed for one in ROWS.values() if one.timed}
    every = torch.cat([one.quartiles(layer).flatten() for one in measured for layer in layers])
    return around(every.min().item(), every.max().item())


# The words

SENTENCE = Text(
    zh="n = {n}，d = {d}，比{quantity}：{attention}是 {recurrence} 的 {ratio} 倍，{cheapest}最少。",
    en="At n = {n}, d = {d}, {attention} takes {ratio} × {recurrence}’s {quantity}; least: {cheapest}.",
)
DETAIL = Text(
    zh="{quantity}：{recurrence} {amount_recurrence}，{convolution} {amount_convolution}，{attention} {amount_attention}。FLOPs 相等之处：{attention}与 {recurrence} 在 n = {at_recurrence}，与{convolution}在 n = {at_convolution}（– 是没有）。"
    "n 加倍，{attention}的 FLOPs 变成 {doubling} 倍，循环和卷积都是 2 倍。",
    en="{quantity}: {recurrence} {amount_recurrence}, {convolution} {amount_convolution}, {attention} {amount_attention}. FLOPs are equal here: {attention} and {recurrence} at n = {at_recurrence}, {attention} and {convolution} at "
    "n = {at_convolution} (–: nowhere). Twice the n takes {doubling} times the FLOPs in {attention}, 2 times in recurrence "
    "and convolution. ",
)


def name_of(family: int) -> Choice:
    """Return the slot that names the row compared of a family."""
    names = [trio[family] for trio in COMPARED.values()]
    return Choice(lambda compare: list(COMPARED).index(compare), [ROWS[name].said for name in names])


def cheapest_families(n: int, d: int, k: int, quantity: str, compare: str) -> int:
    """Return the number in CHEAPEST of the families that cost least."""
    least = cheapest(n, d, k, quantity, compare)
    return list(CHEAPEST).index(tuple(name in least for name in COMPARED[compare]))


def amount_of(family: int) -> Callable:
    """Return a function: the amount of the row compared of a family, in words."""

    def with_kernel(n: int, d: int, k: int, quantity: str, compare: str) -> str:
        return amount_text(amount(COMPARED[compare][family], quantity, n, d, k))

    def without(n: int, d: int, quantity: str, compare: str) -> str:
        return with_kernel(n, d, TIMED_KERNEL, quantity, compare)

    return with_kernel if family == 1 else without


def crossing_text(family: int) -> Callable:
    def text(d: int, k: int, compare: str) -> str:
        return str(crossing(COMPARED[compare][2], COMPARED[compare][family], d, k) or "–")

    return text


def ratio(n: int, d: int, quantity: str, compare: str) -> str:
    recurrence, _, one = COMPARED[compare]
    return ratio_text(*(amount(name, quantity, n, d, TIMED_KERNEL) for name in (one, recurrence)))  # at any k


def doubling(n: int, d: int, compare: str) -> str:
    single, double = (amount(COMPARED[compare][2], "flops", length, d, TIMED_KERNEL) for length in (n, 2 * n))
    return f"{double / single:.2f}"


# The figure


def figure(yours: LayerTimes | None = None) -> Explorable:
    """Return the figure in the page's language; yours: the times of ``time_here`` on the reader's machine."""
    gpu = stored_gpu_times(GPU_TIMES)
    measured = [Measured("built", Text(zh="实测", en="measured"), built_here)]
    if gpu:
        measured.append(Measured("gpu", Text(zh="GPU 实测", en="on a GPU"), lambda: gpu))
    if yours:
        measured.append(Measured("yours", Text(zh="你的机器", en="on your machine"), lambda: yours))
    names = {"recurrence": name_of(0), "convolution": name_of(1), "attention": name_of(2)}
    detail = reduce(add, [DETAIL, *(one.words() for one in measured)])
    if not gpu:
        detail += Text(zh="没有存下 GPU 上的时间。", en="No times on a GPU are stored.")
    x = Axis(Text(zh="序列长度", en="length"), (1.1, 4.0), symbol="n", log10=True, resolution=1e-6)
    panels = [
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
                        line(name),
                        lengths_if_compared(name, LENGTHS),
                        one.label,
                        one.color,
                        one.mark,
                        one.dashed,
                        focus=is_cheapest(name),
                    )
                    for name, one in ROWS.items()
                ),
                *map(point, CROSSINGS),
                chosen(limits),
            ],
        ),
        *(one.panel(x, lambda: limits_of(measured)) for one in measured),
    ]
    return Explorable(
        "cost",
        title=Text(
            zh="n 不到 2d，注意力的运算量比 LSTM 小", en="Attention takes fewer FLOPs than an LSTM up to n = 2d"
        ),
        caption=Text(
            zh="按公式的随 n、d、k 变；实测的 d 固定。彩色的是竖线 n 处最省的。",
            en="Formulae follow n, d and k; times were measured at one d. In colour, the cheapest at n, the upright line.",
        ),
        how_to_read=Text(
            zh="两轴都是对数刻度。公式：一次乘加算 2 个 FLOP，灰色的点标出 FLOPs 相等之处；拖 n，竖线走到哪里，就把那里最省的一条涂上颜色。"
            "“更多设置”里可以换一样比，也可以换每一家出的层：注意力的核心部分只有 QKᵀ 和 AV 两个乘积，整层还有四个投影；"
            f"多头时每头 dₖ = {HEAD_SIZE}；窗口注意力的每个查询看 {WINDOW} 个位置；融合指不存 n × n 的权重。"
            "最长路径是把任意两个位置连上要经过的边数（卷积是因果的，只从前往后连），卷积要叠那么多层。"
            f"实测：d = {TIMED_SIZE}、k = {TIMED_KERNEL}，不随 d 和 k 变；粗线是中位数，最快的一条还用细线画出上下四分位数，三条的四分位数在“更多数据”里。",
            en="Both axes are logarithmic. By formula, a multiply-add counts as 2 FLOPs, and grey points mark where FLOPs are "
            "equal; drag n, and the line that is lowest there takes its colour. “More settings” has other quantities, and other "
            "layers of each family: the core of attention is only the products QKᵀ and AV, whole attention has four projections "
            f"besides; every head has dₖ = {HEAD_SIZE}; a restricted query sees {WINDOW} positions; fused attention holds no n × n "
            "weights. The longest path counts the edges between any two positions (convolutions are causal: from the earlier to "
            f"the later), and convolutions need as many layers. Measured times are at d = {TIMED_SIZE}, k = {TIMED_KERNEL} and follow "
            "neither d nor k; bold lines are medians, the fastest has its quartiles too, as thin lines, and “More numbers” has "
            "the quartiles of all three.",
        ),
        limits=Text(
            zh="不算前馈网络，也不减因果掩码省下的一半。"
            "循环层逐步的循环不在 Python 里，LSTM 和注意力用融合算子，所以实测的交点与公式的不同，也随机器和线程数而变。"
            "窗口注意力、膨胀卷积和可分离卷积没有量时间；融合注意力与注意力量的是同一个算子。",
            en="No feed-forward network is counted, nor is the half of the core deducted that a causal mask saves. No recurrent "
            "layer runs its steps in Python, the LSTM and attention run fused kernels, and so measured crossings are not those "
            "of the formulae and move with the machine and its threads. Restricted attention, dilated and separable convolutions "
            "were not timed; fused attention and attention are one kernel there.",
        ),
        controls=[
            Control("n", LENGTHS, label=Text(zh="序列长度", en="length"), symbol="n", start=512),
            Control("d", SIZES, label=Text(zh="特征维度", en="features"), symbol="d", start=512),
            Control("k", KERNELS, label=Text(zh="卷积核大小", en="kernel size"), symbol="k"),
            Control("quantity", QUANTITIES, label=Text(zh="比什么", en="compare"), advanced=True),
            Control(
                "compare",
                {
                    key: Text(
                        zh="、".join(ROWS[name].label.words["zh"] for name in trio),
                        en=", ".join(ROWS[name].label.words["en"] for name in trio),
                    )
                    for key, trio in COMPARED.items()
                },
                label=Text(zh="比哪些层", en="layers"),
                advanced=True,
            ),
        ],
        panels=panels,
        rows=[len(panels)] if len(panels) < 4 else [2, 2],
        sentence=Sentence(
            SENTENCE,
            recurrence=names["recurrence"],
            attention=names["attention"],
            ratio=ratio,
            cheapest=Choice(cheapest_families, list(CHEAPEST.values())),
        ),
        detail=Sentence(
            detail,
            **names,
            amount_recurrence=amount_of(0),
            amount_convolution=amount_of(1),
            amount_attention=amount_of(2),
            at_recurrence=crossing_text(0),
            at_convolution=crossing_text(1),
            doubling=doubling,
            **{name: slot for one in measured for name, slot in one.slots().items()},
        ),
        cache=figure_cache(__name__) if yours is None else None,
        within=one_thread,
    )
