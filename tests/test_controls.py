"""Controls: the values that they take, and what they refuse with a sentence."""

import math

import numpy as np
import pytest
from small_figures import CELL, FLAG, figure

from explorable import Control, Text


def test_numbers_of_numpy_are_numbers():
    control = Control("k", np.arange(1, 5), "k", np.int64(2))
    assert (control.grid, control.first, control.whole) == ([1, 2, 3, 4], 2, True)
    assert {type(value) for value in control.grid} == {int}
    assert control.check(np.int32(3)) == control.check(np.float64(3)) == 3
    gain = Control("gain", list(np.linspace(0, 1, 3)), "gain")
    assert gain.grid == [0, 0.5, 1] and not gain.whole
    assert gain.check(np.float32(0.25)) == 0.25
    assert Control("on", np.array([False, True]), "on").kind == "checkbox"
    for value in (True, np.True_, np.array([1, 2]), None, np.nan, "1"):
        with pytest.raises(ValueError, match="^k = .*: it must be a whole number from 1 to 4"):
            control.check(value)


@pytest.mark.parametrize(
    "name, words",
    [
        ("2n", "'2n' is no Python name a function could have"),
        ("_x", "'_x' is no Python name a function could have"),
        ("class", "'class' is no Python name a function could have"),
        ("self", "'self' is what Python calls the figure itself"),
        (3, "3 is no Python name"),
        ("n" * 81, "has 81 letters: it must have at most 80"),
    ],
)
def test_names_that_no_function_can_have_are_refused(name, words):
    with pytest.raises(ValueError, match=words):
        Control(name, [1, 2], "n")


@pytest.mark.parametrize(
    "options", [{"label": "l" * 81}, {"label": 3}, {"label": "n", "unit": Text(zh="位", en="u" * 200)}]
)
def test_words_that_are_too_long_or_no_text_are_refused(options):
    Control("n", [1, 2], "l" * 80)
    if isinstance(options.get("unit"), Text):
        Control("n", [1, 2], **options)  # one letter in Chinese, the language of this test
        options["unit"] = options["unit"].words["en"]
    with pytest.raises(ValueError, match="control 'n' has (words of (81|200) letters|3 among its words)"):
        Control("n", [1, 2], **options)


@pytest.mark.parametrize(
    "values, words",
    [
        ([2, 1], r"values \[2, 1\]: finite numbers must rise"),
        ([1, 1], r"values \[1, 1\]: finite numbers must rise"),
        ([1.0, math.nan], "nan.*: finite numbers must rise"),
        ([1], "offers 1 values"),
        ([], "offers 0 values"),
        (3, "has values 3: it needs a list"),
        ([1, "a"], r"values \[1, 'a'\]: give numbers"),
        ([False, 2], r"values \[False, 2\]: give numbers"),
        ([True, False], r"values \[True, False\]: a checkbox is \[False, True\]"),
    ],
)
def test_values_that_no_control_can_offer_are_refused(values, words):
    with pytest.raises(ValueError, match=f"control 'n' .*{words}"):
        Control("n", values, "n")


def test_a_start_off_the_grid_is_refused():
    with pytest.raises(ValueError, match=r"'n' starts at 3, which is none of its values \[1, 2\]"):
        Control("n", [1, 2], "n", start=3)


@pytest.mark.parametrize("values, between, beyond", [([1, 2, 4], 3, 1.5), ([0.5, 1.0], 0.9, 1.1), ([1, 2.5], 1.1, 0.5)])
def test_a_slider_takes_what_lies_between_whole_numbers_only_where_its_grid_has_no_other(values, between, beyond):
    made = Control("n", values, "n")
    assert made.check(values[-1]) == values[-1]
    assert made.check(between) == between
    kind = "a whole number" if made.whole else "a number"
    with pytest.raises(ValueError, match=f"n = {beyond}: it must be {kind} from {values[0]} to {values[-1]}"):
        made.check(beyond)


@pytest.mark.parametrize("made", [Control("n", [1, 2, 4], "n", continuous=False), FLAG, CELL])
def test_other_controls_take_their_own_values_only(made):
    assert [made.check(value) for value in made.grid] == made.grid
    for other in (3, 0, "c", None):
        with pytest.raises(ValueError, match="none of the values"):
            made.check(other)


@pytest.mark.parametrize(
    "options, words",
    [
        ({"values": [False, True], "plays": True}, "plays, but it is a checkbox: only a slider"),
        ({"values": [1, 2], "until": "n"}, "until 'n', but has no button: set plays=True"),
    ],
)
def test_only_a_slider_plays(options, words):
    with pytest.raises(ValueError, match=f"control 'round' .*{words}"):
        Control("round", label="round", **options)


def test_a_slider_plays_until_the_value_of_another_slider():
    played = Control("n", [1, 2], "n", plays=True, until="causal")
    with pytest.raises(ValueError, match=r"until the value of \['causal'\], but the sliders are \['n'\]"):
        figure(controls=[played, FLAG])
