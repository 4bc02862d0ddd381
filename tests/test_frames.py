"""Frames: what Python packs comes back, in Python and in the browser; damage is noticed; functions are called once."""

import json
import zlib

import numpy as np
import pytest
from node import evaluate
from small_figures import CELL, FLAG, GAIN, N, figure, heatmap, lines, settings, sizes

from explorable import Sentence, script
from explorable.frames import Frames, pack
from explorable.source import Source

FRAMES_JS = (script.FOLDER / "js" / "frames.js").as_uri()


def through_frames(array, resolution=None):
    """Return an array as it comes out of a packed block."""
    array = np.asarray(array)
    return Frames(pack([Source(array, [], "here", (array.shape,), resolution)], {}), {}).array(0, {})


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_floats_come_back_within_half_a_resolution(dtype):
    for shape in ((1,), (300,), (3, 4), (2, 500)):
        array = np.random.default_rng(0).normal(0, 40, shape).astype(dtype)
        assert abs(through_frames(array, resolution=0.02) - array).max() <= 0.01 + 1e-9


@pytest.mark.parametrize("span", [1e-6, 1, 1e4])
def test_floats_without_a_resolution_keep_nine_digits_of_their_range(span):
    array = 7 + span * np.random.default_rng(0).random((40, 30))
    assert abs(through_frames(array) - array).max() <= np.ptp(array) / 4e9 + 1e-15


def test_a_constant_float_frame_without_a_resolution_comes_back():
    np.testing.assert_allclose(through_frames(np.full(3, 0.3)), 0.3, rtol=1e-6)


def test_equal_numbers_of_two_frames_come_back_equal():
    """The table of the numbers has one row for each x."""
    numbers = np.log10(np.arange(2, 300))
    alone = [through_frames([number], resolution=0.001).item() for number in numbers]
    assert through_frames(numbers, resolution=0.001).tolist() == alone


@pytest.mark.parametrize("low", [-299.85, -0.15, 0.05, 0.25, 1000.35])
def test_a_lowest_number_half_way_between_two_codes_stays_finite(low):
    assert abs(through_frames([low, low + 1], resolution=0.1) - [low, low + 1]).max() <= 0.05 + 1e-9


@pytest.mark.parametrize("dtype", ["?", "u1", "i1", "u2", "i2", "u4", "i4"])
def test_whole_numbers_and_booleans_come_back_exactly(dtype):
    limit = 2 if dtype == "?" else 2 ** min(8 * np.dtype(dtype).itemsize, 31)
    array = np.random.default_rng(0).integers(0, limit, (3, 100)).astype(dtype)
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
    block = pack([Source([0, codes], [], "here", ((2,),))], {})
    assert Frames(block, {}).header["frames"][0][1] == size


def test_frames_and_words_come_back_at_every_setting():
    controls = [N, GAIN, FLAG]
    sources = [
        Source(lambda n, causal: np.full((n, 2), n + 0.5 * causal), controls, "first", ((None, 2),), 0.5),
        Source(lambda gain, n: [gain, n], controls, "second", ((2,),), 0.5),  # its own order, not the controls'
    ]
    slots = {"what": Source(lambda causal, gain: f"{gain} {causal}", controls, "slot")}
    frames = Frames(pack(sources, slots), sizes(*controls))
    for setting in settings(*controls):
        n, gain, causal = (control.grid[setting[control.name]] for control in controls)
        np.testing.assert_array_equal(frames.array(0, setting), np.full((n, 2), n + 0.5 * causal))
        np.testing.assert_array_equal(frames.array(1, setting), [gain, n])
        assert frames.words("what", setting) == f"{gain} {causal}"


def test_frames_are_read_by_name_whatever_the_order_of_dicts():
    frames = Frames(pack([Source(lambda n, gain: [n, gain], [N, GAIN], "here", ((2,),), 0.5)], {}), sizes(GAIN, N))
    np.testing.assert_array_equal(frames.array(0, {"gain": 0, "n": 2}), frames.array(0, {"n": 2, "gain": 0}))
    np.testing.assert_array_equal(frames.array(0, {"gain": 0, "n": 2}), [4, 0.5])


