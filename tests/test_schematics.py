"""The numbers of the figures that are drawn as diagrams, against torch's own layers and sums done by hand."""

import importlib
import math

import numpy as np
import pytest
import torch
from torch import nn

from explorable import set_language
from explorable.numbers import power_text
from why_attention.figures import gates, one_query, transformer_block, unrolled_rnn
from why_attention.transformer import Block


def made(name):
    return importlib.import_module(f"why_attention.figures.{name}").figure()


def parts_of(figure, **values):
    """Return what is lit and what is written at values of the controls, by the names of nodes and edges."""
    (diagram,) = figure._panels
    (shown,) = figure.at(**values)["panels"]
    names = [node.name for node in diagram.nodes] + [edge.name for edge in diagram.edges]
    return dict(zip(names, shown["lit"].tolist())), dict(zip(names, shown["written"]))


def number(text):
    """Return the number that a text ends with, as the figure writes it."""
    return float(text.split("\n")[-1].replace("−", "-"))


# one-query


@pytest.mark.parametrize("asks", one_query.NAMES)
def test_scores_weights_and_output_of_a_query_are_those_of_a_pencil_and_of_torch(asks):
    lit, written = parts_of(made("one_query"), asks=asks)
    queries = {"cat": (0, -1), "table": (-1, 1), "jumped": (1, 0.5), "it": (1, 1)}
    keys = {"cat": (1, 1), "table": (-1, 1), "jumped": (0, -1), "it": (0.5, 0.5)}
    values = {"cat": 10, "table": 20, "jumped": 30, "it": 40}
    scores = {name: sum(a * b for a, b in zip(queries[asks], key)) / math.sqrt(2) for name, key in keys.items()}
    total = sum(math.exp(score) for score in scores.values())
    weights = {name: math.exp(score) / total for name, score in scores.items()}
    for name in keys:
        assert number(written[f"score {name}"]) == pytest.approx(scores[name], abs=0.005)
        assert number(written[f"weight {name}"]) == pytest.approx(weights[name], abs=0.005)
        assert lit[f"weight {name}"] == pytest.approx(weights[name] / max(weights.values()), abs=0.001)
        assert (lit[f"token {asks}", f"key {name}"], lit[f"token {name}"]) == (1, float(name == asks))
    by_hand = sum(weights[name] * values[name] for name in keys)
    q, K, V = (
        torch.tensor(rows).float() for rows in ([queries[asks]], [*keys.values()], [[v] for v in values.values()])
    )
    torchs = nn.functional.scaled_dot_product_attention(q[None], K[None], V[None]).item()
    assert number(written["output"]) == pytest.approx(by_hand, abs=0.05) == pytest.approx(torchs, abs=0.05)


def test_queries_and_keys_are_whole_or_half():
    for matrix in (one_query.Q, one_query.K, one_query.V):
        assert (2 * matrix == (2 * matrix).round()).all()


# unrolled-rnn


@pytest.mark.parametrize("t", range(1, unrolled_rnn.STEPS + 1))
def test_the_norms_of_a_gradient_are_those_of_autograd_through_torchs_cell(t):
    size, generator = unrolled_rnn.SIZE, torch.Generator().manual_seed(0)
    weights = torch.randn(size, size, generator=generator) / size**0.5
    inputs = torch.randn(size, size, generator=generator) / size**0.5
    x = torch.randn(unrolled_rnn.STEPS, size, generator=generator)
    cell = nn.RNNCell(size, size, bias=False)
    cell.weight_hh.data, cell.weight_ih.data = weights, inputs
    states = [torch.zeros(size)]
    for x_t in x:
        states.append(cell(x_t, states[-1]))

    def last(state, s):
        for x_t in x[s:t]:
            state = cell(x_t, state)
        return state

    lit, written = parts_of(made("unrolled_rnn"), t=t)
    for s in range(1, t + 1):
        jacobian = torch.autograd.functional.jacobian(lambda state, s=s: last(state, s), states[s].detach())
        norm = torch.linalg.matrix_norm(jacobian, ord=2).item()
        assert written[f"g {s}"] == power_text(math.log10(norm), 2)
        assert lit[f"g {s}"] == pytest.approx(min(1, norm), abs=0.001)


def test_a_state_waits_for_all_before_it_and_for_nothing_later():
    for t in (1, 4, unrolled_rnn.STEPS):
        lit, _ = parts_of(made("unrolled_rnn"), t=t)
        for s in range(1, unrolled_rnn.STEPS + 1):
            assert lit[f"x {s}"] == lit[f"h {s}"] == lit[f"x {s}", f"h {s}"] == float(s <= t)
            assert (lit[f"g {s}"] == -np.inf) == (s > t)


# sliding-window


