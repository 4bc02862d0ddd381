"""Induction: the model against torch's own layers, scores against closed forms, stored results against their checkpoints."""

import pytest
import torch
from torch import nn

from why_attention.influence import influence_matrix
from why_attention.masks import causal_mask
from why_attention.tasks import induction
from why_attention.tasks.induction import (
    EXPERIMENT,
    LENGTH,
    AttentionOnly,
    accuracy,
    follows_earlier,
    induction_score,
    load,
    maps,
    previous_token_score,
    remove_head,
    sequences,
    tokens_of,
)

CPU = torch.device("cpu")


def seeded(number):
    return torch.Generator().manual_seed(number)


def model_of(layers, seed=0):
    model = AttentionOnly(layers)
    model.reset_parameters(seeded(seed))
    return model.requires_grad_(False)


def close(actual, expected, atol=1e-5):
    torch.testing.assert_close(actual, torch.as_tensor(expected), rtol=0, atol=atol, check_dtype=False)


def results(layers):
    return [result.measured for result in EXPERIMENT.results() if result.settings["layers"] == layers]


# Data


def test_a_sequence_starts_with_symbols_all_different_and_then_repeats_its_latest_part():
    tokens, second = sequences(500, seeded(3))
    periods = []
    for row, start in zip(tokens.tolist(), second.tolist()):
        assert len(row) == LENGTH and len(set(row[:start])) == start and set(row[start:]) <= set(row[:start])
        period = start - row.index(row[start])
        assert all(row[i] == row[i - period] for i in range(start, LENGTH))
        assert start + period <= LENGTH  # the second copy is whole
        periods.append(period)
    assert (min(periods), max(periods)) == (4, 16) and min(second) < 8 and max(second) >= 28


def test_the_same_seed_draws_the_same_and_no_run_trains_on_what_it_is_tested_on():
    assert torch.equal(sequences(8, seeded(0))[0], sequences(8, seeded(0))[0])
    assert not (sequences(8, seeded(0))[0] == sequences(8, seeded(1000))[0]).all(-1).any()
    assert 1000 not in [settings["seed"] for settings in EXPERIMENT.runs]


# The model


def test_the_model_is_torchs_attention_in_a_residual_stream():
    model, (tokens, _) = model_of(2), sequences(4, seeded(1))
    x = model.tokens.weight[tokens] + model.positions.weight
    hidden = nn.Transformer.generate_square_subsequent_mask(LENGTH)
    for number, layer in enumerate(model.layers):
        twin = nn.MultiheadAttention(64, 2, bias=False, batch_first=True)
        W = torch.cat([layer.W_q.weight, layer.W_k.weight, layer.W_v.weight])
        twin.load_state_dict({"in_proj_weight": W, "out_proj.weight": layer.W_o.weight})
        output, A = twin(x, x, x, attn_mask=hidden, average_attn_weights=False)
        close(model(tokens, need_weights=True)[1][:, number], A)
        x = x + output
    expected = x @ model.logits.weight.T
    for need_weights in (False, True):
        close(model(tokens, need_weights)[0], expected, atol=2e-4)  # of logits, which are as large as 30
    assert model(tokens)[1] is None


def test_a_head_without_its_output_leaves_everything_but_its_own_share():
    model, (tokens, _) = model_of(1), sequences(4, seeded(1))
    layer = model.layers[0]
    x = model.tokens.weight[tokens] + model.positions.weight
    logits, A = model(tokens, need_weights=True)
    for head in (1, 2):
        part = slice(32 * (head - 1), 32 * head)
        share = A[:, 0, head - 1] @ (x @ layer.W_v.weight[part].T) @ layer.W_o.weight[:, part].T
        close(remove_head(model, 1, head)(tokens)[0], logits - share @ model.logits.weight.T, atol=2e-4)
    close(model(tokens, need_weights=True)[0], logits, atol=0)  # the model itself is as it was


# Measures


def test_what_follows_an_earlier_occurrence():
    tokens = torch.randint(5, (6, 12), generator=seeded(0))
    found = follows_earlier(tokens)
    for b, row in enumerate(tokens.tolist()):
        expected = [[0 < j <= i and row[j - 1] == row[i] for j in range(12)] for i in range(12)]
        assert found[b].tolist() == expected
    assert follows_earlier(tokens_of("ABCAB").unsqueeze(0)).nonzero().tolist() == [[0, 3, 1], [0, 4, 2]]


