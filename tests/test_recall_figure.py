"""The figure recall: numbers on screen against the stored results, the threshold, the words, blanks, sizes."""

import json
import math
from statistics import median

import numpy as np
import pytest
from figure_reading import Reading

from why_attention.explorable import set_language
from why_attention.figures import recall
from why_attention.figures.recall import LOOKS, UNORDERED
from why_attention.tasks.recall import CHANCE, EXPERIMENT, LENGTHS, TRAINED

ACCURACY, GRADIENT = range(2)  # panels
MODELS = list(LOOKS)
KEPT = 0.00026  # half the quantum of an accuracy
NOW = len(MODELS)  # the series after those of the models


@pytest.fixture(scope="module")
def figure():
    return Reading(recall.figure())


@pytest.fixture(scope="module")
def runs():
    """Every run as its file says, not as the package reads it."""
    stored = json.loads(EXPERIMENT.path.read_text(encoding="utf-8"))["runs"]
    return {tuple(run["settings"][name] for name in ("model", "T", "seed")): run["measured"] for run in stored}


def after(measured, step):
    """Return the accuracy after some steps; it stays what it was when training stopped."""
    curve = measured["accuracies"]
    return curve[step // 50] if step // 50 < len(curve) - 1 else measured["accuracy"]


def log_gradient(run):
    return -math.inf if run["log_gradient"] is None else run["log_gradient"]


@pytest.mark.parametrize("step", [0, 50, 450, 500])
def test_accuracies_are_those_stored(figure, runs, step):
    for number, model in enumerate(MODELS):
        trained = [T for T in LENGTHS if T <= TRAINED[model]]
        expected = np.array([[after(runs[model, T, seed], step) for T in trained] for seed in range(3)])
        chosen = figure.series(ACCURACY, number, model=model, step=step)
        np.testing.assert_allclose(chosen, expected, atol=KEPT)
        other = figure.series(ACCURACY, number, model=MODELS[number - 1], step=step)
        np.testing.assert_allclose(other, np.median(expected, axis=0, keepdims=True), atol=KEPT)
        one = figure.series(ACCURACY, number, model=model, step=step, seed="2")
        np.testing.assert_allclose(one, expected[2:], atol=KEPT)


def test_gradients_are_those_stored_and_an_exact_0_is_no_path(figure, runs):
    for number, model in enumerate(MODELS):
        expected = np.array([[log_gradient(runs[model, T, seed]) for T in LENGTHS] for seed in range(3)])
        np.testing.assert_allclose(figure.series(GRADIENT, number, model=model), expected, atol=0.011)
        np.testing.assert_allclose(figure.series(GRADIENT, number, model=model, seed="1"), expected[1:2], atol=0.011)
        none = [T for T, there in zip(LENGTHS, np.isneginf(expected).all(axis=0)) if there]
        assert none == [T for T in LENGTHS if T > {"CNN": 17, "dilated CNN": 256}.get(model, math.inf)]


def test_what_was_not_trained_is_blank(figure, runs):
    for number, model in enumerate(MODELS):
        places = 10 ** figure.series(ACCURACY, number, "x")
        trained = [T for T in LENGTHS if "accuracy" in runs[model, T, 0]]
        np.testing.assert_allclose(places, trained, rtol=0.003)
        np.testing.assert_allclose(10 ** figure.series(GRADIENT, number, "x"), LENGTHS, rtol=0.003)
    left = figure.array(figure.panels[ACCURACY]["x"]["limits"])[0]
    for setting in figure.settings("model", "T"):
        blank = "accuracy" not in runs[setting["model"], setting["T"], 0]
        assert (figure.series(ACCURACY, NOW, "x", **setting)[0] < left) == blank
        assert ("没有训练" in figure.sentence(**setting)) == blank


def test_the_points_of_now_lie_on_the_lines(figure):
    for setting in figure.settings("model", "T", "seed"):
        number, T = MODELS.index(setting["model"]), setting["T"]
        for panel in (ACCURACY, GRADIENT):
            x, y = (figure.series(panel, number, axis, **setting) for axis in "xy")
            place = figure.series(panel, NOW, "x", **setting)[0]
            if panel == GRADIENT or T <= TRAINED[setting["model"]]:
                line = np.median(y, axis=0)[np.argmin(abs(x - place))]
                point = figure.series(panel, NOW, **setting)[0]
                assert place == pytest.approx(math.log10(T), abs=0.001)
                assert point == line or point == pytest.approx(line, abs=0.021)


def sorted_rightly(runs, threshold):
    trained = [run for run in runs.values() if "accuracy" in run]
    return sum((log_gradient(run) > threshold) == (run["accuracy"] >= 0.9) for run in trained), len(trained)


def test_no_threshold_sorts_more_runs_than_the_one_drawn(figure, runs):
    ((threshold, _),) = [(rule["y"], rule["label"]) for rule in figure.panels[GRADIENT]["rules"]]
    right, total = sorted_rightly(runs, threshold)
    assert right == max(sorted_rightly(runs, candidate)[0] for candidate in np.arange(-60, 1, 0.01))
    said = figure.sentence()
    assert f"{total} 次训练里说中了 {right} 次；没说中的 {total - right} 次" in said
    wrong = [
        model
        for (model, _, _), run in runs.items()
        if "accuracy" in run and (log_gradient(run) > threshold) != (run["accuracy"] >= 0.9)
    ]
    assert f"没有位置的注意力占了 {wrong.count(UNORDERED)} 次" in said
    assert float(figure.words("best")) == pytest.approx(10**threshold, rel=0.06)


@pytest.mark.parametrize("step", [100, 500])
@pytest.mark.parametrize("seed", ["all", "1"])
def test_the_sentence_says_how_far_each_has_learned(figure, runs, seed, step):
    chosen = range(3) if seed == "all" else [int(seed)]
    slots = {"r": 0, "o": 1, "l0": 2, "l1": 3, "c": 4, "k": 5, "d": 6, "a": 7, "u": 8}
    for slot, number in slots.items():
        trained = [T for T in LENGTHS if T <= TRAINED[MODELS[number]]]
        learned = [T for T in trained if median(after(runs[MODELS[number], T, one], step) for one in chosen) >= 0.9]
        assert figure.words(slot, seed=seed, step=step) == (str(max(learned)) if learned else "–"), slot


def test_the_sentence_reads_the_chosen_run(figure, runs):
    for setting in [{"model": "LSTM chrono", "T": 128}, {"model": "RNN", "T": 8, "step": 100}]:
        each = [after(runs[setting["model"], setting["T"], seed], setting.get("step", 500)) for seed in range(3)]
        said = figure.sentence(**setting)
        assert f"正确率：{median(each):.2f} ({min(each):.2f} … {max(each):.2f})" in said
        assert ("，学会了。" in said) == (median(each) >= 0.9)


def test_the_gradient_in_words_is_on_its_side_of_the_threshold(figure, runs):
    threshold = figure.panels[GRADIENT]["rules"][0]["y"]
    for setting in figure.settings("model", "T"):
        log = median(log_gradient(runs[setting["model"], setting["T"], seed]) for seed in range(3))
        said = figure.words("gradient", **setting)
        if log > -4:
            assert float(said) == pytest.approx(10**log, rel=0.06)
            assert (float(said) > float(figure.words("best"))) == (log > threshold)
        else:
            assert said == "0" if log == -math.inf else said.startswith("10⁻")


def test_the_first_picture_shows_who_remembers_how_far(figure):
    far = {slot: figure.words(slot) for slot in ("r", "l1", "c", "k", "d", "a", "u")}
    assert far["u"] == "–"
    assert int(far["r"]) < int(far["l1"]) < int(far["c"]) < int(far["d"]) < int(far["a"])
    assert int(far["k"]) <= 17 < int(far["d"]) <= 256
    assert {rule["y"] for rule in figure.panels[ACCURACY]["rules"]} == {CHANCE, 0.9}


def test_every_control_changes_the_picture_and_it_stays_small(figure):
    for name in figure.start:
        for value in figure.one_step(name):
            assert figure.on_screen(**{name: value}) != figure.on_screen(), (name, value)
    assert len(figure.figure._frames) <= 60_000
    assert len(figure.still()) <= 15_000


def test_both_editions_have_the_same_frames(figure, monkeypatch):
    monkeypatch.delenv("EXPLORABLE_STORE", raising=False)  # the store would give both the same file
    set_language("en")
    english = recall.figure()
    assert english._spec["title"] != figure.spec["title"] and english._frames == figure.figure._frames
