"""Figure transformer-block: which part of a Transformer block mixes positions, and which work on each alone.

What each part reads is measured: an input of the chapter's ``Block`` is moved, and what its parts return is compared.
"""

from functools import cache

import torch

from explorable import Control, Diagram, Edge, Explorable, Node, Sentence, Text
from why_attention.figure_cache import figure_cache
from why_attention.one_thread import one_thread
from why_attention.transformer import Block

WORDS = [Text(zh="狗", en="dog"), Text(zh="咬", en="bites"), Text(zh="了", en="a"), Text(zh="人", en="man")]
N, SIZE, HEADS = len(WORDS), 16, 2  # n, d, heads
PARTS = ["self_norm", "self_attention", "feed_forward_norm", "feed_forward"]  # of a Block, in their order
POSITIONS = range(1, N + 1)
ASIDE = 0.43  # columns: how far beside a token its residual connection runs


@cache
def dependences() -> dict[str, list[list[bool]]]:
    """Return for each part of a block, and for the whole, which position of what it returns hears of which input of it.

    Every part is given noise, and the same with one position moved.
    """
    generator = torch.Generator().manual_seed(0)
    block = Block(SIZE, HEADS)
    whole = {name: part for name, part in block.named_children() if name in PARTS} | {"block": block}
    x = torch.randn(N, SIZE, generator=generator)
    heard = {}
    for name, part in whole.items():
        moved = [out(part, x + torch.eye(N)[:, [j]] * torch.randn(SIZE, generator=generator)) for j in range(N)]
        changed = torch.stack([(one != out(part, x)).any(-1) for one in moved], dim=1)  # (output, input)
        heard[name] = changed.tolist()
    return heard


@torch.no_grad()
def out(part: torch.nn.Module, x: torch.Tensor) -> torch.Tensor:
    """Return what a part makes of tokens (n, d); attention also returns weights, which are left out."""
    y = part(x)
    return y[0] if isinstance(y, tuple) else y


def reads(part: str, i: int) -> list[int]:
    """Return which positions of what it is given a part reads for position i, counted from 1."""
    return [j for j in POSITIONS if dependences()[part][i - 1][j - 1]]


def steps() -> list[tuple[str, str, str | None]]:
    """Return the rows of the drawing from below: where an arrow starts, where it ends, and the part of it that reads."""
    return [
        ("x", "norm 1", "self_norm"),
        ("norm 1", "attend", "self_attention"),
        ("attend", "add 1", None),
        ("add 1", "norm 2", "feed_forward_norm"),
        ("norm 2", "ffn", "feed_forward"),
        ("ffn", "add 2", None),
        ("add 2", "y", None),
    ]


RESIDUALS = [("x", "add 1"), ("add 1", "add 2")]
LEAVES = {"x": 0.47, "add 1": 3.6}  # rows: where a residual connection leaves the way upwards
ROWS = {"x": 0, "norm 1": 0.95, "attend": 2.35, "add 1": 3.25, "norm 2": 4.2, "ffn": 5.15, "add 2": 6, "y": 6.9}


def lit(i: int) -> dict:
    """Return what is lit: all that the output at position i is computed from."""
    strengths: dict = {f"y {i}": 1}
    needed = {"y": {i}}
    for start, end, part in reversed(steps()):
        for position in needed[end]:
            for j in reads(part, position) if part else [position]:
                needed.setdefault(start, set()).add(j)
                strengths |= {f"{start} {j}": 1, (f"{start} {j}", f"{end} {position}"): 1}
        for below, above in RESIDUALS:
            if above == end:
                needed.setdefault(below, set()).update(needed[end])
                strengths |= {(f"{below} {j}", f"{end} {j}"): 1 for j in needed[end]}
    return strengths


def shape(name: str, row: float, symbol: str) -> Node:
    """Return the shape of what is there in a row, at the right of the drawing."""
    return Node(f"shape {name}", 5.25, row, symbol, shape="text", align="end")


def nodes() -> list[Node]:
    norm = Text(zh="归一化", en="norm")
    made = []
    for j, word in zip(POSITIONS, WORDS):
        words = {"x": word, "norm 1": norm, "attend": Text(zh="注意力", en="attend"), "norm 2": norm}
        words |= {"ffn": Text(zh="前馈", en="FFN")}
        made += [
            Node(f"{part} {j}", j, ROWS[part], label=label, color="blue", size=(0.66, 0.56))
            for part, label in words.items()
        ]
        made.append(Node(f"y {j}", j, ROWS["y"], f"y_{j}", color="blue", size=(0.66, 0.56)))
        made += [Node(f"add {k} {j}", j, ROWS[f"add {k}"], "+", shape="circle", color="blue") for k in (1, 2)]
    return [
        *made,
        shape("x", ROWS["x"], symbol="(n, d)"),
        shape("weights", 1.65, symbol="A: (n, n)"),
        shape("attend", ROWS["add 1"], symbol="(n, d)"),
        shape("wide", ROWS["ffn"], symbol="(n, 4d)"),
        shape("y", ROWS["y"], symbol="(n, d)"),
        Node("shapes", 5.25, 7.5, label=Text(zh="形状", en="shape"), shape="text", align="end"),
    ]


def edges() -> list[Edge]:
    made = [
        Edge(f"{start} {j}", f"{end} {i}")
        for start, end, part in steps()
        for i in POSITIONS
        for j in (reads(part, i) if part else [i])
    ]
    for below, above in RESIDUALS:
        for j in POSITIONS:
            corners = ((j, LEAVES[below]), (j + ASIDE, LEAVES[below]), (j + ASIDE, ROWS[above]))
            made.append(Edge(f"{below} {j}", f"{above} {j}", via=corners))
    return made


def figure() -> Explorable:
    """Return the figure in the page's language."""
    return Explorable(
        "transformer-block",
        title=Text(zh="一个 Transformer 块", en="A Transformer block"),
        caption=Text(
            zh="亮的是最上面那个输出读到的；只有注意力让各个位置互相看见。",
            en="Lit: what the output at the top is computed from. Only attention mixes positions.",
        ),
        how_to_read=Text(
            zh="从下往上，一列是一个 token：归一化，注意力，加回原来的；再归一化，前馈网络，再加回。绕过去的线是残差连接。"
            "右边是各处的形状：n 个 token，每个 d 个分量；注意力权重 A 是 n × n，前馈网络里面宽 4d。",
            en="From the bottom up, a column is a token: normalise, attend, add what was there; normalise again, feed forward, add "
            "again. The lines that go round are residual connections. At the right are the shapes: n tokens of d components; the "
            "attention weights A are n × n; inside, the feed-forward network is 4d wide.",
        ),
        limits=Text(
            zh="这是先归一化的块（pre-norm），没有掩码，也没有交叉注意力；真实的模型叠很多个这样的块。",
            en="This block normalises first (pre-norm) and has no mask and no cross-attention; a real model stacks many of them.",
        ),
        controls=[
            Control(
                "i", list(POSITIONS), label=Text(zh="输出的位置", en="output"), symbol="i", start=2, continuous=False
            )
        ],
        panels=[Diagram(nodes(), edges(), title=Text(zh="块的结构", en="The parts of a block"), lit=lit)],
        sentence=Sentence(
            Text(
                zh="输出 {i} 靠注意力读到 {seen} 个 token；其余各部分只处理位置 {i}。",
                en="Output {i} hears of {seen} tokens through attention; every other part works on position {i} alone.",
            ),
            seen=lambda i: str(len(reads("block", i))),
        ),
        cache=figure_cache(__name__),
        within=one_thread,
    )
