"""Missing parts: the task, the rule by which training stops, and what is stored of the search and of the experiment."""

import math
from statistics import median

import pytest
import torch

from why_attention.tasks import missing_parts
from why_attention.tasks.missing_parts import (
    CAP,
    EXPERIMENT,
    RATES,
    VARIANTS,
    best_rate,
    build,
    curve,
    draw,
    good_rates,
    stopped_falling,
)
from why_attention.transformer import generation_loss

BLIND = math.log(8)  # the loss of equal probabilities for all tokens
HONEST = 5 * BLIND / 11  # the least mean loss of a model that sees only the past


def seeded(number):
    return torch.Generator().manual_seed(number)


# The task and the models


def test_a_sequence_is_six_tokens_twice():
    tokens = draw(seeded(0), 500)
    assert tokens.shape == (500, 12) and torch.equal(tokens[:, :6], tokens[:, 6:])
    assert tokens.unique().tolist() == list(range(8))
    counts = torch.bincount(tokens[:, :6].flatten(), minlength=8)
    assert ((counts - 375).abs() < 5 * 375**0.5).all()  # each of the 8 as often


def test_honest_guessing_knows_the_copy_and_nothing_else():
    class Honest(torch.nn.Module):  # gives 1/8 each in the first half, and is sure of the copy in the second
        vocabulary = 8

        def forward(self, tokens):
            n = tokens.shape[-1]
            scores = torch.zeros(len(tokens), n, 8)
            scores[:, 5:] = 1e4 * torch.nn.functional.one_hot(tokens[:, : max(n - 5, 0)], 8)
            return scores

    losses = generation_loss(Honest(), draw(seeded(1)))
    assert losses[:5].tolist() == pytest.approx(5 * [math.log(8)], abs=1e-6) and losses[5:].abs().max() < 1e-6
    assert pytest.approx(losses.mean().item(), abs=1e-6) == HONEST


def test_a_variant_lacks_what_its_name_says_and_nothing_else():
    models = [build(variant, 0) for variant in VARIANTS]
    parts = [(model.positions, model.causal, model.blocks[0].residual) for model in models]
    assert dict(zip(VARIANTS, parts)) == {
        "all parts": (True, True, True),
        "no positions": (False, True, True),
        "no causal mask": (True, False, True),
        "no residual connections": (True, True, False),
    }
    first, same, other = (build("all parts", seed).readout.weight for seed in (0, 0, 1))
    assert torch.equal(first, same) and not torch.equal(first, other)


# The rule


def test_a_curve_is_the_mean_of_every_hundred():
    assert curve([]) == curve(99 * [1.0]) == []
    assert curve(100 * [1.0] + 50 * [2.0] + 50 * [4.0] + 99 * [9.0]) == pytest.approx([1, 3])


def losses_of(means):
    return [mean for mean in means for _ in range(100)]


@pytest.mark.parametrize(
    ("means", "stops"),
    [
        (10 * [2.0], False),  # 1000 steps are too few to say
        (11 * [2.0], True),  # flat
        ([3.0] + 10 * [2.0], False),  # has fallen 900 steps ago
        ([3.0] + 11 * [2.0], True),
        ([2.0 - 0.002 * i for i in range(30)], False),  # falls by 0.02 in 1000 steps
        ([2.0 - 0.0005 * i for i in range(30)], True),  # falls by 0.005
        (11 * [2.0] + [1.9] + 5 * [2.0], False),  # has just found lower
        ([1.0] + 10 * [1.5], False),  # has risen
        (10 * [2.0] + 9 * [1.0] + [5.0], False),  # a spike does not count
        (10 * [2.0] + 10 * [1.0] + [5.0], False),  # ends on a spike
        (10 * [2.0] + 9 * [1.0] + [5.0] + 2 * [1.0], True),
    ],
)
def test_training_stops_when_nothing_lower_was_found_in_a_thousand_steps(means, stops):
    assert stopped_falling(losses_of(means)) == stops
    assert not stopped_falling([*losses_of(means), 2.0])  # it is asked every hundred steps


