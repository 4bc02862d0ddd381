"""What a control and a figure may be made of, and what they refuse with a sentence."""

import numpy as np
import pytest

from explorable import Axis, Control, Explorable, Lines, Sentence, Series, Text


def test_numbers_of_numpy_are_numbers():
    control = Control("k", np.arange(1, 5), "k", np.int64(2))
    assert (control.grid, control.first, control.whole) == ([1, 2, 3, 4], 2, True)
    assert {type(value) for value in control.grid} == {int}
    assert control.checked(np.int32(3)) == control.checked(np.float64(3)) == 3
    gain = Control("gain", list(np.linspace(0, 1, 3)), "gain")
    assert gain.grid == [0, 0.5, 1] and not gain.whole
    assert gain.checked(np.float32(0.25)) == 0.25
    assert Control("on", np.array([False, True]), "on").kind == "checkbox"
    for value in (True, np.True_, np.array([1, 2]), None, np.nan, "1"):
        with pytest.raises(ValueError, match="^k = .*: it must be a whole number from 1 to 4"):
            control.checked(value)


def test_a_figures_trait_takes_numpys_numbers():
    figure = small([Control("n", [0.5, 1.5], "n")])
    figure.n = np.float32(0.75)
    assert figure.n == 0.75 and type(figure.n) is float


@pytest.mark.parametrize(
    "name, words",
    [
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
        options["unit"] = str(options["unit"].en)
    with pytest.raises(ValueError, match="control 'n' has (words of (81|200) letters|3 among its words)"):
        Control("n", [1, 2], **options)


def small(controls, y=lambda n: [0, n], name="small"):
    axis = Axis("size", (0, 1))
    panel = Lines("lines", axis, axis, [Series(y, [0, 1], "line")])
    return Explorable(name, title="", caption="", controls=controls, panels=[panel], sentence=Sentence(""))


def test_more_settings_than_can_be_computed_are_refused_with_their_number():
    controls = [Control("n", list(range(1000)), "n"), Control("m", list(range(1000)), "m")]
    with pytest.raises(ValueError, match="has 1000000 settings, 1000 of 'n' times 1000 of 'm': at most 10000 can be"):
        small(controls, lambda n, m: [n, m])


@pytest.mark.parametrize("name", ["", "a b", "a/b", "a#b", "n" * 61, 3])
def test_names_that_no_address_can_hold_are_refused(name):
    with pytest.raises(ValueError, match="^figure name .*: it must be 1 to 60 letters"):
        small([Control("n", [1, 2], "n")], name=name)


@pytest.mark.parametrize("template", ["{", "}", "{n"])
def test_braces_that_do_not_match_are_refused(template):
    with pytest.raises(ValueError, match="braces that do not match"):
        Sentence(template).parts()


def test_text_that_is_no_text_is_refused():
    with pytest.raises(ValueError, match=r"^Text\(zh=3, en='three'\): both must be str"):
        Text(zh=3, en="three")
