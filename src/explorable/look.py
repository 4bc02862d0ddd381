"""Colours, marks and gaps, from look.json, which style sheet, still pictures and browser share."""

import json
from pathlib import Path

import numpy as np
from matplotlib import colormaps
from matplotlib.colors import LinearSegmentedColormap, to_hex

__all__ = ["COLORMAP", "COLORS", "GROUND", "LOOK", "MARKS", "SHADES", "STAGE", "check_look"]

LOOK = json.loads((Path(__file__).parent / "look.json").read_text(encoding="utf-8"))
COLORS, GROUND, MARKS, STAGE = (LOOK[key] for key in ("colors", "ground", "marks", "stage"))  # colours: Okabe–Ito
COLORMAP = [to_hex(color) for color in colormaps["viridis"](np.linspace(0, 1, 33))]  # perceptually uniform
SHADES = LinearSegmentedColormap.from_list("explorable", COLORMAP)


def check_look(where: str, color: str, mark: str) -> None:
    """Raise a ValueError for a color or a mark that the figures do not have."""
    if color not in COLORS or mark not in MARKS:
        raise ValueError(
            f"{where} has color {color!r} and mark {mark!r}: choose from {tuple(COLORS)} and {tuple(MARKS)}"
        )
