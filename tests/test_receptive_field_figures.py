"""The figures receptive-field and effective-field: drawings and words against closed forms and torch's own layers."""

import math

import numpy as np
import pytest
import torch
from chromium import Visit, page_of
from figure_reading import Reading
from torch.nn import functional as F

from explorable import set_language
from why_attention.figures import effective_field, receptive_field
from why_attention.figures.effective_field import DEPTHS, SEEDS
from why_attention.figures.receptive_field import CURVE, GROWTHS, WIDTH

pytestmark = pytest.mark.slow  # where no frames are kept
HALF = 0.00025 + 1e-9  # half the resolution that frames keep of a width's decades, far more of a reach's


@pytest.fixture(scope="module")
def field():
    return Reading(receptive_field.figure())


@pytest.fixture(scope="module")
def effective():
    return Reading(effective_field.figure())


@pytest.fixture(params=["field", "effective"])
def drawn(request):
    return request.getfixturevalue(request.param)


# Both figures


def test_every_number_drawn_is_finite(drawn):
    for number, source in enumerate(drawn.figure._sources):
        assert all(np.isfinite(view.array(number)).all() for view in drawn.figure._kept.views(number)), source.where


# receptive-field


def dilations(depth, growth):
    return [growth**i for i in range(depth)]


def read_by_torch(k, depth, growth, mode):
    """Return which of the last (or middle) WIDTH inputs the output reads: gradients of conv1d with weights 1/k."""
    middle = WIDTH - 1 if mode == "causal" else WIDTH // 2
    x = torch.zeros(1, 1, WIDTH, dtype=torch.float64, requires_grad=True)
    values, kernel = [x], torch.full((1, 1, k), 1 / k, dtype=torch.float64)
    for d in dilations(depth, growth):
        pad = ((k - 1) * d, 0) if mode == "causal" else ((k - 1) * d // 2, (k - 1) * d // 2)
        values.append(F.conv1d(F.pad(values[-1], pad), kernel, dilation=d))
    gradients = torch.autograd.grad(values[-1][0, 0, middle], values)
    return [(gradient.flatten() != 0).tolist() for gradient in gradients], middle


@pytest.mark.parametrize("mode", ["causal", "centred"])
@pytest.mark.parametrize("growth", list(GROWTHS))
def test_filled_nodes_are_those_that_torchs_gradient_reaches(field, growth, mode):
    graph = field.panels[0]
    for values in field.settings("k", "depth"):
        values |= {"growth": growth, "mode": mode}
        rows, middle = read_by_torch(**values)
        expected = [[i - middle, 0, int(read)] for i, read in enumerate(rows[0])]
        expected += [[i - middle, up, 1] for up, row in enumerate(rows) for i, read in enumerate(row) if up and read]
        np.testing.assert_array_equal(field.array(graph["nodes"], **values), expected)


@pytest.mark.parametrize("mode", ["causal", "centred"])
@pytest.mark.parametrize("growth", list(GROWTHS))
def test_edges_lead_from_each_node_to_the_taps_of_its_kernel(field, growth, mode):
    graph = field.panels[0]
    for values in field.settings("k", "depth"):
        values |= {"growth": growth, "mode": mode}
        nodes, edges = (field.array(graph[part], **values).astype(int) for part in ("nodes", "edges"))
        low, high = nodes[:WIDTH, 0].min(), nodes[:WIDTH, 0].max()
        found = {(*nodes[end, :2], *nodes[start, :2]) for start, end, _ in edges}
        assert len(found) == len(edges)
        expected = set()
        for place, up in {(place, up) for place, up, _ in nodes if up}:
            for m in range(values["k"]):
                tap = place + growth ** (up - 1) * (m - (values["k"] - 1) // (1 if mode == "causal" else 2))
                expected |= {(place, up, tap, up - 1)} if low <= tap <= high else set()
        assert found == expected, values


def reach(k, depth, growth, mode):
    """Return the reach by the sum (k − 1) Σ d_l, or half of it."""
    return (k - 1) * sum(dilations(depth, growth)) // (1 if mode == "causal" else 2)


def test_the_curves_are_the_sum_over_the_layers(field):
    for values in field.settings("k", "mode"):
        for growth, label in GROWTHS.items():
            x, y = field.line(1, str(label), **values)
            np.testing.assert_allclose(10**x, CURVE, rtol=2e-3)
            expected = [math.log10(reach(depth=depth, growth=growth, **values)) for depth in CURVE]
            np.testing.assert_allclose(y, expected, atol=HALF)


def test_the_curve_chosen_is_in_focus(field):
    focus = {one["label"]: one["focus"] for one in field.panels[1]["series"]}
    assert focus == {str(label): ["growth", growth] for growth, label in GROWTHS.items()} | dict.fromkeys(
        ["目标距离", "需要", "现在"]
    )


def place(field, label, **values):
    """Return depth and steps of a series of one place."""
    (x,), (y,) = field.line(1, label, **values)
    return 10**x, 10**y


def test_now_stands_at_the_depth_chosen_and_its_reach(field):
    for values in field.settings("k", "depth", "growth", "mode"):
        assert place(field, "现在", **values) == pytest.approx((values["depth"], reach(**values)), rel=2e-3)


def test_the_depth_needed_stands_on_the_distance_where_the_sentence_says(field):
    for values in field.settings("k", "distance", "growth", "mode"):
        expected = int(field.words("needed", **values)), values["distance"]
        assert place(field, "需要", **values) == pytest.approx(expected, rel=2e-3)
        x, y = field.line(1, "目标距离", **values)
        assert (10**x).tolist() == pytest.approx([CURVE[0], CURVE[-1]], rel=2e-3)
        assert (10**y).tolist() == pytest.approx(2 * [values["distance"]], rel=2e-3)


def test_the_needed_depth_reaches_the_distance_and_one_layer_less_does_not(field):
    for values in field.settings("k", "distance", "growth", "mode"):
        depth = int(field.words("needed", **values))
        rest = {name: values[name] for name in ("k", "growth", "mode")}
        assert reach(depth=depth - 1, **rest) < values["distance"] <= reach(depth=depth, **rest)


def test_the_sentence_counts_span_and_inputs_read(field):
    for values in field.settings("k", "depth", "growth", "mode"):
        k, growth = values["k"], values["growth"]
        offsets = {0}
        for d in dilations(min(values["depth"], 6), growth):
            offsets = {i + m * d for i in offsets for m in range(k)}
        if values["depth"] <= 6:
            assert field.words("count", **values) == str(len(offsets))
        assert field.words("span", **values) == str(1 + reach(k, values["depth"], growth, "causal"))
        assert field.words("reach", **values) == str(reach(**values))


def test_the_sentence_in_words(field):
    values = {"growth": 4, "depth": 3}
    assert field.sentence(**values) == "k = 3 的因果卷积，膨胀每层乘 4：3 层够到 42 步，够到 1000 步要 6 层。"
    assert field.detail(**values) == "3 层跨 43 个输入，读到其中 27 个。"
    set_language("en")
    english = Reading(receptive_field.figure())
    assert english.sentence() == "A causal CNN with k = 3: 4 layers reach 8 steps; 1000 steps take 500 layers."
    assert english.detail() == "At depth 4 an output spans 9 inputs and reads 9 of them."


@pytest.mark.parametrize("width", [320, 1280])
def test_a_key_says_what_hollow_marks_are(browser, tmp_path, width):
    (tmp_path / "page.html").write_text(page_of([receptive_field.figure()]), encoding="utf-8")
    visit = Visit(browser, viewport={"width": width, "height": 900})
    page = visit.open((tmp_path / "page.html").as_uri())
    key = page.locator(".stage text", has_text="读不到的输入")
    box = key.bounding_box()
    assert key.count() == 1 and box["x"] + box["width"] <= width
    assert page.locator(".stage svg .heading ~ .node.hollow").count() == 1
    visit.close()


def test_between_the_grids_values_it_answers_and_says_why_an_even_kernel_has_no_centre(field):
    assert [field.words(slot, k=4, distance=777) for slot in ("needed", "span")] == ["259", "13"]
    with pytest.raises(ValueError, match="^k=4 is even and has no middle: a centred kernel has an odd size, such as 3"):
        field.words("needed", k=4, mode="centred")


# effective-field


def uniform_profile(k, depth):
    """Return the shares of the inputs in %: L kernels 1/k convolved with one another."""
    profile = np.ones(1)
    for _ in range(depth):
        profile = np.convolve(profile, np.full(k, 1 / k))
    return 100 * profile


def test_the_uniform_profile_is_the_kernel_convolved_with_itself(effective):
    for values in effective.settings("k", "depth"):
        x, y = effective.line(0, "均匀", **values)
        half = values["depth"] * (values["k"] - 1) // 2
        np.testing.assert_array_equal(x, range(-half, half + 1))
        np.testing.assert_allclose(y, uniform_profile(**values), atol=0.0026)


def test_the_random_profiles_share_out_all_influence_and_differ(effective):
    for values in effective.settings("k", "depth"):
        x, y = effective.line(0, "随机", **values)
        assert y.shape == (SEEDS, len(x)) == (SEEDS, values["depth"] * (values["k"] - 1) + 1)
        np.testing.assert_allclose(y.sum(axis=1), 100, atol=0.0026 * len(x))
        assert len({tuple(row) for row in y}) == SEEDS


def test_the_random_profile_is_the_jacobian_of_torchs_own_layers(effective):
    k, depth, seed = 3, 3, 1
    stack = effective_field.stack(effective_field.SIZE, k, depth)
    stack.reset_parameters(torch.Generator().manual_seed(seed))

    def run(x):
        for layer in stack.layers:
            x = F.conv1d(x.T, layer.W.detach(), padding="same").T
        return x[depth]

    x = torch.randn(2 * depth + 1, effective_field.SIZE, dtype=torch.float64)
    J = torch.autograd.functional.jacobian(run, x)  # (d, n, d)
    norms = J.pow(2).sum((0, 2)).sqrt()
    y = effective.line(0, "随机", k=k, depth=depth)[1][seed]
    np.testing.assert_allclose(y, 100 * norms / norms.sum(), atol=0.0026)


def test_the_grey_line_ends_at_the_span_and_has_the_same_area(effective):
    for values in effective.settings("k", "depth"):
        x, y = effective.line(0, "都一样", **values)
        R = values["depth"] * (values["k"] - 1) + 1
        assert x.tolist() == [-(R // 2), R // 2]
        np.testing.assert_allclose(y * R, 100, atol=0.0026 * R)
        low, high = effective.array(effective.panels[0]["x"]["limits"], **values)
        assert low < x[0] and x[1] < high


def spread(profile):
    """Return the standard deviation of the place, in positions."""
    place, share = np.arange(len(profile)), profile / profile.sum()
    return math.sqrt((share * (place - (share * place).sum()) ** 2).sum())


@pytest.mark.parametrize("k", [3, 5, 7])
def test_the_widths_are_those_of_the_profiles(effective, k):
    uniform, law, radius, drawn = (
        effective.line(1, label, k=k)[1] for label in ("均匀 σ", "公式 √L", "半径", "随机 σ")
    )
    closed_form = [math.log10(math.sqrt(depth * (k**2 - 1) / 12)) for depth in DEPTHS]
    np.testing.assert_allclose(uniform, closed_form, atol=HALF)
    np.testing.assert_allclose(law, closed_form, atol=HALF)
    np.testing.assert_allclose(10**radius, [depth * (k - 1) / 2 for depth in DEPTHS], rtol=3e-3)
    for depth, column in zip(DEPTHS, drawn.T):
        profiles = effective.line(0, "随机", k=k, depth=depth)[1]
        # far from the middle half a resolution of a share weighs as many positions squared
        expected = sorted(math.log10(spread(profile)) for profile in profiles)
        np.testing.assert_allclose(np.sort(column), expected, atol=0.02)
    assert 1.3 < 10 ** (np.median(drawn[:, -1]) - law[-1]) < 1.5  # √2


def test_now_stands_between_the_width_and_the_radius_at_the_depth_chosen(effective):
    for values in effective.settings("k", "depth"):
        x, y = effective.line(1, "现在", **values)
        assert x[0] == x[1] == pytest.approx(math.log10(values["depth"]), abs=HALF)
        at = DEPTHS.index(values["depth"])
        assert y[0] == pytest.approx(effective.line(1, "均匀 σ", **values)[1][at])
        assert y[1] == pytest.approx(effective.line(1, "半径", **values)[1][at])


def test_the_brackets_are_as_wide_as_their_numbers_and_the_tinted_one_holds_nine_tenths(effective):
    covered, holds = effective.panels[0]["spans"]
    assert [covered["tinted"], holds["tinted"]] == [False, True]
    for values in effective.settings("k", "depth"):
        for span, slot in ((covered, "span"), (holds, "positions")):
            assert effective.words(span["number"], **values) == effective.words(slot, **values)
            low, high = effective.array(span["ends"], **values)
            assert (-low, high) == pytest.approx(2 * (int(effective.words(slot, **values)) / 2,))
        profile = uniform_profile(**values)
        middle = len(profile) // 2
        last = int(high + 1e-6)  # of an even number the two at the ends are half in
        within, beyond = (profile[middle - n : middle + n + 1].sum() for n in (last, last - 1))
        assert within >= 90 - 1e-9 > beyond


def holding(profile):
    """Return how many of the largest shares it takes to reach 90 %."""
    held, count = 0.0, 0
    for share in sorted(profile, reverse=True):
        if held >= 90:
            break
        held, count = held + share, count + 1
    return count


def test_the_sentence_says_what_the_profiles_hold(effective):
    for values in effective.settings("k", "depth"):
        k, depth = values["k"], values["depth"]
        profile = uniform_profile(k, depth)
        assert effective.words("span", **values) == str(len(profile))
        assert effective.words("deviation", **values) == f"{spread(profile):.2f}"
        assert effective.words("law", **values) == f"{math.sqrt(depth * (k**2 - 1) / 12):.2f}"
        assert effective.words("positions", **values) == str(holding(profile))
        profiles = effective.line(0, "随机", **values)[1]
        assert float(effective.words("drawn", **values)) == pytest.approx(sorted(map(spread, profiles))[1], rel=0.02)
        counts = sorted(map(holding, profiles))
        assert int(effective.words("drawn_positions", **values)) == pytest.approx(counts[1], abs=1)


def test_the_words_of_the_start(effective):
    words = [effective.words(slot) for slot in ("span", "deviation", "law", "positions")]
    assert words == ["41", "3.65", "3.65", "13"]


def test_covered_is_not_influencing(effective):
    """The lesson in three numbers: 25 times the layers, 25 times the radius, 5 times the width."""
    effects = [float(effective.words("deviation", depth=depth)) for depth in (2, 50)]
    spans = [int(effective.words("span", depth=depth)) for depth in (2, 50)]
    assert (spans[1] - 1) / (spans[0] - 1) == 25
    assert effects[1] / effects[0] == pytest.approx(5, abs=0.03)


def test_series_that_share_a_depth_share_the_very_number(drawn):
    """The table of the numbers puts into one row what stands at the same x."""
    panel = drawn.panels[1]
    for values in drawn.settings("k", "depth"):
        places = np.concatenate([drawn.array(series["x"], **values) for series in panel["series"]])
        assert len(set(places)) == len(set(np.round(places, 4))), values
