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


def key_html(spec: dict, shown: list[dict]) -> str:
    """Return what the still picture cannot say, for it knows no letters of any language: its panels, and their series.

    shown: what each panel shows, as ``Explorable.at`` gives it.
    """
    panels = []
    for panel, drawn in zip(spec["panels"], shown):
        focus = {one["label"]: one["inFocus"] for one in drawn.get("series", [])}
        names = (label_html(one, focus[one["label"]]) for one in panel.get("series", []) if one["label"] in focus)
        panels.append(f"<li>{' '.join([html.escape(panel['title']), *names])}</li>")
    return f'<ul class="key">{"".join(panels)}</ul>'


def label_html(series: dict, focused: bool) -> str:
    """Return a series' label behind its mark, in its colour where it is in focus."""
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


def figure_html(
    spec: dict, values: dict, frames: bytes, still: dict[str, str], shown: list[dict], traces: str = ""
) -> str:
    """Return a figure as one element: its title, the still picture with its key, its caption, what is folded, and the data that draw it.

    values: those of its controls.  still: {src, alt}.  shown: what each panel of the still picture shows.
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
        f"{key_html(spec, shown)}<figcaption>{html.escape(spec['caption'])}</figcaption>"
        f'<div class="foot">{folds_html(spec)}</div>'
        f'<script type="application/vnd.explorable+json">{data}</script>{traces}</figure>'
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
