"""The figure influence: frames against autograd and the stacks themselves, paths against cones, words, sizes."""

import math

import numpy as np
import pytest
import torch
from chromium import Visit, page_of
from figure_reading import Reading

from why_attention.attention import MultiHeadAttention
from why_attention.convolution import ConvolutionStack
from why_attention.figures import influence
from why_attention.influence import influence_matrix
from why_attention.receptive_field import Layer, cone
from why_attention.rnn import RNNCell, unroll

pytestmark = pytest.mark.slow  # where no frames are kept
KEPT = 0.0626  # half the resolution of a decade of influence
RECURRENCE, CONVOLUTION, ATTENTION, PROFILES, DIVERSITY = range(5)


@pytest.fixture(scope="module")
def figure():
    return Reading(influence.figure())


def matrix(figure, panel, **values):
    return figure.array(figure.panels[panel]["matrix"], **values)


def paths(figure, panel, **values):
    return figure.array(figure.panels[panel]["companion"]["matrix"], **values)


def seeded(layer, number, **draw):
    layer.reset_parameters(generator=torch.Generator().manual_seed(1 + number), **draw)
    return layer


def x(n):
    return torch.randn(48, 16, generator=torch.Generator().manual_seed(0), dtype=torch.float64)[:n]


def agree(decades, M):
    """Zeros must be the same, and all else as near as the frames keep it."""
    expected = M.log10().numpy()
    assert np.array_equal(np.isneginf(decades), np.isneginf(expected))
    known = np.isfinite(expected)
    assert np.abs(decades[known] - expected[known]).max() <= KEPT


@pytest.mark.parametrize("gain", [0.5, 1.5])
@pytest.mark.parametrize("n", [8, 32])
def test_recurrence_of_two_layers(figure, gain, n):
    cells = [seeded(RNNCell(16, 16, dtype=torch.float64), number, gain=gain) for number in range(2)]
    M = influence_matrix(lambda x: unroll(cells[1], unroll(cells[0], x)), x(n))
    agree(matrix(figure, RECURRENCE, n=n, gain=gain, depth=2), M)


@pytest.mark.parametrize("mode", ["both", "causal"])
@pytest.mark.parametrize(("k", "growth", "depth", "n"), [(3, 1, 1, 32), (5, 2, 2, 16), (3, 2, 8, 48), (7, 1, 3, 20)])
def test_convolution_is_a_convolution_stack(figure, mode, k, growth, depth, n):
    dilations = [growth**number for number in range(depth)]
    stack = ConvolutionStack(16, k, dilations, mode == "causal", dtype=torch.float64)
    for number, layer in enumerate(stack.layers):
        seeded(layer, number)
    setting = {"n": n, "k": k, "growth": growth, "depth": depth, "mode": mode}
    agree(matrix(figure, CONVOLUTION, **setting), influence_matrix(stack, x(n)))


@pytest.mark.parametrize("mode", ["both", "causal"])
def test_attention_with_residual_and_normalisation(figure, mode):
    layers = [seeded(MultiHeadAttention(16, 1, dtype=torch.float64), number) for number in range(2)]
    norm, n = torch.nn.LayerNorm(16, elementwise_affine=False, dtype=torch.float64), 16
    mask = torch.ones(n, n).tril().bool() if mode == "causal" else None

    def stack(x):
        for layer in layers:
            x = norm(x + layer(x, mask=mask, need_weights=True)[0])
        return x

    agree(matrix(figure, ATTENTION, n=n, depth=2, mode=mode, residual=True), influence_matrix(stack, x(n)))


def test_there_is_influence_exactly_where_there_is_a_path(figure):
    for panel in (RECURRENCE, CONVOLUTION, ATTENTION):
        names = [name for name in figure.start if name != "gain"]
        for setting in figure.settings(*names):
            no_path, none = np.isneginf(paths(figure, panel, **setting)), np.isneginf(matrix(figure, panel, **setting))
            assert np.array_equal(no_path, none), (panel, setting)


def test_paths_are_those_of_closed_forms_and_cones(figure):
    for setting in figure.settings("n", "k", "depth", "growth", "mode"):
        n, k, depth, growth, mode = setting.values()
        back = np.subtract.outer(np.arange(n), np.arange(n))  # i − j
        expected = np.where(back >= 0, back + depth, -np.inf)
        assert np.array_equal(paths(figure, RECURRENCE, **setting), expected)
        layers = [Layer(k, growth**number) for number in range(depth)]
        read = np.stack([cone(layers, n, i, mode == "causal")[0].numpy() for i in range(n)])
        assert np.array_equal(paths(figure, CONVOLUTION, **setting), np.where(read, depth, -np.inf))
        expected = np.where((back >= 0) | (mode == "both"), depth, -np.inf)
        assert np.array_equal(paths(figure, ATTENTION, **setting), expected)


def test_the_first_picture_is_a_triangle_a_band_and_a_square(figure):
    triangle, band, square = (np.isfinite(matrix(figure, panel)) for panel in (RECURRENCE, CONVOLUTION, ATTENTION))
    assert np.array_equal(triangle, np.tri(32, dtype=bool))
    assert np.array_equal(band, np.abs(np.subtract.outer(np.arange(32), np.arange(32))) <= 1)
    assert square.all()
    assert matrix(figure, RECURRENCE)[-1, 0] < -4 < -2 < matrix(figure, ATTENTION).mean()


