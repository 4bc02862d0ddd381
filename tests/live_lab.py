"""What the tests in JupyterLab share: a server of its own, its page in Chromium, notebooks whose cells can be run."""

import ast
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat
from chromium import Visit
from playwright.sync_api import Browser, Locator

ROOT = Path(__file__).parents[1]
TOKEN = "only-for-tests"
FOLDERS = ("CONFIG_DIR", "DATA_DIR", "RUNTIME_DIR"), ("WORKSPACES_DIR", "SETTINGS_DIR")  # of Jupyter, of JupyterLab
PATIENCE = 120  # seconds, for a machine that has other things to do
ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+(?=/)")


@contextmanager
def live_lab(browser: Browser, temporary) -> Iterator["Lab"]:
    """Open a new folder in a JupyterLab with the settings of `make lab`, which shares nothing with the user's own."""
    folder, home = temporary.mktemp("notebooks"), temporary.mktemp("jupyter")
    variables = dict(os.environ)
    for prefix, names in zip(("JUPYTER_", "JUPYTERLAB_"), FOLDERS):
        variables |= {prefix + name: str(home / name.lower()) for name in names}
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
    command += ["--LabApp.expose_app_in_browser=True", "--ServerApp.ip=127.0.0.1", "--ServerApp.port=0"]
    command += [f"--IdentityProvider.token={TOKEN}", f"--ServerApp.root_dir={folder}"]
    command += [f"--LabApp.app_settings_dir={ROOT / 'tools' / 'lab'}"]
    log = home / "server.log"
    with log.open("w", encoding="utf-8") as output:
        server = subprocess.Popen(command, cwd=folder, env=variables, stdout=output, stderr=subprocess.STDOUT)
    try:
        lab = Lab(browser, address_in(log, server), folder)
        yield lab
        lab.visit.context.close()
    finally:
        server.terminate()
        try:
            server.wait(timeout=20)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def address_in(log: Path, server: subprocess.Popen) -> str:
    """Wait until the server has written its address."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and server.poll() is None:
        if found := ADDRESS.search(log.read_text(encoding="utf-8")):
            return found[0]
        time.sleep(0.1)
    raise RuntimeError(f"JupyterLab did not start; it said:\n{log.read_text(encoding='utf-8')}")


class Notebook:
    """A notebook that is open in JupyterLab; of its methods those that press keys or run cells need it in front."""

    def __init__(self, lab: "Lab", name: str):
        self.lab, self.page, self.name = lab, lab.visit.page, name
        self.path = lab.folder / name
        self.panel: Locator = self.page.locator(f"#{self.js('panel.id')}")

    def js(self, expression: str, argument=None):
        """Evaluate JavaScript in which ``panel`` is this notebook and ``kernel`` its kernel; awaits a promise."""
        return self.page.evaluate(
            f"""async ([name, argument]) => {{
                const panel = [...jupyterapp.shell.widgets('main')].find((one) => one.context?.path === name);
                const kernel = panel.sessionContext?.session?.kernel;
                return {expression};
            }}""",
            [self.name, argument],
        )

    def run(self, source: str, cell: int = 0, wait: bool = True) -> None:
        """Give a cell this source and run it, to its end unless ``wait`` is False."""
        failures = self.js(
            """(async ([source, cell, wait]) => {
                jupyterapp.shell.activateById(panel.id);
                panel.content.activeCellIndex = cell;
                const { model } = panel.content.activeCell;
                model.sharedModel.setSource(source);
                const running = jupyterapp.commands.execute('notebook:run-cell');
                if (!wait) return [];
                await running;
                return model.outputs.toJSON().filter((output) => output.output_type === 'error').map(({ evalue }) => evalue);
            })(argument)""",
            [source, cell, wait],
        )
        assert failures == [], source

    def python(self, expression: str):
        """Return what a Python expression gives in the kernel."""
        reply = self.js(
            """(async () => {
                const request = { code: '', store_history: false, user_expressions: { value: argument } };
                const { content } = await kernel.requestExecute(request).done;
                return content.user_expressions.value;
            })()""",
            expression,
        )
        assert reply["status"] == "ok", reply
        return ast.literal_eval(reply["data"]["text/plain"])

    def show(self, source: str) -> Locator:
        """Run a cell that ends with a figure; return the figure when its kernel has answered."""
        self.run(source)
        figure = self.panel.locator("figure.explorable")
        self.panel.locator("figure.explorable[data-kernel=alive]").wait_for()
        return figure

    def save(self) -> None:
        self.js("panel.context.save()")

    def close(self) -> None:
        """Close the notebook and end its kernel."""
        self.js("panel.sessionContext.shutdown()")
        self.js("panel.dispose()")


class Lab:
    """JupyterLab in Chromium over a folder of notebooks."""

    def __init__(self, browser: Browser, address: str, folder: Path):
        self.address, self.folder = address, folder
        self.visit = Visit(browser, viewport={"width": 1280, "height": 1400})
        self.complaints: list[str] = []  # JupyterLab has some of its own, so only those of a widget's script, a blob
        self.visit.page.on("pageerror", lambda error: self.hear(str(error), error.stack or ""))
        self.visit.page.on("console", lambda message: self.hear(message.text, message.location["url"], message.type))
        self.visit.page.goto(f"{address}/lab?token={TOKEN}", timeout=1000 * PATIENCE)
        self.visit.page.wait_for_function("globalThis.jupyterapp", timeout=1000 * PATIENCE)
        self.visit.page.evaluate("jupyterapp.restored.then(() => {})")

    def hear(self, text: str, where: str, kind: str = "error") -> None:
        if kind in ("error", "warning") and "blob:" in text + where:
            self.complaints.append(text)

    def open(self, name: str, *cells: nbformat.NotebookNode) -> Notebook:
        """Open a notebook with its kernel, made of these cells or two empty ones where the folder has none of that name."""
        if not (self.folder / name).exists():
            metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
            cells = cells or [nbformat.v4.new_code_cell() for _ in range(2)]
            nbformat.write(nbformat.v4.new_notebook(cells=list(cells), metadata=metadata), self.folder / name)
        self.visit.page.evaluate(
            """async (path) => {
                const panel = await jupyterapp.commands.execute('docmanager:open', { path, factory: 'Notebook' });
                await panel.context.ready;
                await panel.sessionContext.ready;
            }""",
            name,
        )
        return Notebook(self, name)
