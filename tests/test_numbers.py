"""How numbers are written: by one rule, which Python and the browser share, and as precisely as they are known."""

import json
import math
import random
from decimal import ROUND_HALF_UP, Context, Decimal
from pathlib import Path

import numpy as np
import pytest
from node import evaluate

from explorable import script
from explorable.frames import Frames, pack
from explorable.numbers import digits_kept, number_text, power_text
from explorable.source import Source

NUMBERS_JS = (Path(script.__file__).parent / "js" / "numbers.js").read_text(encoding="utf-8")
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
EXACT = Context(prec=60)

drawn = random.Random(0)
HALVES = [half / 2 for half in range(-801, 802)]
POWERS = [float(power) for power in range(-400, 401)]
AMOUNTS = [0.01, 0.00999, 0.0099996, 0.62, 9.995, 9.9949, 99.95, 999.4, 999.5, 999.96, 9999.4, 9999.6, 1.125, 1.125e7]
WHOLES = [*range(1, 2000), 768, 1024, 4096, 8192, 9999, 10_000, 16_384, 131_072, 33_554_432, 10**13]
LOG10S = [
    -math.inf,
    *HALVES,
    *POWERS,
    *(math.nextafter(power, side) for power in POWERS for side in (-math.inf, math.inf)),
    *(math.log10(amount) for amount in AMOUNTS + WHOLES),
    *(drawn.uniform(-400, 400) for _ in range(3000)),
    *(drawn.uniform(-3, 5) for _ in range(3000)),
]
NUMBERS = [
    -math.inf,
    *HALVES,
    *AMOUNTS,
    *(float(whole) for whole in WHOLES),
    *(sign * 10.0**power for power in range(-320, 308) for sign in (-1, 1)),
    *(drawn.uniform(-1, 1) * 10.0 ** drawn.randint(-20, 20) for _ in range(3000)),
    *(float(drawn.randrange(10**15)) for _ in range(1000)),
    0.0,
    -0.0,
    0.1 + 0.2,
    0.001 * 3001,
    1e15,
    1e15 + 2,
    1e300,
    5e-324,
]


def in_javascript(function, numbers, *arguments):
    """Return what the browser's half writes for each number; −∞, which JSON has not, travels as null."""
    given = json.dumps([None if number == -math.inf else number for number in numbers])
    call = ", ".join(["number ?? -Infinity", *map(str, arguments)])
    return evaluate(NUMBERS_JS, f"{given}.map((number) => {function}({call}))")


@pytest.mark.parametrize("digits", [1, 2, 3, 4])
def test_python_and_the_browser_write_the_same_amounts(digits):
    assert in_javascript("powerText", LOG10S, digits) == [power_text(log10, digits) for log10 in LOG10S]


def test_python_and_the_browser_write_the_same_numbers():
    assert in_javascript("numberText", NUMBERS) == [number_text(number) for number in NUMBERS]


def written(amount, digits, plain):
    """Write a Decimal by the rule, in exact arithmetic: the oracle."""
    kept = digits if 1000 <= amount < 10_000 else min(digits, 3)
    rounded = Context(prec=kept, rounding=ROUND_HALF_UP).plus(amount)
    power = rounded.adjusted()
    if plain(power):
        text = f"{rounded:f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    first = f"{rounded.scaleb(-power):f}".rstrip("0").rstrip(".")
    raised = "10" + str(power).translate(SUPERSCRIPTS)
    return raised if first == "1" else f"{first}×{raised}"


@pytest.mark.parametrize("digits", [1, 2, 3, 4])
def test_amounts_are_rounded_as_exact_arithmetic_rounds_them(digits):
    for log10 in LOG10S[1:]:
        # a float's own rounding may lie on the other side of a half: its nearest 14 digits do not
        amount = Context(prec=12).plus(EXACT.power(Decimal(10), Decimal(log10)))
        about = "≈" if digits == 1 else ""
        assert power_text(log10, digits) == about + written(amount, digits, lambda power: -2 <= power < digits), log10


