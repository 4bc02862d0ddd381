"""The colours of every figure, light and dark, to everybody's eyes.

Contrasts are WCAG 2.2's: 4.5 to 1 for text, 3 to 1 for marks. colorspacious simulates the three kinds of colour
blindness, complete, after Machado, Oliveira and Fernandes (2009), and measures how far colours are apart by CAM02-UCS (Luo,
Cui and Li, 2006), where 1 is a difference that can just be seen.
"""

import itertools
import re
from functools import cache

import numpy as np
import pytest
from chromium import Visit, page_of
from colorspacious import cspace_convert, deltaE
from test_every_figure import FIGURES, made

from explorable.look import COLORS, GROUND

TINTS = ("light", "dark")
FAMILIES = ("vermilion", "green", "blue")
BLINDNESSES = (None, "protanomaly", "deuteranomaly", "tritanomaly")
APART = 10  # of families: ten times what can just be seen, for marks are small; Okabe and Ito's own green and blue are at 11.7
LEAST = {"text": 4.5, "mark": 3}


def channels(color):
    """Return red, green and blue from 0 to 1 of #rrggbb."""
    return tuple(int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))


def seen(color, blindness):
    """Return a colour as somebody sees it."""
    if blindness is None:
        return color
    space = {"name": "sRGB1+CVD", "cvd_type": blindness, "severity": 100}
    return np.clip(cspace_convert(color, space, "sRGB1"), 0, 1)