@pytest.mark.parametrize("i", range(2, 9))
def test_what_is_lit_is_what_torchs_convolutions_pass_a_gradient_to(i):
    tokens = torch.zeros(1, 1, 9, requires_grad=True)
    layers = [nn.Conv1d(1, 1, 3, padding=1) for _ in range(3)]
    states = [tokens]
    for layer in layers:
        nn.init.ones_(layer.weight)
        states.append(layer(states[-1]))
        states[-1].retain_grad()
    states[-1][0, 0, i - 1].backward()
    set_language("en")
    figure = made("sliding_window")
    lit, _ = parts_of(figure, i=i)
    for layer, state in enumerate(states):
        read = (state.grad[0, 0] != 0).tolist()
        assert [lit[f"{layer} {j}"] for j in range(1, 10)] == [float(one) for one in read]
    seen = int((tokens.grad != 0).sum())
    for counted in (f"{seen} of the 9", f"cannot see {9 - seen}"):
        assert counted in figure.at(i=i)["sentence"]


# gates


@pytest.mark.parametrize("gate", [0.0, 0.3, 0.9, 1.0, 0.77])
@pytest.mark.parametrize("cell, layer", [("LSTM", nn.LSTMCell), ("GRU", nn.GRUCell)])
def test_what_a_gate_keeps_is_what_torchs_cell_keeps(cell, layer, gate):
    torchs = layer(1, 1, dtype=torch.float64)
    for weights in torchs.parameters():
        nn.init.zeros_(weights)
    torchs.bias_ih.data[1] = math.inf if gate == 1 else -math.inf if gate == 0 else math.log(gate / (1 - gate))
    x, one = torch.zeros(1, 1, dtype=torch.float64), torch.ones(1, 1, dtype=torch.float64)
    state, left = (one, one) if cell == "LSTM" else one, []
    for _ in range(gates.STEPS[-1]):
        state = torchs(x, state)
        left.append((state[1] if cell == "LSTM" else state).item())
    lit, written = parts_of(made("gates"), cell=cell, gate=gate)
    for steps in gates.STEPS:
        assert left[steps - 1] == pytest.approx(gate**steps, rel=1e-9)
        assert lit[f"left {steps}"] == pytest.approx(left[steps - 1], abs=0.001)
        expected = power_text(math.log10(left[steps - 1]) if left[steps - 1] else -math.inf, 2)
        assert written[f"left {steps}"] == expected


@pytest.mark.parametrize("gate", [0.0, 0.4, 1.0])
def test_a_gru_writes_what_it_does_not_keep_and_an_lstm_has_a_gate_for_it(gate):
    for cell, writes in (("LSTM", 0.5), ("GRU", 1 - gate)):
        lit, _ = parts_of(made("gates"), cell=cell, gate=gate)
        assert lit[f"{cell} write", f"{cell} × new"] == pytest.approx(writes, abs=0.001)
        assert lit[f"{cell} keep", f"{cell} ×"] == gate
        other = "GRU" if cell == "LSTM" else "LSTM"
        assert {value for name, value in lit.items() if str(name).lstrip("('").startswith(other)} == {-np.inf}


# transformer-block


@pytest.mark.parametrize("i", [1, 4])
def test_a_block_passes_gradients_where_its_drawing_is_lit(i):
    torch.manual_seed(1)
    block, x = Block(16, 2), torch.randn(4, 16)
    seen = {}
    for name in ("self_norm", "self_attention", "feed_forward_norm", "feed_forward"):

        def keep(_module, _inputs, output, name=name):
            seen[name] = output[0] if isinstance(output, tuple) else output
            seen[name].retain_grad()

        getattr(block, name).register_forward_hook(keep)
    x.requires_grad_()
    block(x)[i - 1].pow(2).sum().backward()
    lit, _ = parts_of(made("transformer_block"), i=i)
    rows = {"norm 1": "self_norm", "attend": "self_attention", "norm 2": "feed_forward_norm", "ffn": "feed_forward"}
    for part, grad in {"x": x.grad, **{part: seen[name].grad for part, name in rows.items()}}.items():
        assert [lit[f"{part} {j}"] for j in range(1, 5)] == [float(row.any()) for row in grad]


def test_the_shapes_beside_a_block_are_those_of_the_chapters():
    n, d = transformer_block.N, transformer_block.SIZE
    block, widths = Block(d, transformer_block.HEADS), []
    block.feed_forward.W_1.register_forward_hook(lambda _module, _inputs, output: widths.append(tuple(output.shape)))
    x = torch.randn(n, d)
    assert block(x).shape == (n, d)
    assert widths == [(n, 4 * d)]
    _, weights = block.self_attention(x, need_weights=True)
    assert weights.shape[1:] == (n, n)
    written = [node.symbol for node in transformer_block.nodes() if node.name.startswith("shape ")]
    assert written == ["(n, d)", "A: (n, n)", "(n, d)", "(n, 4d)", "(n, d)"]
