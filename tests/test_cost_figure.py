"""The figure cost: frames against cost.py, its words against its frames, whose times it shows, its size."""

import itertools
import json
import math
import re
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
import torch
from chromium import Visit, hash_of, move, page_of
from figure_reading import Reading

from explorable import set_language
from explorable.numbers import power_text
from why_attention import cost as formulae
from why_attention import timing
from why_attention.figures import cost
from why_attention.figures.cost import COMPARED, KERNELS, LENGTHS, QUANTITIES, ROWS, SIZES, TIMED_LENGTHS
from why_attention.timing import LayerTimes, Machine, Timing

BUILT_HERE = cost.built_here.__wrapped__  # without its memory
START = {"n": 512, "d": 512, "k": 3, "quantity": "flops", "compare": "whole"}
KEPT = 5e-7 + 1e-9  # half the resolution of what formulae say, in decades
KEPT_TIME = 0.00025 + 1e-9  # and of what was measured
FAMILIES = ["循环", "卷积", "注意力"]


def made_up(device: str, seconds: float) -> LayerTimes:
    """Times that nobody measured: attention takes n² of a unit, convolution 500 n of it, all else 600 n."""
    units = {"attention": lambda n: n * n, "attention core": lambda n: n * n, "convolution": lambda n: 500 * n}
    layers = {
        name: [
            Timing(median=t, low=0.9 * t, high=1.1 * t)
            for n in TIMED_LENGTHS
            for t in [seconds * units.get(name, lambda n: 600 * n)(n)]
        ]
        for name in timing.LAYERS
    }
    return LayerTimes(Machine(device, 7), "0.0 test data", 256, 4, 3, 1, TIMED_LENGTHS, layers)


@pytest.fixture(autouse=True)
def made_up_times(monkeypatch, tmp_path):
    """No test but one waits for real times, and none reads or writes the book's frames."""
    monkeypatch.setattr("why_attention.figure_cache.FRAMES", tmp_path / "frames")
    monkeypatch.setattr(cost, "built_here", lambda: made_up("builder", 1e-8))
    monkeypatch.setattr(cost, "GPU_TIMES", tmp_path / "none.json")


@pytest.fixture(scope="module")
def read():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("why_attention.figure_cache.FRAMES", None)
        patch.setattr(cost, "built_here", lambda: made_up("builder", 1e-8))
        set_language("zh")
        return Reading(cost.figure())


def shown(read, panel, **values):
    """Return the series on screen, by their labels."""
    return {one["label"]: one for one in read.figure.at(**values)["panels"][panel]["series"]}


# What the formulae say


def test_every_row_of_the_table_is_in_some_comparison_of_one_layer_a_family(read):
    rows = {*formulae.costs(8, 64), "fused attention"}
    assert set(ROWS) == rows == {name for trio in COMPARED.values() for name in trio}
    for trio in COMPARED.values():
        assert [ROWS[name].color for name in trio] == ["vermilion", "green", "blue"]
        assert len({ROWS[name].mark for name in trio}) == 3  # greys are told apart too
    for compare, trio in COMPARED.items():
        for panel, there in [(0, trio), (1, [name for name in trio if ROWS[name].timed])]:
            labels = set(shown(read, panel, compare=compare, quantity="path"))
            assert labels == {"n"} | {str(ROWS[name].label) for name in there}


