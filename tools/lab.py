"""Open the book in JupyterLab, in the language of the reader's locale: `python tools/lab.py [jupyter lab's options]`

Figures are computed into the store first; the notebooks are derived from the pages (notebooks.py).
"""

import locale
import os
import subprocess
import sys

import notebooks
from babel import Locale
from editions import EDITIONS, FIRST
from environment import ROOT, VARIABLES

# what an export to HTML shows of an output: the still picture before the live figure, which would need another host
EXPORTED = ["text/html", "text/markdown", "image/svg+xml", "image/png", "image/jpeg", "text/latex", "text/plain"]


def edition() -> str:
    """Return the edition in the language of the reader's locale: English where there is none, the first where it says nothing."""
    spoken = (locale.getlocale()[0] or "C").lower()
    if spoken == "c":
        return FIRST.code
    for edition in EDITIONS.values():
        language = Locale.parse(edition.language)
        if spoken.startswith((language.language, language.get_language_name("en").lower())):  # as Windows says it
            return edition.code
    return "en"


def main(options: list[str]) -> None:
    print("── computing the figures", flush=True)
    if subprocess.run([sys.executable, "-m", "why_attention.figures"], env=VARIABLES).returncode != 0:
        sys.exit("lab: the figures could not be computed; the words above say why.")
    notebooks.main()
    settings = {
        "ServerApp.root_dir": notebooks.NOTEBOOKS,
        "LabApp.app_settings_dir": ROOT / "tools" / "lab",  # saves figures with a notebook; asks no other host
        "LabApp.default_url": f"/lab/tree/{edition()}/index.ipynb",
        "NbConvertBase.display_data_priority": EXPORTED,
    }
    command = [sys.executable, "-m", "jupyterlab", *(f"--{name}={value}" for name, value in settings.items()), *options]
    if os.name == "nt":  # whose exec leaves the terminal to another command
        sys.exit(subprocess.run(command, env=VARIABLES).returncode)
    os.execve(sys.executable, command, VARIABLES)


if __name__ == "__main__":
    locale.setlocale(locale.LC_ALL, "")
    main(sys.argv[1:])
