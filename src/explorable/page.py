"""A figure as HTML that needs no kernel: it brings its own data, which js/page.js draws."""

import base64
import html
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .look import MARKS
from .script import PAGE, STYLE
from .text import OWN_WORDS

if TYPE_CHECKING:
    from .explorable import Explorable

__all__ = ["figure_html", "page"]


def key_html(spec: dict) -> str:
    """Return what the still picture cannot say, for it knows no letters of any language: its panels, and their series."""
    start = {control["name"]: control["start"] for control in spec["controls"]}
    panels = []
    for panel in spec["panels"]:
        shown = [one for one in panel.get("series", []) if one["visible_if"] is None or start[one["visible_if"]]]
        series = "".join(f" {label_html(one, start)}" for one in shown)
        panels.append(f"<li>{html.escape(panel['title'])}{series}</li>")
    return f'<ul class="key">{"".join(panels)}</ul>'


def label_html(series: dict, start: dict) -> str:
    """Return a series' label behind its mark, in its colour where it is in focus."""
    focused = series["focus"] is None or start[series["focus"][0]] == series["focus"][1]
    mark = MARKS[series["mark"]]["letter"]
    return f'<span class="{series["color"] if focused else "grey"}">{mark} {html.escape(series["label"])}</span>'


def folds_html(spec: dict) -> str:
    """Return the texts that stand folded below a figure; js/folds.js makes the same where a host shows no html of ours."""
    texts = ((key, spec[key]) for key in ("how_to_read", "limits") if spec[key])
    return "".join(
        f'<details class="{key}"><summary>{html.escape(OWN_WORDS[key][spec["language"]])}</summary>'
        f"<p>{html.escape(text)}</p></details>"
        for key, text in texts
    )


def figure_html(spec: dict, values: dict, frames: bytes, still: dict[str, str]) -> str:
    """Return a figure as one element: its title, the still picture with its key, its caption, what is folded, and the data that draw it.

    values: those of its controls.  still: {src, alt}.
    """
    data = json.dumps(
        {"spec": spec, "values": values, "frames": base64.b64encode(frames).decode()},
        ensure_ascii=False,
        separators=(",", ":"),
    ).replace("</", "<\\/")  # no text may end the element
    return (
        f'<figure class="explorable" data-name="{html.escape(spec["name"])}" lang="{spec["language"]}">'
        f'<p class="title">{html.escape(spec["title"])}</p>'
        f'<img class="still" alt="{html.escape(still["alt"])}" src="{still["src"]}">'
        f"{key_html(spec)}<figcaption>{html.escape(spec['caption'])}</figcaption>"
        f'<div class="foot">{folds_html(spec)}</div>'
        f'<script type="application/vnd.explorable+json">{data}</script></figure>'
    )


def page(figures: Sequence["Explorable"]) -> str:
    """Return a whole page that shows figures and works when it is opened from a file."""
    title, language = html.escape(figures[0]._spec["title"]), figures[0]._spec["language"]
    return (
        f'<!doctype html>\n<html lang="{language}" data-theme="light"><head><meta charset="utf-8"><title>{title}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light">'
        f"<style>body {{ max-width: 60rem; margin: 0 auto; padding: 8px; font-family: sans-serif }}\n{STYLE}</style>"
        f"</head><body><main>{''.join(figure.html() for figure in figures)}</main>"
        f"<script>{PAGE}</script></body></html>\n"
    )
