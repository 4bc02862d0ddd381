"""Figure time-chain: a recurrence needs n sequential steps; a convolution and attention need one step a layer.

Three dependency graphs, whose values are computed round by round, and measured times, which unlike the rounds depend on the
machine.
"""

from functools import cache, partial

import torch
from torch import nn

from explorable import Axis, Control, Explorable, Graph, Lines, Rounds, Sentence, Series, Text
from explorable.numbers import power_text
from why_attention.attention import MultiHeadAttention
from why_attention.convolution import Convolution
from why_attention.dependency_graph import (
    DependencyGraph,
    attention,
    convolution,
    earliest_steps,
    recurrence,
    sequential_steps,
)
from why_attention.device import pick_device
from why_attention.figure_cache import figure_cache
from why_attention.one_thread import one_thread
from why_attention.timing import Machine, forward_times, machine

LENGTHS, KERNELS = [4, 8, 12, 16], [2, 3, 5]  # of the graphs
SIZE, HEADS, ROUNDS = 64, 4, 40  # d of the timed layers; heads; rounds of timing
TIMED_LENGTHS = [8, 16, 32, 64, 128, 256, 512, 1024]
RNN, CONVOLUTION, ATTENTION = "RNN", Text(zh="卷积", en="convolution"), Text(zh="注意力", en="attention")


def nodes(graph: DependencyGraph) -> list[tuple[int, int, int]]:
    """Return position, layer, and the earliest round, 0 for an input, of every node: (N, 3)."""
    return [(t, layer, step) for (layer, t), step in zip(graph.nodes, earliest_steps(graph))]


def edges(graph: DependencyGraph) -> list[tuple[int, int, float]]:
    """Return every edge, as thin as can be: (E, 3)."""
    return [(start, end, 0) for start, end in graph.edges]


def known(graph: DependencyGraph, now: int) -> int:
    """Return how many values of the layer are known after a round."""
    return sum(0 < step <= now for step in earliest_steps(graph))


@cache
def times() -> dict[str, torch.Tensor]:
    """Return log10 of a layer's forward time in ms, lower quartile, median, upper quartile: (3, L).

    The recurrent layers are torch's own, without a Python loop over time; the others are the chapter's.
    """
    device = pick_device()
    rnn, lstm = (layer(SIZE, SIZE, batch_first=True).to(device).eval() for layer in (nn.RNN, nn.LSTM))
    conv, heads = Convolution(SIZE, 3).to(device), MultiHeadAttention(SIZE, HEADS).to(device)
    measured = []
    for n in TIMED_LENGTHS:
        x = torch.randn(1, n, SIZE, generator=torch.Generator().manual_seed(0)).to(device)
        calls = {
            "rnn": partial(rnn, x),
            "lstm": partial(lstm, x),
            "convolution": partial(conv, x),
            "attention": partial(heads, x),
        }
        measured.append(forward_times(calls, ROUNDS))
    return {
        name: torch.tensor([(t[name].low, t[name].median, t[name].high) for t in measured]).mul(1000).log10().T
        for name in measured[0]
    }


@cache
def timed_machine() -> Machine:
    return machine()


def milliseconds(name: str) -> str:
    """Write the median time of a layer at the longest length."""
    return power_text(times()[name][1, -1].item(), 3)


def limits_of_times() -> tuple[float, float]:
    """Return limits for all measured times."""
    every = torch.stack(list(times().values()))
    return every.min().item() - 0.1, every.max().item() + 0.1


def panel(graph, title: Text, color: str, mark: str) -> Graph:
    """Return the panel of one dependency graph, a function of n or of n and k, on common axes."""
    return Graph(
        part_of(graph, nodes),
        part_of(graph, edges),
        title=title,
        x=Axis(Text(zh="位置", en="position"), limits=lambda n: (0.4, n + 0.6), symbol="t"),
        y=Axis(Text(zh="层", en="layer"), limits=(-0.15, 1.15)),
        color=color,
        mark=mark,
        lit=True,
        rounds=Rounds(lambda round: [round], Text(zh="最早的轮次", en="earliest round")),
        y_axis=False,
    )


def rounds_of_both(n: int, k: int) -> str:
    """Return how many rounds convolution and attention need each, or both numbers where they differ."""
    return "/".join(map(str, dict.fromkeys([sequential_steps(convolution(n, k)), sequential_steps(attention(n))])))


def part_of(graph, part):
    """Return a part of the graph as a function of its controls."""
    return (lambda n, k: part(graph(n, k))) if graph is convolution else (lambda n: part(graph(n)))


