"""The figures attention-map and dilution: frames against torch and closed forms, words against frames, controls, sizes."""

import itertools
import math
import re

import numpy as np
import pytest
import torch
from figure_reading import Reading
from torch import nn
from torch.func import jacrev

from why_attention.figures import attention_map, dilution

pytestmark = pytest.mark.slow  # where no frames are kept
KEPT = 0.0025  # half the resolution of a map's decades
KEPT_INFLUENCE = 0.00025  # half the resolution of an influence's decades
MODULES = {"attention-map": attention_map, "dilution": dilution}
each_figure = pytest.mark.parametrize("name", MODULES)


@pytest.fixture(scope="session")
def figures():
    """Both figures from the store; where the store has none yet, they are computed, which takes a minute."""
    return {name: Reading(module.figure()) for name, module in MODULES.items()}


@pytest.fixture
def attention(figures):
    return figures["attention-map"]


@pytest.fixture
def diluted(figures):
    return figures["dilution"]


# attention-map: the map


def softmax_by_hand(draw, n, scale, mask, positions):
    """Return the weights (n, n) of one draw, row by row, without any attention function."""
    tokens, W_q, W_k = (tensor[draw] for tensor in attention_map.random_inputs())
    x = tokens[:n].clone()
    if positions:
        for t, i in itertools.product(range(n), range(8)):
            x[t, 2 * i] += math.sin(t / 10000 ** (i / 8))
            x[t, 2 * i + 1] += math.cos(t / 10000 ** (i / 8))
    A = torch.zeros(n, n, dtype=torch.float64)
    for i in range(n):
        seen = i + 1 if mask else n
        scores = torch.stack([scale * (W_q @ x[i]) @ (W_k @ x[j]) / 4 for j in range(seen)])  # √d = 4
        A[i, :seen] = (scores - scores.max()).exp() / (scores - scores.max()).exp().sum()
    return A


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"n": 4, "scale": 0.25},
        {"n": 32, "scale": 2.0, "mask": True},
        {"scale": 8.0, "positions": True},
        {"n": 8, "mask": True, "positions": True},
    ],
    ids=str,
)
def test_the_map_is_the_softmax_of_the_scores(attention, values):
    drawn = attention.array(attention.panels[0]["matrix"], **values)
    expected = softmax_by_hand(0, **(attention.start | values))
    np.testing.assert_allclose(drawn, expected.log10(), atol=KEPT + 1e-9, rtol=0)


def test_every_row_of_every_map_shares_1(attention):
    for values in attention.settings("n", "scale", "mask", "positions"):
        drawn = 10 ** attention.array(attention.panels[0]["matrix"], **values)
        np.testing.assert_allclose(drawn.sum(-1), 1, rtol=10**KEPT - 1)


def test_a_shorter_sequence_is_the_start_of_a_longer_one(attention):
    """A causal row does not know what comes after it, so its weights are the very same."""
    for positions in (False, True):
        long = attention.array(attention.panels[0]["matrix"], n=32, mask=True, positions=positions)
        for n in (4, 8, 16):
            short = attention.array(attention.panels[0]["matrix"], n=n, mask=True, positions=positions)
            np.testing.assert_allclose(short, long[:n, :n], atol=2 * KEPT + 1e-9)


def unlike(drawn):
    """Return how unlike two rows are at most, in decades: rows of one kind, and on average all."""
    apart = np.abs(drawn[:, None] - drawn[None]).mean(-1)
    of_one_kind = (np.subtract.outer(np.arange(len(drawn)), np.arange(len(drawn))) % 4) == 0
    return apart[of_one_kind].max(), apart.mean()


def test_rows_of_one_kind_are_alike_until_positions_tell_them_apart(attention):
    alike, all_rows = unlike(attention.array(attention.panels[0]["matrix"]))
    assert alike < 0.5 * all_rows
    alike, all_rows = unlike(attention.array(attention.panels[0]["matrix"], positions=True))
    assert alike > 0.8 * all_rows


def test_the_words_of_rows_and_columns_name_the_kinds_that_take_turns(attention):
    panel = attention.panels[0]
    assert len(set(panel["word_colors"].values())) == len(panel["word_colors"]) == attention_map.KINDS
    tokens = attention_map.random_inputs()[0][0]
    for (n,) in [(values["n"],) for values in attention.settings("n")]:
        rows, columns = (attention.words(panel[key], n=n).split() for key in ("row_words", "column_words"))
        assert rows == columns and len(rows) == n
        near = torch.cdist(tokens[:n], tokens[:n])
        alike = torch.tensor([[one == other for other in rows] for one in rows])
        assert near[alike].max() < near[~alike].min()  # a name is a kind, and no two kinds share one


