"""What the tests of the routes share: the tree of the branch of notebooks, the wheel of it, and fresh environments."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
RUN = """
import json, re, sys
import nbclient, nbformat
path = sys.argv[1]
notebook = nbformat.read(path, as_version=4)
client = nbclient.NotebookClient(notebook, timeout=900, kernel_name="python3", resources={"metadata": {"path": sys.argv[2]}})
with client.setup_kernel():
    for number, cell in enumerate(notebook.cells):
        client.execute_cell(cell, number)
    status = open(f"/proc/{client.km.provisioner.pid}/status", encoding="utf-8").read()
peak = int(re.search(r"VmHWM:\\s+(\\d+) kB", status)[1]) / 1e6
nbformat.write(notebook, path)
print(json.dumps({"peak": peak}))
"""
PINS = [line.split("#")[0].strip() for line in (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()]


def run(*command, **options) -> str:
    """Run a command and return what it wrote; where it fails, the test fails with its words."""
    done = subprocess.run(
        [str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", **options
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-4000:]}"
    return done.stdout


def pinned(*names: str) -> list[str]:
    """Return packages in the versions of requirements.txt, so that this machine takes the torch that it has."""
    return [next(pin for pin in PINS if pin.startswith(f"{name}==")) for name in names]


def new_environment(folder: Path, *packages: str) -> Path:
    """Make a venv with packages and return its Python."""
    run(sys.executable, "-m", "venv", folder)
    python = folder / "bin" / "python"
    if packages:
        run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages)
    return python


def new_branch(folder: Path) -> Path:
    """Write the branch of notebooks into a folder."""
    run(
        *(sys.executable, ROOT / "tools" / "branch.py", folder),
        env={**os.environ, "BOOK_REPOSITORY": "someone/book"},
    )
    return folder


def new_wheel(branch: Path) -> Path:
    """Build the package's wheel from a copy of the branch, as pip does from git, and return it."""
    copy = branch.with_name("source")
    shutil.copytree(branch, copy)
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", copy / "dist", copy)
    (wheel,) = (copy / "dist").glob("*.whl")
    return wheel


def run_notebook(python: Path, notebook: Path, folder: Path, variables: dict[str, str]) -> float:
    """Run a notebook from top to bottom in a fresh kernel, write it with its outputs, and return the kernel's peak in GB."""
    done = subprocess.run(
        [python, "-c", RUN, notebook, folder], env=variables, capture_output=True, encoding="utf-8", cwd=folder
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout.splitlines()[-1])["peak"]
