"""Figure gates: the gates of an LSTM and of a GRU, and what a cell keeps after many steps.

The cells are the chapter's, with one unit and all weights 0, so that a gate is what its bias makes it; their candidate is
then 0 as well, and what a state still holds is what the gate has kept.
"""

from functools import cache

import torch

from explorable import Choice, Control, Diagram, Edge, Explorable, Node, Sentence, Text
from explorable.numbers import power_text
from why_attention.figure_cache import figure_cache
from why_attention.one_thread import one_thread
from why_attention.rnn import Cell, GRUCell, LSTMCell

CELLS = {"LSTM": LSTMCell, "GRU": GRUCell}
KEEPS = {"LSTM": 1, "GRU": 1}  # the block of the gate that keeps: i, f, g, o and r, z, n, counted from 0
KEEPING = {"LSTM": "f", "GRU": "z"}  # its symbol
GATES = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0]
STEPS = [1, 4, 16, 64]
DIGITS = 2  # of what is left
MEMORY, PRODUCT, GATE, INPUT, HEAD, LEFT = 2, 1.05, 0, -0.78, -1.4, -1.95  # rows


@torch.no_grad()
def make_cell(cell: str, gate: float) -> Cell:
    """Return a cell of one unit whose keeping gate is as open as is said, whatever it reads."""
    made = CELLS[cell](1, 1, dtype=torch.float64)
    for weights in made.parameters():
        weights.zero_()
    made.b[KEEPS[cell]] = torch.tensor(gate, dtype=torch.float64).logit()
    return made


@cache
def kept(cell: str, gate: float) -> list[float]:
    """Return how much of its memory a cell holds after 1 … STEPS[-1] steps."""
    made, x = make_cell(cell, gate), torch.zeros(1, dtype=torch.float64)
    state = torch.ones(made.state_size, dtype=torch.float64)
    left = []
    with torch.no_grad():
        for _ in range(STEPS[-1]):
            state = made(x, state)
            left.append(state[-1].item())  # c of an LSTM, h of a GRU
    return left


def left_text(cell: str, gate: float, steps: int) -> str:
    return power_text(torch.tensor(kept(cell, gate)[steps - 1], dtype=torch.float64).log10().item(), DIGITS)


@torch.no_grad()
def opens(cell: str, gate: float) -> float:
    """Return how far the way opens on which the new is written: i of an LSTM, 1 − z of a GRU."""
    made = make_cell(cell, gate)
    one, two, *_ = made.gates(torch.zeros(1, dtype=torch.float64), torch.zeros(1, dtype=torch.float64))
    return (one if cell == "LSTM" else 1 - two).item()


def lit(cell: str, gate: float) -> dict:
    """Return what is lit: the chosen cell, its lines as open as their gates, and what is left after some steps."""
    writes = opens(cell, gate)
    strengths: dict = {node.name: 1 if node.name.startswith(cell) else None for node in [*LSTM, *GRU]}
    strengths |= {edge.name: 1 if edge.start.startswith(cell) else None for edge in [*LSTM_EDGES, *GRU_EDGES]}
    strengths |= {(f"{cell} keep", f"{cell} ×"): gate, (f"{cell} ×", f"{cell} +"): gate}
    strengths |= {(f"{cell} write", f"{cell} × new"): writes, (f"{cell} × new", f"{cell} +"): writes}
    strengths |= {f"left {steps}": kept(cell, gate)[steps - 1] for steps in STEPS}
    return strengths | {(f"left {a}", f"left {b}"): kept(cell, gate)[b - 1] for a, b in zip(STEPS, STEPS[1:])}


def written(cell: str, gate: float) -> dict:
    numbers = {
        (f"{cell} keep", f"{cell} ×"): f"{KEEPING[cell]} = {gate:g}",
        (f"{cell} write", f"{cell} × new"): f"{opens(cell, gate):.2g}"
        if cell == "GRU"
        else f"i = {opens(cell, gate):.2g}",
    }
    tanh = {("LSTM c", "LSTM × out"): "tanh"} if cell == "LSTM" else {}
    return numbers | tanh | {f"left {steps}": left_text(cell, gate, steps) for steps in STEPS}


def box(name: str, column: float, row: float, wide: float = 0.78, high: float = 0.56, **words) -> Node:
    return Node(name, column, row, color="vermilion", size=(wide, high), **words)


def circle(name: str, column: float, row: float, symbol: str) -> Node:
    return Node(name, column, row, symbol, shape="circle", color="vermilion")


