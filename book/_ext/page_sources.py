"""Cells run again only where what they are made of has changed: code, a module of src/ that they use, or what is installed.

MyST-NB keeps the outputs of a page by its cells and its kernel; beside the kernel we name a digest of all the rest.
"""

import ast
import hashlib
import re
import sys
from functools import cache
from importlib.metadata import distributions
from pathlib import Path

from sphinx.application import Sphinx

from explorable import Cache

ROOT = Path(__file__).parents[2]
PACKAGES = [ROOT / "src" / "why_attention", ROOT / "src" / "explorable"]
DATA = (".html", ".json", ".npz", ".safetensors")  # whose readers nobody traces: a change counts for every page
MAGIC = re.compile(r"^(\s*)[%!].*", re.MULTILINE)  # a line that IPython reads and Python does not
CELL = re.compile(r"^```\{code-cell\}[^\n]*\n(?:^:[^\n]*\n)*(.*?)^```", re.MULTILINE | re.DOTALL)


@cache
def digest_surroundings() -> str:
    """Return a digest of what counts for every page: data files, Python, and what is installed."""
    digest = hashlib.sha256(sys.version.encode())
    for name, version in sorted({(one.name, one.version) for one in distributions()}):
        digest.update(f"{name} {version}\n".encode())
    files = {path for package in PACKAGES for path in package.rglob("*") if path.suffix in DATA}
    for path in sorted([*files, ROOT / "package-lock.json"]):
        digest.update(path.relative_to(ROOT).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()


@cache
def digest_module(name: str) -> str:
    """Return a digest of what a module is made of, or nothing if it is none of src/."""
    try:
        return Cache(None, name, PACKAGES).digest()
    except ValueError:
        return ""


def imported(code: str) -> set[str]:
    """Return what code imports: modules, or what is in them."""
    try:
        nodes = list(ast.walk(ast.parse(MAGIC.sub(r"\1pass", code))))
    except SyntaxError:  # as its run will say
        return set()
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def digest_sources(page: str) -> str:
    """Return a digest of all that the cells of a page are made of, beside themselves."""
    names = set().union(*map(imported, CELL.findall(page)))
    return hashlib.sha256("".join([digest_surroundings(), *map(digest_module, sorted(names))]).encode()).hexdigest()


def find_outdated(app: Sphinx, env, added, changed, removed) -> list[str]:
    """Return the pages with a module that has changed, of which Sphinx does not know."""
    sources = {page: digest_sources(Path(env.doc2path(page)).read_text(encoding="utf-8")) for page in env.found_docs}
    outdated = [page for page, digest in sources.items() if getattr(env, "sources", {}).get(page) != digest]
    env.sources = sources
    return outdated


def name_sources(app: Sphinx, page: str, source: list[str]) -> None:
    """Write the digest beside the kernel, by which the cache tells outputs apart."""
    source[0] = source[0].replace("\nkernelspec:\n", f"\nkernelspec:\n  sources: {app.env.sources[page]}\n", 1)


def setup(app: Sphinx) -> dict:
    app.connect("env-get-outdated", find_outdated)
    app.connect("source-read", name_sources)
    return {"parallel_read_safe": True}
