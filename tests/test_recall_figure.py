"""The figure recall: numbers on screen against the stored results, the threshold, the words, blanks, sizes."""

import json
import math
from statistics import median

import numpy as np
import pytest
from figure_reading import Reading

from why_attention.figures import recall
from why_attention.figures.recall import FAMILIES, UNORDERED
from why_attention.figures.recall import MODELS as ALL_MODELS
from why_attention.tasks.recall import CHANCE, EVERY, EXPERIMENT, HELD_OUT, LENGTHS, STEPS, TRAINED

GRADIENT, ACCURACY = range(2)  # rows of panels
MODELS = list(ALL_MODELS)
KEPT = 0.00026  # half the resolution of an accuracy
PLACES = {  # of each model: its family's place in a row, and its own in the panel
    name: (family, number) for family, (*_, models) in enumerate(FAMILIES) for number, name in enumerate(models)
}


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


def series(figure, row, model, axis="y", **values):
    """Return x or y of a model's line in one of the rows."""
    family, number = PLACES[model]
    return figure.series(3 * row + family, number, axis, **values)


def test_every_model_is_in_its_family_and_all_panels_share_the_axis_of_T(figure):
    assert set(MODELS) == set(TRAINED) == {run.settings["model"] for run in EXPERIMENT.results()}
    assert list(PLACES) == MODELS
    assert figure.figure._spec["rows"] == [3, 3]
    assert {panel["x"]["symbol"] for panel in figure.panels} == {"T"}
    limits = [figure.array(panel["x"]["limits"]) for panel in figure.panels]
    np.testing.assert_array_equal(limits, limits[:1] * 6)
    families = {"vermilion": ("RNN", "LSTM"), "green": ("CNN",), "blue": ("attention",)}
    for model, (family, _) in PLACES.items():
        assert any(word in model for word in families[figure.panels[family]["color"]]), model


def test_all_is_grey_but_the_model_chosen(figure):
    for model, (family, number) in PLACES.items():
        for place, panel in enumerate(figure.figure.at(model=model)["panels"]):
            *lines, upright = panel["series"]
            coloured = [i for i, one in enumerate(lines) if one["inFocus"]]
            assert coloured == ([number] if place % 3 == family else [])
            assert [len(one["y"]) for one in lines] == [3 if i in coloured else 1 for i in range(len(lines))]
            assert upright["label"] == "T"


@pytest.mark.parametrize("step", [0, 2 * EVERY, STEPS - 2 * EVERY, STEPS])
def test_accuracies_are_those_stored(figure, runs, step):
    for model in MODELS:
        trained = [T for T in LENGTHS if T <= TRAINED[model]]
        expected = np.array([[after(runs[model, T, seed], step) for T in trained] for seed in range(3)])
        np.testing.assert_allclose(series(figure, ACCURACY, model, step=step), expected, atol=KEPT)
        np.testing.assert_allclose(series(figure, ACCURACY, model, step=step, seed="2"), expected[2:], atol=KEPT)


def test_gradients_are_those_stored_and_an_exact_0_is_no_path(figure, runs):
    for model in MODELS:
        expected = np.array([[log_gradient(runs[model, T, seed]) for T in LENGTHS] for seed in range(3)])
        np.testing.assert_allclose(series(figure, GRADIENT, model), expected, atol=0.011)
        np.testing.assert_allclose(series(figure, GRADIENT, model, seed="1"), expected[1:2], atol=0.011)
        none = [T for T, there in zip(LENGTHS, np.isneginf(expected).all(axis=0)) if there]
        assert none == [T for T in LENGTHS if T > {"CNN": 17, "dilated CNN": 256}.get(model, math.inf)]


def test_what_was_not_trained_is_blank(figure, runs):
    for model in MODELS:
        trained = [T for T in LENGTHS if "accuracy" in runs[model, T, 0]]
        np.testing.assert_allclose(10 ** series(figure, ACCURACY, model, "x"), trained, rtol=0.003)
        np.testing.assert_allclose(10 ** series(figure, GRADIENT, model, "x"), LENGTHS, rtol=0.003)
    for setting in figure.settings("model", "T"):
        blank = "accuracy" not in runs[setting["model"], setting["T"], 0]
        assert ("这么长没有训练。" in figure.sentence(**setting)) == blank
        assert ("训练后准确率" in figure.sentence(**setting)) != blank


def test_the_upright_line_stands_at_T_from_edge_to_edge(figure):
    for T in LENGTHS:
        for panel in figure.figure.at(T=T)["panels"]:
            line = panel["series"][-1]
            np.testing.assert_allclose(line["x"], math.log10(T), atol=1e-6)
            np.testing.assert_allclose(line["y"][0], panel["limits"][1])


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
    return figure.panels[0]["rules"][0]["y"]


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
    said = figure.figure.at()["detail"]
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


def test_the_words_read_the_chosen_run(figure, runs):
    for setting in [{"model": "LSTM chrono", "T": 128}, {"model": "RNN", "T": 8, "step": 2 * EVERY}]:
        each = [after(runs[setting["model"], setting["T"], seed], setting.get("step", STEPS)) for seed in range(3)]
        said = figure.sentence(**setting)
        assert f"准确率 {median(each):.2f}，" in said
        assert said.endswith("学会了。") == (median(each) >= 0.9)
        detail = figure.figure.at(**setting)["detail"]
        assert f"各个种子的准确率是 {min(each):.2f} … {max(each):.2f}（" in detail


def test_the_sentence_says_whether_the_threshold_was_right(figure, runs):
    words = {
        (False, False): "，没学会。",
        (False, True): "，却学会了。",
        (True, False): "，却没学会。",
        (True, True): "，学会了。",
    }
    seen = set()
    for setting in figure.settings("model", "T"):
        model, T = setting.values()
        each = [runs[model, T, seed] for seed in range(3)]
        above = median(map(log_gradient, each)) > rule(figure)
        assert ("高于门槛" if above else "低于门槛") in figure.sentence(**setting)
        if T <= TRAINED[model]:
            learned = median(run["accuracy"] for run in each) >= 0.9
            assert figure.sentence(**setting).endswith(words[above, learned])
            seen.add((above, learned))
    assert seen == set(words)


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
    for family in range(3):
        assert [one["y"] for one in figure.panels[3 * ACCURACY + family]["rules"]] == [CHANCE, 0.9]
        assert [one["label"] for one in figure.panels[3 * ACCURACY + family]["rules"]] == ["随机猜 1/8", "学会了"]


def test_hardly_any_learn_from_too_small_a_gradient_and_most_from_a_larger_one(runs, figure):
    """The title; it would not hold for as good a chance on either side."""
    trained = [run for run in runs.values() if "accuracy" in run]
    below, above = (
        [r["accuracy"] >= 0.9 for r in trained if (log_gradient(r) > rule(figure)) == side] for side in (False, True)
    )
    assert len(below) > 20 and sum(below) <= 0.1 * len(below)
    assert sum(above) >= 0.8 * len(above)


def test_the_sentence_at_the_start(figure):
    assert figure.sentence() == "T = 64，LSTM, b=1：训练前梯度 5.76×10⁻⁷，低于门槛；训练后准确率 0.13，没学会。"
