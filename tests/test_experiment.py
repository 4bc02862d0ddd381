"""An experiment keeps what it has trained, goes on after an interrupt, and refuses results that are not whole."""

import json
import os
import shutil

import pytest
import torch

from why_attention.tasks.experiment import Experiment, Trained, content_digest
from why_attention.tasks.rates import RateSearch

RUNS = [{"model": "a", "seed": 0}, {"model": "a", "seed": 1}, {"model": "b c", "seed": 0}]
WEIGHTS = torch.arange(6.0).reshape(2, 3).T  # not contiguous, which safetensors alone refuses


def train(model: str, seed: int) -> Trained:
    if "TRAINED" in os.environ:  # where to note what was trained, from whatever process
        with open(os.environ["TRAINED"], "a", encoding="utf-8") as file:
            file.write(f"{model} {seed}\n")
    return Trained({"accuracy": seed / 2, "steps": [1, 2]}, {"W": WEIGHTS + seed} if seed == 0 else None)


def broken(model: str, seed: int) -> Trained:
    if model == "b c":
        raise RuntimeError("interrupted")
    return train(model, seed)


def without_a_number(model: str, seed: int) -> Trained:
    return Trained({"accuracy": float("nan")})


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """The folder of the results of one training."""
    folder = tmp_path_factory.mktemp("results")
    Experiment("toy", RUNS, train, folder).perform()
    return folder


@pytest.fixture
def performed(results, tmp_path) -> Experiment:
    """An experiment with a copy of these results of its own."""
    return Experiment("toy", RUNS, train, shutil.copytree(results, tmp_path / "results"))


def test_results_come_back_in_the_order_of_the_runs(performed):
    assert [result.settings for result in performed.results()] == RUNS
    assert [result.measured["accuracy"] for result in performed.results()] == [0, 0.5, 0]
    assert torch.equal(performed.weights(model="b c", seed=0)["W"], WEIGHTS)
    assert {path.name for path in performed.folder.iterdir()} == {"toy.json", "toy"}


def test_provenance_names_versions_device_command_and_date(performed):
    provenance = performed.stored_provenance()
    assert provenance["torch"] == torch.__version__.split("+")[0] or provenance["torch"] == torch.__version__
    assert {"command", "date", "device", "python", "numpy", "code", "seconds"} < set(provenance)


def test_an_interrupted_training_goes_on_where_it_stopped(tmp_path, monkeypatch):
    with pytest.raises(RuntimeError, match="interrupted"):
        Experiment("toy", RUNS, broken, tmp_path).perform()
    unfinished = tmp_path / "toy-unfinished" / "results.json"
    stored = json.loads(unfinished.read_text(encoding="utf-8"))["runs"]
    assert stored and {"model": "b c", "seed": 0} not in [run["settings"] for run in stored]
    # nothing of it is shown before it is whole
    with pytest.raises(ValueError, match=r"there is no toy\.json.*python -m why_attention\.tasks"):
        Experiment("toy", RUNS, train, tmp_path).results()
    trained = tmp_path / "trained"
    monkeypatch.setenv("TRAINED", str(trained))
    experiment = Experiment("toy", RUNS, train, tmp_path)
    experiment.perform()
    assert len(trained.read_text(encoding="utf-8").splitlines()) == len(RUNS) - len(stored)  # and no run a second time
    assert [result.settings for result in experiment.results()] == RUNS
    assert not unfinished.exists()


def test_other_code_does_not_go_on_with_what_the_code_before_has_trained(tmp_path, monkeypatch):
    with pytest.raises(RuntimeError):
        Experiment("toy", RUNS, broken, tmp_path).perform()
    experiment = Experiment("toy", RUNS, train, tmp_path)
    changed = {**experiment.provenance(), "code": "0" * 16}
    monkeypatch.setattr(experiment, "provenance", lambda: changed)
    assert experiment.resume(tmp_path / "toy-unfinished") is None