@pytest.mark.parametrize("setting", [{}, {"n": 16, "depth": 4, "mode": "causal"}, {"k": 9, "residual": True}])
def test_profiles_are_the_means_of_the_drawn_diagonals(figure, setting):
    for number in range(3):
        distances, profile = figure.series(PROFILES, number, "x", **setting), figure.series(PROFILES, number, **setting)
        M = 10 ** matrix(figure, number, **setting)
        expected = [M.diagonal(-int(distance)).mean() for distance in distances]
        with np.errstate(divide="ignore"):
            known = np.isfinite(np.log10(expected))
            assert np.array_equal(np.isneginf(profile), ~known)
            assert np.abs(profile[known] - np.log10(expected)[known]).max() < KEPT + 0.03
        assert distances.tolist() == list(range(len(M)))


def test_plain_attention_makes_all_tokens_alike_and_a_residual_keeps_them_apart(figure):
    for mode in ("both", "causal"):
        plain, kept = (figure.line(DIVERSITY, "注意力", mode=mode, residual=on)[1] for on in (False, True))
        assert kept.min() > math.log10(0.1) and (mode == "causal" or plain[4] < -10)
        assert plain[0] == kept[0] > math.log10(0.9)
    for family in ("循环", "卷积"):
        assert figure.line(DIVERSITY, family)[1].min() > math.log10(0.5)


def test_the_sentence_reads_the_farthest_pair_and_the_detail_its_paths(figure):
    assert figure.sentence().startswith(
        "最远的一对，第 1 个输入对第 32 个输出的影响：循环 3.37×10⁻⁷，卷积 0，注意力 0.0398"
    )
    assert figure.detail().startswith(
        "这一对之间，循环的路径长度是 32，注意力是 1，卷积没有通路；卷积要够到那里，至少得叠 31 层。叠了 1 层，"
    )
    assert "几乎一模一样" not in figure.detail()
    said = figure.detail(depth=8, growth=2)
    assert "至少得叠 5 层" in said and "循环的路径长度是 39，注意力是 8，卷积是 8；" in said
    assert "方阵上却不容易看出来" in said
    for slot, panel in (("r", RECURRENCE), ("a", ATTENTION)):
        far = matrix(figure, panel, n=8)[-1, 0]
        assert math.isclose(math.log10(float(figure.words(slot, n=8))), far, abs_tol=KEPT + 0.05)


# In a browser


@pytest.fixture(scope="module")
def address(figure, tmp_path_factory):
    path = tmp_path_factory.mktemp("influence") / "page.html"
    path.write_text(page_of([figure.figure]), encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def visit(browser):
    visit = Visit(browser)
    yield visit
    visit.close()


@pytest.mark.parametrize(("width", "columns"), [(1280, [3, 2]), (390, [3, 2]), (300, [2, 1, 2])])
def test_panels_stand_side_by_side_where_there_is_room(visit, address, width, columns):
    visit.page.set_viewport_size({"width": width, "height": 900})
    page = visit.open(address)
    tops = page.locator(".stage > :not(.color-bar)").evaluate_all(
        "(all) => all.map((one) => one.getBoundingClientRect().top)"
    )
    assert [tops.count(top) for top in sorted(set(tops))] == columns
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [1280, 390])
def test_the_plots_below_the_squares_are_high_enough_to_read(visit, address, width):
    visit.page.set_viewport_size({"width": width, "height": 900})
    page = visit.open(address)
    heights = page.locator(".stage svg > svg").evaluate_all("(plots) => plots.map((plot) => plot.height.baseVal.value)")
    assert len(heights) == 2 and min(heights) >= 160


def test_one_pick_reads_influence_and_path_in_all_three(visit, address, figure):
    page = visit.open(address)
    page.locator(".stage svg[role=application]").first.focus()
    for key in ["ArrowDown"] + 7 * ["ArrowDown"] + 5 * ["ArrowRight"]:
        page.keyboard.press(key)
    said = page.locator(".readout").inner_text()
    assert said.startswith("输出 i = 8，输入 j = 6：循环 影响 ") and said.count("路径长度") == 2
    assert "，路径长度 3；卷积 恰为 0：没有通路；注意力 影响 " in said and said.endswith("，路径长度 1")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    assert page.locator(".readout").inner_text().count("，路径长度 1") == 3
    assert page.locator(".ring[display=inline]").count() == 3


def test_a_line_that_falls_to_0_keeps_a_size_that_a_page_can_measure(visit, address):
    page = visit.open(address)
    heights = page.locator(".stage path").evaluate_all("(all) => all.map((one) => one.getBoundingClientRect().height)")
    assert 1000 < max(heights) < 20_000  # the line of the convolution leaves the plot, but not for billions of pixels


def read_by(panel, n, k, depth, growth, mode):
    """Return who reads whom in a stack, by products of truth values: (n, n)."""
    apart = np.subtract.outer(np.arange(n), np.arange(n))  # i − j
    read = np.eye(n, dtype=bool)
    for layer in range(depth):
        reach = np.arange(k) * growth**layer
        if panel == CONVOLUTION:
            one = np.isin(apart, reach if mode == "causal" else reach - reach[-1] // 2)
        else:
            one = apart >= (0 if panel == RECURRENCE or mode == "causal" else -n)
        read = one @ read
    return read


@pytest.mark.parametrize("panel", [RECURRENCE, CONVOLUTION, ATTENTION])
def test_an_influence_is_0_where_no_path_leads_and_nowhere_else(figure, panel):
    """At every setting, in the matrices and in their means along the diagonals."""
    names = figure.figure._sources[figure.panels[panel]["matrix"]].names
    for values in figure.settings(*names):
        full = {name: figure.start[name] for name in ("n", "k", "depth", "growth", "mode")} | values
        full.pop("residual", None), full.pop("gain", None)
        read = read_by(panel, **full)
        assert np.array_equal(np.isneginf(matrix(figure, panel, **values)), ~read), values
        means = figure.series(PROFILES, panel, **values)
        assert np.array_equal(np.isneginf(means), [not read.diagonal(-r).any() for r in range(full["n"])]), values