def luminance(color):
    linear = np.where(color <= 0.04045, color / 12.92, ((color + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


@cache
def contrast(color, ground):
    """Return the lowest contrast of two colours in anybody's eyes."""
    color, ground = map(np.array, (color, ground))
    pairs = [sorted(luminance(seen(one, blindness)) for one in (color, ground)) for blindness in BLINDNESSES]
    return min((lighter + 0.05) / (darker + 0.05) for darker, lighter in pairs)


@pytest.mark.parametrize("blindness", BLINDNESSES)
@pytest.mark.parametrize("tint", [*TINTS, "still"])
def test_the_colours_of_the_three_families_are_apart(tint, blindness):
    for one, other in itertools.combinations(
        [seen(np.array(channels(COLORS[name][tint])), blindness) for name in FAMILIES], 2
    ):
        assert deltaE(one, other, input_space="sRGB1") >= APART


@pytest.mark.parametrize("tint", TINTS)
def test_every_colour_stands_out_from_the_ground(tint):
    paper = channels(GROUND["paper"][tint])
    for name in ("ink", "soft"):
        assert contrast(channels(GROUND[name][tint]), paper) >= LEAST["text"]
    for name, tints in COLORS.items():
        assert contrast(channels(tints[tint]), paper) >= LEAST["text" if name in FAMILIES else "mark"], name


# All texts and marks of a figure: [kind, what it is, its colour, what is behind it], each colour as [r, g, b] from 0 to 1
COLOURS = """(tint) => {
  document.documentElement.dataset.theme = tint;
  const figure = document.querySelector("figure.explorable");
  for (const details of figure.querySelectorAll("details")) details.open = !details.matches(".numbers");
  const context = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });
  const channels = (color) => {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = color;
    context.fillRect(0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data].map((channel) => channel / 255);
  };
  const paper = channels(getComputedStyle(figure).getPropertyValue("--paper")).slice(0, 3);
  const over = ([r, g, b, alpha], ground) => [r, g, b].map((channel, i) => alpha * channel + (1 - alpha) * ground[i]);
  const opacityOf = (element) => (!element || element === figure ? 1 : Number(getComputedStyle(element).opacity) * opacityOf(element.parentElement));
  const inked = (element, color, opacity = 1) => {
    const [r, g, b, alpha] = channels(color);
    return [r, g, b, alpha * Number(opacity) * opacityOf(element)];
  };
  // The first ground below a point, which is inside the window.
  const groundAt = (x, y, element) => {
    for (const below of document.elementsFromPoint(x, y)) {
      if (below === element || element.contains(below) || below.tagName === "text" || below.tagName === "tspan") continue;
      if (below.tagName === "CANVAS") {
        const box = below.getBoundingClientRect();
        const [column, row] = [((x - box.left) / box.width) * below.width, ((y - box.top) / box.height) * below.height].map(Math.floor);
        const [r, g, b, alpha] = [...below.getContext("2d").getImageData(column, row, 1, 1).data].map((channel) => channel / 255);
        if (alpha) return over([r, g, b, alpha], paper);
        continue;
      }
      const style = getComputedStyle(below);
      const color = below instanceof SVGGeometryElement ? style.fill : style.backgroundColor;
      if (color === "none" || below.closest(".grid")) continue;
      const ground = inked(below, color, below instanceof SVGGeometryElement ? style.fillOpacity : 1);
      if (ground[3] > 0.05) return over(ground, paper);
    }
    return paper;
  };
  const shown = (element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  const found = [];
  const walker = document.createTreeWalker(figure, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode, element = text.parentElement;
    if (!text.data.trim() || element.closest("script, option, .room, button:disabled") || !shown(element)) continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    const box = range.getClientRects()[0];
    if (!box?.width) continue;
    const style = getComputedStyle(element);
    const halo = element.closest("svg") && style.paintOrder.startsWith("stroke") && style.stroke !== "none";
    const ground = halo ? channels(style.stroke).slice(0, 3) : groundAt(box.left + box.width / 2, box.top + box.height / 2, element);
    found.push(["text", text.data.trim().slice(0, 40), over(inked(element, element.closest("svg") ? style.fill : style.color, style.fillOpacity), ground), ground]);
  }
  for (const mark of figure.querySelectorAll(".stage :is(path, circle, rect, line, polygon, polyline, ellipse)")) {
    const style = getComputedStyle(mark), box = mark.getBoundingClientRect();
    // A grid, a scale, the glow around a mark, an arc as dark as its weight, and beside what is lit the rest: faint on purpose.
    if (mark.closest(".grid, .color-bar, .none, .glow, .arc, .tracing .edge:not(.traced), defs") || !shown(mark) || !(box.width || box.height)) continue;
    const fill = style.fill !== "none" && inked(mark, style.fill, style.fillOpacity);
    const stroke = style.stroke !== "none" && parseFloat(style.strokeWidth) > 0 && inked(mark, style.stroke, style.strokeOpacity);
    const inks = [fill, stroke].filter((ink) => ink && ink[3] > 0).map((ink) => over(ink, paper));
    if (inks.length) found.push(["mark", `${mark.tagName} ${mark.getAttribute("class")} in ${mark.parentElement.getAttribute("class")}`, inks, paper]);
  }
  return found;
}"""


@pytest.fixture(scope="module")
def visit(browser):
    visit = Visit(browser, viewport={"width": 1280, "height": 2400}, reduced_motion="reduce")  # all of a figure
    yield visit
    visit.close()


@pytest.mark.slow
@pytest.mark.parametrize("name", FIGURES)
def test_every_text_and_every_mark_stands_out(visit, name, tmp_path):
    (tmp_path / "page.html").write_text(page_of([made(name, "en")], "en"), encoding="utf-8")
    page = visit.open((tmp_path / "page.html").as_uri())
    faint = {}
    for tint in TINTS:
        page.emulate_media(color_scheme=tint)
        for kind, what, inks, ground in page.evaluate(COLOURS, tint):
            inks = inks if kind == "mark" else [inks]  # a mark has a fill and an outline: one of both shows it
            best = max(contrast(tuple(ink), tuple(ground)) for ink in inks)
            if best < LEAST[kind]:
                faint[f"{kind}, {tint}: {re.sub(' +', ' ', what)}"] = round(best, 2)
    assert not faint