def test_scores_of_perfect_heads_and_of_one_that_looks_at_all_alike():
    tokens = tokens_of("ABCDABCD")
    n, back = 8, torch.arange(8)
    previous = torch.zeros(n, n)
    previous[back, (back - 1).clamp_min(0)] = 1  # the first has none, and looks at itself
    perfect = torch.zeros(n, n)
    perfect[back, torch.tensor([0, 1, 2, 3, 1, 2, 3, 4])] = 1
    alike = torch.ones(n, n).tril() / torch.arange(1, n + 1).unsqueeze(-1)
    A = torch.stack([previous, perfect, alike]).view(1, 3, 1, n, n)
    close(previous_token_score(A)[:, 0], [1, 0, sum(1 / i for i in range(2, 9)) / 7], atol=1e-6)
    close(induction_score(A, tokens.unsqueeze(0))[:, 0], [0, 1, sum(1 / i for i in range(5, 9)) / 4], atol=1e-6)


def test_the_weight_on_all_earlier_copies_counts():
    tokens = tokens_of("ABABAB").unsqueeze(0)
    A = torch.zeros(1, 1, 1, 6, 6)
    A[..., 2:, 1] = 1  # right after the first A: of the queries A B A B, those that are A look rightly
    A[..., 4, 1], A[..., 4, 3] = 0.25, 0.75  # and the last A at both its copies
    close(induction_score(A, tokens), [[0.5]])


def test_accuracy_counts_what_has_occurred_before():
    class Copies(nn.Module):  # says that the symbol after the first occurrence comes again
        def forward(self, tokens):
            rows = [[row[row.index(token) + 1] if token in row[:-1] else 0 for token in row] for row in tokens.tolist()]
            return nn.functional.one_hot(torch.tensor(rows), 32).float(), None

    assert accuracy(Copies(), tokens_of("DABCABCA").unsqueeze(0)) == 1
    assert accuracy(Copies(), tokens_of("ABCAABCB").unsqueeze(0)) == 0.5  # A, A, B, C: wrong at the first A and at C


# Weight, influence, intervention


def answers_by_copying(tokens):
    """Return logits, sure of what came after the last earlier occurrence, and all alike where there was none."""
    logits = torch.zeros(*tokens.shape, 32)
    for b, row in enumerate(tokens.tolist()):
        for i, token in enumerate(row):
            if before := [j for j in range(i) if row[j] == token]:
                logits[b, i, row[before[-1] + 1]] = 50
    return logits


class Copying(nn.Module):
    """Answers as above, says that it looks at the token before, and changes its logits by 3 x_i + 4 x_0."""

    def embed(self, tokens):
        return nn.functional.one_hot(tokens, 32).float()

    def from_embeddings(self, x):
        return 3 * x + 4 * x[:, :1], None

    def forward(self, tokens, need_weights=False):
        A = torch.zeros(len(tokens), 2, 2, LENGTH, LENGTH)
        A[:, 1, 0].diagonal(-1, -2, -1).fill_(1.0)
        A[:, 1, 1].diagonal(-1, -2, -1).fill_(0.5)
        return answers_by_copying(tokens), A


def drawn(count, seed=0):
    """Return sequences that leave a symbol unused, and where their second copies start."""
    tokens, second = sequences(count, seeded(seed))
    return tokens[second < 32], second[second < 32]


def test_interventions_on_a_model_that_is_known():
    tokens, second = drawn(40)
    B, A, before, query = induction.interventions(Copying(), tokens, second, seeded(1)).mean(0).tolist()
    # weight, influence, then the probability of the answer with an unused and with a used symbol
    assert B == pytest.approx([0, 0, 0, 0], abs=1e-6)
    assert A == pytest.approx([0, 0, 1 / 32, 1 / 32], abs=1e-6)  # without the first A nothing says what follows A
    assert before[:3] == pytest.approx([0.75, 0, 1], abs=1e-6)
    assert query == pytest.approx([0, 3 * 32**0.5, 1 / 32, 0], abs=1e-5)  # another of the symbols: another answer


def test_the_influence_on_one_output_is_that_row_of_the_influence_matrix():
    model, (tokens, second) = model_of(2), drawn(5)
    rows = induction.influence_on(model, tokens, second)
    for row, sequence, i in zip(rows, tokens, second.tolist()):
        matrix = influence_matrix(lambda x: logits(model, x), model.embed(sequence))
        close(row, matrix[i], atol=1e-3)


def logits(model, x):
    """Return the logits from embeddings (n, d), written out."""
    for layer in model.layers:
        x = x + layer(x, mask=causal_mask(*[len(x)] * 2), need_weights=True)[0]
    return model.logits(x)