def test_views_are_all_settings_of_the_controls_that_some_parts_depend_on():
    sources = [Source(lambda n: [n], [N, GAIN], "here", ((1,),)), Source([7], [], "here", ((1,),))]
    frames = Frames(pack(sources, {"word": Source(lambda gain: str(gain), [N, GAIN], "slot")}), sizes(N, GAIN))
    assert [view.array(0).item() for view in frames.views(0, 1)] == N.grid
    seen = [(view.array(0).item(), view.words("word")) for view in frames.views("word", 0)]
    assert sorted(seen) == [(n, str(gain)) for n in N.grid for gain in GAIN.grid]


def test_the_last_parameter_moves_fastest():
    results = Source(lambda gain, n: (gain, n), [N, GAIN], "here").results()
    assert [value for _, value in results] == [(0.5, 1), (0.5, 2), (0.5, 4), (1.0, 1), (1.0, 2), (1.0, 4)]


def test_each_function_is_called_once_for_every_setting_of_its_own_controls():
    calls = []
    panels = [
        heatmap(lambda n: calls.append(("matrix", n)) or np.eye(n)),
        lines(lambda gain, n: calls.append(("line", gain, n)) or [gain, n]),
    ]
    sentence = Sentence("{word}", word=lambda causal: calls.append(("word", causal)) or str(causal))
    figure(*panels, controls=[N, GAIN, FLAG], sentence=sentence)
    wanted = [("matrix", n) for n in N.grid] + [("line", g, n) for g in GAIN.grid for n in N.grid]
    assert calls == wanted + [("word", False), ("word", True)]


def test_a_constant_source_depends_on_no_control():
    source = Source([3, 4], [N], "here", ((2,),))
    frames = Frames(pack([source], {}), sizes(N))
    assert source.names == []
    assert [frames.array(0, setting).tolist() for setting in settings(N)] == [[3, 4]] * 3


def test_equal_frames_are_stored_once():
    sources = [Source(lambda n: [n > 1, True], [N], "here", ((2,),)) for _ in range(2)]
    assert len(Frames(pack(sources, {}), sizes(N)).header["frames"]) == 2  # [False, True] and [True, True]


def test_any_flipped_byte_is_noticed():
    block = pack([Source(lambda n: np.arange(n), [N], "here", ((None,),))], {})
    for at in range(len(block)):
        with pytest.raises(zlib.error):
            Frames(block[:at] + bytes([block[at] ^ 0xFF]) + block[at + 1 :], sizes(N))


def test_any_truncation_is_noticed():
    block = pack([Source(lambda n: np.arange(n), [N], "here", ((None,),))], {})
    for length in range(len(block)):
        with pytest.raises(zlib.error):
            Frames(block[:length], sizes(N))


# In the browser


def test_the_browser_reads_the_frames_that_python_wrote(tmp_path):
    controls, rng = [N, GAIN, CELL], np.random.default_rng(0)
    sources = [
        Source(lambda n, cell: rng.normal(0, 9, (n, 5)), controls, "floats", ((None, 5),)),
        Source(lambda gain: [-np.inf, gain, -300.0], controls, "log10", ((3,),), 0.02),
        Source(lambda n: rng.normal(-n, 0.3, 99), controls, "multiples of a resolution", ((99,),), 0.001),
        Source(lambda n: np.arange(3) > n, controls, "booleans", ((3,),)),
        Source(lambda cell, gain: [0, 70000 if cell == "b" else 300], controls, "codes of 4 bytes", ((2,),)),
    ]
    slots = {"words": Source(lambda cell, gain: f"{cell} 𝄞 {gain}", controls, "slot")}
    block = tmp_path / "block"
    block.write_bytes(pack(sources, slots))
    at = [{c.name: c.grid[setting[c.name]] for c in controls} for setting in settings(*controls)]
    program = f"""
        import {{ readFileSync }} from "node:fs";
        import {{ unpack, numbersOf }} from {json.dumps(FRAMES_JS)};
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
    block = pack([Source(lambda n: np.arange(n), [N], "here", ((None,),))], {})
    damaged = [block[:-1], block[: len(block) // 2], block[:-1] + bytes([block[-1] ^ 1]), b""]
    program = f"""
        import {{ unpack }} from {json.dumps(FRAMES_JS)};
        const blocks = {json.dumps([list(bad) for bad in damaged])};
        const refused = blocks.map((bytes) => unpack(new Uint8Array(bytes)).then(() => false, () => true));
    """
    assert evaluate(program, "await Promise.all(refused)") == [True] * len(damaged)
