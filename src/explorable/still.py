"""The still picture of a figure, for readers without JavaScript, for print and for export.

It carries symbols and numbers only, no words, so it needs no font of any language.
"""

import base64
import io
from collections.abc import Sequence

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from .frames import View
from .panels import Panel

__all__ = ["still_picture"]


def still_picture(panels: Sequence[Panel], specs: list[dict], rows: list[int], view: View) -> str:
    """Draw panels at one setting and return them as the address (data:) of a small palette PNG."""
    figure = Figure(figsize=(7, 3.6 if len(panels) == 1 else 3 * len(rows)), layout="constrained")
    FigureCanvasAgg(figure)
    parts = figure.subfigures(len(rows), squeeze=False)[:, 0]
    places = [axes for part, count in zip(parts, rows) for axes in part.subplots(1, count, squeeze=False)[0]]
    for panel, spec, axes in zip(panels, specs, places):
        panel.draw(spec, view, axes)
    png, small = io.BytesIO(), io.BytesIO()
    figure.savefig(png, dpi=90)
    picture = Image.open(png).convert("RGB")
    picture.quantize(48, Image.Quantize.MAXCOVERAGE).save(small, "PNG", optimize=True)  # rare colours are kept too
    return "data:image/png;base64," + base64.b64encode(small.getvalue()).decode()
