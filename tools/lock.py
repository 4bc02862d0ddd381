"""Lock what the book is built and tested with: `make lock`, after a change of requirements.txt or pyproject.toml.

requirements.lock holds every package that those of requirements.txt and pyproject.toml bring, for every Python from
3.10 on and every system, each with the hashes of its files; requirements-test.lock holds what the extra "test" adds.
A torch differs from machine to machine, with CUDA or without: it and what it brings for a GPU are in neither,
and requirements.txt pins its version alone.
"""

import os
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from environment import LOCKS, ROOT
from set_up import OLDEST

OF_TORCH = re.compile(r"torch|triton|cuda-.*|nvidia-.*")
ENTRY = re.compile(r"^([\w.-]+)==.*(?:\n[ #].*)*\n", re.MULTILINE)  # a package, its hashes, and what asks for it


def compiled(uv: Path, *options: str | Path) -> dict[str, str]:
    """Return what uv resolves requirements.txt and pyproject.toml to: the entries of every package."""
    text = subprocess.run(
        [uv, "pip", "compile", "requirements.txt", "pyproject.toml", *options]
        + ["--universal", "--python-version", ".".join(map(str, OLDEST))]
        + ["--generate-hashes", "--no-header", "--annotation-style", "line", "--quiet"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        check=True,
    ).stdout
    entries: dict[str, str] = {}
    for entry in ENTRY.finditer(text):  # a package has several where Pythons or systems take different versions
        if not OF_TORCH.fullmatch(name := entry[1]):
            entries[name] = entries.get(name, "") + entry[0]
    return entries


def asked(entry: str) -> str:
    """Return an entry without the names of the packages that ask for it."""
    return re.sub(r"\n *# via .*", "", entry)


def main() -> None:
    with TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--target", folder, "uv"], check=True)
        uv = Path(folder, "bin", "uv.exe" if os.name == "nt" else "uv")
        book, test = LOCKS
        locked = compiled(uv)
        book.write_text("# Written by `make lock`\n" + "".join(locked.values()), encoding="utf-8")
        added = compiled(uv, "--extra", "test", "--constraint", book)
        added = [entry for name, entry in added.items() if asked(entry) != asked(locked.get(name, ""))]
        test.write_text("# Written by `make lock`\n" + "".join(added), encoding="utf-8")


if __name__ == "__main__":
    main()
