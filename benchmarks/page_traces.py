"""What a page takes for the book's traced functions: `CHROMIUM=… python benchmarks/page_traces.py`.

Prints the size of the interpreter and, for each traced function at its largest setting, the size of its trace, the
milliseconds in Chromium and in torch eager, of the same run, and their ratio; then, on the site, the milliseconds from a
value typed to its drawing: the first answer, which fetches and starts everything, and later ones. Exits with status 1 where
the interpreter has more than 6 kB gzipped, or the first answer takes more than 150 ms.
"""

import gzip
import os
import statistics
import sys
import time
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from chromium import ARGUMENTS, served  # noqa: E402
from test_traced_figures import FUNCTIONS  # noqa: E402
from traced_run import program  # noqa: E402

from traced import SCRIPT, Choices, Traced  # noqa: E402

KILOBYTES, FIRST = 6, 150  # of the interpreter, gzipped; milliseconds
ROUNDS = 20
PAGE, FIGURE, SLIDER, VALUES = "en/attention.html", "attention-map", "scale", [3.3, 0.87, 5.5, 7.1, 12.5, 20.25]
TIMED = """async ([source, given, rounds]) => {
  const compute = await (0, eval)(`(async () => { ${source}
    return traced(Uint8Array.from(atob(JOBS[0][0]), (letter) => letter.charCodeAt(0))); })()`);
  const times = [];
  for (let i = 0; i < rounds; i++) {
    const start = performance.now();
    compute(given);
    times.push(performance.now() - start);
  }
  return times;
}"""
ANSWERED = """([figure, value]) => new Promise((done) => {
  const root = document.querySelector(`figure[data-name=${figure}]`);
  const box = root.querySelector(".control-with-box input.box:not([hidden])[aria-label*=factor]");
  const start = performance.now();
  new MutationObserver((_, observer) => {
    if (!root.dataset.state.includes(`=${value}`)) return;
    observer.disconnect();
    requestAnimationFrame(() => done(performance.now() - start));
  }).observe(root, { attributes: true, attributeFilter: ["data-state"] });
  box.value = value;
  box.dispatchEvent(new Event("input", { bubbles: true }));
})"""


def largest(one: Traced) -> dict:
    """Return the largest numbers and lengths of a function's ranges, and the last of its choices."""
    ends = [e.values[-1] if isinstance(e, Choices) else e.high for e in one.examples]
    return dict(zip(one.parameters, ends))


def in_torch(one: Traced, given: dict) -> float:
    """Return the median milliseconds in torch eager."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        one(**given)
        times.append(1000 * (time.perf_counter() - start))
    return statistics.median(times)


def in_page(page: Page, one: Traced, given: dict) -> float:
    """Return the median milliseconds in Chromium."""
    return statistics.median(page.evaluate(TIMED, [program([(one, [])]), given, ROUNDS]))


failed = (size := len(gzip.compress(SCRIPT.encode(), 9))) > 1000 * KILOBYTES
print(f"interpreter: {size} bytes gzipped (at most {1000 * KILOBYTES})")
print("function                    trace gzipped      page     torch   ratio")
with served(ROOT / "_site") as site, sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path=os.environ["CHROMIUM"], args=ARGUMENTS)
    page = browser.new_page()
    page.goto("about:blank")
    for name, one in FUNCTIONS.items():
        given = largest(one)
        own, eager = in_page(page, one, given), in_torch(one, given)
        print(f"{name:26} {len(one.to_bytes()):8} bytes {own:6.1f} ms {eager:6.1f} ms {own / eager:7.2f}")
    page.goto(f"{site}/{PAGE}")
    page.wait_for_selector(f"figure[data-name={FIGURE}][data-drawn]")
    first, *later = (page.evaluate(ANSWERED, [FIGURE, value]) for value in VALUES)
    print(f"{FIGURE}, a value typed: first {first:.0f} ms (at most {FIRST}), later {statistics.median(later):.0f} ms")
    browser.close()
sys.exit(failed or first > FIRST)
