"""What the site is made of, and whether what was built is of it."""

import hashlib
import re
import sys
from importlib.metadata import distributions
from pathlib import Path

import yaml
from editions import EDITIONS, Edition
from environment import ROOT
from settings import contents, settings

ROOTS = [ROOT / name for name in ("_config.yml", "_toc.yml", "package-lock.json", "book", "src", "tools")]
MARK = ROOT / "_site" / ".sources"  # what the site was built from
DERIVED = re.compile(r"(^|/)\.|\.egg-info/|\.(pyc|mo|frames|ipynb)$")  # and what is hidden, as editors and Jupyter do


def source_files() -> list[Path]:
    """Return the files that the book is made of."""
    paths = [path for root in ROOTS for path in (root.rglob("*") if root.is_dir() else [root])]
    return sorted(path for path in paths if path.is_file() and not DERIVED.search(path.relative_to(ROOT).as_posix()))


def editions_of(path: Path) -> list[Edition]:
    """Return the editions that a file belongs to: a page belongs to its own, all else to all."""
    own = [one for one in EDITIONS.values() if path.is_relative_to(ROOT / "book" / one.code)]
    return own or list(EDITIONS.values())


def digest_sources() -> dict[str, str]:
    """Return a digest of what each edition is made of: files, settings, Python and what is installed."""
    installed = sorted({(one.name, one.version) for one in distributions()})
    texts = {path.relative_to(ROOT).as_posix(): path.read_bytes() for path in source_files()}
    digests = {}
    for code, edition in EDITIONS.items():
        digest = hashlib.sha256(repr((sys.version, installed)).encode())
        digest.update(yaml.safe_dump([settings(edition), contents()]).encode())
        for name, text in texts.items():
            if edition in editions_of(ROOT / name):
                digest.update(f"\0{name}\0".encode() + text)
        digests[code] = digest.hexdigest()
    return digests


def is_current(digests: dict[str, str]) -> bool:
    """Return whether the site that stands was built from sources with these digests."""
    return MARK.exists() and MARK.read_text(encoding="utf-8").split() == list(digests.values())
