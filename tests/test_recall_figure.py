"""The figure recall: numbers on screen against the stored results, the threshold, the words, blanks, sizes."""

import json
import math
from statistics import median

import numpy as np
import pytest
from figure_reading import Reading

from why_attention.figures import recall
from why_attention.figures.recall import LOOKS, UNORDERED
from why_attention.tasks.recall import CHANCE, EVERY, EXPERIMENT, HELD_OUT, LENGTHS, STEPS, TRAINED

ACCURACY, GRADIENT = range(2)  # panels
MODELS = list(LOOKS)
KEPT = 0.00026  # half the resolution of an accuracy
NOW = len(MODELS)  # the series after those of the models


@pytest.fixture(scope="module")
def figure():
    return Reading(recall.figure())


def read(experiment):
    """Return every run as its file says, not as the package reads it."""
    stored = json.loads(experiment.path.read_text(encoding="utf-8"))["runs"]
    return {tuple(run["settings"][name] for name in ("model", "T", "seed")): run["measured"] for run in stored}


@pytest.fixture(scope="module")
def runs():
    return read(EXPERIMENT)


def after(measured, step):
    """Return the accuracy after some steps; it stays what it was when training stopped."""
    curve = measured["accuracies"]
    return curve[step // EVERY] if step // EVERY < len(curve) - 1 else measured["accuracy"]


def number(words):
    """Return the number that a sentence says: 0.147, 4.49×10⁻⁴, 10⁻⁵."""
    mantissa, _, power = words.rpartition("10") if "10⁻" in words else (words, "", "")
    digits = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
    return float(f"{mantissa.rstrip('×') or 1}e{power.translate(digits) or 0}")


def log_gradient(run):
    return -math.inf if run["log_gradient"] is None else run["log_gradient"]


@pytest.mark.parametrize("step", [0, 2 * EVERY, STEPS - 2 * EVERY, STEPS])
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


def wrongly_sorted(runs, threshold):
    """Return the models of the runs that learned below a threshold, of those that did not above, and how many runs."""
    trained = [
        (model, log_gradient(run) > threshold, run["accuracy"] >= 0.9)
        for (model, _, _), run in runs.items()
        if "accuracy" in run
    ]
    below = [model for model, over, learned in trained if learned and not over]
    return below, [model for model, over, learned in trained if over and not learned], len(trained)


def rule(figure):
    return figure.panels[GRADIENT]["rules"][0]["y"]


def test_no_threshold_sorts_more_of_the_runs_drawn_than_the_one_chosen(figure, runs):
    wrong = {at: sum(map(len, wrongly_sorted(runs, at)[:2])) for at in [*np.arange(-60, 1, 0.01), rule(figure)]}
    assert wrong[rule(figure)] == min(wrong.values())
    total = wrongly_sorted(runs, rule(figure))[2]
    assert (figure.words("old"), figure.words("right_old")) == (str(total), str(total - min(wrong.values())))
    assert number(figure.words("best")) == pytest.approx(10 ** rule(figure), rel=0.006)


def test_the_threshold_is_tested_on_runs_that_did_not_choose_it_and_both_kinds_of_errors_are_said(figure):
    held_out = read(HELD_OUT)
    below, above, total = wrongly_sorted(held_out, rule(figure))
    assert total == len(held_out) == int(figure.words("new"))
    assert int(figure.words("right_new")) == total - len(below) - len(above)
    assert [int(figure.words(slot)) for slot in ("below", "above", "unordered")] == [
        len(below),
        len(above),
        above.count(UNORDERED),
    ]
    said = figure.sentence()
    assert f"小于它却学会的有 {len(below)} 次；大于它却没学会的有 {len(above)} 次" in said


def test_the_runs_held_out_have_no_say_in_the_threshold(figure, monkeypatch):
    """Were all of them the other way round, the threshold would stay, and the test would count them as wrong."""
    monkeypatch.setattr("why_attention.figure_cache.FRAMES", None)  # the store has the figure of the runs as they are
    turned = [("RNN", gradient, not learned) for _, gradient, learned in recall.outcomes(HELD_OUT)]
    outcomes = recall.outcomes
    monkeypatch.setattr(recall, "outcomes", lambda of: turned if of is HELD_OUT else outcomes(of))
    other = Reading(recall.figure())
    assert rule(other) == rule(figure)
    assert int(other.words("right_new")) == int(figure.words("new")) - int(figure.words("right_new"))


def test_a_threshold_lies_between_what_learned_and_what_did_not():
    apart = [("RNN", -9.0, False), ("RNN", -3.0, False), ("RNN", -1.0, True), ("RNN", 0.0, True)]
    assert recall.best_threshold(apart) == -2.0 and recall.errors(-2.0, apart) == ([], [])
    mixed = [("a", -9.0, True), ("b", -3.0, False), ("c", -1.0, True), ("d", 0.0, True), ("e", 0.5, False)]
    assert recall.errors(recall.best_threshold(mixed), mixed) == (["a"], ["e"])
    assert recall.errors(-2.0, [("RNN", -2.1, True), ("LSTM", -1.9, False)]) == (["RNN"], ["LSTM"])
    assert recall.errors(-2.0, [("CNN", -math.inf, False), ("CNN", -math.inf, True)]) == (["CNN"], [])


@pytest.mark.parametrize("step", [2 * EVERY, STEPS])
@pytest.mark.parametrize("seed", ["all", "1"])
def test_the_sentence_says_how_far_the_model_has_learned(figure, runs, seed, step):
    chosen = range(3) if seed == "all" else [int(seed)]
    for model in MODELS:
        trained = [T for T in LENGTHS if T <= TRAINED[model]]
        learned = [T for T in trained if median(after(runs[model, T, one], step) for one in chosen) >= 0.9]
        said = figure.words("longest", model=model, seed=seed, step=step)
        assert said == (str(max(learned)) if learned else "–"), model
        assert figure.words("trained", model=model) == str(max(trained))


def test_the_sentence_reads_the_chosen_run(figure, runs):
    for setting in [{"model": "LSTM chrono", "T": 128}, {"model": "RNN", "T": 8, "step": 2 * EVERY}]:
        each = [after(runs[setting["model"], setting["T"], seed], setting.get("step", STEPS)) for seed in range(3)]
        said = figure.sentence(**setting)
        assert f"准确率是 {median(each):.2f} ({min(each):.2f} … {max(each):.2f})" in said
        assert ("，学会了。" in said) == (median(each) >= 0.9)


def test_the_gradient_in_words_is_on_its_side_of_the_threshold(figure, runs):
    for setting in figure.settings("model", "T"):
        log = median(log_gradient(runs[setting["model"], setting["T"], seed]) for seed in range(3))
        said = number(figure.words("gradient", **setting))
        assert said == pytest.approx(10**log, rel=0.006, abs=0)
        assert (said > number(figure.words("best"))) == (log > rule(figure))


def test_the_first_picture_shows_who_remembers_how_far(figure):
    far = {model: figure.words("longest", model=model) for model in MODELS}
    assert far[UNORDERED] == "–"
    order = ["RNN", "LSTM b=1", "LSTM chrono", "attention"]
    assert [int(far[model]) for model in order] == sorted(int(far[model]) for model in order)
    assert int(far["CNN"]) <= 17 < int(far["dilated CNN"]) <= 256 < int(far["attention"])
    assert {one["y"] for one in figure.panels[ACCURACY]["rules"]} == {CHANCE, 0.9}
