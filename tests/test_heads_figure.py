"""The figure heads: frames against the stored model and torch's own softmax, words against frames, controls, sizes."""

import numpy as np
import pytest
import torch
from chromium import Visit, page_of
from figure_reading import Reading

from why_attention.figures import heads
from why_attention.tasks import induction
from why_attention.tasks.induction import EXPERIMENT, load, remove_head, tokens_of

QUANTUM = 0.01  # of a weight; one that is not 0 is kept as this at least
KEPT = 0.0051
KEPT_SCORE = 0.0011
CURVES = 4


@pytest.fixture(scope="module")
def figure():
    return Reading(heads.figure())


def drawn(figure, layer, head, **values):
    return figure.array(figure.panels[heads.HEADS.index((layer, head))]["matrix"], **values)


def said(figure, slot, layer, head, **values):
    return figure.words(f"{slot}{layer}{head}", **values)


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
            now = drawn(figure, layer, head, sequence=sequence, ablate=ablate)
            no_path = np.triu(np.ones(now.shape, bool), 1)
            assert np.array_equal(np.isneginf(now), no_path)
            expected = A[head - 1].clamp_min(QUANTUM).numpy()
            np.testing.assert_allclose(now[~no_path], expected[~no_path], atol=KEPT)


def test_each_row_and_column_is_named_by_its_token(figure):
    for sequence in figure.grids["sequence"]:
        for panel in figure.panels[:CURVES]:
            for key in ("row_words", "column_words"):
                assert figure.words(panel[key], sequence=sequence).split() == list(sequence)


def test_the_four_maps_are_named_and_the_one_taken_out_is_faint(figure):
    now = induction.measures(heads.model_without(heads.NOTHING))
    jobs = {"previous": "：前一个", "induction": "：归纳"}
    said = [[words for name, words in jobs.items() if now[name][i - 1][j - 1] >= 0.5] for i, j in heads.HEADS]
    titles = [panel["title"] for panel in figure.panels[:CURVES]]
    assert titles == [f"头 {i}.{j}" + "".join(words) for (i, j), words in zip(heads.HEADS, said)]
    assert [panel["faint_at"] for panel in figure.panels[:CURVES]] == [["ablate", f"{i}.{j}"] for i, j in heads.HEADS]


@pytest.mark.parametrize("width", [390, 1280])
def test_four_stand_side_by_side_or_two_and_two_and_a_pick_marks_all(browser, tmp_path, width):
    (tmp_path / "page.html").write_text(page_of([heads.figure()]), encoding="utf-8")
    visit = Visit(browser, viewport={"width": width, "height": 844})
    page = visit.open((tmp_path / "page.html").as_uri())
    boxes = [canvas.bounding_box() for canvas in page.locator("canvas").all()]
    tops = [round(box["y"]) for box in boxes]
    assert len(set(tops)) == (1 if width == 1280 else 2)
    assert len({(round(box["width"]), round(box["height"])) for box in boxes}) == 1
    page.mouse.move(boxes[0]["x"] + 0.5 * boxes[0]["width"], boxes[0]["y"] + 0.8 * boxes[0]["height"])
    rings = page.locator("rect.ring")
    assert rings.evaluate_all("(all) => all.map((ring) => ring.getAttribute('display'))") == 4 * ["inline"]
    page.locator('[name="ablate"]').select_option(index=3)
    faint = page.locator(".layered").evaluate_all("(all) => all.map((one) => one.matches('.faint'))")
    assert faint == [False, False, True, False]
    visit.close()


def test_the_first_picture_is_the_stripe_of_the_previous_token(figure):
    A = drawn(figure, 1, 2)
    A = np.where(np.isneginf(A), 0, A)
    assert np.median(A.diagonal(-1)) > 0.7
    assert "第 2 头是前一个 token 头；" in figure.figure.at()["detail"]


def test_sequences_repeat_as_their_words_say(figure):
    eight, five, shuffled, none = figure.grids["sequence"]
    assert eight == 2 * eight[:8] and five == 3 * five[:5]
    assert [len(set(part)) for part in (eight, five, none)] == [8, 5, 16]
    assert sorted(shuffled[8:]) == sorted(shuffled[:8]) and len(set(shuffled[:8])) == 8
    following = {shuffled[i : i + 2] for i in range(7)}
    assert not following & {shuffled[i : i + 2] for i in range(7, 15)}  # no pair comes again


def on_target(A, sequence):
    """Return for each token that repeats the weight on what came after it before."""
    return [
        sum(A[i, j] for j in range(1, i + 1) if sequence[j - 1] == token)
        for i, token in enumerate(sequence)
        if token in sequence[:i]
    ]


@pytest.mark.parametrize("head", [1, 2])
def test_induction_heads_follow_the_content_wherever_it_comes_again(figure, head):
    for sequence in list(figure.grids["sequence"])[:3]:
        A = drawn(figure, 2, head, sequence=sequence)
        assert np.mean(on_target(A, sequence)) > 0.7


def test_scores_in_the_sentence_are_those_of_the_map(figure):
    for sequence in figure.grids["sequence"]:
        for layer, head in heads.HEADS:
            A = scores_by_hand(load(), sequence, layer)[head - 1].numpy()
            previous = float(said(figure, "previous", layer, head, sequence=sequence))
            assert previous == pytest.approx(A.diagonal(-1).mean(), abs=KEPT)
            followed = said(figure, "followed", layer, head, sequence=sequence)
            if len(set(sequence)) == len(sequence):
                assert followed == "—"
            else:
                assert float(followed) == pytest.approx(np.mean(on_target(A, sequence)), abs=KEPT)


def test_jobs_are_read_off_the_test_sequences(figure):
    jobs = "第 1 层：第 1 头是别的头，第 2 头是前一个 token 头；第 2 层：第 1 头是归纳头，第 2 头是归纳头"
    assert jobs in figure.figure.at()["detail"]
    assert "第 2 层：第 1 头是别的头，第 2 头是别的头" in figure.figure.at(ablate="1.2")["detail"]


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
        assert "，正是末尾的字母" in figure.figure.at(sequence=sequence)["detail"]
    assert "没有根据" in figure.figure.at(sequence=none)["detail"]
    assert "，不是末尾的字母" in figure.figure.at(ablate="1.2")["detail"]


def test_without_the_previous_token_head_the_stripe_above_is_gone(figure):
    for head in (1, 2):
        whole, left = (float(said(figure, "followed", 2, head, ablate=one)) for one in ("none", "1.2"))
        assert whole > 0.7 and left < 0.5 * whole
    assert figure.sentence(ablate="1.2").startswith("去掉一个头以后，重复的部分猜对 ")


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
