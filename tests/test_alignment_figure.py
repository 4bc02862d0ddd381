"""The figure alignment: its matrices against the stored model, told its own words, its lines against the stored file."""

import json
import random

import numpy as np
import pytest
import torch
from chromium import Visit, page_of
from figure_reading import Reading

from why_attention.figures import alignment
from why_attention.tasks import translation

ARCS, MATRIX, LINES = 0, 1, 2
KEPT = 0.0101  # half the resolution of a decade of weight
LENGTHS = [4, 8, 12, 16, 20, 24]


@pytest.fixture(scope="module")
def figure():
    return Reading(alignment.figure())


def matrix(figure, **values):
    return figure.array(figure.panels[MATRIX]["matrix"], **values)


def labels(figure, side, **values):
    return figure.words(figure.panels[MATRIX][side], **values).split()


def told(model, n, words):
    """The model's scores and weights on the figure's sentence, when each step is told these words before it."""
    one = translation.pair(n, random.Random(n))
    numbers = [translation.TARGET_NUMBER.get(word.strip("*"), translation.END) for word in words]
    target = torch.tensor([numbers + [translation.END] * (n + 1 - len(numbers))])
    given = translation.batch([one])
    with torch.no_grad():
        return one, *translation.load(model)(given.source.cpu(), given.lengths.cpu(), target)


@pytest.mark.parametrize("n", [*LENGTHS, 10])  # 10 is off the grid
def test_weights_and_words_are_those_of_the_stored_model(figure, n):
    words = labels(figure, "row_words", n=n)
    one, scores, weights = told("attention", n, words)
    assert labels(figure, "column_words", n=n) == one.source
    best = [[*translation.TARGET_WORDS, "(end)"][number] for number in scores[0].argmax(-1)][: len(words)]
    assert [word.strip("*") for word in words] == best
    decades = matrix(figure, n=n)
    assert decades.shape == (len(words), n) and 1 <= len(words) <= n + 1
    expected = weights[0, : len(words)].log10().clamp_min(-40).numpy()
    assert np.abs(np.maximum(decades, -40) - expected).max() <= KEPT
    assert np.abs((10**decades).sum(-1) - 1).max() < 0.05  # as near to 1 as the frames keep it


@pytest.mark.parametrize("attention", [False, True])
@pytest.mark.parametrize("n", LENGTHS)
def test_stars_stand_before_wrong_words_alone(figure, n, attention):
    right = [*translation.pair(n, random.Random(n)).target, "(end)"]
    words = labels(figure, "row_words", n=n, attention=attention)
    for word, expected in zip(words, right):
        assert word == expected if not word.startswith("*") else word[1:] != expected
    assert int(figure.words("right", n=n, attention=attention)) == sum(a == b for a, b in zip(words, right[:-1]))


@pytest.mark.parametrize("n", LENGTHS)
def test_the_bottleneck_has_no_path_to_a_single_word(figure, n):
    assert np.isneginf(matrix(figure, n=n, attention=False)).all()
    words = labels(figure, "row_words", n=n, attention=False)
    _, scores, weights = told("bottleneck", n, words)
    assert weights is None and len(matrix(figure, n=n, attention=False)) == len(words)


@pytest.mark.parametrize("n", LENGTHS)
def test_the_right_place_holds_the_word_that_is_translated(figure, n):
    places = figure.array(figure.panels[MATRIX]["companion"]["matrix"], n=n)
    source, right = labels(figure, "column_words", n=n), translation.pair(n, random.Random(n)).target
    assert (places == places[:, :1]).all()  # the same in all of a row
    rows = places[:, 0]
    assert [translation.LEXICON[source[int(j) - 1]] for j in rows[:n]] == right[: len(rows)]
    assert all(np.isneginf(rows[n:]))
    weights = 10 ** matrix(figure, n=n)[:n]
    columns = rows[:n].astype(int) - 1
    hits = float(figure.words("hits", n=n))
    mass = float(figure.words("mass", n=n))
    assert abs(hits - (weights.argmax(-1) == columns).mean()) <= 0.5 / len(columns) + 0.006  # but for ties of a frame
    assert abs(mass - weights[range(len(columns)), columns].mean()) < 0.03


