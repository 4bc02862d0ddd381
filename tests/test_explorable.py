"""The mechanism of the interactive figures, on small made-up ones: frames, controls, errors, store, script."""

import base64
import io
import itertools
import json
import math
import random
import re
import shutil
import subprocess
import sys
import zlib
from html.parser import HTMLParser
from pathlib import Path
from types import FunctionType
from uuid import uuid4

import ipywidgets
import matplotlib.figure
import numpy as np
import pytest
from node import check, evaluate
from PIL import Image

import why_attention
from explorable import (
    Axis,
    Choice,
    Companion,
    Control,
    Explorable,
    Graph,
    Heatmap,
    Lines,
    Sentence,
    Series,
    Text,
    cache,
    script,
    set_language,
    still,
)
from explorable.frames import Frames, pack
from explorable.grid import OnGrid
from explorable.source import Source

JS = Path(script.__file__).parent / "js"
MODULES = sorted(path.stem for path in JS.glob("*.js"))
N = Control("n", [1, 2, 4], label="length")
GAIN = Control("gain", [0.5, 1.0], label="gain", start=1.0)
FLAG = Control("causal", [False, True], label="causal")
CELL = Control("cell", {"a": "Alpha", "b": Text(zh="乙", en="Beta")}, label="cell")
UNIT = Axis("size", (0, 1), resolution=0.01)


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    """Keep no made-up figure in the store."""
    monkeypatch.delenv("FIGURE_CACHE", raising=False)


def heatmap(matrix=lambda n: np.eye(n), scale=UNIT, **options):
    return Heatmap(matrix, "matrix", "row", "column", scale, **options)


def lines(y=lambda n: [0, n], x=(0, 1), **options):
    return Lines("lines", UNIT, UNIT, [Series(y, x, "line", **options)])


def graph(nodes=lambda n: [[0, 0, n], [1, 1, 0]], edges=((0, 1, 1),)):
    return Graph(nodes, edges, "graph", UNIT, UNIT, UNIT)


def figure(panel=None, controls=(N,), sentence=None, name="made-up", title="Title", caption="Reading", rows=None):
    """Return a figure of one panel, or of several; every part has a default."""
    panels, sentence = panel if isinstance(panel, list) else [panel or heatmap()], sentence or Sentence("said")
    words = {"title": title, "caption": caption, "sentence": sentence}
    return Explorable(name, controls=list(controls), panels=panels, rows=rows, **words)


def sizes(*controls):
    return {control.name: len(control.grid) for control in controls}


def settings(*controls):
    """Return every setting of controls, as numbers on their grids, the last fastest."""
    ranges = [range(len(control.grid)) for control in controls]
    return [dict(zip([control.name for control in controls], numbers)) for numbers in itertools.product(*ranges)]


def through_frames(array, resolution=None):
    """Return an array as it comes out of a packed block."""
    array = np.asarray(array)
    return Frames(pack([Source(array, [], "here", resolution, (array.shape,))], {}), {}).array(0, {})


# Frames


@pytest.mark.parametrize("shape", [(1,), (300,), (3, 4), (2, 500)])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_floats_come_back_within_half_a_quantum(dtype, shape):
    array = np.random.default_rng(0).normal(0, 40, shape).astype(dtype)
    assert abs(through_frames(array, resolution=0.02) - array).max() <= 0.01 + 1e-9


@pytest.mark.parametrize("span", [1e-6, 1, 1e4])
def test_floats_without_a_quantum_keep_a_60000th_of_their_range(span):
    array = 7 + span * np.random.default_rng(0).random((40, 30))
    assert abs(through_frames(array) - array).max() <= np.ptp(array) / 60000 / 2 * 1.001


def test_a_constant_float_frame_without_a_quantum_comes_back():
    np.testing.assert_allclose(through_frames(np.full(3, 0.3)), 0.3, rtol=1e-6)


def test_equal_numbers_of_two_frames_come_back_equal():
    """The table of the numbers has one row for each x."""
    numbers = np.log10(np.arange(2, 300))
    alone = [through_frames([number], resolution=0.001).item() for number in numbers]
    assert through_frames(numbers, resolution=0.001).tolist() == alone


@pytest.mark.parametrize("low", [-299.85, -0.15, 0.05, 0.25, 1000.35])
def test_a_lowest_number_half_way_between_two_codes_stays_finite(low):
    assert abs(through_frames([low, low + 1], resolution=0.1) - [low, low + 1]).max() <= 0.05 + 1e-9


@pytest.mark.parametrize("shape", [(1,), (300,), (3, 4)])
@pytest.mark.parametrize("dtype", ["?", "u1", "i1", "u2", "i2", "u4", "i4"])
def test_whole_numbers_and_booleans_come_back_exactly(dtype, shape):
    limit = 2 if dtype == "?" else 2 ** min(8 * np.dtype(dtype).itemsize, 31)
    array = np.random.default_rng(0).integers(0, limit, shape).astype(dtype)
    np.testing.assert_array_equal(through_frames(array, resolution=0.5), array.astype(float))


@pytest.mark.parametrize("array", [[-np.inf, -3.0, 2.0], [[-np.inf, 0.0]], [-np.inf, -np.inf]])
def test_minus_infinity_stays_minus_infinity(array):
    np.testing.assert_array_equal(through_frames(array, resolution=0.5), array)