def test_a_run_ends_by_the_rule_and_one_that_does_not_is_refused(monkeypatch):
    monkeypatch.setattr(missing_parts, "best_rate", lambda variant: 0.01)
    for name, value in (("EVERY", 20), ("PATIENCE", 2), ("LEAST_FALL", 0.1)):  # the same rule, of fewer steps
        monkeypatch.setattr(missing_parts, name, value)
    measured = missing_parts.train("all parts", 0).measured
    means = measured["curve"]
    assert measured["steps"] == 20 * len(means) and measured["training"] == means[-1] and measured["rate"] == 0.01
    assert min(means[:-2]) - min(means) < 0.1 <= min(means[:-3]) - min(means[:-1])
    assert HONEST - 0.01 < measured["training"] < 1.1 * HONEST
    assert measured["first"] > BLIND > 0.5 > measured["second"]
    monkeypatch.setattr(missing_parts, "CAP", 40)
    with pytest.raises(ValueError, match="all parts, seed 0: the loss still falls after 40 steps at rate 0.01"):
        missing_parts.train("all parts", 0)


def test_the_search_measures_the_end_of_so_many_steps(monkeypatch):
    monkeypatch.setattr(missing_parts, "SEARCHED", 100)
    losses = {rate: missing_parts.search("all parts", rate, 100).measured["loss"] for rate in (0.0003, 0.01)}
    assert losses[0.01] < 0.9 * BLIND < losses[0.0003]


@pytest.mark.parametrize(
    ("losses", "good", "best"),
    [
        ([2.0, 1.0, 0.9, 0.8, 2.0], [0.01], 0.01),
        ([0.96, 0.949, 0.948, 0.947, 2.0], [0.001, 0.003, 0.01], 0.003),
        ([2.0, 2.0, 0.949, 0.947, 2.0], [0.003, 0.01], 0.003),  # of two the smaller
        ([0.0, 0.0, 0.0, 0.0, 0.0], [0.0003, 0.001, 0.003, 0.01, 0.03], 0.003),
        ([0.91, 0.0, 0.01, 2.0, 2.0], [0.001], 0.001),  # 0.01 apart is no longer equally good
    ],
)
def test_the_middle_of_the_good_rates_is_taken(monkeypatch, losses, good, best):
    monkeypatch.setattr(RATES, "losses", lambda variant: dict(zip(RATES.rates, losses)))
    assert good_rates("all parts") == good and best_rate("all parts") == best


def test_an_unknown_variant_is_refused():
    with pytest.raises(ValueError, match="variant 'no heads' is none of the 4: all parts, no positions"):
        build("no heads", 0)


# What is stored


def results(variant):
    return [result.measured for result in EXPERIMENT.results() if result.settings["variant"] == variant]


def test_every_run_has_the_rate_of_its_variant_and_stopped_by_the_rule():
    assert not {run["seed"] for run in EXPERIMENT.runs} & {run["seed"] for run in RATES.runs}
    for variant in VARIANTS:
        assert len(results(variant)) == 3
        for measured in results(variant):
            assert measured["rate"] == best_rate(variant)
            assert stopped_falling(losses_of(measured["curve"])) and measured["steps"] < CAP


def test_no_variant_would_gain_by_a_rate_beyond_those_searched():
    for variant in VARIANTS:
        losses = RATES.losses(variant)
        for edge, inside in ((0, 1), (-1, -2)):
            edge, inside = losses[RATES.rates[edge]], losses[RATES.rates[inside]]
            assert edge > min(losses.values()) or inside - edge < 0.01  # not the best, or no better than the next


def middle(variant, name):
    return median(measured[name] for measured in results(variant))


def test_what_each_part_is_needed_for():
    assert middle("all parts", "training") == pytest.approx(HONEST, abs=0.01)
    assert middle("all parts", "second") < 0.05
    # positions: the copy is guessed worse, and learned last
    assert 2 * middle("all parts", "second") < middle("no positions", "second") < 0.5 * BLIND
    assert middle("no positions", "steps") == max(middle(variant, "steps") for variant in VARIANTS)
    # the mask: better than can be in training, worse than blind in generation
    assert middle("no causal mask", "training") < 0.25 * HONEST
    assert middle("no causal mask", "first") > 2 * BLIND


def test_without_residual_connections_the_task_is_learned_but_at_fewer_rates():
    assert middle("no residual connections", "second") < 0.1

    assert set(good_rates("no residual connections")) < set(good_rates("all parts"))
    largest = max(good_rates("all parts"))
    assert RATES.losses("no residual connections")[largest] > 0.9 * BLIND
    assert middle("no residual connections", "steps") > middle("all parts", "steps")