def test_the_lines_are_the_stored_results(figure):
    runs = json.loads(translation.EXPERIMENT.path.read_text(encoding="utf-8"))["runs"]
    for label, model in (("注意力", "attention"), ("固定瓶颈", "bottleneck")):
        x, y = figure.line(LINES, label)
        expected = [run["measured"]["exact_match"] for run in runs if run["settings"]["model"] == model]
        assert x.tolist() == translation.LENGTHS and np.abs(y - np.array(expected)).max() <= 0.0051
    assert (figure.line(LINES, "训练句长上限")[0] == translation.LONGEST).all()
    for model, attention in (("attention", True), ("bottleneck", False)):
        x, y = figure.line(LINES, "现在", n=12, attention=attention)
        median = np.median([r.measured["exact_match"] for r in translation.EXPERIMENT.results() if r.settings["model"] == model], axis=0)  # fmt: skip
        assert x == 12 and y == pytest.approx(median[translation.LENGTHS.index(12)], abs=0.0051)


def test_attention_holds_on_longer_and_from_20_words_on_both_fail(figure):
    assert alignment.longest_right("attention") > translation.LONGEST > alignment.longest_right("bottleneck")
    assert "训练句长上限 12 词，20 词起几乎为 0" in figure.sentence()
    for model in translation.MODELS:
        after = alignment.exact_matches(model)[:, translation.LENGTHS.index(20) :]
        assert after.median(0).values.max() == 0 and after.max() < 0.05


def test_the_first_picture_shows_a_right_translation_and_its_alignment(figure):
    assert not any(word.startswith("*") for word in labels(figure, "row_words"))
    assert figure.words("right") == "8" and float(figure.words("hits")) >= 0.85


def test_the_sentence_tells_where_each_breaks(figure):
    medians = {
        model: np.median([r.measured["exact_match"] for r in translation.EXPERIMENT.results() if r.settings["model"] == model], axis=0)
        for model in translation.MODELS
    }  # fmt: skip
    at = translation.LENGTHS.index
    assert figure.words("attention_longest") == f"{medians['attention'][at(translation.LONGEST)]:.2f}"
    assert figure.words("bottleneck_longest") == f"{medians['bottleneck'][at(translation.LONGEST)]:.2f}"
    assert figure.words("attention_far") == f"{medians['attention'][at(24)]:.2f}"
    steps = {model: [] for model in translation.MODELS}
    for result in translation.EXPERIMENT.results():
        steps[result.settings["model"]].append(result.measured["steps"])
    for model in translation.MODELS:
        last = int(figure.words(f"{model}_lasts"))
        good = (medians[model] >= 0.9).tolist()
        assert good[: at(last) + 1] == [True] * (at(last) + 1)
        assert last == translation.LENGTHS[-1] or not good[at(last) + 1]
        assert figure.words(f"{model}_steps") == f"{min(steps[model])}–{max(steps[model])}"
    for model, attention in (("attention", True), ("bottleneck", False)):
        for n in LENGTHS:
            assert figure.words("share", n=n, attention=attention) == f"{medians[model][at(n)]:.2f}"
    assert figure.words("share", n=9) == "—"  # no sentence of that length was tested
    assert figure.sentence().startswith("注意力写对 8 个词里的 8 个；")
    assert "对应的词平均分到" in figure.figure.at()["detail"]
    bottleneck = figure.figure.at(attention=False)["detail"]
    assert "没有注意力权重" in bottleneck and "平均分到" not in bottleneck


# The arcs


@pytest.mark.parametrize("attention", [False, True])
@pytest.mark.parametrize("n", LENGTHS)
def test_the_arcs_are_the_matrix_beside_them(figure, n, attention):
    arcs, cells, _ = figure.figure.at(n=n, attention=attention)["panels"]
    assert (arcs["matrix"] == cells["matrix"]).all() and (arcs["limits"] == cells["limits"]).all()
    assert (arcs["rowWords"], arcs["columnWords"]) == (cells["rowWords"], cells["columnWords"])


