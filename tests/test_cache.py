"""The cache of frames: computed once, computed again when anything that computes them has changed, whole or not at all."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from small_figures import UNIT, N, figure, heatmap

import explorable
import why_attention
from explorable import Cache, Heatmap, Text, cache, set_language
from why_attention.figure_cache import figure_cache


@pytest.fixture
def package(tmp_path):
    """Return the folder of a made-up package: a figure, what it imports, what it does not, and a data file."""
    package = tmp_path / "made"
    (package / "figures").mkdir(parents=True)
    files = {
        "__init__.py": "",
        "used.py": "from . import deep\n",
        "deep.py": "import json\n",
        "idle.py": "",
        "figures/__init__.py": "",
        "figures/one.py": "import numpy\nfrom ..used import something\n",
        "data.json": "[]",
    }
    for name, text in files.items():
        (package / name).write_text(text, encoding="utf-8")
    return package


@pytest.fixture
def made(package, tmp_path):
    """Return the cache of the package's figure."""
    return Cache(tmp_path / "kept", "made.figures.one", [package], ["numpy"])


def change(path):
    path.write_text(path.read_text(encoding="utf-8") + " \n", encoding="utf-8")


def test_a_kept_figure_is_computed_once(made):
    calls = []
    first, second = (figure(heatmap(lambda n: calls.append(n) or np.eye(n)), cache=made) for _ in range(2))
    assert calls == N.grid
    assert first._frames == second._frames


def test_without_a_cache_or_its_folder_every_figure_is_computed(package, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    nowhere, calls = Cache(None, "made", [package]), []
    for kept in (None, None, nowhere, nowhere):
        figure(heatmap(lambda n: calls.append(n) or np.eye(n)), cache=kept)
    assert calls == 4 * N.grid
    assert list(tmp_path.iterdir()) == [package]


@pytest.mark.parametrize("module", ["__main__", "made.figures.two", "numpy"])
def test_a_module_whose_changes_nobody_sees_is_refused(package, module):
    with pytest.raises(ValueError, match=rf"module '{module}' is in none of the packages \['made'\]"):
        Cache(None, module, [package])


@pytest.mark.parametrize(
    "file", ["figures/one.py", "figures/__init__.py", "used.py", "deep.py", "__init__.py", "data.json"]
)
def test_a_change_computes_again_and_drops_the_outdated_block(made, package, file):
    assert made.load("name", lambda: b"old") == b"old"
    change(package / "idle.py")
    assert made.load("name", lambda: b"needless") == b"old"
    change(package / file)
    assert made.load("name", lambda: b"new") == b"new"
    assert [path.read_bytes() for path in made.folder.iterdir()] == [b"new"]


def test_a_change_of_a_library_changes_the_digest(made, monkeypatch):
    before = made.digest()
    monkeypatch.setattr(cache, "version", lambda name: "0.0")
    assert made.digest() != before


def test_a_page_in_another_language_draws_the_same_frames(made):
    def make(language):
        set_language(language)
        title = Text(zh="矩阵", en="matrix")
        return figure(Heatmap(np.eye(2), title, title, title, UNIT, row_words=lambda n: ["a", f"b{n}"]), cache=made)

    first, second = make("zh"), make("en")
    assert first._frames == second._frames
    assert first._spec["panels"][0]["row_words"] == second._spec["panels"][0]["row_words"]


def test_a_failed_computation_leaves_nothing_to_load(made):
    with pytest.raises(ZeroDivisionError):
        made.load("name", lambda: 1 // 0)
    assert made.load("name", lambda: b"block") == b"block"


def test_a_figure_leaves_the_blocks_of_other_figures_alone(made):
    made.load("decay-bound", lambda: b"first")
    made.load("decay", lambda: b"second")
    assert made.load("decay-bound", lambda: b"computed again") == b"first"


# The chapter's


@pytest.mark.parametrize("name", ["why_attention.figures.gradient_decay", "why_attention.figures.recall"])
def test_a_figure_of_the_chapter_depends_on_just_the_files_that_python_imports_for_it(name):
    roots = [Path(package.__file__).parent for package in (why_attention, explorable)]
    program = (
        f"import sys, {name}; print(*(getattr(module, '__file__', None) for module in sys.modules.values()), sep='\\n')"
    )
    imported = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8", check=True).stdout
    expected = {path for path in map(Path, imported.splitlines()) if any(root in path.parents for root in roots)}
    found = figure_cache(name).sources()
    assert found >= expected
    assert {path.name for path in found - expected} <= {"grid.py"}  # explorable.py names it for type checkers only
