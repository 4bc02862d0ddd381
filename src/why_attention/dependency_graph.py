"""The dependency graph of a layer: how many sequential operations it needs, and how long its paths are.

A node (l, t) is the value at position t = 1 … n of layer l; layer 0 is the input.  An edge says that its second node
needs the value of the first.  Both numbers are found by a search in the graph, not by a formula.

Source: Vaswani et al. 2017, Table 1 (sequential operations, maximum path length).
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

from why_attention.checks import check_all_whole, check_whole
from why_attention.convolution import padding

__all__ = [
    "DependencyGraph",
    "recurrence",
    "convolution",
    "attention",
    "earliest_steps",
    "sequential_steps",
    "path_length",
    "path_lengths",
]

Node = tuple[int, ...]  # (layer, position)


@dataclass(frozen=True)
class DependencyGraph:
    """Nodes (layer, position), and edges (from, to) as pairs of indices.  Raises ValueError for other indices."""

    nodes: list[Node]
    edges: list[tuple[int, int]]

    def __post_init__(self):
        def is_index(i: Any) -> bool:
            return isinstance(i, Integral) and 0 <= int(i) < len(self.nodes)

        if outside := [(i, j) for i, j in self.edges if not (is_index(i) and is_index(j))]:
            raise ValueError(f"edges {outside} lead outside 0 … {len(self.nodes) - 1}, the indices of the nodes")


def recurrence(n: int, layers: int = 1) -> DependencyGraph:
    """h_t^l needs h_t^{l-1}, the layer below, and h_{t-1}^l, the step before."""
    return layered_graph(n, layers, lambda layer, t: [(layer - 1, t), (layer, t - 1)])


def convolution(n: int, k: int, layers: int = 1, growth: int = 1, causal: bool = True) -> DependencyGraph:
    """Position t of layer l reads k positions of the layer below, growth^{l-1} apart, those that exist.

    A causal kernel ends at t, a centred one has t in its middle.  Raises ValueError as ``convolution.padding`` does.
    """

    (growth,) = check_whole(growth=growth)

    def reads(layer: int, t: int) -> list[Node]:
        dilation = growth ** (layer - 1)
        before, _ = padding(k, dilation, causal)
        return [(layer - 1, t - before + m * dilation) for m in range(k)]

    return layered_graph(n, layers, reads)


def attention(n: int, layers: int = 1, window: int | None = None, causal: bool = False) -> DependencyGraph:
    """Position t reads the positions of the layer below: all, or those at most ``window`` away; causal, none later.

    Raises ValueError for a negative window.
    """
    (n,) = check_whole(n=n)
    (reach,) = [n] if window is None else check_whole(least=0, window=window)

    def reads(layer: int, t: int) -> list[Node]:
        last = t if causal else min(n, t + reach)
        return [(layer - 1, s) for s in range(max(1, t - reach), last + 1)]

    return layered_graph(n, layers, reads)


def layered_graph(n: int, layers: int, reads: Callable[[int, int], list[Node]]) -> DependencyGraph:
    """Return n positions in layers 0 … L, where node (l, t) needs the existing ones of ``reads(l, t)``."""
    n, layers = check_whole(n=n, layers=layers)
    nodes: list[Node] = [(layer, t) for layer in range(layers + 1) for t in range(1, n + 1)]
    index = {node: i for i, node in enumerate(nodes)}
    edges = [(index[read], index[node]) for node in nodes[n:] for read in reads(*node) if read in index]
    return DependencyGraph(nodes, edges)


def earliest_steps(graph: DependencyGraph) -> list[int]:
    """Return the earliest step at which each node can be computed, if all nodes that are ready run in parallel.

    This is the longest path to the node, in edges; inputs have step 0.
    Raises ValueError for a cycle.  Source: Kahn 1962 (one pass in topological order).
    """
    later, waits_for = successors(graph), [0] * len(graph.nodes)
    for _, end in graph.edges:
        waits_for[end] += 1
    steps = [0] * len(graph.nodes)
    ready = deque(i for i, count in enumerate(waits_for) if count == 0)
    while ready:
        start = ready.popleft()
        for end in later[start]:
            waits_for[end] -= 1
            if waits_for[end] == 0:  # first in, first out: start is the latest of its inputs
                steps[end] = steps[start] + 1
                ready.append(end)
    if stuck := {i for i, count in enumerate(waits_for) if count > 0}:
        names = [graph.nodes[i] for i in cycle(graph, stuck)]
        raise ValueError(f"nodes {names} wait for one another in a cycle: none of these {len(names)} can be the first")
    return steps


def sequential_steps(graph: DependencyGraph) -> int:
    """Return how many sequential steps compute every node.  Raises as ``earliest_steps`` does."""
    return max(earliest_steps(graph), default=0)


def path_length(graph: DependencyGraph, start: Node, end: Node) -> int | None:
    """Return the number of edges on the shortest path between two nodes, or None without a path.

    Raises ValueError for an unknown node.
    """
    return path_lengths(graph, start)[number_of(graph, end)]


def path_lengths(graph: DependencyGraph, start: Node) -> list[int | None]:
    """Return the number of edges on the shortest path from ``start`` to each node, or None without a path.

    Raises as ``path_length`` does.
    """
    later, first = successors(graph), number_of(graph, start)
    lengths, queue = {first: 0}, deque([first])
    while queue:
        i = queue.popleft()
        for j in later[i]:
            if j not in lengths:  # breadth first: the first path to a node is a shortest one
                lengths[j] = lengths[i] + 1
                queue.append(j)
    return [lengths.get(i) for i in range(len(graph.nodes))]


def number_of(graph: DependencyGraph, node: Node) -> int:
    """Return the index of a node.  Raises ValueError for an unknown node."""
    node = tuple(check_all_whole("node", node, least=0))
    if node not in graph.nodes:
        raise ValueError(f"node {node} is not among the graph's {len(graph.nodes)} nodes: name one of graph.nodes")
    return graph.nodes.index(node)


def successors(graph: DependencyGraph) -> list[list[int]]:
    """Return for each node the nodes that need it."""
    later = [[] for _ in graph.nodes]
    for start, end in graph.edges:
        later[start].append(end)
    return later


def cycle(graph: DependencyGraph, stuck: set[int]) -> list[int]:
    """Return one cycle among nodes that each need another of them."""
    before = {end: start for start, end in graph.edges if start in stuck}
    walk = [min(stuck)]
    while before[walk[-1]] not in walk:  # backwards: nodes after a cycle are stuck too, but not on it
        walk.append(before[walk[-1]])
    return walk[walk.index(before[walk[-1]]) :][::-1]
