"""Write what the branch ``notebooks`` holds into a folder: `python tools/branch.py FOLDER`

That is the tree as git knows it, without the workflows, with the frames of all figures, so that who installs the package
from it waits for none, and beside every page its notebook, whose links lead to Colab. On Binder .binder/postBuild derives
the notebooks again, for there they lie beside each other.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import notebooks
from environment import ROOT, refuse, run
from repository import repository

from why_attention.figure_cache import FRAMES
from why_attention.pages.bertviz_scripts import COPIES, SCRIPTS


def main(folder: Path) -> None:
    if not repository():
        refuse(
            "no repository on GitHub is named, so no notebook could install from it: set BOOK_REPOSITORY=owner/name."
        )
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, encoding="utf-8"
    ).stdout
    run(sys.executable, "-m", "why_attention.figures")
    frames = [path.relative_to(ROOT).as_posix() for path in FRAMES.glob("*.frames")]
    for name in [*listed.split("\0"), *frames]:
        if not name or name.startswith(".github/"):  # GitHub lets no workflow push a change of workflows
            continue
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / name)
    copies = folder / COPIES.relative_to(ROOT)
    copies.mkdir()
    for script in SCRIPTS:
        shutil.copy2(script, copies)
    notebooks.main(folder / "book", on_colab=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
