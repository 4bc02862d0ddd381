"""Find a Chromium for the tests, or install one, and print its path.

$CHROMIUM, then a Chromium or Chrome on PATH, then Debian's package where we are root, then Playwright's own download.
Best is the headless shell: a whole Chromium makes a window for every visit, which takes as long as a page of the book.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

DEBIAN = ("chromium-headless-shell", "chromium")
NAMES = (*DEBIAN, "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def on_path() -> str | None:
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def quietly(*command: str) -> bool:
    """Run a command with its words on stderr, for stdout is ours. Returns whether it succeeded."""
    return subprocess.run(command, stdout=sys.stderr).returncode == 0


def from_debian() -> str | None:
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return None
    print("── installing Chromium with apt", file=sys.stderr, flush=True)
    if quietly("apt-get", "update", "-qq") and any(quietly("apt-get", "install", "-y", "-qq", name) for name in DEBIAN):
        return on_path()
    return None


def from_playwright() -> str | None:
    print("── installing Chromium with playwright", file=sys.stderr, flush=True)
    if not quietly(sys.executable, "-m", "playwright", "install", "chromium"):
        return None
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def main() -> None:
    named = os.environ.get("CHROMIUM")
    if named and not shutil.which(named):
        sys.exit(f"test: $CHROMIUM names {named}, which is no program.")
    found = named or on_path() or from_debian() or from_playwright()
    if not found:
        sys.exit("test: no browser was found and none could be installed; name one in $CHROMIUM.")
    print(found)


if __name__ == "__main__":
    main()
