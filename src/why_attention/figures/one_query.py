"""Figure one-query: a token's query scores every key, and the softmax of the scores mixes the values.

Four tokens with queries, keys and values small enough to check by hand; the scores and their softmax are those of
``scaled_dot_product_attention``.
"""

import math

import torch

from explorable import Choice, Control, Diagram, Edge, Explorable, Node, Sentence, Text
from why_attention.attention import scaled_dot_product_attention
from why_attention.figure_cache import figure_cache
from why_attention.one_thread import one_thread

TOKENS = {  # what a control calls a token, and its word; of the example that the page has just computed
    "cat": Text(zh="猫", en="cat"),
    "table": Text(zh="桌子", en="table"),
    "jumped": Text(zh="跳", en="jumped"),
    "it": Text(zh="它", en="it"),
}
NAMES = list(TOKENS)
Q = torch.tensor([[0.0, -1.0], [-1.0, 1.0], [1.0, 0.5], [1.0, 1.0]])
K = torch.tensor([[1.0, 1.0], [-1.0, 1.0], [0.0, -1.0], [0.5, 0.5]])
V = torch.tensor([[10.0], [20.0], [30.0], [40.0]])
PLACES = {  # of every part: its column, and how many columns it takes
    "token": (0, 0.95),
    "key": (1.4, 0.85),
    "score": (2.55, 0.85),
    "weight": (3.6, 0.7),
    "value": (4.6, 0.64),
    "output": (5.75, 0.8),
}
HEADS = 3.8  # the row of what each column is


