"""Where the book's repository is on GitHub: BOOK_REPOSITORY says so, else git's remote "origin".

Binder and Colab open notebooks of its branch ``notebooks`` (branch.py), and nothing else.
"""

import os
import re
import shutil
import subprocess

from environment import ROOT, refuse

BRANCH = "notebooks"
ADDRESS = re.compile(
    r"(?:(?:\w+://)?(?:[^@/]+@)?github\.com(?::\d+)?[/:])?(?!github\.com/)([\w.-]+)/([\w.-]+?)(?:\.git)?/*"
)


def repository() -> str:
    """Return owner/name, or nothing where no repository on GitHub is named."""
    named = os.environ.get("BOOK_REPOSITORY", "").strip()
    found = ADDRESS.fullmatch(named or origin())
    if named and not found:
        refuse(f"BOOK_REPOSITORY is {named!r}, but must be owner/name or an address on github.com.")
    return f"{found[1]}/{found[2]}" if found else ""


def origin() -> str:
    """Return the address of git's remote "origin" where that is on GitHub, nothing where it is not or there is none."""
    if shutil.which("git") is None:  # the project was downloaded, not cloned
        return ""
    asked = subprocess.run(["git", "remote", "get-url", "origin"], cwd=ROOT, capture_output=True, encoding="utf-8")
    return asked.stdout.strip() if "github.com" in asked.stdout else ""


def colab(repository: str, path: str) -> str:
    """Return the address at which Colab opens a notebook of the branch."""
    return f"https://colab.research.google.com/github/{repository}/blob/{BRANCH}/{path}"


def source(repository: str) -> str:
    """Return what pip installs the package from."""
    return f"why-attention @ git+https://github.com/{repository}@{BRANCH}"