@pytest.mark.parametrize("array, resolution", [([0.0, 1e9], 0.1), ([0, 2**32], None)])
def test_a_frame_of_more_codes_than_uint32_holds_is_refused(array, resolution):
    with pytest.raises(ValueError, match="more than 4294967295 codes"):
        through_frames(np.array(array), resolution)


@pytest.mark.parametrize("codes, size", [(200, 1), (255, 2), (60000, 2), (70000, 4)])  # of 256, one stands for −∞
def test_a_frame_takes_as_few_bytes_a_code_as_it_can(codes, size):
    block = pack([Source([0, codes], [], "here", None, ((2,),))], {})
    assert Frames(block, {}).header["frames"][0][1] == size


def test_frames_and_words_come_back_at_every_setting():
    controls = [N, GAIN, FLAG]
    sources = [
        Source(lambda n, causal: np.full((n, 2), n + 0.5 * causal), controls, "first", 0.5, ((None, 2),)),
        Source(lambda gain, n: [gain, n], controls, "second", 0.5, ((2,),)),  # its own order, not the controls'
    ]
    slots = {"what": Source(lambda causal, gain: f"{gain} {causal}", controls, "slot")}
    frames = Frames(pack(sources, slots), sizes(*controls))
    for setting in settings(*controls):
        n, gain, causal = (control.grid[setting[control.name]] for control in controls)
        np.testing.assert_array_equal(frames.array(0, setting), np.full((n, 2), n + 0.5 * causal))
        np.testing.assert_array_equal(frames.array(1, setting), [gain, n])
        assert frames.words("what", setting) == f"{gain} {causal}"


def test_frames_are_read_by_name_whatever_the_order_of_dicts():
    frames = Frames(pack([Source(lambda n, gain: [n, gain], [N, GAIN], "here", 0.5, ((2,),))], {}), sizes(GAIN, N))
    np.testing.assert_array_equal(frames.array(0, {"gain": 0, "n": 2}), frames.array(0, {"n": 2, "gain": 0}))
    np.testing.assert_array_equal(frames.array(0, {"gain": 0, "n": 2}), [4, 0.5])


def test_the_last_parameter_moves_fastest():
    values = Source(lambda gain, n: (gain, n), [N, GAIN], "here").values()
    assert values == [(0.5, 1), (0.5, 2), (0.5, 4), (1.0, 1), (1.0, 2), (1.0, 4)]


def test_each_function_is_called_once_for_every_setting_of_its_own_controls():
    calls = []
    panels = [
        heatmap(lambda n: calls.append(("matrix", n)) or np.eye(n)),
        lines(lambda gain, n: calls.append(("line", gain, n)) or [gain, n]),
    ]
    sentence = Sentence("{word}", word=lambda causal: calls.append(("word", causal)) or str(causal))
    Explorable("f", title="", caption="", controls=[N, GAIN, FLAG], panels=panels, sentence=sentence)
    wanted = [("matrix", n) for n in N.grid] + [("line", g, n) for g in GAIN.grid for n in N.grid]
    assert calls == wanted + [("word", False), ("word", True)]


def test_a_constant_source_depends_on_no_control():
    source = Source([3, 4], [N], "here", None, ((2,),))
    frames = Frames(pack([source], {}), sizes(N))
    assert source.names == []
    assert [frames.array(0, setting).tolist() for setting in settings(N)] == [[3, 4]] * 3


def test_equal_frames_are_stored_once():
    sources = [Source(lambda n: [n > 1, True], [N], "here", None, ((2,),)) for _ in range(2)]
    assert len(Frames(pack(sources, {}), sizes(N)).header["frames"]) == 2  # [False, True] and [True, True]


def test_any_flipped_byte_is_noticed():
    block = pack([Source(lambda n: np.arange(n), [N], "here", None, ((None,),))], {})
    for at in range(len(block)):
        with pytest.raises(zlib.error):
            Frames(block[:at] + bytes([block[at] ^ 0xFF]) + block[at + 1 :], sizes(N))


def test_any_truncation_is_noticed():
    block = pack([Source(lambda n: np.arange(n), [N], "here", None, ((None,),))], {})
    for length in range(len(block)):
        with pytest.raises(zlib.error):
            Frames(block[:length], sizes(N))


# Frames in the browser


def test_the_browser_reads_the_frames_that_python_wrote(tmp_path):
    controls, rng = [N, GAIN, CELL], np.random.default_rng(0)
    sources = [
        Source(lambda n, cell: rng.normal(0, 9, (n, 5)), controls, "floats", None, ((None, 5),)),
        Source(lambda gain: [-np.inf, gain, -300.0], controls, "log10", 0.02, ((3,),)),
        Source(lambda n: rng.normal(-n, 0.3, 99), controls, "multiples of a resolution", 0.001, ((99,),)),
        Source(lambda n: np.arange(3) > n, controls, "booleans", None, ((3,),)),
        Source(lambda cell, gain: [0, 70000 if cell == "b" else 300], controls, "codes of 4 bytes", None, ((2,),)),
    ]
    slots = {"words": Source(lambda cell, gain: f"{cell} 𝄞 {gain}", controls, "slot")}
    block = tmp_path / "block"
    block.write_bytes(pack(sources, slots))
    at = [{c.name: c.grid[setting[c.name]] for c in controls} for setting in settings(*controls)]
    program = f"""
        import {{ readFileSync }} from "node:fs";
        import {{ unpack, numbersOf }} from {json.dumps((JS / "frames.js").as_uri())};
        const block = await unpack(readFileSync({json.dumps(str(block))}));
        const numbers = numbersOf(block, {json.dumps([control.spec() for control in controls])});
        const all = {json.dumps(at)}.map((one) => new Map(Object.entries(one))).map((values) => ({{
          arrays: [0, 1, 2, 3, 4].map((number) => numbers.at(number, values))
            .map((array) => ({{ ...array, values: [...array.values].map(String) }})), // as text, for JSON has no −∞
          words: numbers.at("words", values),
        }}));
    """
    decoded = evaluate(program, "all")
    frames = Frames(block.read_bytes(), sizes(*controls))
    for setting, read in zip(settings(*controls), decoded, strict=True):
        for number, array in enumerate(read["arrays"]):
            values = np.array([float(text.replace("Infinity", "inf")) for text in array["values"]])
            np.testing.assert_array_equal(values.reshape(array["shape"]), frames.array(number, setting))
        assert read["words"] == frames.words("words", setting)