def test_interventions_of_the_stored_model_are_those_made_one_by_one():
    model, (tokens, second) = load(), drawn(12)
    measured = induction.interventions(model, tokens, second, seeded(7))
    generator = seeded(7)  # draws again what the function drew: unused, then used, key by key
    A = [row[:start].tolist().index(row[start + 2]) for row, start in zip(tokens, second.tolist())]
    keys = [[a + 1, a, start + 1, start + 2] for a, start in zip(A, second.tolist())]
    for number in range(4):
        for used in (False, True):
            allowed = torch.zeros(len(tokens), 32, dtype=torch.double)
            for b, row in enumerate(tokens.tolist()):
                here = set(row) - {row[keys[b][number]]} if used else set(range(32)) - set(row)
                allowed[b, sorted(here)] = 1
            other = tokens.clone()
            drawn_symbols = allowed.multinomial(1, generator=generator).squeeze(-1)
            for b, row in enumerate(other):
                row[keys[b][number]] = drawn_symbols[b]
                i = second[b] + 2
                p = model(row[None])[0][0, i].softmax(-1)[tokens[b, i + 1]]
                assert measured[b, number, 2 + used].item() == pytest.approx(p.item(), abs=1e-4)


def test_ranks_correlate_as_spearman_defined_it():
    def correlation(a, b):
        return induction.spearman(a, b).item()

    ten = torch.arange(10.0)
    assert correlation(ten, ten.exp()) == pytest.approx(1, abs=1e-12)
    assert correlation(ten, -(ten**3)) == pytest.approx(-1, abs=1e-12)
    a, b = torch.randn(2, 30, generator=seeded(3))
    d = a.argsort().argsort() - b.argsort().argsort()  # without ties it is 1 − 6 Σ d² / n (n² − 1)
    assert correlation(a, b) == pytest.approx(1 - 6 * d.square().sum().item() / (30 * (900 - 1)), abs=1e-12)
    tied, other = torch.tensor([1.0, 1, 2, 3, 3, 3]), torch.tensor([2.0, 1, 1, 5, 4, 5])
    assert induction.ranks(tied).tolist() == [1.5, 1.5, 3, 5, 5, 5]
    assert induction.ranks(other).tolist() == [3, 1.5, 1.5, 5.5, 4, 5.5]
    by_hand = 12.75 / (15 * 16.5) ** 0.5  # Σ(Δa Δb), Σ Δa² and Σ Δb² of these ranks
    assert correlation(tied, other) == pytest.approx(by_hand, abs=1e-12)
    shuffled = torch.randperm(6, generator=seeded(0))
    assert correlation(tied[shuffled], other[shuffled]) == pytest.approx(by_hand, abs=1e-12)


def test_rank_correlations_of_one_sequence_written_out():
    model, (tokens, _) = model_of(2), drawn(2)
    pooled, within = induction.rank_correlations(model, tokens)
    for b, sequence in enumerate(tokens):
        A = model(sequence[None], need_weights=True)[1][0, 1].mean(0)
        influence = influence_matrix(lambda x: logits(model, x), model.embed(sequence))
        pairs = [(A[i, j].item(), influence[i, j].item()) for i in range(LENGTH) for j in range(i)]
        order = [sorted(range(len(pairs)), key=lambda p: pairs[p][side]) for side in (0, 1)]
        rank = [sorted(range(len(pairs)), key=one.__getitem__) for one in order]
        d2 = sum((a - b) ** 2 for a, b in zip(*rank))
        assert pooled[b].item() == pytest.approx(1 - 6 * d2 / (780 * (780**2 - 1)), abs=2e-3)
        of_queries = [induction.spearman(A[i, :i], influence[i, :i]).item() for i in range(8, LENGTH)]
        assert within[b].item() == pytest.approx(sum(of_queries) / 32, abs=2e-3)


# Stored results


@pytest.mark.parametrize("layers", [1, 2])
def test_the_checkpoint_gives_what_was_measured(layers):
    model, measured = load(layers), results(layers)[0]
    now = induction.measures(model)
    assert now["accuracy"] == pytest.approx(measured["accuracy"], abs=1e-3)
    for score in ("previous", "induction"):
        close(torch.tensor(now[score]), measured[score], atol=1e-3)
    for layer in range(1, layers + 1):
        for head in (1, 2):
            left = accuracy(remove_head(model, layer, head), induction.held_out(CPU))
            assert left == pytest.approx(measured["ablated"][layer - 1][head - 1], abs=1e-3)


