"""How long a figure takes to move: `CHROMIUM=… python benchmarks/slider.py`, after `make site`.

Prints the median time from a key on a slider to the painted frame, for the figure and for a bare slider on an empty
page, in interleaved rounds of one run, and the time from navigation to the first drawing. Ends with status 1 where the
ratio is above 2 or the first drawing later than 1.5 s.
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
BARE = "<!doctype html><label>n <input type=range min=0 max=40 name=gain></label> <output></output>"
# from the key to the first task after the frame that shows its effect
WATCH = """(name) => {
  window.times = [];
  const slider = document.querySelector(`input[name="${name}"]`);
  slider.addEventListener("input", (event) => {
    const output = document.querySelector("body > output");
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
    unthrottled = ["--disable-frame-rate-limit", "--disable-gpu-vsync"]
    browser = playwright.chromium.launch(executable_path=os.environ["CHROMIUM"], args=[*ARGUMENTS, *unthrottled])
    bare, figure = browser.new_page(), browser.new_page()
    bare.set_content(BARE)
    drawn = first_drawing(figure, f"{address}/recurrence.html")
    for page in (bare, figure):
        page.evaluate(WATCH, "gain")
    rounds: dict[str, list[float]] = {"bare": [], "figure": []}
    for _ in range(ROUNDS):
        for name, page in (("bare", bare), ("figure", figure)):
            page.bring_to_front()
            rounds[name] += moves(page)
    browser.close()

medians = {name: statistics.median(times) for name, times in rounds.items()}
ratio = medians["figure"] / medians["bare"]
print(f"slider to paint, median of {ROUNDS * MOVES}: bare {medians['bare']:.1f} ms, figure {medians['figure']:.1f} ms")
print(f"ratio {ratio:.2f} (at most 2)")
print(f"first drawing after navigation: {drawn:.0f} ms (at most 1500)")
sys.exit(ratio > 2 or drawn > 1500)