@pytest.fixture(params=[320, 390, 1280])
def page(request, browser, tmp_path):
    (tmp_path / "page.html").write_text(page_of([alignment.figure()]), encoding="utf-8")
    visit = Visit(browser, viewport={"width": request.param, "height": 844})
    yield visit.open((tmp_path / "page.html").as_uri())
    visit.close()


def test_a_row_of_the_matrix_stands_beside_its_word_and_has_no_other(page):
    """The arcs' words at the right name the rows of the matrix too."""
    middles = """(figure) => [...figure.querySelectorAll(".arc-word")].map((word) => word.getBoundingClientRect()).map(({ top, bottom }) => (top + bottom) / 2)"""
    words = page.locator("figure.explorable").evaluate(middles)[8:]  # those of the source come first
    box = page.locator("canvas").bounding_box()
    rows = [box["y"] + (i + 0.5) * box["height"] / len(words) for i in range(len(words))]
    assert words == pytest.approx(rows, abs=3)
    texts = page.locator(".stage text").all_text_contents()
    assert texts.count("译文") == 1 and texts.count("magna") == 1


WIDTHS = """(figure) => [...figure.querySelectorAll("path.arc")].map((path) => parseFloat(path.style.strokeWidth))"""


def test_every_weight_above_the_scale_has_an_arc_the_wider_the_larger(page, figure):
    weights = matrix(figure).ravel()
    seen = weights[weights > -2]
    widths = page.locator("figure.explorable").evaluate(WIDTHS)
    assert len(widths) == len(seen)
    assert (np.argsort(widths, kind="stable") == np.argsort(10 ** seen.clip(max=0), kind="stable")).mean() > 0.9


def test_without_attention_all_words_pass_through_one_hub(page, figure):
    page.locator('[name="attention"]').uncheck()
    words = [len(labels(figure, side, attention=False)) for side in ("row_words", "column_words")]
    assert page.locator("path.arc").count() == sum(words)
    assert page.locator(".hub").count() == 1 and page.locator(".hub-name").text_content() == "c"


def test_words_stand_in_order_apart_and_inside_at_every_length(page):
    inside = """([n]) => {
      const figure = document.querySelector("figure"), input = figure.querySelector('[name="n"]');
      input.value = n;
      input.dispatchEvent(new Event("input", { bubbles: true }));
      const svg = figure.querySelector(".stage > svg"), { left, right, bottom } = svg.getBoundingClientRect();
      const boxes = [...svg.querySelectorAll(".arc-word")].map((word) => word.getBoundingClientRect());
      const out = boxes.filter((box) => box.left < left - 2 || box.right > right + 2 || box.bottom > bottom + 2);
      const overlaps = boxes.filter((box, i) => boxes.some((other, k) => k > i && box.left < other.right && other.left < box.right &&
        Math.min(box.bottom, other.bottom) - Math.max(box.top, other.top) > 4));
      return [out.length, overlaps.length, boxes.length];
    }"""
    for place, n in enumerate(LENGTHS):
        out, overlaps, count = page.evaluate(inside, [place])
        assert (out, overlaps) == (0, 0) and n < count <= 2 * n + 1


def test_a_picked_word_lights_its_arcs_and_the_cell_beside(page):
    arcs = page.locator(".stage > svg").first
    arcs.focus()
    arcs.press("ArrowDown")
    arcs.press("ArrowDown")
    lit = page.locator("path.arc.lit")
    assert 1 <= lit.count() < page.locator("path.arc").count()
    assert page.locator(".arc-word.lit").count() == 2
    assert page.locator("rect.ring").get_attribute("display") == "inline"
    said = page.locator(".readout").inner_text()
    row, column = page.locator(".arc-word.lit").all_text_contents()[::-1]
    assert said.startswith(f"译文 2: {row}，原文 1: {column}：{row} ← {column} ")
    arcs.press("Escape")
    assert page.locator("path.arc.lit, .arc-word.lit").count() == 0
