"""How a number is written: three digits, with a power of ten of its own where it is very large or very small.

A sentence, a read-out, a table and a still picture write by this one rule; numbers.js does the same in the browser.
"""

import math

__all__ = ["DIGITS", "digits_kept", "number_text", "power_of_ten", "power_text"]

SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
DIGITS = 4  # at most: three, and four of a number between 1000 and 9999, such as a length of 1024
TIE = 1e-9  # so that halves are rounded up by all machines, whose powers differ in the last bit
ROUNDING = 1e-15  # of its size a whole number may be off, for frames keep multiples of a step


def power_text(log10: float, digits: int = DIGITS) -> str:
    """Write the number 10^log10 with so many digits: 1024, 0.62, 3.36×10⁷; −∞ is an exact 0.

    Numbers from 0.01 up are written plainly, as long as all digits before the point are kept.  ≈ says of one digit
    that it is not even sure.
    """
    if log10 == -math.inf:
        return "0"
    power = math.floor(log10)
    kept = digits if power == 3 else min(digits, 3)
    about = "≈" if digits == 1 else ""
    return about + digits_text(10 ** (log10 - power), power, kept, plain=range(-2, digits))


def number_text(number: float) -> str:
    """Write a number: a whole one up to 10¹⁵ with all its digits, any other with four; −∞ as it stands."""
    if number == -math.inf:
        return "−∞"
    sign, size = "−" if number < 0 else "", abs(number)
    whole = math.floor(size + 0.5)
    if size <= 1e15 and abs(size - whole) <= ROUNDING * size:
        return f"{sign}{whole}"
    log10 = math.log10(size)
    power = math.floor(log10)
    return sign + digits_text(10 ** (log10 - power), power, DIGITS, plain=range(-4, DIGITS))


def digits_text(mantissa: float, power: int, kept: int, plain: range) -> str:
    """Write mantissa·10^power, 1 ≤ mantissa < 10, with the digits kept: as a plain number where the power is in plain."""
    digits = math.floor(mantissa * 10 ** (kept - 1) + 0.5 + TIE)
    if digits == 10**kept:  # 9.996 is 10.0
        digits, power = digits // 10, power + 1
    if power in plain:
        return f"{float(f'{digits}e{power - kept + 1}'):.{DIGITS}g}"
    first = f"{float(f'{digits}e{1 - kept}'):g}"
    return power_of_ten(power) if first == "1" else f"{first}×{power_of_ten(power)}"


def power_of_ten(power: int) -> str:
    """Write 10^power, as axes do: 10⁻⁴⁰."""
    return "10" + str(power).translate(SUPERSCRIPTS)


def digits_kept(resolution: float | None) -> int:
    """Return how many digits of a number are known where a frame keeps multiples of a step of its log10: 1 to 4."""
    return next((n for n in (4, 3, 2) if (resolution or 0) <= 5 * 10 ** -(n + 1)), 1)