LSTM = [
    box("LSTM c before", 0, MEMORY, symbol="c_{t−1}"),
    circle("LSTM ×", 1.3, MEMORY, "×"),
    circle("LSTM +", 3.4, MEMORY, "+"),
    box("LSTM c", 4.6, MEMORY, symbol="c_t"),
    circle("LSTM × out", 6.1, MEMORY, "×"),
    box("LSTM h", 7.1, MEMORY, symbol="h_t"),
    circle("LSTM × new", 3.4, PRODUCT, "×"),
    box("LSTM keep", 1.3, GATE, 1.3, symbol="f_t", label=Text(zh="遗忘门", en="forget")),
    box("LSTM write", 2.7, GATE, 1.3, symbol="i_t", label=Text(zh="输入门", en="input")),
    box("LSTM new", 4.1, GATE, 1.3, symbol="g_t", label=Text(zh="候选", en="candidate")),
    box("LSTM out", 6.1, GATE, 1.3, symbol="o_t", label=Text(zh="输出门", en="output")),
    box("LSTM input", 3.7, INPUT, 6.12, 0.4, symbol="h_{t−1}, x_t"),
]
GRU = [
    box("GRU h before", 0, MEMORY, symbol="h_{t−1}"),
    circle("GRU ×", 1.3, MEMORY, "×"),
    circle("GRU +", 3.4, MEMORY, "+"),
    box("GRU h", 7.1, MEMORY, symbol="h_t"),
    circle("GRU × new", 3.4, PRODUCT, "×"),
    box("GRU write", 2.15, PRODUCT, 0.7, symbol="1−z_t"),
    box("GRU keep", 1.3, GATE, 1.3, symbol="z_t", label=Text(zh="更新门", en="update")),
    box("GRU new", 4.1, GATE, 1.3, symbol="n_t", label=Text(zh="候选", en="candidate")),
    box("GRU reset", 6.1, GATE, 1.3, symbol="r_t", label=Text(zh="重置门", en="reset")),
    box("GRU input", 3.7, INPUT, 6.12, 0.4, symbol="h_{t−1}, x_t"),
]
LSTM_EDGES = [
    Edge("LSTM c before", "LSTM ×"),
    Edge("LSTM ×", "LSTM +"),
    Edge("LSTM +", "LSTM c"),
    Edge("LSTM c", "LSTM × out"),
    Edge("LSTM × out", "LSTM h"),
    Edge("LSTM × new", "LSTM +"),
    Edge("LSTM keep", "LSTM ×"),
    Edge("LSTM write", "LSTM × new"),
    Edge("LSTM new", "LSTM × new"),
    Edge("LSTM out", "LSTM × out"),
    *(Edge("LSTM input", f"LSTM {gate}") for gate in ["keep", "write", "new", "out"]),
]
GRU_EDGES = [
    Edge("GRU h before", "GRU ×"),
    Edge("GRU ×", "GRU +"),
    Edge("GRU +", "GRU h"),
    Edge("GRU × new", "GRU +"),
    Edge("GRU keep", "GRU ×"),
    Edge("GRU keep", "GRU write"),
    Edge("GRU write", "GRU × new"),
    Edge("GRU new", "GRU × new"),
    Edge("GRU reset", "GRU new"),
    *(Edge("GRU input", f"GRU {gate}") for gate in ["keep", "new", "reset"]),
]


def nodes() -> list[Node]:
    head = Text(zh="旧的还剩多少：", en="What is left of the old after so many steps:")
    made = [*LSTM, *GRU, Node("head", -0.4, HEAD, label=head, shape="text", align="start")]
    for at, steps in enumerate(STEPS):
        after = Text(zh=f"{steps} 步后", en=f"after {steps}")
        made.append(box(f"left {steps}", 0.5 + 2.04 * at, LEFT, 1.7, label=after))
    return made


def edges() -> list[Edge]:
    return [*LSTM_EDGES, *GRU_EDGES, *(Edge(f"left {a}", f"left {b}") for a, b in zip(STEPS, STEPS[1:]))]


def figure() -> Explorable:
    """Return the figure in the page's language."""
    return Explorable(
        "gates",
        title=Text(zh="门开多大，旧的留多久", en="How long a gate keeps the old"),
        caption=Text(
            zh="上面是一步的结构，线越浓，门开得越大；下面是旧的还剩多少。",
            en="Above, one step: the stronger a line, the wider its gate. Below, what is left of the old.",
        ),
        how_to_read=Text(
            zh="最上面一行是记忆从左走到右：先乘一个门，留下一部分旧的，再加上新写的。LSTM 的 f 管留多少，i 管写多少，各开各的；"
            "GRU 用同一个门 z，留 z，写 1 − z。这里各个权重都是 0，候选也是 0，所以留下多少只由门决定；其余的门都开一半。",
            en="The memory goes from left to right along the top: a gate multiplies it and keeps a part, then what is new is added. "
            "In an LSTM f keeps and i writes, each on its own; a GRU has one gate z for both, it keeps z and writes 1 − z. All "
            "weights are 0 here, and so is the candidate: what is left depends on the gate alone; the other gates are half open.",
        ),
        limits=Text(
            zh="真的网络里，门由输入和旧状态算出，每一步、每个分量都不一样。",
            en="In a real network gates are computed from the input and the old state, and differ at every step and component.",
        ),
        controls=[
            Control("gate", GATES, label=Text(zh="遗忘门 f（GRU：z）", en="forget gate f (GRU: z)"), start=0.9),
            Control("cell", {"LSTM": "LSTM", "GRU": "GRU"}, label=Text(zh="循环单元", en="Cell")),
        ],
        panels=[
            Diagram(
                nodes(),
                edges(),
                title=Text(zh="门和记忆", en="Gates and memory"),
                lit=lit,
                written=written,
            )
        ],
        sentence=Sentence(
            Text(
                zh="每步留下 {gate}：16 步后剩 {near}，64 步后剩 {far}。{writes}",
                en="Keeping {gate} a step leaves {near} after 16 steps, {far} after 64. {writes}",
            ),
            near=lambda cell, gate: left_text(cell, gate, 16),
            far=lambda cell, gate: left_text(cell, gate, 64),
            writes=Choice(
                lambda cell: list(CELLS).index(cell),
                [
                    Text(zh="写由另一个门管。", en="Another gate writes."),
                    Text(zh="留得多，写得就少。", en="Keeping more writes less."),
                ],
            ),
        ),
        cache=figure_cache(__name__),
        within=one_thread,
    )
