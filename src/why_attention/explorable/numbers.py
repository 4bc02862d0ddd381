"""How a sentence writes a number that spans many powers of ten."""

import math

__all__ = ["power_text"]

SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def power_text(log10: float) -> str:
    """Write the number 10^log10: plainly between 0.01 and 1000, else as a power of ten; −∞ is an exact 0."""
    if log10 == -math.inf:
        return "0"
    if -2 <= log10 < 3:
        return f"{10**log10:.2g}" if 10**log10 < 9.95 else f"{10**log10:.0f}"
    return "10" + str(round(log10)).translate(SUPERSCRIPTS)
