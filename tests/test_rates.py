"""The search for learning rates: the lowest median wins, other variants are refused, and no stored grid is too narrow."""

import random
import shutil

import pytest

from why_attention.tasks import recall
from why_attention.tasks.experiment import Trained
from why_attention.tasks.rates import RateSearch

RATES, SEEDS = [0.01, 0.1, 1.0], [7, 8, 9]
LOSSES = {  # variant: losses of the three seeds at each rate
    "steady": {0.01: [3, 3, 3], 0.1: [1, 1, 1], 1.0: [2, 2, 2]},
    "one lucky seed": {0.01: [2, 2, 2], 0.1: [0, 4, 4], 1.0: [3, 3, 3]},  # the lowest run and mean are others' than the
    "one unlucky seed": {0.01: [2, 2, 2], 0.1: [3, 3, 3], 1.0: [1, 1, 90]},  # lowest median
}


def train(variant: str, rate: float, seed: int) -> Trained:
    return Trained({"loss": LOSSES[variant][rate][SEEDS.index(seed)]})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    RateSearch("toy", list(LOSSES), RATES, SEEDS, train, folder=folder).perform()
    return folder


@pytest.fixture
def search(folder, tmp_path):
    return RateSearch("toy", list(LOSSES), RATES, SEEDS, train, folder=shutil.copytree(folder, tmp_path / "results"))


def test_every_variant_is_trained_at_every_rate_with_every_seed(search):
    assert search.path.name == "toy-rates.json" and len(search.results()) == 27
    assert {tuple(run.settings.values()) for run in search.results()} == {
        (variant, rate, seed) for variant in LOSSES for rate in RATES for seed in SEEDS
    }


def test_the_best_rate_has_the_lowest_median_loss(search):
    assert search.losses("one lucky seed") == {0.01: 2, 0.1: 4, 1.0: 3}
    assert {variant: search.best(variant) for variant in LOSSES} == {
        "steady": 0.1,
        "one lucky seed": 0.01,
        "one unlucky seed": 1.0,
    }


def test_the_best_rate_is_that_of_its_variant_in_whatever_order_the_runs_are_stored(search, monkeypatch):
    runs = search.results()
    random.Random(0).shuffle(runs)
    monkeypatch.setattr(search, "results", lambda: runs)
    assert search.best("steady") == 0.1 and search.losses("steady") == {0.01: 3, 0.1: 1, 1.0: 2}


def test_a_variant_that_was_not_searched_is_refused(search):
    with pytest.raises(ValueError, match=r"toy-rates\.json has no variant 'GRU': it has \['one lucky seed', "):
        search.best("GRU")


def test_a_search_that_was_not_performed_names_its_command(tmp_path):
    search = RateSearch("toy", list(LOSSES), RATES, SEEDS, train, folder=tmp_path)
    with pytest.raises(ValueError, match=r"there is no toy-rates\.json.*python -m why_attention\.tasks\.tune"):
        search.best("steady")


# What is stored

FLAT = 0.02  # losses of recall are shares of answers; a difference as small is noise between seeds


def at_edge(losses: dict[float, float]) -> bool:
    """Say whether the best rate is the lowest or the highest of the grid, and clearly better than the one beside it."""
    rates = sorted(losses)
    best = min(losses, key=losses.get)
    beside = {rates[0]: rates[1], rates[-1]: rates[-2]}
    return best in beside and losses[beside[best]] - losses[best] > FLAT


def test_an_edge_is_found():
    assert at_edge({1: 0.1, 2: 0.2, 3: 0.3}) and at_edge({1: 0.3, 2: 0.2, 3: 0.1})
    assert not at_edge({1: 0.2, 2: 0.1, 3: 0.3}) and not at_edge({1: 0.1, 2: 0.11, 3: 0.3})


@pytest.mark.parametrize("model", recall.MODELS)
def test_the_best_rate_of_a_model_lies_inside_the_grid_or_the_loss_is_flat_there(model):
    losses = recall.RATES.losses(model)
    assert not at_edge(losses), losses


@pytest.mark.parametrize("model", recall.MODELS)
def test_the_search_tells_rates_apart(model):
    losses = recall.RATES.losses(model).values()
    assert max(losses) - min(losses) > FLAT, losses


def test_rates_are_searched_with_other_seeds_than_those_of_the_experiment():
    runs = recall.EXPERIMENT.runs + recall.HELD_OUT.runs
    assert not {run["seed"] for run in recall.RATES.runs} & {run["seed"] for run in runs}