@pytest.mark.parametrize("d, k", [(d, k) for d in SIZES for k in (3, 9)])
@pytest.mark.parametrize("quantity", QUANTITIES)
def test_lines_are_the_table_of_cost(read, d, k, quantity):
    drawn = {name: read.line(0, str(row.label), d=d, k=k, quantity=quantity)[1] for name, row in ROWS.items()}
    for i, n in enumerate(LENGTHS):
        table = formulae.costs(n, d, k, heads=d // 64, r=129)
        table["fused attention"] = formulae.attention(n, d, d // 64, fused=True)
        for name, line in drawn.items():
            assert line[i] == pytest.approx(math.log10(getattr(table[name], quantity)), abs=KEPT), name


@pytest.mark.parametrize("quantity", QUANTITIES)
@pytest.mark.parametrize("compare", COMPARED)
def test_the_lowest_lines_at_n_are_in_colour_and_named_as_the_least(read, compare, quantity):
    for n, d, k in itertools.product([16, 512, 8192], SIZES, [3, 9]):
        values = {"n": n, "d": d, "k": k, "quantity": quantity, "compare": compare}
        lines = shown(read, 0, **values)
        heights = [lines[str(ROWS[name].label)]["y"][0, LENGTHS.index(n)] for name in COMPARED[compare]]
        least = [height < min(heights) + KEPT for height in heights]
        assert [lines[str(ROWS[name].label)]["inFocus"] for name in COMPARED[compare]] == least
        named = re.search("倍，(.*)最少。", read.sentence(**values))[1]
        assert [family in named for family in FAMILIES] == least


@pytest.mark.parametrize("d, k", [*itertools.product(SIZES, KERNELS), (100, 8)])  # 100 is off the grid
@pytest.mark.parametrize("compare", COMPARED)
def test_crossings_stand_where_two_lines_of_flops_meet(read, compare, d, k):
    """At the n that their names say, where the lines cross inside the plot."""
    recurrence, convolution, attention = COMPARED[compare]
    seen = {"restricted attention": 129}.get(attention, math.inf)  # a window's core grows no further
    formula = {
        "n = d": d,
        "n = 2d": 2 * d,
        "n = kd/2": k * d / 2,
        "n = (k−4)d/2": (k - 4) * d / 2,
        "n = (d+k)/2": (d + k) / 2,
    }
    names = {
        "whole": ["n = 2d", "n = (k−4)d/2"],
        "core": ["n = d", "n = kd/2"],
        "least": ["n = d", "n = (d+k)/2"],
        "restricted": ["n = d", "n = (k−4)d/2"],
        "fused": ["n = 2d", "n = (k−4)d/2"],
    }[compare]
    lines = shown(read, 0, compare=compare, d=d, k=k)
    there = {label: n for label, n in formula.items() if label in names and LENGTHS[0] < n <= min(seen, LENGTHS[-1])}
    assert {label for label in lines if "=" in label} == set(there)
    for label, n in there.items():
        (x,), ((y,),) = lines[label]["x"], lines[label]["y"]
        assert 10**x == pytest.approx(math.ceil(n), rel=2e-6)
        other = recurrence if label in ("n = d", "n = 2d") else convolution
        for name in (attention, other):
            crossed = lines[str(ROWS[name].label)]
            chord = np.interp(x, crossed["x"], crossed["y"][0])  # of a convex line: above it by < 0.03
            assert -0.015 <= chord - y < 0.03, (label, name)  # a whole n may lie half a step past the crossing


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_the_upright_line_stands_at_n_from_edge_to_edge(read, quantity):
    for n, compare in itertools.product(LENGTHS, COMPARED):
        panels = read.figure.at(n=n, quantity=quantity, compare=compare)["panels"]
        for panel in panels:
            (line,) = [one for one in panel["series"] if one["label"] == "n"]
            np.testing.assert_allclose(line["x"], math.log10(n), atol=KEPT)
            np.testing.assert_allclose(line["y"][0], panel["limits"][1], atol=0.0005)


# The words


def test_the_sentence_at_the_start(read):
    assert read.sentence() == "n = 512，d = 512，比运算量（FLOPs）：注意力是 LSTM 的 0.75 倍，卷积最少。"
    detail = read.figure.at()["detail"]
    assert detail.startswith("运算量（FLOPs）：LSTM 2.15×10⁹，卷积 8.05×10⁸，注意力 1.61×10⁹。")
    assert "注意力与 LSTM 在 n = 1024，与卷积在 n = –（– 是没有）。" in detail
    assert "n 加倍，注意力的 FLOPs 变成 2.67 倍，循环和卷积都是 2 倍。" in detail
    set_language("en")
    english = Reading(cost.figure()).sentence()
    assert english == "At n = 512, d = 512, attention takes 0.75 × the LSTM’s FLOPs; least: convolution."


@pytest.mark.parametrize(
    "values", [{}, {"n": 16, "k": 9}, {"n": 8192, "d": 64, "k": 5}, {"n": 4096, "d": 1024, "k": 7}]
)
@pytest.mark.parametrize("quantity", QUANTITIES)
@pytest.mark.parametrize("compare", COMPARED)
def test_the_words_say_what_the_lines_show(read, values, quantity, compare):
    values = START | values | {"quantity": quantity, "compare": compare}
    n, d, k = values["n"], values["d"], values["k"]
    lines = shown(read, 0, **values)
    at = {name: lines[str(ROWS[name].label)]["y"][0, LENGTHS.index(n)] for name in COMPARED[compare]}
    recurrence, convolution, attention = at
    said = read.words("ratio", **values)
    ratio = 1 / float(said[2:]) if said.startswith("1/") else plain(said)
    assert math.log10(ratio) == pytest.approx(at[attention] - at[recurrence], abs=0.03)
    for slot, height in zip(["amount_recurrence", "amount_convolution", "amount_attention"], at.values()):
        assert math.log10(plain(read.words(slot, **values))) == pytest.approx(height, abs=0.003)
    twice = [formulae.costs(m, d, k, d // 64)[attention.replace("fused ", "")].flops for m in (n, 2 * n)]
    assert float(read.words("doubling", **values)) == pytest.approx(twice[1] / twice[0], abs=0.0051)


def test_crossings_in_words_are_those_of_cost(read):
    pairs = {"whole": ["LSTM", "convolution", "attention"], "core": ["RNN", "convolution", "attention core"]}
    for (compare, (*others, one)), d, k in itertools.product(pairs.items(), SIZES, KERNELS):
        for slot, other in zip(["at_recurrence", "at_convolution"], others):
            n = formulae.crossovers(d, k)[one, other]
            assert read.words(slot, compare=compare, d=d, k=k) == (f"{n:.0f}" if n else "–")


def test_the_figure_shows_what_the_page_says_of_it(read):
    """Under "What you will see" and in the questions of the page comparison."""

    for values, ratio in [({"n": 2048}, "1.5"), ({"d": 64}, "2.5"), ({"n": 8192, "d": 64}, "32.5")]:
        assert read.words("ratio", **values) == ratio
    assert read.words("at_recurrence", d=64) == "128" and read.words("at_convolution", k=9) == "1280"
    assert [read.sentence(k=9, n=n).rpartition("，")[2] for n in (512, 2048)] == ["注意力最少。", "循环最少。"]
    assert float(read.words("ratio", n=8192, quantity="memory")) > 50
    assert float(read.words("ratio", n=8192, quantity="memory", compare="fused")) == 1
    assert read.words("doubling", n=256, d=1024) == "2.22"
    assert read.sentence(compare="least", n=128).endswith("注意力最少。")  # "Your turn"


def plain(text: str) -> float:
    text = re.sub("^10(?=[⁰¹²³⁴⁵⁶⁷⁸⁹])", "1×10", text)
    digits, _, power = text.translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")).partition("×10")
    return float(digits) * 10 ** int(power or 0)


@pytest.mark.parametrize(
    "number, text",
    [(1, "1"), (0.754, "0.754"), (9999, "9999"), (10_000, "10⁴"), (99_960, "10⁵"), (3.44e11, "3.44×10¹¹")],
)
def test_amounts_are_written_short(number, text):
    assert cost.amount_text(number) == text


def rounded(number: int) -> str:
    """Write a number in exact arithmetic as the read-outs must: whole below 10000, else with three digits."""
    if number < 10_000:
        return str(number)
    digits, power = f"{Decimal(number):.2e}".split("e+")  # a half is none of these numbers
    return f"{digits.rstrip('0').rstrip('.')}×10{power.translate(str.maketrans('0123456789', '⁰¹²³⁴⁵⁶⁷⁸⁹'))}"


def read_out(axis: dict, kept: np.ndarray) -> list[str]:
    assert axis["log10"]
    return [power_text(log10, axis["digits"]) for log10 in kept.tolist()]


@pytest.mark.parametrize("k", KERNELS)
@pytest.mark.parametrize("quantity", QUANTITIES)
def test_every_read_out_of_a_formula_is_the_number_to_three_digits(read, quantity, k):
    for d, (compare, trio) in itertools.product(SIZES, COMPARED.items()):
        lines = shown(read, 0, d=d, k=k, quantity=quantity, compare=compare)
        for name in trio:
            one = lines[str(ROWS[name].label)]
            assert read_out(read.panels[0]["x"], one["x"]) == [str(n) for n in LENGTHS]
            exact = [cost.amount(name, quantity, n, d, k) for n in LENGTHS]
            texts = [re.sub("^10(?=[⁰¹²³⁴⁵⁶⁷⁸⁹])", "1×10", text) for text in read_out(read.panels[0]["y"], one["y"][0])]
            assert texts == [rounded(number) for number in exact], (name, d)


def test_a_factor_of_2_can_be_told_from_4():
    """As the page says of recurrence and of attention; whole powers of ten hid it."""
    assert [rounded(cost.amount("RNN", "flops", n, 64, 3)) for n in (1024, 2048)] == ["1.68×10⁷", "3.36×10⁷"]
    assert [power_text(math.log10(4 * n * 64**2)) for n in (1024, 2048)] == ["1.68×10⁷", "3.36×10⁷"]


# What was measured


def test_lines_are_the_quartiles_that_were_measured(read):
    for n, at in zip(TIMED_LENGTHS, read.line(1, "注意力")[1].T):
        np.testing.assert_allclose(at, np.log10([0.9e-5 * n**2, 1e-5 * n**2, 1.1e-5 * n**2]), atol=KEPT_TIME)
    np.testing.assert_allclose(10 ** shown(read, 1)["LSTM"]["x"], TIMED_LENGTHS, rtol=2e-6)
    np.testing.assert_allclose(read.line(1, "融合注意力")[1], read.line(1, "注意力")[1])  # one kernel


def test_the_fastest_at_n_is_in_colour_with_its_quartiles(read):
    """Of the made-up times, attention's n² is below convolution's 500 n up to 256."""
    for n in LENGTHS:
        lines = shown(read, 1, n=n)
        fastest = "注意力" if n <= 256 else "卷积"
        assert [label for label, one in lines.items() if one["inFocus"] and label != "n"] == [fastest]
        assert {label: len(one["y"]) for label, one in lines.items()} == {"LSTM": 1, "卷积": 1, "注意力": 1, "n": 1} | {
            fastest: 3
        }


def test_the_detail_says_from_where_attention_was_slower_and_on_what(read):
    assert read.figure.at()["detail"].endswith(
        "前向时间，实测（builder，7 个线程，batch 1，4 个头，d = 256），n = 512：LSTM 3.07 (2.76 … 3.38) 毫秒，"
        "卷积 2.56 (2.3 … 2.82) 毫秒，注意力 2.62 (2.36 … 2.88) 毫秒；"
        "注意力从 n = 1024 起比 LSTM 慢，按公式是 n = 512（– 是没有，或没有量）。没有存下 GPU 上的时间。"
    )
    assert "n = 4096：" in read.figure.at(n=8192)["detail"]  # the longest that was timed
    assert "膨胀卷积 – 毫秒，窗口注意力 – 毫秒；窗口注意力从 n = – 起" in read.figure.at(compare="restricted")["detail"]


def test_where_attention_was_never_slower_the_detail_says_so(monkeypatch):
    fast = made_up("builder", 1e-8)
    fast = replace(fast, layers=fast.layers | {"attention": [Timing(1e-9, 1e-9, 1e-9)] * len(TIMED_LENGTHS)})
    monkeypatch.setattr(cost, "built_here", lambda: fast)
    assert "注意力从 n = – 起比 LSTM 慢，按公式是 n = 512" in cost.figure().at()["detail"]
    set_language("en")
    assert "attention is slower than the LSTM from n = – on, by formula from n = 512" in cost.figure().at()["detail"]


def test_yours_stands_beside_the_builders_and_is_never_stored(tmp_path):
    plain_figure = cost.figure()
    (kept,) = (tmp_path / "frames").iterdir()
    before = kept.read_bytes()
    yours = Reading(cost.figure(yours=made_up("reader", 3e-8)))
    assert [path.read_bytes() for path in (tmp_path / "frames").iterdir()] == [before]
    assert yours.figure._frames != plain_figure._frames == before
    np.testing.assert_allclose(
        yours.line(2, "注意力")[1], yours.line(1, "注意力")[1] + math.log10(3), atol=2 * KEPT_TIME
    )
    assert [panel["title"] for panel in yours.panels[1:]] == ["前向时间，实测", "前向时间，你的机器"]
    assert "前向时间，你的机器（reader，7 个线程，" in yours.figure.at()["detail"]
    assert yours.figure.at()["panels"][1]["limits"][1] == pytest.approx(yours.figure.at()["panels"][2]["limits"][1])
    low, high = yours.array(yours.panels[1]["y"]["limits"])
    assert low < yours.line(1, "RNN")[1].min() and yours.line(2, "注意力")[1].max() < high
    assert cost.figure()._frames == before  # the plain figure reads its own


def test_without_a_file_no_gpu_is_shown(tmp_path):
    assert cost.stored_gpu_times(tmp_path / "none.json") is None
    figure = cost.figure()
    assert not any("GPU" in panel["title"] for panel in figure._spec["panels"])
    set_language("en")
    assert cost.figure().at()["detail"].endswith("No times on a GPU are stored.")


def test_a_recorded_gpu_is_shown_with_where_its_times_come_from(monkeypatch, tmp_path):
    path = tmp_path / "test-data.json"
    monkeypatch.setattr(cost, "time_here", lambda: made_up("TEST DATA, no real GPU", 1e-10))
    cost.record(path)
    assert json.loads(path.read_text(encoding="utf-8"))["machine"] == {"device": "TEST DATA, no real GPU", "threads": 7}
    assert cost.stored_gpu_times(path) == made_up("TEST DATA, no real GPU", 1e-10)
    monkeypatch.setattr(cost, "GPU_TIMES", path)
    read = Reading(cost.figure())
    np.testing.assert_allclose(read.line(2, "注意力")[1], read.line(1, "注意力")[1] - 2, atol=2 * KEPT_TIME)
    assert "前向时间，GPU 实测（TEST DATA, no real GPU，7 个线程，" in read.figure.at()["detail"]
    assert "没有存下" not in read.figure.at()["detail"]


def test_a_cpu_is_not_recorded_as_a_gpu(monkeypatch, tmp_path):
    monkeypatch.setattr(cost, "time_here", lambda: made_up("CPU x86_64", 1e-8))
    with pytest.raises(ValueError, match="^measured on CPU x86_64: GPU times must come from a CUDA device"):
        cost.record(tmp_path / "gpu.json")
    assert not (tmp_path / "gpu.json").exists()


def test_time_here_measures_what_the_axis_says(monkeypatch):
    asked = []
    monkeypatch.setattr(cost, "layer_times", lambda *arguments, threads: asked.append((*arguments, threads)))
    cost.time_here()
    BUILT_HERE()
    assert asked == [(TIMED_LENGTHS, 256, 4, 3, None), (TIMED_LENGTHS, 256, 4, 3, 1)]


# The whole figure


def test_with_the_readers_times_too_it_stays_small():
    figure = cost.figure(made_up("reader", 1e-7))
    assert len(figure._frames) <= 40_000
    assert len(figure._picture()["src"]) <= 20_000  # 15 kB in base64


@pytest.mark.parametrize("width", [360, 1280])
def test_on_a_page_no_label_covers_another(browser, monkeypatch, tmp_path, width):
    """With every panel that there can be, all quantities, and all layers."""
    monkeypatch.setattr(cost, "stored_gpu_times", lambda path: made_up("TEST DATA", 1e-10))
    set_language("en")
    (tmp_path / "page.html").write_text(page_of([cost.figure(made_up("reader", 1e-7))], "en"), encoding="utf-8")
    visit = Visit(browser, viewport={"width": width, "height": 900}, reduced_motion="reduce")  # names stand at once
    page = visit.open((tmp_path / "page.html").as_uri())
    hashes = {hash_of(page)}
    overlaps = """() => [...document.querySelectorAll(".stage > svg")].map((svg) => {
      const boxes = [...svg.querySelectorAll("text.label")].filter((text) => text.getClientRects().length)
        .filter((text) => text.checkVisibility({ visibilityProperty: true })).map((text) => text.getBoundingClientRect());
      const apart = (a, b) => a.right < b.left + 2 || b.right < a.left + 2 || a.bottom < b.top + 3 || b.bottom < a.top + 3;
      return boxes.filter((a, i) => boxes.some((b, j) => i < j && !apart(a, b))).length
        + boxes.filter((box) => box.right > innerWidth).length; })"""
    for _ in COMPARED:
        for _ in QUANTITIES:
            assert page.evaluate(overlaps) == [0, 0, 0, 0]
            hashes.add(hash_of(page))
            move(page, "quantity")
        move(page, "compare")
    assert len(hashes) == len(COMPARED) * len(QUANTITIES)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    visit.close()


def test_real_times_of_short_sequences(monkeypatch):
    monkeypatch.setattr(cost, "TIMED_LENGTHS", [16, 32])
    monkeypatch.setattr(cost, "TIMED_SIZE", 64)
    times = cost.time_here()
    assert times.machine == timing.machine() and times.torch == torch.__version__ and times.d == 64
    monkeypatch.setattr(cost, "built_here", lambda: times)
    assert Reading(cost.figure()).line(1, "LSTM")[1].shape == (3, 2)
