"""The claims on a page: the list of common versions, and the table of measurements.

In HTML: a Markdown table with long cells is hard to read on a phone.  It needs no style sheet.  Where there is no HTML, as
in LaTeX, they are lists.
"""

import re
from collections.abc import Callable
from html import escape

from IPython.display import HTML

from explorable import Text, language
from why_attention.claims.claim import Claim, Result, Source, Verdict

__all__ = ["statements", "table"]

CLAIM = Text(zh="常见的说法 → 更准确的说法", en="Common version → more exactly")
MEASURED = Text(zh="这次量到的，和来源", en="Measured just now, and sources")
BY_SOURCE = Text(zh="没有可量的，依据来源。", en="Nothing to measure: by its sources.")
DISAGREES = Text(
    zh="⚠ 这次量到的和本书的判定不一致，本书说的是：",
    en="⚠ This measurement does not agree with the book, whose verdict is: ",
)
CHECK = Text(zh="检验：", en="Check: ")
CAPTION = Text(zh="个说法，判定和量到的数", en="claims, their verdicts, and what was measured")

CELL = 'style="text-align: left; vertical-align: top; min-width: 3em"'  # JupyterLab aligns cells right


class Claims(HTML):
    """Claims as HTML, and as Markdown."""

    def __init__(self, html: str, items: list[str]):
        super().__init__(html)
        self.items = items

    def _repr_markdown_(self) -> str:
        return "\n".join(self.items)


def statements(claims: tuple[Claim, ...]) -> Claims:
    """Return the common versions as a numbered list, without verdicts."""
    items = [f'<li value="{claim.number}">{markup(claim.common)}</li>' for claim in claims]
    html = f'<ol class="claims" lang="{language()}">{"".join(items)}</ol>'
    return Claims(html, [f"{claim.number}. {claim.common}" for claim in claims])


def table(claims: tuple[Claim, ...]) -> Claims:
    """Check every claim now and return the table."""
    results = [claim.check() if claim.check else None for claim in claims]
    rows = map(row, claims, results)
    number = Text(zh="编号和判定", en="Number, verdict")
    caption = escape(f"{len(claims)} {CAPTION}")
    heads = "".join(f'<th scope="col" {CELL}>{escape(str(head))}</th>' for head in (number, CLAIM, MEASURED))
    # a scrolling box: a narrow screen scrolls the table and not the page, by keyboard too
    html = (
        f'<div class="claims" lang="{language()}" role="region" aria-label="{caption}" tabindex="0" '
        f'style="overflow-x: auto"><table><caption>{caption}</caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )
    return Claims(html, list(map(item, claims, results)))


def judged(claim: Claim, result: Result | None) -> tuple[Verdict, list[str]]:
    """Return the verdict that the measurement decides, and what was measured; a verdict unlike the book's is marked."""
    verdict = claim.verdict if result is None else result.verdict
    measured = [str(BY_SOURCE if result is None else result.value)]
    if verdict != claim.verdict:
        measured.append(f"{DISAGREES}{claim.verdict}")
    return verdict, measured


def item(claim: Claim, result: Result | None) -> str:
    """Return one claim's row as an item of a list in Markdown."""
    verdict, measured = judged(claim, result)
    sources = str(Text(zh="；", en="; ")).join(f"[{one.name}]({one.link}){place(one)}" for one in claim.sources)
    parts = [f"**{verdict}**", f"{claim.common} → {claim.correct}", *measured, sources]
    return f"{claim.number}. " + "\\\n   ".join(parts)


def row(claim: Claim, result: Result | None) -> str:
    """Return one claim's row."""
    verdict, measured = judged(claim, result)
    check = f"{CHECK}<code>{breakable(name(claim.check))}</code><br>" if claim.check else ""
    sources = str(Text(zh="；", en="; ")).join(map(link, claim.sources))
    return (
        f'<tr id="claim-{claim.number}"><th scope="row" {CELL}>{claim.number} <br>{escape(str(verdict))}</th>'
        f"<td {CELL}><strong>{markup(claim.common)}</strong><br>→ {markup(claim.correct)}</td>"
        f"<td {CELL}>{''.join(markup(text) + '<br>' for text in measured)}{check}{sources}</td></tr>"
    )


def markup(text: Text | str) -> str:
    """Return a text as HTML: h_t and h_{t-1} with subscripts, 2e-15 as a power of ten."""
    html = re.sub(r"_(?:\{(.+?)\}|(\w))", r"<sub>\1\2</sub>", escape(str(text)))
    return re.sub(r"(?<=\d)e([-+])0*(\d+)", lambda e: f"×10<sup>{'−' * (e[1] == '-')}{e[2]}</sup>", html)


def breakable(name: str) -> str:
    """Return a long name as HTML that may go on in the next line behind each of its parts."""
    return re.sub(r"([._])", r"\1<wbr>", escape(name))


def name(check: Callable[[], Result]) -> str:
    """Return the name of a check on a page that imports the claims: claims.recurrence.explosion."""
    return f"{check.__module__.removeprefix('why_attention.')}.{check.__name__}"


def link(source: Source) -> str:
    """Return a source's name, linked, and the place in it."""
    return f'<a href="{source.link}">{escape(source.name)}</a>{escape(place(source))}'


def place(source: Source) -> str:
    """Return what follows the name of a source: the place in it."""
    return f"{Text(zh='，', en=', ')}{source.place}" if str(source.place) else ""