def test_the_browser_refuses_a_damaged_block():
    block = pack([Source(lambda n: np.arange(n), [N], "here", None, ((None,),))], {})
    damaged = [block[:-1], block[: len(block) // 2], block[:-1] + bytes([block[-1] ^ 1]), b""]
    program = f"""
        import {{ unpack }} from {json.dumps((JS / "frames.js").as_uri())};
        const blocks = {json.dumps([list(bad) for bad in damaged])};
        const refused = blocks.map((bytes) => unpack(new Uint8Array(bytes)).then(() => false, () => true));
    """
    assert evaluate(program, "await Promise.all(refused)") == [True] * len(damaged)


# What a figure refuses


def control(values, name="n", **options):
    return Control(name, values, label="", **options)


@pytest.mark.parametrize(
    "make, match",
    [
        pytest.param(lambda: figure(heatmap(lambda m: m)), r"matrix.*\['m'\]", id="unknown-parameter"),
        pytest.param(lambda: figure(controls=[N, N]), r"\['n'\].*more than once", id="two-controls-of-one-name"),
        pytest.param(lambda: control([1, 2], name="2n"), "'2n'", id="name-that-is-no-parameter"),
        pytest.param(lambda: control([1, 2], name="_x"), "'_x'", id="name-with-underscore"),
        pytest.param(lambda: control([1, 2], start=3), "'n' starts at 3", id="start-off-the-grid"),
        pytest.param(lambda: control([2, 1]), r"'n'.*\[2, 1\]", id="falling-numbers"),
        pytest.param(lambda: control([1, 1]), r"'n'.*\[1, 1\]", id="equal-numbers"),
        pytest.param(lambda: control([1.0, math.nan]), "'n'.*nan", id="nan-among-numbers"),
        pytest.param(lambda: control([1]), "'n' offers 1", id="one-value"),
        pytest.param(lambda: control([]), "'n' offers 0", id="no-value"),
        pytest.param(lambda: control([1, "a"]), r"'n'.*\[1, 'a'\]", id="mixed-values"),
        pytest.param(lambda: control([False, 2]), r"'n'.*\[False, 2\]", id="boolean-among-numbers"),
        pytest.param(lambda: control([True, False]), r"'n'.*\[True, False\]", id="checkbox-upside-down"),
        pytest.param(lambda: figure(controls=[N, GAIN]), r"\['gain'\]", id="control-that-nothing-uses"),
        pytest.param(lambda: figure(lines(focus=("n", 3))), "focus at n = 3", id="focus-off-the-grid"),
        pytest.param(lambda: figure(lines(focus=("m", 1))), "focus at m = 1", id="focus-of-no-control"),
        pytest.param(lambda: figure(lines(visible_if="m")), "'m'", id="shown-by-no-control"),
        pytest.param(lambda: figure(lines(visible_if="n")), "'n'.*no checkbox", id="shown-by-a-slider"),
        pytest.param(lambda: figure(lines(color="red")), "'red'", id="unknown-color"),
        pytest.param(lambda: figure(heatmap(color="red")), "'red'", id="unknown-color-of-a-heatmap"),
        pytest.param(lambda: figure(lines(color=None)), "None", id="no-color"),
        pytest.param(
            lambda: figure(heatmap(companion=Companion(lambda n: np.eye(n + 1), "beside"))),
            "both must agree",
            id="beside",
        ),
        pytest.param(lambda: figure(heatmap(row_words=["a", "b"])), "2 row_words for 1", id="too-few-row-words"),
        pytest.param(
            lambda: figure(heatmap(column_words=lambda n: (n + 1) * ["a"])), "2 column_words for 1", id="column-words"
        ),
        pytest.param(lambda: figure(heatmap(row_words=["a b", "", "c"])), r"\['a b', ''\] among 3", id="torn-words"),
        pytest.param(
            lambda: figure(heatmap(row_words=lambda m: ["a"])), r"depends on \['m'\]", id="words-of-no-control"
        ),
        pytest.param(lambda: figure(rows=[2]), "are for 2 of the 1 panels", id="rows-of-other-panels"),
        pytest.param(lambda: figure(5 * [lines()], rows=[1, 4]), "1 to 3 in a row", id="too-many-in-a-row"),
        pytest.param(lambda: figure(lines(mark="star")), "'star'", id="unknown-mark"),
        pytest.param(lambda: figure(heatmap(scale=Axis("", (1, 0)))), r"matrix.*\(1, 0\)", id="limits-upside-down"),
        pytest.param(lambda: figure(heatmap(scale=Axis("", (1, 1)))), r"matrix.*\(1, 1\)", id="limits-of-no-width"),
        pytest.param(lambda: figure(heatmap(scale=Axis("", (-math.inf, 0)))), "matrix", id="limit-that-is-infinite"),
        pytest.param(lambda: figure(heatmap(scale=Axis("", lambda n: (0, 2 - n)))), "matrix", id="limits-0-0-at-n=2"),
        pytest.param(lambda: figure(sentence=Sentence("{m}")), r"\['m'\]", id="slot-that-nothing-fills"),
        pytest.param(lambda: figure(sentence=Sentence("", m=str)), r"\['m'\]", id="function-for-no-slot"),
        pytest.param(
            lambda: figure(sentence=Sentence("{m}", m=lambda k: k)), r"'m'.*\['k'\]", id="slot-with-unknown-parameter"
        ),
        pytest.param(
            lambda: figure(sentence=Sentence("{m}", m=Choice(lambda n: n, ["a", "b"]))),
            "'m'",
            id="choice-without-words",
        ),
        pytest.param(lambda: figure(heatmap(lambda n: np.full((n, n), np.nan))), "matrix' gave 1 NaN", id="nan"),
        pytest.param(lambda: figure(heatmap(lambda n: np.full((2, n), np.inf))), "matrix' gave 2 NaN", id="plus-inf"),
        pytest.param(lambda: figure(heatmap(lambda n: [["a"]])), "matrix' gave <U1", id="no-numbers"),
        pytest.param(lambda: figure(lines(lambda n: np.ones((n, 2, 2)))), r"line.*\(1, 2, 2\)", id="y-of-3-dimensions"),
        pytest.param(lambda: figure(lines(x=np.ones((2, 2)))), r"line x.*\(2, 2\)", id="x-of-2-dimensions"),
        pytest.param(lambda: figure(heatmap(lambda n: np.ones(n))), r"matrix.*\(1,\)", id="matrix-of-1-dimension"),
        pytest.param(lambda: figure(graph(lambda n: np.ones((n, 2)))), r"nodes.*\(1, 2\)", id="nodes-without-number"),
        pytest.param(lambda: figure(graph(edges=[[0, 1]])), r"edges.*\(1, 2\)", id="edges-without-strength"),
        pytest.param(lambda: figure(lines(x=[0, 1, 2])), "'line' has 2 y for 3 x", id="x-and-y-of-two-lengths"),
        pytest.param(lambda: figure(lines(lambda n: [0] * n, x=[0])), "'line'", id="x-and-y-of-two-lengths-at-n=2"),
        pytest.param(lambda: set_language("fr"), "'fr'", id="unknown-language"),
    ],
)
def test_a_figure_that_could_not_be_drawn_is_refused_by_name(make, match):
    with pytest.raises(ValueError, match=match):
        make()


@pytest.mark.parametrize("name", ["observe", "comm", "keys", "layout", "close", "send", "model_id"])
def test_a_control_may_not_take_a_name_of_the_widget(name):
    with pytest.raises(ValueError, match=rf"\['{name}'\] have names that every widget uses"):
        figure(controls=[N, control([1, 2], name=name)])


@pytest.mark.filterwarnings("ignore:.*deprecated:DeprecationWarning")  # hasattr() wakes ipywidgets' old names
def test_no_public_name_of_a_finished_figure_is_free_for_a_control():
    names = [name for name in dir(figure()) if not name.startswith("_") and name != "n"]
    for name in names:
        with pytest.raises(ValueError, match=rf"\['{name}'\] have names that every widget uses"):
            figure(controls=[N, control([1, 2], name=name)])


# Controls as traits


def test_every_control_is_a_synced_trait_that_starts_where_it_should():
    made = figure(lines(lambda n, gain, causal, cell: [n, gain]), controls=[N, GAIN, FLAG, CELL])
    assert [getattr(made, name) for name in ("n", "gain", "causal", "cell")] == [1, 1.0, False, "a"]
    assert all(made.traits()[name].metadata["sync"] for name in ("n", "gain", "causal", "cell"))


def test_a_change_of_a_control_is_observed():
    made, seen = figure(), []
    made.observe(lambda change: seen.append((change["old"], change["new"])), "n")
    made.n = 4
    made.n = 4
    assert seen == [(1, 4)]


@pytest.mark.parametrize("value", [0, 5, "1", None, 1.5, True, float("nan")])
def test_a_value_out_of_range_is_refused_and_changes_nothing(value):
    made = figure()
    made.n = 2
    with pytest.raises(ValueError, match=re.escape(f"n = {value!r}")):
        made.n = value
    assert made.n == 2


def test_a_whole_number_becomes_the_grids_own_float():
    made = figure(lines(lambda gain: [0, gain]), controls=[GAIN])
    made.gain = 0.5
    made.gain = 1
    assert isinstance(made.gain, float)
    assert made.gain == 1.0


def test_jslink_takes_a_control():
    first, second = figure(), figure()
    assert ipywidgets.jslink((first, "n"), (second, "n")).source == (first, "n")


def test_two_figures_share_no_state():
    first, second = figure(), figure(controls=[control([2, 4], start=4)])
    first.n = 2
    assert (first.n, second.n) == (2, 4)
    with pytest.raises(ValueError, match="n = 1"):
        second.n = 1


def test_controls_travel_as_a_list_with_options_in_order():
    state = figure(lines(lambda n, cell: [n, 0]), controls=[N, CELL]).get_state("_spec")["_spec"]
    assert [(c["name"], c["kind"], c["values"]) for c in state["controls"]] == [
        ("n", "range", [1, 2, 4]),
        ("cell", "select", ["a", "b"]),
    ]


def test_words_follow_the_language_and_frames_do_not():
    def make():
        return figure(lines(lambda n, cell: [n, 0]), controls=[N, CELL], title=Text(zh="题", en="Title"))

    chinese = make()
    set_language("en")
    english = make()
    assert (chinese._spec["title"], english._spec["title"]) == ("题", "Title")
    assert english._spec["controls"][1]["words"] == ["Alpha", "Beta"]
    assert chinese._frames == english._frames


# What a host without JavaScript shows


class Tags(HTMLParser):
    """The tags of a page with their attributes, and the text inside each."""

    def __init__(self, page: str):
        super().__init__()
        self.tags, self.text = [], {}
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text[self.tags[-1][0]] = data

    def attributes(self, tag):
        (only,) = [attributes for name, attributes in self.tags if name == tag]
        return only


def shown(made):
    return Tags(made._repr_mimebundle_()[0]["text/html"])


def image_of(tags):
    kind, data = tags.attributes("img")["src"].split(",")
    assert kind == "data:image/png;base64"
    return Image.open(io.BytesIO(base64.b64decode(data)))


def test_html_is_one_figure_with_its_name_and_language():
    set_language("en")
    attributes = shown(figure(name="my-figure")).attributes("figure")
    assert attributes == {"class": "explorable", "data-name": "my-figure", "lang": "en"}


def test_html_has_one_image_whose_alt_says_title_and_sentence():
    slots = {"size": lambda n: f"10^{n}", "verdict": Choice(lambda n: int(n > 1), ["short", "long"])}
    tags = shown(figure(sentence=Sentence("n is {n}, size {size}: {verdict}.", **slots)))
    assert tags.attributes("img")["alt"] == "Title. n is 1, size 10^1: short."


@pytest.mark.parametrize("panel", [heatmap(), lines(), lines(lambda n: np.eye(2) * n), graph()])
def test_the_still_picture_of_every_panel_is_drawn(panel):
    image = image_of(shown(figure(panel)))
    assert image.format == "PNG"
    assert len(image.getcolors()) > 2


VERMILION = (213, 94, 0)


def coloured(made):
    """Return where the still picture is vermilion: (height, width)."""
    pixels = np.asarray(image_of(shown(made)).convert("RGB"), int)
    return abs(pixels - VERMILION).max(-1) < 40


def test_the_still_picture_marks_a_series_of_one_point():
    made = figure(Lines("lines", UNIT, UNIT, [Series(lambda n: [0.5], [0.5], "now")]))
    assert 10 < coloured(made).sum() < 200


def test_a_grey_mark_beside_a_heatmap_stays_grey_in_the_still_picture():
    """The picture has a palette of few colours, most of which a heatmap could take."""
    now = Lines("lines", UNIT, UNIT, [Series(lambda n: [0.5], [0.5], "now", "grey")])
    shades = heatmap(lambda n: np.linspace(0, 1, 64).reshape(8, 8))
    made = Explorable("f", title="", caption="", controls=[N], panels=[now, shades], sentence=Sentence(""))
    pixels = np.asarray(image_of(shown(made)).convert("RGB"), int)[60:200, 100:250]  # inside the lines' axes
    assert (abs(pixels - 0x8A).max(-1) < 12).sum() > 10


@pytest.mark.parametrize("count", [5, 31, 41])
def test_the_marks_of_a_graph_in_the_still_picture_stand_apart(count):
    nodes = [[i, 0.5, 1] for i in range(count)]
    across = Axis("place", (-1, count))
    panel = Graph(lambda n: nodes, [[0, 0, 0]], "graph", across, UNIT, color="vermilion", mark="square")
    made = Explorable("f", title="", caption="", controls=[N], panels=[panel, panel], sentence=Sentence(""))
    row = max(coloured(made), key=np.sum).astype(int)
    assert (np.diff(row) == 1).sum() == 2 * count


@pytest.mark.parametrize("limits", [(-0.7, 1.6), (-2.3, 0.6), (0.7, 2.2), (-300, 40), (-1.1, 0.1)])
def test_an_axis_of_decades_has_whole_ones_in_the_still_picture(limits):
    axis = Axis("size", limits, log10=True, resolution=0.01)
    panels = [Lines("lines", axis, axis, [Series(lambda n: limits, limits, "line")]), heatmap(scale=axis)]
    made = Explorable("f", title="", caption="", controls=[N], panels=panels, sentence=Sentence(""))
    drawn, frames = matplotlib.figure.Figure(), Frames(made._frames, sizes(N))
    for panel, axes in zip(made._spec["panels"], drawn.subplots(1, 2)):
        still.DRAW[panel["kind"]](drawn, axes, panel, frames, {"n": 0}, made._spec)
    lines, _, bar = drawn.axes
    for numbered in (lines.xaxis, lines.yaxis, bar.xaxis):
        ticks = [tick for tick in numbered.get_majorticklocs() if limits[0] <= tick <= limits[1]]
        assert ticks and all(tick == round(tick) for tick in ticks)


def test_html_names_the_widgets_model():
    made = figure()
    data, _ = made._repr_mimebundle_()
    assert data["application/vnd.jupyter.widget-view+json"]["model_id"] == made.model_id
    assert Tags(data["text/html"]).attributes("script") == {"type": "application/vnd.jupyter.widget-view+json"}
    assert json.loads(Tags(data["text/html"]).text["script"])["model_id"] == made.model_id


def test_words_with_quotes_and_angle_brackets_stay_words():
    name, hostile = "a\"b'<c>&amp;", '"><script>alert(1)</script>'
    tags = shown(figure(name=name, title=hostile, reading=hostile, sentence=Sentence(hostile)))
    assert [tag for tag, _ in tags.tags] == ["figure", "img", "figcaption", "script"]
    assert tags.attributes("figure")["data-name"] == name
    assert tags.attributes("img")["alt"] == f"{hostile}. {hostile}"
    assert tags.text["figcaption"] == hostile


# The store


MODULE = "why_attention.figures.dilution"  # for one, which imports much of the package
figure_of_the_package = FunctionType(figure.__code__, {**globals(), "__name__": MODULE}, argdefs=figure.__defaults__)


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Return a copy of the package, of which the store takes its fingerprint; figures are kept in tmp_path/store."""
    copy = tmp_path / "package"
    shutil.copytree(cache.PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(cache, "PACKAGE", copy)
    monkeypatch.setenv("FIGURE_CACHE", str(tmp_path / "store"))
    return copy


def change_a_line(path):
    path.write_text(path.read_text(encoding="utf-8") + "# changed\n", encoding="utf-8")


def test_a_stored_figure_is_computed_once(package):
    calls = []

    def make(figure):
        return figure(heatmap(lambda n: calls.append(n) or np.eye(n)))

    first, second = make(figure_of_the_package), make(figure_of_the_package)
    assert calls == N.grid
    assert first._frames == second._frames


def test_a_readers_own_figure_is_computed_every_time(package):
    """Its code is nowhere that the store could watch."""
    first = figure(heatmap(lambda n: np.eye(n)))
    assert figure(heatmap(lambda n: 1 - np.eye(n)))._frames != first._frames
    assert not (package.parent / "store").exists()


def test_without_a_store_every_figure_is_computed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    calls = []
    for _ in range(2):
        cache.stored("name", lambda: calls.append(1) or b"block", MODULE)
    assert len(calls) == 2
    assert not list(tmp_path.iterdir())


def test_a_changed_package_computes_again_and_drops_the_outdated_block(package, tmp_path):
    assert cache.stored("name", lambda: b"old", MODULE) == b"old"
    change_a_line(package / "device.py")
    assert cache.stored("name", lambda: b"new", MODULE) == b"new"
    assert [path.read_bytes() for path in (tmp_path / "store").iterdir()] == [b"new"]


def test_an_edition_draws_the_words_that_the_other_has_stored(package):
    def make(language):
        set_language(language)
        title = Text(zh="矩阵", en="matrix")
        panel = Heatmap(np.eye(2), title, title, title, UNIT, row_words=lambda n: ["a", f"b{n}"])
        return figure_of_the_package([panel])

    first, second = make("zh"), make("en")
    assert first._frames == second._frames
    assert first._spec["panels"][0]["row_words"] == second._spec["panels"][0]["row_words"]


def test_a_failed_computation_leaves_nothing_to_load(package):
    with pytest.raises(ZeroDivisionError):
        cache.stored("name", lambda: 1 // 0, MODULE)
    assert cache.stored("name", lambda: b"block", MODULE) == b"block"


def test_a_figure_leaves_the_blocks_of_other_figures_alone(package):
    cache.stored("decay-bound", lambda: b"first", MODULE)
    cache.stored("decay", lambda: b"second", MODULE)
    assert cache.stored("decay-bound", lambda: b"computed again", MODULE) == b"first"


@pytest.mark.parametrize("name", ["why_attention.figures.gradient_decay", "why_attention.figures.recall"])
def test_a_figure_of_the_package_depends_on_just_the_files_that_python_imports_for_it(package, name):
    program = f"import sys, {name}; print(*(m.__file__ for m in sys.modules.values() if m and m.__name__.startswith('why_attention')))"
    imported = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8", check=True).stdout
    root = Path(why_attention.__file__).parent
    expected = {Path(path).relative_to(root).as_posix() for path in imported.split()}
    assert {path.relative_to(package).as_posix() for path in cache.sources_of(name)} == expected
    before = cache.fingerprint(name)
    change_a_line(package / "peak_memory.py")  # which neither imports
    assert cache.fingerprint(name) == before
    change_a_line(package / "device.py")
    assert cache.fingerprint(name) != before


def test_a_change_of_torch_changes_the_fingerprint(monkeypatch):
    before = cache.fingerprint(MODULE)
    monkeypatch.setattr(cache, "version", lambda name: "0.0")
    assert cache.fingerprint(MODULE) != before


# The browser's script


def source_of(module):
    return (JS / f"{module}.js").read_text(encoding="utf-8")


def test_every_module_is_part_of_the_script():
    assert sorted(script.WIDGET_MODULES + script.PAGE_MODULES) == MODULES


def test_every_module_comes_after_those_that_it_imports():
    order = script.WIDGET_MODULES + script.PAGE_MODULES
    for module in order:
        imported = re.findall(r'^import .*"\./(\w+)\.js";$', source_of(module), re.MULTILINE)
        assert set(imported) <= set(order[: order.index(module)]), module


def test_no_two_modules_define_one_name():
    pattern = re.compile(r"^(?:export )?(?:async )?(?:function\*?|const|let|var|class) +(\w+)", re.MULTILINE)
    names = [name for module in MODULES for name in pattern.findall(source_of(module))]
    assert len(names) > 2 * len(MODULES)  # the pattern still finds them
    assert sorted(names) == sorted(set(names))


def test_the_widget_is_a_module_with_one_default_export_and_no_import():
    assert len(re.findall(r"\bexport\b", script.WIDGET)) == 1
    assert script.WIDGET.endswith("\nexport default { render };\n")
    assert not re.search(r"^\s*import\b", script.WIDGET, re.MULTILINE)
    check(script.WIDGET, ".mjs")


def test_the_page_script_is_classic():
    assert not re.search(r"^\s*(import|export)\b", script.PAGE, re.MULTILINE)
    check(script.PAGE, ".cjs")


def test_the_page_script_runs_without_figures_and_leaves_no_global():
    program = f"""
        import vm from "node:vm";
        const page = vm.createContext({{ document: {{ querySelectorAll: () => [] }} }});
        vm.runInContext({json.dumps(script.PAGE)}, page);
        const names = {json.dumps([*MODULES, "render", "readAddress", "WORDS", "node"])};
        const leaked = names.filter((name) => vm.runInContext(`typeof ${{name}}`, page) !== "undefined");
    """
    assert evaluate(program, "[Object.keys(page), leaked]") == [["document"], []]


# A kernel behind the figure


def asked(made, **message):
    """Return the answer of a figure to a message from its browser, and its block of frames, if it has one."""
    sent = []
    made.send = lambda content, buffers=None: sent.append((content, buffers))
    made._answer(made, {"view": "v", **message}, [])
    ((content, buffers),) = sent
    return content, buffers[0] if buffers else None


def test_a_greeting_is_answered_to_the_view_that_sent_it():
    assert asked(figure(), type="hello") == ({"type": "hello", "view": "v", "id": None}, None)


@pytest.mark.parametrize("n, gain", [(3, 0.77), (4, 0.5), (1, 0.77)])
def test_an_answer_holds_what_the_functions_give_between_the_grids_values(n, gain):
    panel = Lines("lines", UNIT, UNIT, [Series(lambda n, gain: [n, gain], lambda n: [0, n], "line")])
    made = figure(panel, [N, GAIN], Sentence("{words}", words=lambda gain: f"gain {gain}"))
    y, x = (made._spec["panels"][0]["series"][0][axis] for axis in "yx")
    answer, block = asked(made, type="frames", id=7, values={"n": n, "gain": gain}, parts=[y, "words", x])
    frames = Frames(block, {"n": 1, "gain": 1})
    assert (answer["type"], answer["id"]) == ("frames", 7)
    np.testing.assert_allclose(frames.array(0, {"n": 0, "gain": 0}), [n, gain], atol=0.005)
    np.testing.assert_allclose(frames.array(1, {"n": 0, "gain": 0}), [0, n], atol=0.005)
    assert frames.words("words", {"n": 0, "gain": 0}) == f"gain {gain}"


@pytest.mark.parametrize(
    "values, error",
    [
        ({"n": 9}, "n = 9: it must be a whole number from 1 to 4"),
        ({"n": 2.5}, "n = 2.5: it must be a whole number from 1 to 4"),
        ({"n": 3}, "three is refused"),
        ({}, "'n'"),
    ],
)
def test_what_cannot_be_computed_is_answered_with_its_error(values, error):
    def refusing(n):
        if n == 3:
            raise ValueError("three is refused")
        return np.eye(n)

    answer, block = asked(figure(heatmap(refusing)), type="frames", id=1, values=values, parts=[1])
    assert (answer["type"], block) == ("failed", None)
    assert error in answer["error"]


@pytest.mark.parametrize("values, whole", [([1, 2, 4], True), ([0.5, 1.0], False), ([1, 2.5], False)])
def test_a_slider_takes_whole_numbers_only_where_its_grid_has_no_other(values, whole):
    made = control(values)
    assert made.checked(values[-1]) == values[-1]
    if whole:
        assert made.checked(3) == 3
        with pytest.raises(ValueError, match=r"n = 1\.5: it must be a whole number from 1 to 4"):
            made.checked(1.5)
    else:
        assert made.checked(0.9 if values[0] < 1 else 1.1) in (0.9, 1.1)


@pytest.mark.parametrize("made", [control([1, 2, 4], continuous=False), FLAG, CELL])
def test_other_controls_take_their_own_values_only(made):
    assert [made.checked(value) for value in made.grid] == made.grid
    for other in (3, 0, "c", None):
        with pytest.raises(ValueError, match="none of the values"):
            made.checked(other)


# The browser's side of a kernel

KERNEL = f"""
import {{ kernelOf }} from {json.dumps((JS / "kernel.js").as_uri())};
let patience = null; // what happens when it ends
globalThis.setTimeout = (end) => (patience = end);
globalThis.clearTimeout = () => (patience = null);
const [handlers, sent, heard] = [{{}}, [], []];
let dead = false;
const model = {{
  on: (name, handler) => (handlers[name] = handler),
  send(message) {{
    if (dead) throw new Error("the comm is closed");
    sent.push(message);
  }},
}};
const kernel = kernelOf(model, {{
  alive: () => heard.push("alive"),
  lost: (why) => heard.push(why),
  answered: (request, block, error) => heard.push(error),
}});
const ask = () => kernel.ask({{ values: new Map([["n", 3]]), parts: [0] }});
const receive = (message) => handlers["msg:custom"]({{ view: sent[0].view, ...message }}, []);
const failed = (id) => receive({{ type: "failed", id, error: `answer ${{id}}` }});
const hello = () => receive({{ type: "hello", id: null }});
"""


def heard(program):
    """Return what a figure hears of its kernel."""
    return evaluate(KERNEL + program, "heard")


def test_an_answered_greeting_does_not_end_the_patience_with_a_request():
    assert heard("ask(); hello(); patience();") == ["alive", "busy"]
    assert heard("ask(); hello(); failed(1); heard.push(patience);") == ["alive", "alive", "answer 1", None]


def test_a_late_message_of_a_dead_kernel_is_not_heard():
    dies = "ask(); dead = true; kernel.greet(); "
    assert heard(dies + "failed(1); hello();") == ["gone"]
    # what the next one says is heard, but for answers to what was asked of the one before
    revives = dies + 'dead = false; handlers["comm_live_update"](); hello(); failed(1); ask(); failed(2);'
    assert heard(revives) == ["gone", "alive", "alive", "alive", "answer 2"]


# The page's address

ADDRESS = f"""
import {{ readAddress, writeAddress }} from {json.dumps((JS / "address.js").as_uri())};
globalThis.location = {{ pathname: "/page.html", search: "?q=1" }};
globalThis.history = {{ replaceState: (state, title, address) => (location.href = address) }};
const asMap = (pairs) => new Map(pairs.map(([figure, state]) => [figure, new Map(state)]));
const asPairs = (states) => [...states].map(([figure, state]) => [figure, [...state]]);
const isMap = (map, isValue) => map instanceof Map && [...map].every(([key, value]) => isText(key) && isValue(value));
const isText = (value) => typeof value === "string";
const isState = (state) => isMap(state, isText);
"""
HOSTILE = [
    "",
    "#",
    "#a heading",
    "#%",
    "#%E0%A4%A:n=%zz",
    "#f:n=%FF;%=1;k=3",
    "#<script>alert(1)</script>:n=<img src=x onerror=alert(1)>",
    "#__proto__:polluted=1",
    "#constructor:prototype=1&toString:valueOf=1",
    "#f:__proto__=1;constructor=2;hasOwnProperty=3",
    "#" + "&" * 5000,
    "#f:" + ";" * 5000,
    "#f:" + "=" * 5000,
    "#" + ":" * 5000,
    "#f:n=" + "9" * 200_000,
    "##f:n=1#g:n=2",
    "#f:n=1\x00\n\u2028\ufeff𝄞",
]


def test_no_address_breaks_the_reading_of_it():
    rng = random.Random(0)
    pieces = ["#", "&", ":", ";", "=", "%", "%2", "%C3", "%41", "n", "__proto__", "<", '"', "中", "\x00", " "]
    hashes = HOSTILE + ["#" + "".join(rng.choices(pieces, k=rng.randrange(40))) for _ in range(500)]
    program = f"{ADDRESS} const bad = {json.dumps(hashes)}.filter((hash) => !isMap(readAddress(hash), isState));"
    assert evaluate(program, '[bad, "polluted" in {}]') == [[], False]


def test_an_address_names_figures_controls_and_values():
    read = evaluate(ADDRESS, 'asPairs(readAddress("#gradient-decay:cell=LSTM%2C%20b%3D1;gain=1.5&field:k=5"))')
    assert read == [["gradient-decay", [["cell", "LSTM, b=1"], ["gain", "1.5"]]], ["field", [["k", "5"]]]]


def test_an_address_reads_back_as_it_was_written():
    awkward = ["n", "LSTM, b=1", "1.5", "a:b;c=d&e#f%41", "__proto__", '中文 ’"<>', "%", "+", " "]
    states = [[figure, [[name, value] for name, value in zip(awkward, reversed(awkward))]] for figure in awkward]
    program = f"{ADDRESS} writeAddress(asMap({json.dumps(states)}));"
    assert evaluate(program, 'asPairs(readAddress(new URL(location.href, "http://localhost").hash))') == states


def test_figures_in_their_start_state_leave_the_address_clean():
    assert evaluate(f"{ADDRESS} writeAddress(new Map());", "location.href") == "/page.html?q=1"


# Helpers of the figures


def slow(folder, a, b):
    """Stand for a slow function: its calls are counted by the files it leaves, for they happen in other processes."""
    Path(folder, uuid4().hex).touch()
    return 10 * a - b


def test_on_grid_computes_each_setting_once_and_gives_what_the_function_gives(tmp_path):
    looked_up = OnGrid(slow, folder=[tmp_path], a=[1, 2], b=[3, 4, 5])
    looked_up.compute()
    for a, b in itertools.product([1, 2], [3, 4, 5]):
        assert looked_up(folder=tmp_path, b=b, a=a) == 10 * a - b
    assert len(list(tmp_path.iterdir())) == 6


def test_on_grid_computes_alone_what_was_not_computed_ahead(tmp_path):
    looked_up = OnGrid(slow, folder=[tmp_path], a=[1, 2], b=[3, 4, 5])
    for _ in range(2):
        assert looked_up(folder=tmp_path, a=7, b=0.5) == 69.5  # off the grid
        assert looked_up(folder=tmp_path, a=1, b=3) == 7  # on it
    assert len(list(tmp_path.iterdir())) == 2


def test_on_grid_goes_by_names_whatever_their_order(tmp_path):
    looked_up = OnGrid(slow, b=[3, 4], folder=[tmp_path], a=[1])
    looked_up.compute()
    assert looked_up(folder=tmp_path, a=1, b=4) == 6
