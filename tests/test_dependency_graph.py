"""Dependency graphs against slow simulations, matrix powers and closed forms."""

import itertools
import math
import random
from functools import partial

import pytest
import torch

from why_attention.dependency_graph import (
    DependencyGraph,
    attention,
    convolution,
    earliest_steps,
    path_length,
    path_lengths,
    recurrence,
    sequential_steps,
)
from why_attention.receptive_field import Layer, cone


def random_graph(seed, size=12):
    """Return a graph without cycles whose edges come in any order, some of them twice."""
    draw = random.Random(seed)
    order = draw.sample(range(size), size)
    edges = [(order[i], order[j]) for i, j in itertools.combinations(range(size), 2) if draw.random() < 0.25]
    edges += edges[:3]
    draw.shuffle(edges)
    return DependencyGraph([(0, t) for t in range(size)], edges)


def round_by_round(graph):
    """Return the round in which each node is known, computing in each all whose reads were known before it."""
    known, rounds = {}, 0
    while len(known) < len(graph.nodes):
        ready = [
            i
            for i in range(len(graph.nodes))
            if i not in known and all(start in known for start, end in graph.edges if end == i)
        ]
        known.update(dict.fromkeys(ready, rounds))
        rounds += 1
    return [known[i] for i in range(len(graph.nodes))]


def reachable(graph):
    """Return the shortest lengths between all pairs by relaxing every edge until nothing changes (Bellman-Ford)."""
    size = len(graph.nodes)
    length = {(i, i): 0 for i in range(size)}
    for _, i, (start, end) in itertools.product(range(size), range(size), graph.edges):
        if (i, start) in length:
            length[i, end] = min(length.get((i, end), math.inf), length[i, start] + 1)
    return length


# What waits for what


def test_small_graphs_have_the_edges_of_their_equations():
    def named(graph):
        assert len(set(graph.edges)) == len(graph.edges)
        return {(graph.nodes[start], graph.nodes[end]) for start, end in graph.edges}

    inputs, first, second = ([(layer, t) for t in (1, 2, 3)] for layer in range(3))
    assert recurrence(3, 2).nodes == inputs + first + second
    assert named(recurrence(3, 2)) == {
        *zip(inputs, first),
        *zip(first, second),
        *zip(first[:-1], first[1:]),
        *zip(second[:-1], second[1:]),
    }
    assert named(convolution(3, 2, 2)) == {
        *zip(inputs, first),
        *zip(first, second),
        *zip(inputs[:-1], first[1:]),
        *zip(first[:-1], second[1:]),
    }
    assert named(attention(3, 2)) == {*itertools.product(inputs, first), *itertools.product(first, second)}


GRAPHS = {
    "recurrence": recurrence(5, 4),
    "of one position": recurrence(1, 2),
    "attention": attention(5, 3),
    "convolution": convolution(8, 3, 2),
    "kernel wider than the input": convolution(3, 9, 4),
    "dilated": convolution(8, 2, 3, growth=2),
    "centred": convolution(8, 3, 2, growth=2, causal=False),
    "restricted": attention(8, 2, window=1),
    "restricted and causal": attention(8, 3, window=2, causal=True),
    **{f"random {seed}": random_graph(seed) for seed in range(20)},
}
each_graph = pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)


# How many steps


@each_graph
def test_earliest_steps_equal_a_simulation_in_rounds(graph):
    assert earliest_steps(graph) == round_by_round(graph)
    assert sequential_steps(graph) == max(round_by_round(graph))


@pytest.mark.parametrize("n, layers", [(1, 1), (1, 4), (2, 2), (5, 1), (8, 4), (100, 3), (1000, 1)])
def test_sequential_steps_equal_the_closed_forms(n, layers):
    graph = recurrence(n, layers)
    assert sequential_steps(graph) == n + layers - 1
    for (layer, t), step in zip(graph.nodes, earliest_steps(graph), strict=True):
        assert step == (0 if layer == 0 else layer + t - 1)
    parallel = [convolution(n, k, layers) for k in (1, 2, 3, 9)]
    if n <= 100:  # n² edges a layer
        parallel.append(attention(n, layers))
    for graph in parallel:
        assert sequential_steps(graph) == layers
        assert earliest_steps(graph) == [layer for layer, _ in graph.nodes]


def test_a_graph_without_nodes_takes_no_steps():
    assert earliest_steps(DependencyGraph([], [])) == [] and sequential_steps(DependencyGraph([], [])) == 0


# How long a path