def test_numbers_are_rounded_as_exact_arithmetic_rounds_them():
    for number in NUMBERS[1:]:
        if number != round(number, 0) and abs(number) < 1e13:
            amount = Context(prec=12).plus(abs(Decimal(number)))
            kept = Context(prec=4, rounding=ROUND_HALF_UP).plus(amount)
            text = number_text(number)
            assert text.startswith("−") == (number < 0)
            mantissa, _, power = text.lstrip("−").partition("×10")
            if text.lstrip("−").startswith("10") and set(text.lstrip("−")[2:]) & set("⁻⁰¹²³⁴⁵⁶⁷⁸⁹"):
                mantissa, power = "1", text.lstrip("−")[2:]
            read = Decimal(mantissa).scaleb(int(power.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")) or 0))
            assert read == kept, number


@pytest.mark.parametrize(
    "log10, text",
    [
        (-math.inf, "0"),
        (math.log10(0.62), "0.62"),
        (-204.6, "2.51×10⁻²⁰⁵"),
        (-3.5, "3.16×10⁻⁴"),
        (-2, "0.01"),
        (-2.1, "7.94×10⁻³"),
        (0, "1"),
        (1.5, "31.6"),
        (2.5, "316"),
        (3, "1000"),
        (math.log10(768), "768"),
        (math.log10(1024), "1024"),
        (math.log10(9999.6), "10⁴"),
        (math.log10(2**25), "3.36×10⁷"),
        (12, "10¹²"),
    ],
)
def test_amounts(log10, text):
    assert power_text(log10) == text


@pytest.mark.parametrize(
    "number, text",
    [
        (-math.inf, "−∞"),
        (0.0, "0"),
        (-0.5, "−0.5"),
        (16_384, "16384"),
        (1e15, "1000000000000000"),
        (0.30000000000000004, "0.3"),
        (1234.56, "1235"),
        (0.00012345, "0.0001235"),
        (2.5e-7, "2.5×10⁻⁷"),
        (-1e300, "−10³⁰⁰"),
    ],
)
def test_plain_numbers(number, text):
    assert number_text(number) == text


@pytest.mark.parametrize("resolution, digits", [(1e-6, 4), (5e-5, 4), (5e-4, 3), (0.005, 2), (0.02, 1), (0.125, 1)])
def test_no_digit_is_written_that_a_frame_does_not_keep(resolution, digits):
    assert digits_kept(resolution) == digits
    for log10 in np.random.default_rng(0).uniform(-2, 3, 500):
        kept = resolution * round(log10 / resolution)
        off = abs(10**kept / 10**log10 - 1)
        assert off <= 1.2 * 10**-digits or digits == 1  # at most a unit of the last digit, one and a fifth after a 9


# A 0 is an exact 0


def test_what_is_not_0_is_not_kept_as_0():
    array = np.array([0.0, 1e-30, 0.004, 0.006, 0.2, -1e-9, -0.004, -np.inf])
    source = Source(array, [], "numbers", ((None,),), 0.01, apart=True)
    kept = Frames(pack([source], {}), {}).array(0, {})
    np.testing.assert_allclose(kept, [0, 0.01, 0.01, 0.01, 0.2, -0.01, -0.01, -np.inf], rtol=1e-12)


def test_a_read_out_of_0_is_an_exact_0():
    axis = {"log10": False, "digits": 4, "least": 0.01}
    call = f"[0, 0.01, 0.02, -0.01, -0.5, -Infinity].map((value) => amountText(value, {json.dumps(axis)}))"
    assert evaluate(NUMBERS_JS, call) == ["0", "<0.02", "0.02", ">−0.02", "−0.5", "−∞"]
    without = json.dumps(axis | {"least": None})
    assert evaluate(NUMBERS_JS, f"[0.01, 1e-5].map((value) => amountText(value, {without}))") == ["0.01", "10⁻⁵"]
    decades = json.dumps({"log10": True, "digits": 3, "least": None})
    assert evaluate(NUMBERS_JS, f"[0, -Infinity, -7].map((value) => amountText(value, {decades}))") == [
        "1",
        "0",
        "10⁻⁷",
    ]
