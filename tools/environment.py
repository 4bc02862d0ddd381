"""What set_up.py sets up, .venv and node_modules, from nothing but Python's standard library; where things are, and how tools speak.

Nothing is done where the last set-up had the same requirements.
"""

import hashlib
import io
import os
import subprocess
import sys
from pathlib import Path

# what a terminal cannot show becomes a "?", in what we print and in what the programs print that we start
if isinstance(sys.stdout, io.TextIOWrapper):
    sys.stdout.reconfigure(errors="replace")
os.environ["PYTHONIOENCODING"] = os.environ.get("PYTHONIOENCODING", "").partition(":")[0] + ":replace"

ROOT = Path(__file__).parents[1]
VENV = ROOT / ".venv"
SCRIPTS = VENV / ("Scripts" if os.name == "nt" else "bin")  # Windows has a name of its own
PYTHON = SCRIPTS / ("python.exe" if os.name == "nt" else "python")
VARIABLES = {  # where figures are computed, at build and in a reader's kernel
    **os.environ,
    "OMP_NUM_THREADS": "1",  # for matrices as small as the chapter's a second thread only waits
}
LOCKS = ROOT / "requirements.lock", ROOT / "requirements-test.lock"  # of every reader; of who tests


def refuse(sentence: str) -> None:
    sys.exit(f"make: {sentence}")


def has_pip() -> bool:
    """Return whether .venv is of this Python, and whole: a set-up that was interrupted may have left it without pip."""
    program = "import pip, sys; print(sys.version_info[:2])"
    found = subprocess.run([PYTHON, "-c", program], capture_output=True, encoding="utf-8") if PYTHON.exists() else None
    return found is not None and found.stdout.strip() == str(sys.version_info[:2])


def say(step: str) -> None:
    print(f"── {step}", flush=True)


def run(*command: str | Path) -> None:
    if (status := subprocess.run([str(part) for part in command], cwd=ROOT).returncode) != 0:
        refuse(f"`{' '.join(str(part) for part in command)}` failed with status {status}; its own words stand above.")


def main(test: bool) -> None:
    locks = [lock for lock in (LOCKS if test else LOCKS[:1]) if lock.exists()]  # without them: the newest that fits
    inputs = [*LOCKS, *(ROOT / name for name in ("requirements.txt", "pyproject.toml", "package-lock.json")), __file__]
    texts = [path.read_bytes() for path in map(Path, inputs) if path.exists()]
    wanted = hashlib.sha256(sys.version.encode() + b"".join(texts)).hexdigest()
    done = VENV / (".done-test" if test else ".done")
    enough = {done, VENV / ".done-test"}  # who can test has all that a reader needs
    if (ROOT / "node_modules").exists() and wanted in {mark.read_text("utf-8") for mark in enough if mark.exists()}:
        return
    if not has_pip():
        say("making .venv")
        run(sys.executable, "-m", "venv", "--clear", VENV)
    pip = (PYTHON, "-m", "pip", "install", "--disable-pip-version-check")
    if locks:
        say("installing the packages of requirements.lock (some minutes the first time)")
        run(*pip, "--require-hashes", "--no-deps", *(part for lock in locks for part in ("-r", lock.name)))
    say("installing what requirements.txt adds: PyTorch as this machine needs it, and the book's own package")
    run(*pip, "-r", "requirements.txt", "-e", ".[test]" if test else ".")
    say("installing the site's front-end files")
    run(
        SCRIPTS / ("npm.cmd" if os.name == "nt" else "npm"),
        "ci",
        "--no-audit",
        "--no-fund",
        *([] if test else ["--omit=dev"]),
    )
    done.write_text(wanted, encoding="utf-8")