def figure() -> Explorable:
    """Return the figure in the page's language."""
    lengths = torch.tensor(TIMED_LENGTHS).log10()
    return Explorable(
        "time-chain",
        title=Text(zh="谁要等谁", en="What waits for what"),
        caption=Text(
            zh="下排是输入，上排是要算的值，空心的还没算出来。轮数少，不等于用时少：看下图。",
            en="Below, inputs; above, values to compute, hollow until known. Fewer rounds are not always less time, as the plot shows.",
        ),
        how_to_read=Text(
            zh="每一轮，凡是要用的值都齐了的，就同时算出来：刚算出的大一圈，还没算出的是虚线圈。"
            "有颜色的连线是最后一个位置的值直接和间接要等的一切，虚线是还没等到的；指着别的位置，就换成那里的。"
            "按播放键，一轮一轮地走；也可以自己拖。下面一幅是各种层前向一次的实测时间，两轴都是对数刻度；"
            "粗线是中位数，细线是上下四分位数。",
            en="In every round all values are computed whose inputs are there: those just computed are larger, those still to "
            "come have a dashed outline. Coloured lines are all that the value at the last position waits for, directly or "
            "not, dashed where it is still waiting; point at another position for its own. Press play to let the rounds run, "
            "or drag. The plot below shows measured times of one forward pass of each layer, on two logarithmic axes; bold "
            "lines are medians, thin ones the quartiles.",
        ),
        limits=Text(
            zh="轮数假定处理器无限多，一个任务不管读多少个值都只算一个；秒数里还混着计算量、处理器的数目和每次调用的开销，因机器而异。",
            en="Rounds assume as many processors as there is work, and count a value as one task however much it reads. Seconds "
            "also hold the amount of work, the number of processors and the cost of each call, and depend on the machine.",
        ),
        controls=[
            Control(
                "round",
                range(LENGTHS[-1] + 1),
                label=Text(zh="轮次", en="round"),
                start=4,
                continuous=False,
                plays=True,
                until="n",
            ),
            Control("n", LENGTHS, label=Text(zh="序列长度", en="length of the sequence"), symbol="n", start=8),
            Control(
                "k", KERNELS, label=Text(zh="卷积核大小", en="size of the kernel"), symbol="k", start=3, advanced=True
            ),
        ],
        panels=[
            panel(recurrence, Text(zh="循环", en="recurrence"), "vermilion", "circle"),
            panel(convolution, CONVOLUTION, "green", "square"),
            panel(attention, ATTENTION, "blue", "triangle"),
            Lines(
                title=Text(zh="前向一次的时间", en="Time of one forward pass"),
                x=Axis(Text(zh="序列长度", en="length"), (0.85, 3.05), symbol="n", log10=True, resolution=1e-6),
                y=Axis(
                    Text(zh="前向时间", en="forward time"),
                    limits=limits_of_times,
                    unit=Text(zh="毫秒", en="ms"),
                    log10=True,
                    resolution=0.0005,
                ),
                series=[
                    Series(lambda: times()["rnn"], lengths, RNN, "vermilion", "circle"),
                    Series(lambda: times()["lstm"], lengths, "LSTM", "vermilion", "diamond", dashed=True),
                    Series(lambda: times()["convolution"], lengths, CONVOLUTION, "green", "square"),
                    Series(lambda: times()["attention"], lengths, ATTENTION, "blue", "triangle"),
                ],
            ),
        ],
        rows=[3, 1],
        sentence=Sentence(
            Text(
                zh="读 {n} 个 token，循环要 {recurrence} 轮，卷积和注意力各要 {others} 轮；第 {round} 轮之后，循环才算出 {done} 个。",
                en="For {n} tokens recurrence needs {recurrence} rounds, convolution and attention {others}; after round {round} "
                "recurrence knows {done} values.",
            ),
            recurrence=lambda n: sequential_steps(recurrence(n)),
            others=rounds_of_both,
            done=lambda n, round: known(recurrence(n), round),
        ),
        detail=Sentence(
            Text(
                zh="实测：{device}，{threads} 个线程，d = {d}，读 {longest} 个 token，RNN 用 {rnn_ms} 毫秒，LSTM 用 {lstm_ms} 毫秒，"
                "卷积用 {convolution_ms} 毫秒，注意力用 {attention_ms} 毫秒。",
                en="Measured ({device}, threads: {threads}, d = {d}): for {longest} tokens the RNN takes {rnn_ms} ms, the LSTM "
                "{lstm_ms} ms, convolution {convolution_ms} ms and attention {attention_ms} ms.",
            ),
            device=lambda: timed_machine().device,
            threads=lambda: timed_machine().threads,
            d=lambda: SIZE,
            longest=lambda: TIMED_LENGTHS[-1],
            rnn_ms=lambda: milliseconds("rnn"),
            lstm_ms=lambda: milliseconds("lstm"),
            convolution_ms=lambda: milliseconds("convolution"),
            attention_ms=lambda: milliseconds("attention"),
        ),
        cache=figure_cache(__name__),
        within=one_thread,
    )
