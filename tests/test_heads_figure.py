"""The figure heads: frames against the stored model and torch's own softmax, words against frames, controls, sizes."""

import numpy as np
import pytest
import torch
from figure_reading import Reading

from why_attention.figures import heads
from why_attention.tasks.induction import EXPERIMENT, load, remove_head, tokens_of

QUANTUM = 0.01  # of a weight; one that is not 0 is kept as this at least
KEPT = 0.0051
KEPT_SCORE = 0.0011
MAP, CURVES = 0, 1


@pytest.fixture(scope="module")
def figure():
    return Reading(heads.figure())


def drawn(figure, **values):
    return figure.array(figure.panels[MAP]["matrix"], **values)


def scores_by_hand(model, sequence, layer):
    """Return softmax(Q Kᵀ / √d_k) of both heads of a layer, (2, n, n), without any function of ours."""
    tokens = tokens_of(sequence)
    x = model.tokens.weight[tokens] + model.positions.weight[: len(tokens)]
    hidden = torch.ones(len(tokens), len(tokens)).triu(1).bool()
    for number, one in enumerate(model.layers, start=1):
        Q, K, V = ((x @ W.weight.T).view(len(tokens), 2, 32).transpose(0, 1) for W in (one.W_q, one.W_k, one.W_v))
        A = (Q @ K.mT / 32**0.5).masked_fill(hidden, -torch.inf).softmax(-1)
        if number == layer:
            return A
        x = x + (A @ V).transpose(0, 1).reshape(len(tokens), 64) @ one.W_o.weight.T


@pytest.mark.parametrize("layer", [1, 2])
@pytest.mark.parametrize("ablate", ["none", "1.2"])
def test_maps_are_those_of_the_stored_model(figure, layer, ablate):
    model = load() if ablate == "none" else remove_head(load(), 1, 2)
    for sequence in figure.grids["sequence"]:
        A = scores_by_hand(model, sequence, layer)
        for head in (1, 2):
            now = drawn(figure, layer=layer, head=head, sequence=sequence, ablate=ablate)
            no_path = np.triu(np.ones(now.shape, bool), 1)
            assert np.array_equal(np.isneginf(now), no_path)
            expected = A[head - 1].clamp_min(QUANTUM).numpy()
            np.testing.assert_allclose(now[~no_path], expected[~no_path], atol=KEPT)


def test_each_row_and_column_is_named_by_its_token(figure):
    for sequence in figure.grids["sequence"]:
        for key in ("row_words", "column_words"):
            assert figure.words(figure.panels[MAP][key], sequence=sequence).split() == list(sequence)


def test_the_first_picture_is_the_stripe_of_the_previous_token(figure):
    A = np.where(np.isneginf(drawn(figure)), 0, drawn(figure))
    assert np.median(A.diagonal(-1)) > 0.7
    assert "第 1 层第 2 个头是前一个 token 头：" in figure.sentence()


def test_sequences_repeat_as_their_words_say(figure):
    eight, five, twelve, shuffled, none = figure.grids["sequence"]
    assert eight == 3 * eight[:8] and five == 4 * five[:5] and twelve == 2 * twelve[:12]
    assert [len(set(part)) for part in (eight, five, twelve, none)] == [8, 5, 12, len(none)]
    assert sorted(shuffled[12:]) == sorted(shuffled[:12]) and len(set(shuffled[:12])) == 12
    following = {shuffled[i : i + 2] for i in range(11)}
    assert not following & {shuffled[i : i + 2] for i in range(12, 23)}  # no pair comes again


def on_target(A, sequence):
    """Return for each token that repeats the weight on what came after it before."""
    return [
        sum(A[i, j] for j in range(1, i + 1) if sequence[j - 1] == token)
        for i, token in enumerate(sequence)
        if token in sequence[:i]
    ]


