"""Which value waits for which: how many steps in sequence a layer needs, and how long a path through it is.

A node (l, t) is the value at position t = 1 … n of layer l; layer 0 holds the inputs, layers 1 … L what is computed.
An edge from one node to another says that the second cannot be computed before the first is known.
Both numbers are found by search in the graph, not by formula.

Source: Vaswani et al. 2017, Table 1 (sequential operations, maximum path length).
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

__all__ = [
    "DependencyGraph",
    "recurrence",
    "convolution",
    "attention",
    "earliest_steps",
    "sequential_steps",
    "path_length",
]

Node = tuple[int, int]


@dataclass(frozen=True)
class DependencyGraph:
    """Nodes (layer, position), and edges (from, to) between their indices.  Raises ValueError for other indices."""

    nodes: list[Node]
    edges: list[tuple[int, int]]

    def __post_init__(self):
        last = len(self.nodes) - 1
        if outside := [(i, j) for i, j in self.edges if not (0 <= i <= last and 0 <= j <= last)]:
            raise ValueError(f"edges {outside} lead outside 0 … {last}, the indices of the nodes")


def recurrence(n: int, layers: int = 1) -> DependencyGraph:
    """h_t^l waits for h_t^{l-1}, the layer below, and for h_{t-1}^l, the step before."""
    return layered(n, layers, lambda layer, t: [(layer - 1, t), (layer, t - 1)])


def convolution(n: int, k: int, layers: int = 1) -> DependencyGraph:
    """Position t reads t−k+1 … t of the layer below, those that exist: a causal kernel of size k, stride 1."""
    if k < 1:
        raise ValueError(f"k={k}: the kernel must read at least 1 position")
    return layered(n, layers, lambda layer, t: [(layer - 1, s) for s in range(t - k + 1, t + 1)])


def attention(n: int, layers: int = 1) -> DependencyGraph:
    """Every position reads all n positions of the layer below."""
    return layered(n, layers, lambda layer, t: [(layer - 1, s) for s in range(1, n + 1)])


def layered(n: int, layers: int, reads: Callable[[int, int], list[Node]]) -> DependencyGraph:
    """Return n positions in layers 0 … L, where node (l, t) waits for those of ``reads(l, t)`` that exist."""
    if n < 1 or layers < 1:
        raise ValueError(f"n={n} and layers={layers}: both must be at least 1")
    nodes = [(layer, t) for layer in range(layers + 1) for t in range(1, n + 1)]
    index = {node: i for i, node in enumerate(nodes)}
    edges = [(index[read], index[node]) for node in nodes[n:] for read in reads(*node) if read in index]
    return DependencyGraph(nodes, edges)


def earliest_steps(graph: DependencyGraph) -> list[int]:
    """Return for each node the step at which it can be known, when everything that is ready runs at once.

    This is the longest path to it, in edges; what waits for nothing, as the inputs do, has step 0.
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
            if waits_for[end] == 0:  # first in, first out: start is the latest of all that it waited for
                steps[end] = steps[start] + 1
                ready.append(end)
    if stuck := {i for i, count in enumerate(waits_for) if count > 0}:
        names = [graph.nodes[i] for i in cycle(graph, stuck)]
        raise ValueError(f"nodes {names} wait for one another in a cycle: none of these {len(names)} can be the first")
    return steps


def sequential_steps(graph: DependencyGraph) -> int:
    """Return how many steps must follow one another until every node is known.  Raises as ``earliest_steps`` does."""
    return max(earliest_steps(graph), default=0)


def path_length(graph: DependencyGraph, start: Node, end: Node) -> int | None:
    """Return the number of edges on the shortest path from one node to another, or None where there is no path.

    Raises ValueError for a node that the graph does not have.
    """
    for node in (start, end):
        if node not in graph.nodes:
            raise ValueError(f"node {node} is not among the graph's {len(graph.nodes)} nodes: name one of graph.nodes")
    later, goal = successors(graph), graph.nodes.index(end)
    length = {graph.nodes.index(start): 0}
    queue = deque(length)
    while queue and goal not in length:
        i = queue.popleft()
        for j in later[i]:
            if j not in length:  # breadth first, so that the first way to a node is a shortest one
                length[j] = length[i] + 1
                queue.append(j)
    return length.get(goal)


def successors(graph: DependencyGraph) -> list[list[int]]:
    """Return for each node the nodes that wait for it."""
    later = [[] for _ in graph.nodes]
    for start, end in graph.edges:
        later[start].append(end)
    return later


def cycle(graph: DependencyGraph, stuck: set[int]) -> list[int]:
    """Return one cycle among nodes of which each waits for another of them."""
    before = {end: start for start, end in graph.edges if start in stuck}
    walk = [min(stuck)]
    while before[walk[-1]] not in walk:  # backwards, for what comes after a cycle is stuck without being on it
        walk.append(before[walk[-1]])
    return walk[walk.index(before[walk[-1]]) :][::-1]
