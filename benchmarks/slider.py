"""Time from a key on a slider to the painted frame: `CHROMIUM=… python benchmarks/slider.py`, after `make site`.

Prints the median, in interleaved rounds, for the figure, for a bare slider in its place on the same page (the theme's
page is slow by itself; the difference is the figure's own cost), and for a bare slider on an empty page; also the time
from navigation to the first drawing. Exits with status 1 if the figure takes more than twice the bare slider of its
page, or the first drawing more than 1.5 s.
"""

import os
import statistics
import sys
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from chromium import ARGUMENTS, served  # noqa: E402

ROOT = Path(__file__).parents[1]
ROUNDS, MOVES = 6, 20
BARE = "<label>n <input type=range min=0 max=40 name=gain></label> <output class=bare></output>"
# from the key to the first task after the frame that shows its effect
WATCH = """(name) => {
  window.times = [];
  const slider = document.querySelector(`input[name="${name}"]`);
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


def moves(page: Page) -> list[float]:
    """Press arrow keys on the slider and return the milliseconds to each frame."""
    slider = page.locator('input[name="gain"]')
    page.evaluate("window.times.length = 0")
    for i in range(MOVES):
        slider.press("ArrowRight" if i % 2 else "ArrowLeft")
        page.wait_for_function(f"window.times.length > {i}")
    return page.evaluate("window.times")


def first_drawing(page: Page, address: str) -> float:
    """Return the milliseconds from navigation to the drawn figure."""
    page.add_init_script(
        """new MutationObserver(() => {
             if (!window.drawn && document.querySelector("[data-drawn]")) window.drawn = performance.now();
           }).observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ["data-drawn"] });"""
    )
    page.goto(address)
    page.wait_for_function("window.drawn")
    return page.evaluate("window.drawn")


with served(ROOT / "_site") as address, sync_playwright() as playwright:
    chromium = playwright.chromium
    browser = chromium.launch(executable_path=os.environ["CHROMIUM"], args=ARGUMENTS)
    page_address = f"{address}/recurrence.html"
    drawn = statistics.median(first_drawing(browser.new_context().new_page(), page_address) for _ in range(5))
    browser.close()

    unthrottled = ["--disable-frame-rate-limit", "--disable-gpu-vsync"]
    browser = chromium.launch(executable_path=os.environ["CHROMIUM"], args=[*ARGUMENTS, *unthrottled])
    pages = {name: browser.new_page() for name in ("figure", "bare", "empty page")}
    first_drawing(pages["figure"], page_address)
    first_drawing(pages["bare"], page_address)
    pages["bare"].evaluate("(bare) => document.querySelector('[data-name=gradient-decay]').outerHTML = bare", BARE)
    pages["empty page"].set_content(f"<!doctype html>{BARE}")
    for page in pages.values():
        page.evaluate(WATCH, "gain")
    rounds: dict[str, list[float]] = {name: [] for name in pages}
    for _ in range(ROUNDS):
        for name, page in pages.items():
            page.bring_to_front()
            rounds[name] += moves(page)
    browser.close()

medians = {name: statistics.median(times) for name, times in rounds.items()}
ratio = medians["figure"] / medians["bare"]
print(f"slider to paint, median of {ROUNDS * MOVES}: " + ", ".join(f"{n} {m:.1f} ms" for n, m in medians.items()))
print(f"ratio to the bare slider of the same page {ratio:.2f} (at most 2)")
print(f"ratio to a bare slider on an empty page {medians['figure'] / medians['empty page']:.2f} (no target)")
print(f"first drawing after navigation, median of 5: {drawn:.0f} ms (at most 1500)")
sys.exit(ratio > 2 or drawn > 1500)