def rate_losses(variant: str, rate: float, seed: int) -> Trained:
    return Trained({"loss": abs(rate - float(os.environ["BEST"]))})


@pytest.mark.sweep
def test_runs_trained_at_other_rates_are_not_gone_on_with(tmp_path, monkeypatch):
    """A search performed anew may find other rates, and runs of both must not stand side by side."""
    trained = tmp_path / "trained"
    search = RateSearch("toy", ["a"], [0.1, 0.3], [5], rate_losses, folder=tmp_path)
    monkeypatch.setenv("BEST", "0.1")
    search.perform()
    with pytest.raises(RuntimeError, match="interrupted"):
        Experiment("toy", RUNS, broken, tmp_path, search=search).perform()
    monkeypatch.setenv("TRAINED", str(trained))
    experiment = Experiment("toy", RUNS, train, tmp_path, search=search)
    assert experiment.resume(tmp_path / "toy-unfinished") is not None
    monkeypatch.setenv("BEST", "0.3")
    search.perform()
    assert experiment.resume(tmp_path / "toy-unfinished") is None
    experiment.perform()
    assert len(trained.read_text(encoding="utf-8").splitlines()) == len(RUNS)  # all of them, from the start
    assert experiment.stored_provenance()["rates"] == content_digest(search.read())


def test_an_experiment_whose_rates_were_not_searched_trains_nothing(tmp_path):
    search = RateSearch("toy", ["a"], [0.1, 0.3], [5], rate_losses, folder=tmp_path)
    with pytest.raises(ValueError, match=r"there is no toy-rates\.json.*why_attention\.tasks\.tune"):
        Experiment("toy", RUNS, train, tmp_path, search=search).perform()


def test_results_that_lack_a_run_are_refused(performed):
    more = Experiment("toy", [*RUNS, {"model": "d", "seed": 7}], train, performed.folder)
    with pytest.raises(ValueError, match=r"holds 3 runs and lacks 1, such as \{'model': 'd', 'seed': 7\}"):
        more.results()


@pytest.mark.parametrize("keep", [0, 1, 0.5, 0.99])
def test_results_that_are_cut_short_are_refused(performed, keep):
    data = performed.path.read_bytes()
    performed.path.write_bytes(data[: int(keep * len(data)) if keep != 1 else 1])
    with pytest.raises(ValueError, match=r"toy\.json is cut short or damaged"):
        performed.results()


def test_a_number_that_was_changed_is_noticed(performed):
    text = performed.path.read_text(encoding="utf-8")
    performed.path.write_text(text.replace('"accuracy": 0.5', '"accuracy": 0.9'), encoding="utf-8")
    with pytest.raises(ValueError, match="was changed after it was written"):
        performed.results()


def test_a_checkpoint_that_is_missing_or_another_is_refused(performed):
    path = performed.folder / "toy" / "model-a_seed-0.safetensors"
    data = path.read_bytes()
    path.write_bytes(data[:-1] + b"\x01")
    with pytest.raises(ValueError, match=f"{path.name}.* has {len(data)} bytes that are not those measured"):
        performed.weights(model="a", seed=0)
    path.unlink()
    with pytest.raises(ValueError, match=f"{path.name}.* is missing"):
        performed.weights(model="a", seed=0)
    with pytest.raises(ValueError, match="keeps no checkpoint of {'model': 'a', 'seed': 1}"):
        performed.weights(model="a", seed=1)


def test_a_result_that_is_no_number_is_not_stored(tmp_path):
    experiment = Experiment("toy", RUNS, without_a_number, tmp_path)
    with pytest.raises(ValueError, match="nan|JSON"):
        experiment.perform()
    assert not experiment.path.exists()


def test_a_new_training_replaces_the_results_only_when_it_is_whole(performed):
    before = performed.results()
    with pytest.raises(RuntimeError):
        Experiment("toy", RUNS, broken, performed.folder).perform()
    assert performed.results() == before
    assert torch.equal(performed.weights(model="a", seed=0)["W"], WEIGHTS)