def test_two_layers_learn_to_continue_and_one_does_not():
    assert len(results(2)) == len(results(1)) == 3
    assert all(measured["accuracy"] >= 0.99 for measured in results(2))
    assert all(measured["accuracy"] <= 0.35 for measured in results(1))


def test_weights_and_influence_correlate_in_rank_less_within_a_query():
    for measured in results(2):
        for low, median, high in measured["rank_correlation"].values():
            assert -1 < low < median < high < 1
        assert measured["rank_correlation"]["within"][1] < measured["rank_correlation"]["pooled"][1] < 0.9


def test_every_seed_has_a_previous_token_head_below_and_induction_heads_above_and_needs_the_former():
    for measured in results(2):
        below, above = torch.tensor(measured["previous"])[0], torch.tensor(measured["induction"])[1]
        assert below.max() > 0.6 and above.min() > 0.9
        assert torch.tensor(measured["induction"])[0].max() < 0.15  # none in the first layer
        assert measured["ablated"][0][below.argmax()] < 0.6
        assert min(measured["ablated"][1]) > 0.97  # each induction head stands in for the other


def test_training_again_goes_the_same_way():
    again, stored = induction.train(2, seed=0, steps=100, ranked=2), results(2)[0]["curves"]
    curves = again.measured["curves"]
    assert curves["step"] == stored["step"][:3] == [0, 50, 100]
    assert curves["accuracy"][0] == pytest.approx(stored["accuracy"][0], abs=1e-3)
    assert curves["accuracy"] == pytest.approx(stored["accuracy"][:3], abs=0.05)
    assert again.weights["tokens.weight"].dtype == torch.float16


def test_maps_of_any_sequence():
    A = maps(tokens_of("QWERTYQWERTY"))
    assert A.shape == (2, 2, 12, 12)
    close(A.sum(-1), torch.ones(2, 2, 12))
    assert not A.triu(1).any()
    assert induction_score(A.unsqueeze(0), tokens_of("QWERTYQWERTY").unsqueeze(0))[1].min() > 0.7
    longest = sequences(1, seeded(5))[0][0]
    close(maps(longest)[..., :12, :12], maps(longest[:12]))  # what follows changes nothing
    assert maps(tokens_of("A")).tolist() == [[[[1.0]], [[1.0]]], [[[1.0]], [[1.0]]]]
    close(maps(longest, load(1)), load(1)(longest.unsqueeze(0), need_weights=True)[1][0])


# Refusals


ALL = torch.arange(40).unsqueeze(0) % 32  # every symbol


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: AttentionOnly(0), "layers=0: there must be at least 1"),
        (lambda: sequences(0, seeded(0)), "count=0: there must be at least 1"),
        (lambda: tokens_of(""), r"shape \(1, 0\)"),
        (lambda: tokens_of("ABxyA"), r"\['x', 'y'\], which are none of the 32 symbols"),
        (lambda: maps(torch.arange(41) % 32), "n=41 tokens: the model has positions for at most 40"),
        (lambda: maps(torch.tensor([3, 32, -1])), "tokens from -1 to 32: they must lie in 0 … 31"),
        (lambda: maps(torch.tensor([0.5])), "float32 of shape"),
        (lambda: remove_head(model_of(1), 2, 1), "layer=2 and head=1: the model has layers 1 … 1 of heads 1 … 2"),
        (lambda: remove_head(model_of(1), 1, 0), "layer=1 and head=0"),
        (lambda: previous_token_score(torch.ones(1, 1, 1, 1, 1)), "n must be at least 2"),
        (lambda: induction_score(torch.ones(1, 1, 1, 3, 3), tokens_of("ABC").unsqueeze(0)), "0 of the 3 tokens"),
        (lambda: accuracy(model_of(1), tokens_of("ABCA").unsqueeze(0)), "0 of 3 tokens"),
        (lambda: induction.interventions(model_of(1), ALL, torch.tensor([32]), seeded(0)), "1 of 1 sequences use all"),
        (lambda: induction.spearman(torch.ones(3), torch.arange(3.0)), "1 of 1 rows have numbers that are all equal"),
        (lambda: induction.spearman(torch.arange(2.0), torch.arange(3.0)), r"shape \(2,\) and b \(3,\)"),
        (lambda: induction.rank_correlations(model_of(1), tokens_of("ABCDEFGH")[None]), "n=8 tokens: .* at least 9"),
    ],
)
def test_refusals(call, says):
    with pytest.raises(ValueError, match=says):
        call()