@pytest.mark.parametrize("head", [1, 2])
def test_induction_heads_follow_the_content_wherever_it_comes_again(figure, head):
    for sequence in list(figure.grids["sequence"])[:4]:
        A = drawn(figure, layer=2, head=head, sequence=sequence)
        assert np.mean(on_target(A, sequence)) > 0.7


def test_scores_in_the_sentence_are_those_of_the_map(figure):
    for sequence in figure.grids["sequence"]:
        for layer, head in heads.HEADS:
            setting = {"layer": layer, "head": head, "sequence": sequence}
            A = scores_by_hand(load(), sequence, layer)[head - 1].numpy()
            assert float(figure.words("previous", **setting)) == pytest.approx(A.diagonal(-1).mean(), abs=KEPT)
            said = figure.words("followed", **setting)
            if len(set(sequence)) == len(sequence):
                assert said == "—"
            else:
                assert float(said) == pytest.approx(np.mean(on_target(A, sequence)), abs=KEPT)


def test_jobs_are_read_off_the_test_sequences(figure):
    jobs = {(layer, head): figure.sentence(layer=layer, head=head).split("：")[0] for layer, head in heads.HEADS}
    assert jobs[1, 1].endswith("两种头都算不上") and jobs[1, 2].endswith("是前一个 token 头")
    assert jobs[2, 1].endswith("是归纳头") and jobs[2, 2].endswith("是归纳头")
    assert "两种头都算不上" in figure.sentence(layer=2, head=1, ablate="1.2")


def test_accuracies_are_the_stored_ones_and_what_ablation_leaves(figure):
    stored = {(r.settings["layers"], r.settings["seed"]): r.measured for r in EXPERIMENT.results()}
    for layer, head in heads.HEADS:
        left = float(figure.words("accuracy", ablate=f"{layer}.{head}"))
        assert left == pytest.approx(stored[2, 0]["ablated"][layer - 1][head - 1], abs=KEPT)
    assert float(figure.words("accuracy")) == pytest.approx(stored[2, 0]["accuracy"], abs=KEPT)
    assert float(figure.words("control")) == pytest.approx(stored[1, 0]["accuracy"], abs=KEPT)


def test_the_guess_is_what_came_after_the_last_letter_where_anything_did(figure):
    *repeated, none = figure.grids["sequence"]
    for sequence in repeated:
        assert figure.words("guess", sequence=sequence) == sequence[sequence.index(sequence[-1]) + 1]
        assert float(figure.words("probability", sequence=sequence)) > 0.9
        assert "跟在后面的正是它" in figure.sentence(sequence=sequence)
    assert "无从猜起" in figure.sentence(sequence=none)
    assert "跟在后面的不是它" in figure.sentence(ablate="1.2")


def test_without_the_previous_token_head_the_stripe_above_is_gone(figure):
    for head in (1, 2):
        whole, left = (float(figure.words("followed", layer=2, head=head, ablate=one)) for one in ("none", "1.2"))
        assert whole > 0.7 and left < 0.5 * whole
    assert "去掉一个头以后，测试序列重复的部分猜对的比例是" in figure.sentence(ablate="1.2")


def test_curves_are_the_stored_ones_of_all_seeds(figure):
    for layers, label in ((2, "两层"), (1, "一层")):
        x, y = figure.line(CURVES, label)
        stored = [r.measured["curves"] for r in EXPERIMENT.results() if r.settings["layers"] == layers]
        assert y.shape == (3, len(x)) and x.tolist() == stored[0]["step"]
        np.testing.assert_allclose(y, [one["accuracy"] for one in stored], atol=KEPT_SCORE)
    stored = [r.measured["curves"] for r in EXPERIMENT.results() if r.settings["layers"] == 2]
    for label, name, layer in (("看前一个", "previous", 0), ("归纳", "induction", 1)):
        best = [max(zip(*(step[layer] for step in one[name])), key=lambda curve: curve[-1]) for one in stored]
        np.testing.assert_allclose(figure.line(CURVES, label)[1], best, atol=KEPT_SCORE)
