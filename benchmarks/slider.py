"""How a slider feels, in every figure of the site: `CHROMIUM=… python benchmarks/slider.py`, after `make site`.

Prints for each figure the median time from a key on its first slider to the painted frame, in interleaved rounds beside a
bare slider in its place on the same page, on a display of 60 frames a second, as a reader has it; then the shortest of
both where no frame waits for a display, which is the work alone (the theme's page is slow by itself); and the frames a
second while the slider's thumb is dragged from end to end. Then the time from navigation to the first drawing. Exits
with status 1 where a figure takes more than 1.5 times the bare slider of its page, draws fewer than 55 frames a second, or
stands after more than 1.5 s.
"""

import os
import random
import re
import statistics
import sys
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from chromium import ARGUMENTS, served  # noqa: E402

ROOT = Path(__file__).parents[1]
ROUNDS, MOVES = 4, 20
FRAME, PHASE = 1000 / 60, random.Random(0)  # milliseconds
SECONDS = 1.5  # of a drag
SLOWEST, FEWEST, LATEST = 1.5, 55, 1500  # ratio to a bare slider, frames a second, milliseconds
BARE = "<label>n <input type=range min=0 max=40></label> <output class=bare></output>"
# from the key to the first task after the frame that shows its effect
WATCH = """(slider) => {
  window.times = [];
  slider.addEventListener("input", (event) => {
    const output = document.querySelector("output.bare");
    if (output) output.textContent = slider.value;
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => window.times.push(performance.now() - event.timeStamp);
      port2.postMessage(0);
    });
  });
}"""
FRAMES = """() => {
  window.frames_ = [];
  const note = (now) => window.frames_.push(now) && requestAnimationFrame(note);
  requestAnimationFrame(note);
}"""
FIRST = """new MutationObserver(() => {
  if (!window.drawn && document.querySelector("[data-drawn]")) window.drawn = performance.now();
}).observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ["data-drawn"] });"""


def figures_of_the_site() -> dict[str, str]:
    """Return the page that first shows each figure."""
    pages: dict[str, str] = {}
    for path in sorted((ROOT / "_site").glob("*.html")):
        for name in re.findall(r'<figure class="explorable" data-name="([^"]*)"', path.read_text(encoding="utf-8")):
            pages.setdefault(name, path.name)
    return pages


def opened(browser: Browser, address: str) -> Page:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(address)
    page.wait_for_function(
        "[...document.querySelectorAll('figure.explorable')].every((figure) => figure.dataset.drawn)"
    )
    return page


def slider_of(page: Page, figure: str):
    return page.locator(f"{figure} input[type=range]:visible").first


def times(page: Page, figure: str) -> list[float]:
    """Press arrow keys on the slider and return the milliseconds to each frame."""
    slider = slider_of(page, figure)
    page.evaluate("window.times.length = 0")
    forward = slider.evaluate("(input) => input.value === input.min")
    for i in range(MOVES):
        page.wait_for_timeout(PHASE.uniform(0, FRAME))  # a reader's key knows nothing of the display
        slider.press("ArrowRight" if bool(i % 2) != forward else "ArrowLeft")
        page.wait_for_function(f"window.times.length > {i}")
    return page.evaluate("window.times")


def slider_to_paint(browser: Browser, address: str, figure: str) -> tuple[list[float], list[float]]:
    """Return the milliseconds of a figure's slider and of a bare one in its place."""
    pages = {figure: opened(browser, address), "#bare": opened(browser, address)}
    pages["#bare"].evaluate(
        "([figure, bare]) => (document.querySelector(figure).outerHTML = `<div id=bare>${bare}</div>`)", [figure, BARE]
    )
    rounds: dict[str, list[float]] = {where: [] for where in pages}
    for where, page in pages.items():
        slider_of(page, where).scroll_into_view_if_needed()
        slider_of(page, where).evaluate(WATCH)
    for _ in range(ROUNDS):
        for where, page in pages.items():
            page.bring_to_front()
            rounds[where] += times(page, where)
    for page in pages.values():
        page.close()
    return rounds[figure], rounds["#bare"]


def frames_a_second(browser: Browser, address: str, figure: str) -> float:
    """Drag a slider's thumb over its whole way, there and back, and return how often the page was drawn meanwhile."""
    page = opened(browser, address)
    slider = slider_of(page, figure)
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    left, width, y = box["x"] + 8, box["width"] - 16, box["y"] + box["height"] / 2
    share = slider.evaluate("(input) => (input.value - input.min) / (input.max - input.min)")
    page.mouse.move(left + share * width, y)
    page.mouse.down()
    page.evaluate(FRAMES)
    while (passed := page.evaluate("performance.now() - (window.frames_[0] ?? performance.now())") / 1000) < SECONDS:
        page.mouse.move(left + width * abs(1 - 2 * passed / SECONDS), y)
    page.mouse.up()
    at = page.evaluate("window.frames_")
    page.close()
    return 1000 * (len(at) - 1) / (at[-1] - at[0])


def first_drawing(browser: Browser, address: str) -> float:
    """Return the milliseconds from navigation to the first drawn figure."""
    context = browser.new_context()
    page = context.new_page()
    page.add_init_script(FIRST)
    page.goto(address)
    page.wait_for_function("window.drawn")
    drawn = page.evaluate("window.drawn")
    context.close()
    return drawn


failed = False
with served(ROOT / "_site") as site, sync_playwright() as playwright:

    def launched(*options: str) -> Browser:
        return playwright.chromium.launch(executable_path=os.environ["CHROMIUM"], args=[*ARGUMENTS, *options])

    usual, unthrottled = launched(), launched("--disable-frame-rate-limit", "--disable-gpu-vsync")
    print(
        "figure             slider to paint    bare  ratio (at most 1.5)   the work alone   frames a second (at least 55)"
    )
    for name, file in figures_of_the_site().items():
        address, figure = f"{site}/{file}", f"figure[data-name={name}]"
        page = opened(usual, address)
        has_slider = page.locator(f"{figure} input[type=range]:visible").count() > 0
        page.close()
        if not has_slider:
            print(f"{name:18} has no slider in sight")
            continue
        own, bare = map(statistics.median, slider_to_paint(usual, address, figure))
        work, least = map(min, slider_to_paint(unthrottled, address, figure))
        frames = frames_a_second(usual, address, figure)
        print(
            f"{name:18} {own:12.1f} ms {bare:4.1f} ms {own / bare:20.2f} {work:6.1f} / {least:.1f} ms {frames:31.0f}",
            flush=True,
        )
        failed |= own > SLOWEST * bare or frames < FEWEST
    drawn = statistics.median(first_drawing(usual, f"{site}/recurrence.html") for _ in range(5))
    print(f"first drawing after navigation, median of 5: {drawn:.0f} ms (at most {LATEST})")
    usual.close()
    unthrottled.close()
sys.exit(failed or drawn > LATEST)