def attend(asks: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the scores q·k/√d_k and the weights of the token that asks: (4,), (4,)."""
    q = Q[[NAMES.index(asks)]]
    _, weights = scaled_dot_product_attention(q, K, V)
    return q[0] @ K.T / math.sqrt(K.shape[1]), weights[0]


def output(asks: str) -> float:
    """Return the weighted sum of the values."""
    return scaled_dot_product_attention(Q[[NAMES.index(asks)]], K, V)[0].item()


def number(value: float, digits: int = 2) -> str:
    """Write a number, whole and half ones as they are: 1, −0.5, 0.71."""
    text = f"{value:g}" if value * 2 == int(value * 2) else f"{value:.{digits}f}"
    return text.replace("-", "−")


def vector(values: torch.Tensor) -> str:
    """Write a vector of whole and half numbers: (1, −½)."""
    return f"({', '.join(number(value).replace('0.5', '½') for value in values.tolist())})"


def written(asks: str) -> dict:
    """Return the numbers of every part: queries at their tokens, keys, scores, weights, values and the output."""
    scores, weights = attend(asks)
    dots = K @ Q[NAMES.index(asks)]
    texts = {"output": number(output(asks), 1)}
    for j, name in enumerate(NAMES):
        texts |= {
            f"token {name}": vector(Q[j]),
            f"key {name}": vector(K[j]),
            f"score {name}": f"{number(dots[j].item())}/√2\n{number(scores[j].item())}",
            f"weight {name}": number(weights[j].item()),
            f"value {name}": number(V[j].item()),
        }
    return texts


def lit(asks: str) -> dict:
    """Return what is lit: the token that asks, all keys, and each value as strongly as its weight, the largest fully."""
    _, weights = attend(asks)
    weights = weights / weights.max()
    strengths: dict = {f"token {asks}": 1, "output": 1}
    for name, weight in zip(NAMES, weights.tolist()):
        asked = {(f"token {token}", f"key {name}"): 1 if token == asks else None for token in NAMES}
        way = [f"key {name}", f"score {name}", (f"key {name}", f"score {name}"), (f"score {name}", f"weight {name}")]
        mixed = [f"weight {name}", f"value {name}", (f"weight {name}", f"value {name}"), (f"value {name}", "output")]
        strengths |= asked | dict.fromkeys(way, 1) | dict.fromkeys(mixed, weight)
    return strengths


def nodes() -> list[Node]:
    made = [
        Node("queries", PLACES["token"][0], HEADS, symbol="q_i", label=Text(zh="查询", en="query"), shape="text"),
        Node("keys", PLACES["key"][0], HEADS, symbol="k_j", label=Text(zh="键", en="key"), shape="text"),
        Node("scores", PLACES["score"][0], HEADS, symbol="s_{ij}", label=Text(zh="分数", en="score"), shape="text"),
        Node("weights", PLACES["weight"][0], HEADS, symbol="a_{ij}", label=Text(zh="权重", en="weight"), shape="text"),
        Node("values", PLACES["value"][0], HEADS, symbol="v_j", label=Text(zh="值", en="value"), shape="text"),
        Node("head", PLACES["output"][0], HEADS, symbol="y_i", label=Text(zh="输出", en="output"), shape="text"),
    ]
    for j, (name, word) in enumerate(TOKENS.items()):
        for part in ["token", "key", "score", "weight", "value"]:
            column, wide = PLACES[part]
            label = word if part in ("token", "key") else ""
            made.append(Node(f"{part} {name}", column, 3 - j, label=label, color="blue", size=(wide, 0.66)))
    column, wide = PLACES["output"]
    return [*made, Node("output", column, 1.5, symbol="y_i", color="blue", size=(wide, 0.8))]


def edges() -> list[Edge]:
    made = [Edge(f"token {token}", f"key {name}") for token in NAMES for name in NAMES]
    for name in NAMES:
        ways = ["key", "score", "weight", "value"]
        made += [Edge(f"{a} {name}", f"{b} {name}") for a, b in zip(ways, ways[1:])]
        made.append(Edge(f"value {name}", "output"))
    return made


def largest(asks: str) -> int:
    return int(attend(asks)[1].argmax())


def figure() -> Explorable:
    """Return the figure in the page's language."""
    return Explorable(
        "one-query",
        title=Text(zh="一个查询问遍所有的键", en="One query asks all keys"),
        caption=Text(
            zh="从左到右：查询、键、分数、权重、值、输出；线越浓，权重越大。",
            en="From left to right: query, keys, scores, weights, values, output. The stronger the line, the larger the weight.",
        ),
        how_to_read=Text(
            zh="选一个 token 来问。它的查询 q 和每个键 k 做内积，除以 √d_k（这里 d_k = 2），得到分数；"
            "softmax 把四个分数变成权重，加起来是 1；输出是四个值按权重加起来。",
            en="Choose the token that asks. The inner product of its query q with every key k, divided by √d_k (here d_k = 2), "
            "is a score; softmax turns the four scores into weights that add up to 1; the output adds up the four values by "
            "these weights.",
        ),
        limits=Text(
            zh="查询、键、值是手工给的，为的是能用笔验算；真实的网络里，它们由学出来的矩阵算出，有几十上百个分量。",
            en="Queries, keys and values are made by hand, so that you can check them with a pencil; in a real network learned "
            "matrices compute them, with tens or hundreds of components.",
        ),
        controls=[Control("asks", TOKENS, label=Text(zh="由哪个词发问", en="Who asks"), start="it")],
        panels=[
            Diagram(
                nodes(),
                edges(),
                title=Text(zh="从查询到输出", en="From query to output"),
                lit=lit,
                written=written,
                flow="right",
            )
        ],
        sentence=Sentence(
            Text(
                zh="“{asks}”把 {most} 的权重给了“{best}”，四个值的加权和是 {output}。",
                en="“{asks}” gives {most} of its weight to “{best}”; the weighted sum of the values is {output}.",
            ),
            most=lambda asks: number(attend(asks)[1].max().item()),
            best=Choice(largest, list(TOKENS.values())),
            output=lambda asks: number(output(asks), 1),
        ),
        cache=figure_cache(__name__),
        within=one_thread,
    )