@each_graph
def test_path_lengths_equal_relaxed_edges_between_all_pairs(graph):
    expected = reachable(graph)
    for i, start in enumerate(graph.nodes):
        lengths = [expected.get((i, j)) for j in range(len(graph.nodes))]
        assert path_lengths(graph, start) == lengths
        assert [path_length(graph, start, end) for end in graph.nodes] == lengths


def reads(graph, layers, position):
    """Return which inputs an output reads, by the lengths of paths to it."""
    top = graph.nodes.index((layers, position))
    return [path_lengths(graph, node)[top] is not None for node in graph.nodes if node[0] == 0]


@pytest.mark.parametrize(
    ("k", "growth", "causal"), [(2, 1, True), (3, 2, True), (2, 4, True), (3, 1, False), (5, 2, False)]
)
@pytest.mark.parametrize("layers", [1, 2, 3])
def test_a_convolution_reads_what_its_cone_says(k, growth, causal, layers):
    n, stack = 20, [Layer(k, growth**i) for i in range(layers)]
    graph = convolution(n, k, layers, growth, causal)
    for position in (1, 10, 20):
        assert reads(graph, layers, position) == cone(stack, n, position - 1, causal)[0].tolist()


@pytest.mark.parametrize(("window", "causal"), [(None, False), (None, True), (0, False), (2, False), (3, True)])
@pytest.mark.parametrize("layers", [1, 2])
def test_attention_reads_what_its_mask_leaves(window, causal, layers):
    n = 9
    distance = torch.arange(n).unsqueeze(1) - torch.arange(n)  # i − j: rows are queries
    mask = (distance.abs() <= (n if window is None else window)) & ~(causal & (distance < 0))
    through = torch.linalg.matrix_power(mask.double(), layers) > 0
    graph = attention(n, layers, window, causal)
    assert [reads(graph, layers, i) for i in range(1, n + 1)] == through.tolist()


# What is refused


WHOLE, WHOLE_0 = (f"it must be one whole number, at least {least}" for least in (1, 0))
REFUSED = [
    *(
        (partial(build, *sizes), f"{words}: {WHOLE}")
        for build in (recurrence, attention, lambda n, layers=1: convolution(n, 2, layers))
        for sizes, words in (((0,), "n=0"), ((3, 0), "layers=0"))
    ),
    (partial(convolution, 3, 0), f"k=0: {WHOLE}"),
    (partial(convolution, 3, 2, causal=False), "k=2 is even and has no middle"),
    (partial(attention, 3, window=-1), f"window=-1: {WHOLE_0}"),
    *(
        (partial(DependencyGraph, [(0, 1), (1, 1)], [(0, 1), (i, j)]), rf"edges \[\({i}, {j}\)\] lead outside 0 … 1")
        for i, j in [(0, 2), (2, 0), (-1, 1), (1, -1)]
    ),
    *(
        (partial(path_length, recurrence(3), start, end), rf"node {unknown} is not among the graph's 6 nodes: name one")
        for start, end, unknown in [((0, 4), (1, 1), r"\(0, 4\)"), ((0, 1), (2, 1), r"\(2, 1\)")]
    ),
]


@pytest.mark.parametrize("call, words", REFUSED)
def test_what_is_no_graph_and_no_node_of_it_is_refused_by_name(call, words):
    with pytest.raises(ValueError, match=f"^{words}"):
        call()


def test_a_cycle_is_refused_and_named_without_what_only_hangs_on_it():
    nodes = [(1, t) for t in range(1, 7)]
    edges = [(4, 5), (3, 4), (1, 2), (2, 3), (3, 1), (2, 4), (0, 1)]  # 1 → 2 → 3 → 1, fed by 0, with 4 → 5 behind it
    for function in (earliest_steps, sequential_steps):
        with pytest.raises(
            ValueError, match="wait for one another in a cycle: none of these 3 can be the first"
        ) as error:
            function(DependencyGraph(nodes, edges))
        named = str(error.value).removeprefix("nodes [").split("]")[0]
        assert named in {"(1, 2), (1, 3), (1, 4)", "(1, 3), (1, 4), (1, 2)", "(1, 4), (1, 2), (1, 3)"}  # in its order
    with pytest.raises(ValueError, match=r"^nodes \[\(1, 6\)\] wait for one another"):
        earliest_steps(DependencyGraph(nodes, [(0, 1), (5, 5)]))
    behind = DependencyGraph(nodes, [(5, 4), (4, 5), (5, 0), (0, 1)])  # now the first stuck node hangs on the cycle
    with pytest.raises(ValueError, match=r"^nodes \[(\(1, 5\), \(1, 6\)|\(1, 6\), \(1, 5\))\] wait for one another"):
        earliest_steps(behind)
    assert path_length(behind, (1, 5), (1, 2)) == 3  # a search for a path need not mind a cycle
