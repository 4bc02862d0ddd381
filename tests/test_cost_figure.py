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
from why_attention.figures.cost import KERNELS, LENGTHS, QUANTITIES, SIZES, TIMED_LENGTHS
from why_attention.timing import LayerTimes, Machine, Timing

BUILT_HERE = cost.built_here.__wrapped__  # without its memory
START = {"n": 512, "d": 512, "k": 3, "quantity": "flops", "every": False}
KEPT = 5e-7 + 1e-9  # half the resolution of what formulae say, in decades
KEPT_TIME = 0.00025 + 1e-9  # and of what was measured


def made_up(device: str, seconds: float) -> LayerTimes:
    """Times that nobody measured: attention takes n² of a unit, all else 600 n of it."""
    layers = {
        name: [Timing(median=t, low=0.9 * t, high=1.1 * t) for t in times]
        for name in timing.LAYERS
        for times in [[seconds * n * (n if name.startswith("attention") else 600) for n in TIMED_LENGTHS]]
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


# What the formulae say


@pytest.mark.parametrize("d, k", [(d, k) for d in SIZES for k in (3, 9)])
@pytest.mark.parametrize("quantity", QUANTITIES)
def test_lines_are_the_table_of_cost(read, d, k, quantity):
    labels = [str(row.label) for row in cost.ROWS]
    drawn = [read.line(0, label, d=d, k=k, quantity=quantity)[1] for label in labels]
    for i, n in enumerate(LENGTHS):
        table = formulae.costs(n, d, k, heads=d // 64, r=129)
        table["fused attention"] = formulae.attention(n, d, d // 64, fused=True)
        assert {row.name for row in cost.ROWS} == set(table)
        for row, line in zip(cost.ROWS, drawn):
            assert line[i] == pytest.approx(math.log10(getattr(table[row.name], quantity)), abs=KEPT), row.name


@pytest.mark.parametrize("d, k", [*itertools.product(SIZES, KERNELS), (100, 8)])  # 100 is off the grid
def test_crossings_stand_where_two_lines_of_flops_meet(read, d, k):
    for label, first, second, n in [
        ("n = d", "核心部分", "RNN", d),
        ("n = kd/2", "核心部分", "卷积", k * d / 2),
        ("n = 2d", "注意力", "LSTM", 2 * d),
        ("n = (k−4)d/2", "注意力", "卷积", (k - 4) * d / 2),
    ]:
        (x,), (y,) = read.line(0, label, d=d, k=k)
        if n < 0:  # the kernel is too small: the convolution always takes fewer
            assert x == y == -math.inf
            continue
        assert x == pytest.approx(math.log10(n), abs=KEPT)
        for crossed in (first, second):
            there = np.interp(x, *read.line(0, crossed, d=d, k=k))  # a chord of a convex line: above it by < 0.02
            assert 0 <= there - y + 2 * KEPT + 0.003 < 0.025, (label, crossed)


@pytest.mark.parametrize("k", [3, 9])
@pytest.mark.parametrize("quantity", QUANTITIES)
def test_the_line_now_joins_the_least_and_the_most(read, quantity, k):
    rows = [str(row.label) for row in cost.ROWS if row.visible_if is None]
    lines = np.array([read.line(0, row, quantity=quantity, k=k)[1] for row in rows])
    for n, at in zip(LENGTHS, lines.T):
        x, y = read.line(0, "现在", n=n, quantity=quantity, k=k)
        np.testing.assert_allclose(y, [min(at), max(at)], atol=KEPT)
        np.testing.assert_allclose(x, math.log10(n), atol=KEPT)


# The sentence


def test_the_sentence_at_the_start(read):
    assert read.sentence().startswith("n = 512，d = 512，k = 3，比运算量（FLOPs）：可分离卷积最少，是 2.7×10⁸；")
    assert "注意力是 1.61×10⁹，与 LSTM 之比是 0.75。" in read.sentence()
    assert "核心部分与 RNN 在 n = 512，与卷积在 n = 768；整层注意力与 LSTM 在 n = 1024，" in read.sentence()
    assert "卷积则不论 n 多大都比它省。n 加倍，整层注意力的 FLOPs 变成 2.67 倍，" in read.sentence()


@pytest.mark.parametrize(
    "values", [{}, {"n": 16, "k": 9}, {"n": 8192, "d": 64, "k": 5}, {"n": 4096, "d": 1024, "k": 7}]
)
@pytest.mark.parametrize("quantity", QUANTITIES)
def test_the_sentence_says_what_the_lines_show(read, values, quantity):
    values = START | values | {"quantity": quantity}
    n, d, k = values["n"], values["d"], values["k"]
    at = {row.name: read.line(0, str(row.label), **values)[1][LENGTHS.index(n)] for row in cost.ROWS}
    ratio = at["attention"] - at["LSTM"]
    number = read.words("ratio", **values)
    number = 1 / float(number[2:]) if number.startswith("1/") else plain(number)
    assert math.log10(number) == pytest.approx(ratio, abs=0.03)
    assert math.log10(plain(read.words("attention", **values))) == pytest.approx(at["attention"], abs=0.03)
    least = min(at[name] for name in cost.CHEAPEST)
    assert math.log10(plain(read.words("least", **values))) == pytest.approx(least, abs=0.03)
    named = int(read.words("cheapest", **values))
    if quantity == "steps":
        assert named == len(cost.CHEAPEST)
        assert {name for name in at if at[name] > 0} == {"RNN", "GRU", "LSTM"}
    else:
        assert at[list(cost.CHEAPEST)[named]] == pytest.approx(least, abs=2 * KEPT)
    ours = formulae.attention(2 * n, d).flops / formulae.attention(n, d).flops
    assert float(read.words("doubling", **values)) == pytest.approx(ours, abs=0.0051)
    assert read.words("attention_convolution", **values) == ("" if k == 3 else str(d * (k - 4) // 2))
    assert ("卷积则不论 n 多大都比它省" in read.sentence(**values)) == (k == 3)


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
    for d, row in itertools.product(SIZES, cost.ROWS):
        x, y = read.line(0, str(row.label), d=d, k=k, quantity=quantity)
        assert read_out(read.panels[0]["x"], x) == [str(n) for n in LENGTHS]
        exact = [cost.amount(row.name, quantity, n, d, k) for n in LENGTHS]
        texts = [re.sub("^10(?=[⁰¹²³⁴⁵⁶⁷⁸⁹])", "1×10", text) for text in read_out(read.panels[0]["y"], y)]
        assert texts == [rounded(number) for number in exact], (row.name, d)


def test_a_factor_of_2_can_be_told_from_4():
    """As the page says of recurrence and of attention; whole powers of ten hid it."""
    assert [rounded(cost.amount("RNN", "flops", n, 64, 3)) for n in (1024, 2048)] == ["1.68×10⁷", "3.36×10⁷"]
    assert [power_text(math.log10(4 * n * 64**2)) for n in (1024, 2048)] == ["1.68×10⁷", "3.36×10⁷"]


def test_the_crossings_are_read_out_as_whole_numbers(read):
    for d, k in itertools.product(SIZES, KERNELS):
        for label, n in [("n = d", d), ("n = kd/2", k * d // 2), ("n = 2d", 2 * d)]:
            assert read_out(read.panels[0]["x"], read.line(0, label, d=d, k=k)[0]) == [str(n)]


# What was measured


def test_lines_are_the_quartiles_that_were_measured(read):
    for n, at in zip(TIMED_LENGTHS, read.line(1, "注意力")[1].T):
        np.testing.assert_allclose(at, np.log10([0.9e-5 * n**2, 1e-5 * n**2, 1.1e-5 * n**2]), atol=KEPT_TIME)
    assert len(read.panels[1]["series"]) == 6
    np.testing.assert_allclose(10 ** read.line(1, "RNN")[0], TIMED_LENGTHS, rtol=2e-6)


def test_the_sentence_says_from_where_attention_was_slower_and_on_what(read):
    assert read.sentence().endswith(
        "实测（builder，7 个线程，batch 1，4 个头，d = 256）：注意力从 n = 1024 起比 LSTM 慢（按公式是 n = 512），"
        "从 n = 1024 起比 RNN 慢。没有存下 GPU 上的时间。"
    )


def test_where_attention_was_never_slower_the_sentence_says_so(monkeypatch):
    fast = made_up("builder", 1e-8)
    fast = replace(fast, layers=fast.layers | {"attention": [Timing(1e-9, 1e-9, 1e-9)] * len(TIMED_LENGTHS)})
    monkeypatch.setattr(cost, "built_here", lambda: fast)
    assert (
        "注意力到 n = 4096 都不比 LSTM 慢（按公式是 n = 512），到 n = 4096 都不比 RNN 慢。"
        in Reading(cost.figure()).sentence()
    )
    set_language("en")
    assert (
        "attention is no slower than the LSTM up to n = 4096 (by formula, n = 512)" in Reading(cost.figure()).sentence()
    )


def test_yours_stands_beside_the_builders_and_is_never_stored(tmp_path):
    plain_figure = cost.figure()
    (kept,) = (tmp_path / "frames").iterdir()
    before = kept.read_bytes()
    yours = Reading(cost.figure(yours=made_up("reader", 3e-8)))
    assert [path.read_bytes() for path in (tmp_path / "frames").iterdir()] == [before]
    assert yours.figure._frames != plain_figure._frames == before
    np.testing.assert_allclose(
        yours.line(1, "你的 注意力")[1], yours.line(1, "注意力")[1] + math.log10(3), atol=2 * KEPT_TIME
    )
    assert [one["label"] for one in yours.panels[1]["series"]][6:] == [
        "你的 RNN",
        "你的 LSTM",
        "你的 卷积",
        "你的 注意力",
    ]
    assert all(one["dashed"] for one in yours.panels[1]["series"][6:])
    assert "你的机器实测（reader，7 个线程，" in yours.sentence()
    low, high = yours.array(yours.panels[1]["y"]["limits"])
    assert low < yours.line(1, "RNN")[1].min() and yours.line(1, "你的 注意力")[1].max() < high
    assert cost.figure()._frames == before  # the plain figure reads its own


def test_without_a_file_no_gpu_is_shown(tmp_path):
    assert cost.stored_gpu_times(tmp_path / "none.json") is None
    figure = cost.figure()
    assert not any("GPU" in one["label"] for one in figure._spec["panels"][1]["series"])
    set_language("en")
    assert Reading(cost.figure()).sentence().endswith("No times on a GPU are stored.")


def test_a_recorded_gpu_is_shown_with_where_its_times_come_from(monkeypatch, tmp_path):
    path = tmp_path / "test-data.json"
    monkeypatch.setattr(cost, "time_here", lambda: made_up("TEST DATA, no real GPU", 1e-10))
    cost.record(path)
    assert json.loads(path.read_text(encoding="utf-8"))["machine"] == {"device": "TEST DATA, no real GPU", "threads": 7}
    assert cost.stored_gpu_times(path) == made_up("TEST DATA, no real GPU", 1e-10)
    monkeypatch.setattr(cost, "GPU_TIMES", path)
    read = Reading(cost.figure())
    np.testing.assert_allclose(read.line(1, "GPU 注意力")[1], read.line(1, "注意力")[1] - 2, atol=2 * KEPT_TIME)
    assert "GPU 实测（TEST DATA, no real GPU，7 个线程，" in read.sentence()
    assert "没有存下" not in read.sentence()


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
    """With every line that there can be, and all quantities."""
    monkeypatch.setattr(cost, "stored_gpu_times", lambda path: made_up("TEST DATA", 1e-10))
    set_language("en")
    (tmp_path / "page.html").write_text(page_of([cost.figure(made_up("reader", 1e-7))], "en"), encoding="utf-8")
    visit = Visit(browser, viewport={"width": width, "height": 900})
    page = visit.open((tmp_path / "page.html").as_uri())
    hashes = {hash_of(page)}
    overlaps = """() => [...document.querySelectorAll(".stage > svg")].flatMap((svg) => {
      const boxes = [...svg.querySelectorAll("text.label")].filter((text) => text.getClientRects().length)
        .map((text) => text.getBoundingClientRect()).sort((a, b) => a.top - b.top);
      return boxes.filter((box, i) => i && box.top < boxes[i - 1].bottom - 3).length
        + boxes.filter((box) => box.right > innerWidth).length; })"""
    move(page, "every")
    for _ in QUANTITIES:
        assert page.evaluate(overlaps) == [0, 0]
        hashes.add(hash_of(page))
        move(page, "quantity")
    assert len(hashes) == 5
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    visit.close()


def test_real_times_of_short_sequences(monkeypatch):
    monkeypatch.setattr(cost, "TIMED_LENGTHS", [16, 32])
    monkeypatch.setattr(cost, "TIMED_SIZE", 64)
    times = cost.time_here()
    assert times.machine == timing.machine() and times.torch == torch.__version__ and times.d == 64
    monkeypatch.setattr(cost, "built_here", lambda: times)
    assert Reading(cost.figure()).line(1, "LSTM")[1].shape == (3, 2)