# attention-map: the numbers


@pytest.mark.parametrize("n", [1, 4, 16])
def test_even_shares_have_an_effective_number_of_n_and_one_key_has_1(n):
    assert attention_map.effective_number(torch.full((3, n), 1 / n)) == pytest.approx(n)
    assert attention_map.effective_number(torch.eye(n)) == pytest.approx(1)
    assert attention_map.sensitivity(torch.full((3, n), 1 / n)).item() == pytest.approx(1 - 1 / n, abs=1e-6)
    assert attention_map.sensitivity(torch.eye(n)).item() == 0


def test_a_factor_of_0_shares_evenly():
    A = attention_map.weights(16, 0.0, False, True)
    torch.testing.assert_close(A, torch.full_like(A, 1 / 16))


def test_sensitivity_is_the_trace_of_the_softmaxs_jacobian():
    scores = torch.randn(5, 9, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    traces = torch.stack([jacrev(lambda row: row.softmax(-1))(row).trace() for row in scores])
    torch.testing.assert_close(attention_map.sensitivity(scores.softmax(-1)), traces.mean())


def test_the_lines_are_the_sensitivities_of_every_draw(attention):
    values = {"n": 8, "mask": True, "positions": True}
    x, y = (attention.series(1, 0, axis, **values) for axis in "xy")
    assert y.shape == (attention_map.DRAWS, len(x))
    for draw, place in itertools.product((0, 3, 6), (0, 9, 23)):
        A = softmax_by_hand(draw, scale=10 ** attention_map.LOG_SCALES[place].item(), **values)
        assert x[place] == pytest.approx(attention_map.LOG_SCALES[place].item(), abs=0.0005)
        assert y[draw, place] == pytest.approx(1 - (A**2).sum(-1).mean().item(), abs=0.001 + 1e-9)


def test_the_grey_line_is_that_of_the_draw_in_the_map(attention):
    for values in attention.settings("n", "mask", "positions"):
        x, y = attention.line(1, "这张图", **values)
        np.testing.assert_array_equal(y, attention.series(1, 0, **values)[0])
        np.testing.assert_array_equal(x, attention.series(1, 0, "x", **values))


def test_every_draw_loses_sensitivity_as_the_factor_grows(attention):
    """And must: the derivative of log Σ a² by β is 2 (mean score at 2β − mean score at β) ≥ 0."""
    for values in attention.settings("n", "mask", "positions"):
        y = attention.series(1, 0, **values)
        assert (np.diff(y) <= 1e-9).all()
        assert (y[:, -1] < y[:, 0] - 0.2).all()


def test_the_dot_stands_where_the_map_is(attention):
    for values in attention.settings("n", "scale", "mask", "positions"):
        (x,), (y,) = (attention.series(1, 1, axis, **values) for axis in "xy")
        assert x == pytest.approx(math.log10(values["scale"]), abs=0.0005)
        others = {name: value for name, value in values.items() if name != "scale"}
        line = np.interp(x, attention.series(1, 0, "x", **others), attention.series(1, 0, **others)[0])
        assert y == pytest.approx(line, abs=0.01)  # the line between two of its points is straight, the truth bends


def test_the_sentence_says_what_the_map_shows(attention):
    for values in attention.settings("n", "scale", "mask", "positions"):
        A = 10 ** attention.array(attention.panels[0]["matrix"], **values)
        A = A / A.sum(-1, keepdims=True)  # off by what frames keep
        entropy = -(A * np.log(np.where(A > 0, A, 1))).sum(-1).mean()
        (sensitivity,) = attention.series(1, 1, **values)
        most = np.mean([1 - 1 / i for i in range(1, values["n"] + 1)]) if values["mask"] else 1 - 1 / values["n"]
        assert float(attention.words("largest", **values)) == pytest.approx(A.max(), abs=0.005 + 0.02)
        assert float(attention.words("effective", **values)) == pytest.approx(np.exp(entropy), rel=0.01, abs=0.06)
        assert float(attention.words("sensitivity", **values)) == pytest.approx(sensitivity, abs=0.006 + 1e-9)
        assert float(attention.words("most", **values)) == pytest.approx(most, abs=0.005 + 1e-9)
        left = sensitivity / most
        if min(abs(left - 0.5), abs(left - 0.1)) > 0.01:
            assert int(attention.words("verdict", **values)) == int(left < 0.5) + int(left < 0.1)


@pytest.mark.parametrize(
    "values, words",
    [
        ({}, "跟着动。"),
        ({"scale": 16.0}, "集中起来"),
        ({"n": 4, "scale": 32.0, "positions": True}, "几乎没有梯度传回去"),
    ],
)
def test_each_verdict_is_given_somewhere(attention, values, words):
    assert words in attention.sentence(**values)


# dilution: the influences


def torch_influence(seed, n, positions, mask):
    """Return ‖∂y_i/∂x_j‖_F of one seed by torch's own layer, all queries at once: (n, n)."""
    layer, x = dilution.random_layer(seed, n)
    twin = nn.MultiheadAttention(16, 1, bias=False, batch_first=True, dtype=torch.float64)
    W_qkv = torch.cat([W.weight.detach().cpu() for W in (layer.W_q, layer.W_k, layer.W_v)])
    twin.load_state_dict({"in_proj_weight": W_qkv, "out_proj.weight": layer.W_o.weight.detach().cpu()})
    x = x.cpu()
    if positions:
        x = x + softmax_positions(n)
    hidden = torch.ones(n, n).triu(1).bool() if mask else None
    J = jacrev(lambda x: twin(x, x, x, attn_mask=hidden, need_weights=True)[0])(x).detach()
    return torch.tensor([[J[i, :, j].norm() for j in range(n)] for i in range(n)])


def softmax_positions(n):
    """Return the sinusoids of the paper for d = 16: (n, 16)."""
    t, i = torch.arange(n).double().unsqueeze(-1), torch.arange(8).double()
    angles = t / 10000 ** (i / 8)
    return torch.stack([angles.sin(), angles.cos()], -1).reshape(n, 16)


each_case = pytest.mark.parametrize("positions, mask", list(itertools.product([False, True], repeat=2)))


@each_case
def test_the_lines_are_means_of_the_jacobians_of_torchs_own_layer(diluted, positions, mask):
    values = {"n": 16, "positions": positions, "mask": mask}
    near, others, itself = (diluted.series(panel, number, **values) for panel, number in [(1, 0), (2, 1), (2, 0)])
    assert near.shape == (dilution.SEEDS, 9)
    for seed in range(dilution.SEEDS):
        M = torch_influence(seed, **values).double()
        for r in range(9):
            pairs = [M[i, j].item() for i in range(16) for j in range(16) if abs(i - j) == r]
            assert near[seed, r] == pytest.approx(math.log10(np.mean(pairs)), abs=KEPT_INFLUENCE + 1e-9)
        off = [M[i, j].item() for i in range(16) for j in range(16) if i != j]
        assert others[seed, 1] == pytest.approx(math.log10(np.mean(off)), abs=KEPT_INFLUENCE + 1e-9)
        assert itself[seed, 1] == pytest.approx(M.diagonal().mean().log10().item(), abs=KEPT_INFLUENCE + 1e-9)


def bars(diluted, **values):
    return [diluted.array(bar["parts"], **values) for bar in diluted.panels[0]["bars"]]


@pytest.mark.parametrize("positions", [False, True])
def test_the_bars_are_one_row_of_torchs_own_layer_with_more_and_more_keys(diluted, positions):
    layer, x = dilution.random_layer(0, dilution.LENGTHS[-1])
    x = x.cpu() + (softmax_positions(len(x)) if positions else 0)
    scores = (x @ layer.W_q.weight.cpu().T)[7] @ (x @ layer.W_k.weight.cpu().T).T / 4  # √d = 4
    for n, parts in zip(dilution.LENGTHS, bars(diluted, positions=positions), strict=True):
        np.testing.assert_allclose(parts, scores[:n].softmax(-1).detach(), atol=0.00005 + 1e-9)


def test_the_parts_of_one_key_shrink_as_keys_come_and_the_bar_in_focus_is_the_figures_own(diluted):
    shares = [parts[:8] for parts in bars(diluted)]
    assert all((longer > shorter).all() for longer, shorter in zip(shares, shares[1:]))
    assert shares[0].sum() == pytest.approx(1, abs=0.001)
    assert [bar["focus"] for bar in diluted.panels[0]["bars"]] == [["n", n] for n in dilution.LENGTHS]


def test_even_shares_pass_on_exactly_1_over_n():
    layer, x = dilution.random_layer(0, 20)
    torch.nn.init.zeros_(layer.W_q.weight)  # all scores are 0, whatever the tokens
    M = dilution.influence(layer, *dilution.layer_inputs(x, positions=False, mask=False))
    expected = torch.linalg.matrix_norm(layer.W_o.weight @ layer.W_v.weight).detach() / 20
    off = M[~torch.eye(20, dtype=torch.bool)]
    torch.testing.assert_close(off, expected.expand_as(off))


@each_case
def test_others_are_diluted_as_1_over_n_and_oneself_is_not(diluted, positions, mask):
    n = np.array(dilution.LENGTHS)
    others, itself = (10 ** diluted.series(2, number, positions=positions, mask=mask) for number in (1, 0))
    times_n = n * others
    assert (times_n.max(-1) / times_n.min(-1) < 1.5).all()  # n alone grows 16 times
    assert (itself[:, -1] > itself[:, 0] / 2.5).all()
    assert (itself[:, -1] > 15 * others[:, -1]).all()


def test_without_positions_near_and_far_weigh_alike(diluted):
    median = np.median(diluted.series(1, 0), axis=0)[1:]
    assert np.ptp(median) < 0.25  # decades: within a factor of 1.8, n being 64
    slope = np.polyfit(np.arange(len(median)), median, 1)[0]
    assert abs(slope * len(median)) < 0.05


def test_a_mask_makes_near_weigh_more(diluted):
    median = np.median(diluted.series(1, 0, mask=True), axis=0)
    assert median[1:9].mean() > median[-8:].mean() + 0.2


@pytest.mark.parametrize("n", dilution.LENGTHS)
@each_case
def test_shuffling_changes_nothing_without_positions_and_mask_and_something_with_them(diluted, n, positions, mask):
    values = {"n": n, "positions": positions, "mask": mask}
    shuffled = diluted.series(1, 1, shuffled=True, **values)
    apart = np.abs(shuffled - np.median(diluted.series(1, 0, **values), axis=0)).max()
    layer, x = dilution.random_layer(0, n)
    new = torch.randperm(n, generator=torch.Generator().manual_seed(0))
    x, x_new = ((t + softmax_positions(n) if positions else t) for t in (x.cpu(), x[new].cpu()))
    keep = torch.ones(n, n).tril().bool() if mask else None
    y, y_new = (layer.cpu()(t, mask=keep)[0] for t in (x, x_new))
    difference = (y[new] - y_new).abs().max().item()
    words = diluted.words("difference", shuffled=True, **values)
    if positions or mask:
        assert apart > 0.05 and difference > 0.1
        assert float(words) >= float(f"{difference:.2g}")  # the largest of three seeds, of which this is one
        assert "看得出次序" in diluted.detail(shuffled=True, **values)
    else:
        assert apart <= 2 * KEPT_INFLUENCE + 1e-9 and difference < 1e-12
        assert re.fullmatch("([0-9.]+×)?10⁻¹[⁰¹²³⁴⁵⁶⁷⁸⁹]|0", words)
        assert "只是舍入误差" in diluted.detail(shuffled=True, **values)


def test_unshuffled_the_sentence_says_nothing_of_shuffling(diluted):
    for values in diluted.settings("n", "positions", "mask"):
        said = diluted.detail(shuffled=False, **values)
        assert said == f"一个位置对自己的影响是 {diluted.words('itself', **values)}。"


def test_the_sentence_says_what_the_lines_show(diluted):
    for values in diluted.settings("n", "positions", "mask"):
        n = values["n"]
        at = dilution.LENGTHS.index(n)
        others, itself = (10 ** np.median(diluted.series(2, number, **values)[:, at]) for number in (1, 0))
        rounding = 10**KEPT_INFLUENCE - 1  # of what frames keep
        assert float(diluted.words("others", **values)) == pytest.approx(others, rel=0.05 + rounding)
        assert float(diluted.words("times_n", **values)) == pytest.approx(n * others, abs=0.05 + n * others * rounding)
        assert float(diluted.words("itself", **values)) == pytest.approx(itself, abs=0.06)


def test_guides_are_1_over_n_and_the_dot_is_on_the_line(diluted):
    np.testing.assert_allclose(diluted.series(2, 2), -np.log10(dilution.LENGTHS), atol=KEPT_INFLUENCE + 1e-9)
    for values in diluted.settings("n", "positions", "mask"):
        n = values["n"]
        np.testing.assert_allclose(diluted.series(1, 2, n=n), 2 * [-math.log10(n)], atol=KEPT_INFLUENCE + 1e-9)
        np.testing.assert_array_equal(diluted.series(1, 0, "x", n=n), range(n // 2 + 1))
        (x,), (y,) = (diluted.series(2, 3, axis, **values) for axis in "xy")
        line = np.median(diluted.series(2, 1, **values)[:, dilution.LENGTHS.index(n)])
        assert (x, y) == pytest.approx((math.log10(n), line), abs=0.006)


def test_no_influence_of_the_dilution_is_0_for_a_path_leads_everywhere(diluted):
    for values in diluted.settings("n", "positions", "mask"):
        for panel, count in ((1, 3), (2, 4)):
            for number in range(count):
                assert np.isfinite(diluted.series(panel, number, **values)).all(), (panel, number, values)
