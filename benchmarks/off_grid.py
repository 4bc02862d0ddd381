"""Time of a live kernel for a value between the grid's: `CHROMIUM=… python benchmarks/off_grid.py`

Opens gradient-decay (H = 64, T = 1000) in JupyterLab, types gains off the grid, and prints the median time from the key
to the drawing of each cell. Exits with status 1 if the start state's exceeds 300 ms.
"""

import os
import statistics
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from chromium import ARGUMENTS  # noqa: E402
from live_lab import Lab, live_lab  # noqa: E402

GAINS, LIMIT = 15, 300  # values typed a cell; ms
CELLS = ["RNN", "GRU", "LSTM"]
FIGURE = """
from why_attention.figures import gradient_decay
gradient_decay.figure()
"""
# from the input of a value to the drawing that shows it
ANSWER = """(figure, [cell, value]) => new Promise((resolve) => {
  const box = figure.querySelector("[name=gain]").closest(".control-with-box").querySelector(".box");
  const start = performance.now();
  const observer = new MutationObserver(() => {
    if (!figure.dataset.state.startsWith(`cell=${cell};gain=${value};`)) return;
    observer.disconnect();
    resolve(performance.now() - start);
  });
  observer.observe(figure, { attributeFilter: ["data-state"] });
  box.value = value;
  box.dispatchEvent(new Event("input", { bubbles: true }));
})"""
# wait for the grey lines: the kernel is then idle
SETTLED = "(figure) => figure.drawn.panels[0].series.length === 6"

medians = {}
with TemporaryDirectory() as folder, TemporaryDirectory() as home, sync_playwright() as playwright:
    with live_lab(Path(folder), Path(home)) as address:
        browser = playwright.chromium.launch(executable_path=os.environ["CHROMIUM"], args=ARGUMENTS)
        lab = Lab(browser, address, Path(folder))
        figure = lab.open("bench.ipynb").show(FIGURE)
        for number, cell in enumerate(CELLS):
            figure.locator("[name=cell]").select_option(index=number)
            taken = []
            for i in range(GAINS):
                value = round(0.81 + 0.05 * number + 0.0113 * i, 4)
                taken.append(figure.evaluate(ANSWER, [cell, value]))
                lab.visit.page.wait_for_function(SETTLED, arg=figure.element_handle(), timeout=60_000)
            medians[cell] = statistics.median(taken)
            print(f"{cell:5} {medians[cell]:5.0f} ms (from {min(taken):.0f} to {max(taken):.0f}, {GAINS} values)")
        browser.close()
if medians["RNN"] > LIMIT:
    sys.exit(f"off_grid: {medians['RNN']:.0f} ms is more than {LIMIT}.")
