"""Open the book in JupyterLab, in the language of the reader's locale: `python tools/lab.py [jupyter lab's options]`

Figures are computed into the store first; the notebooks are derived from the pages (notebooks.py).
"""

import locale
import os
import subprocess
import sys
from contextlib import suppress

import notebooks
from babel import Locale
from editions import EDITIONS, FIRST
from environment import ROOT, VARIABLES, say

# what an export to HTML shows of an output: the still picture before the live figure, which would need another host
EXPORTED = ["text/html", "text/markdown", "image/svg+xml", "image/png", "image/jpeg", "text/latex", "text/plain"]


def spoken() -> str:
    """Return the language of the reader's locale, which need not be installed, or nothing where it names none."""
    named = [os.environ.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG")]
    if not any(named):  # as on Windows
        with suppress(locale.Error):
            locale.setlocale(locale.LC_ALL, "")
        named = [locale.getlocale()[0] or ""]
    language = next(filter(None, named), "").partition(".")[0].lower()
    return "" if language in ("c", "posix") else language


def edition(spoken: str) -> str:
    """Return the edition in a reader's language: English where there is none, the first where it says nothing."""
    if not spoken:
        return FIRST.code
    for edition in EDITIONS.values():
        language = Locale.parse(edition.language)
        if spoken.startswith((language.language, language.get_language_name("en").lower())):  # as Windows says it
            return edition.code
    return "en"


def main(options: list[str]) -> None:
    say("computing the figures")
    if subprocess.run([sys.executable, "-m", "why_attention.figures"], env=VARIABLES).returncode != 0:
        sys.exit("lab: the figures could not be computed; the words above say why.")
    notebooks.main()
    settings = {
        "ServerApp.root_dir": notebooks.NOTEBOOKS,
        "LabApp.app_settings_dir": ROOT / "tools" / "lab",  # saves figures with a notebook; asks no other host
        "LabApp.default_url": f"/lab/tree/{edition(spoken())}/index.ipynb",
        "NbConvertBase.display_data_priority": EXPORTED,
    }
    command = [sys.executable, "-m", "jupyterlab", *(f"--{name}={value}" for name, value in settings.items()), *options]
    if os.name == "nt":  # whose exec leaves the terminal to another command
        sys.exit(subprocess.run(command, env=VARIABLES).returncode)
    os.execve(sys.executable, command, VARIABLES)


if __name__ == "__main__":
    main(sys.argv[1:])
