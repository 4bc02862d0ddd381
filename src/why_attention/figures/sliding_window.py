"""Figure sliding-window: a window of k = 3 slides over the tokens, and layers of it stack.

What an output reads is the cone of the chapter's ``receptive_field``.
"""

from explorable import Control, Diagram, Edge, Explorable, Node, Sentence, Text
from why_attention.figure_cache import figure_cache
from why_attention.one_thread import one_thread
from why_attention.receptive_field import Layer, cone

WORDS = list(zip("昨天 咬 了 人 的 狗 又 跑 了".split(), "the dog that bit a man ran away again".split()))
N, KERNEL, DEPTH = len(WORDS), 3, 3
POSITIONS = list(range(2, N))  # whose window stands within the sequence
ROWS = [0, 1.15, 2.15, 3.15]  # of the tokens and the layers


def reads(i: int, depth: int = DEPTH) -> list[list[int]]:
    """Return which tokens, and values of each layer above them, the output at i reads, all counted from 1."""
    layers = cone([Layer(KERNEL)] * depth, N, i - 1, causal=False)
    return [(1 + layer.nonzero().flatten()).tolist() for layer in layers]


def lit(i: int) -> dict:
    """Return what is lit: all that the output at i reads; of the arrows only these are there."""
    layers = reads(i)
    strengths: dict = {f"{layer} {j}": 1 for layer, positions in enumerate(layers) for j in positions}
    for layer in range(1, DEPTH + 1):
        for above in range(1, N + 1):
            there = 1 if above in layers[layer] else None
            strengths |= {(f"{layer - 1} {j}", f"{layer} {above}"): there for j in reads(above, 1)[0]}
    return strengths | {"window": 1}


def moved(i: int) -> dict:
    """Return where the window of the highest layer stands: on what it reads of the layer below."""
    return {"window": (i, ROWS[DEPTH - 1])}


def nodes() -> list[Node]:
    made = [
        Node("window", 1, ROWS[DEPTH - 1], shape="frame", color="green", size=(KERNEL - 0.06, 0.72)),
        Node("name 1", 0.2, ROWS[1], symbol="l = 1", shape="text", align="end"),
        Node("name 2", 0.2, ROWS[2], symbol="l = 2", shape="text", align="end"),
        Node("name 3", 0.2, ROWS[3], symbol="l = 3", shape="text", align="end"),
    ]
    for j, (zh, en) in enumerate(WORDS, 1):
        word = Text(zh=zh, en=en)
        made.append(Node(f"0 {j}", j, ROWS[0], symbol=f"x_{j}", label=word, color="green", size=(0.86, 0.5)))
        made += [Node(f"{layer} {j}", j, ROWS[layer], color="green", size=(0.6, 0.4)) for layer in range(1, DEPTH + 1)]
    return made


def edges() -> list[Edge]:
    return [
        Edge(f"{layer - 1} {j}", f"{layer} {i}")
        for layer in range(1, DEPTH + 1)
        for i in range(1, N + 1)
        for j in reads(i, 1)[0]
    ]


def figure() -> Explorable:
    """Return the figure in the page's language."""
    return Explorable(
        "sliding-window",
        title=Text(zh="小窗口滑动，层层叠加", en="A small window slides, layer upon layer"),
        caption=Text(
            zh="亮的是最上面那个输出读到的；虚线框是它的窗口。",
            en="Lit: what the output at the top reads. The dashed frame is its window.",
        ),
        how_to_read=Text(
            zh="最下面是 token，上面是三层卷积，每个方块是一个值，读下面一层的三个值。移动位置 i：亮的是最上层这个值"
            "直接和间接读到的，灰的它读不到。窗口伸出两端的部分，读到的是 0。",
            en="At the bottom are the tokens, above them three layers of convolution; every box is a value that reads three "
            "values of the layer below. Move the position i: what the value at the top reads, directly or indirectly, is lit; what "
            "it cannot see is grey. Beyond the ends a window reads zeros.",
        ),
        limits=Text(
            zh="读得到不等于有影响：远处的输入实际有多大影响，看这一页后面的图。",
            en="Seen is not the same as used: a later figure on this page shows how much influence distant inputs have.",
        ),
        controls=[Control("i", POSITIONS, label=Text(zh="位置", en="position"), symbol="i", start=4, continuous=False)],
        panels=[
            Diagram(
                nodes(),
                edges(),
                title=Text(zh="窗口和它读到的", en="The window and what it reads"),
                lit=lit,
                moved=moved,
            )
        ],
        sentence=Sentence(
            Text(
                zh=f"叠 {DEPTH} 层宽度为 {KERNEL} 的窗口，"
                "位置 {i} 能读到 {n} 个 token 中的 {seen} 个，其余 {unseen} 个读不到。",
                en=f"Through {DEPTH} layers of windows {KERNEL} wide, "
                "position {i} reads {seen} of the {n} tokens and cannot see {unseen}.",
            ),
            n=lambda: str(N),
            seen=lambda i: str(len(reads(i)[0])),
            unseen=lambda i: str(N - len(reads(i)[0])),
        ),
        cache=figure_cache(__name__),
        within=one_thread,
    )
