"""The cache of frames: computed once, computed again when anything that computes them has changed, whole or not at all."""

import errno
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from small_figures import UNIT, N, figure, heatmap

import explorable
import traced
import why_attention
from explorable import Cache, Heatmap, Text, set_language
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
    return Cache(tmp_path / "kept", "made.figures.one", [package])


OLD, NEW = zlib.compress(b"old"), zlib.compress(b"new")


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
    assert made.load("name", lambda: OLD) == OLD
    change(package / "idle.py")
    assert made.load("name", lambda: NEW) == OLD
    change(package / file)
    assert made.load("name", lambda: NEW) == NEW
    assert [path.read_bytes() for path in made.folder.iterdir()] == [NEW]


def test_the_digest_is_that_of_windows_too(made, package):
    before = made.digest()
    for path in package.rglob("*.*"):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert b"\r\n" in (package / "deep.py").read_bytes() and made.digest() == before


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
    assert made.load("name", lambda: OLD) == OLD


def test_a_figure_leaves_the_blocks_of_other_figures_alone(made):
    made.load("decay-bound", lambda: OLD)
    made.load("decay", lambda: NEW)
    assert made.load("decay-bound", lambda: NEW) == OLD


# A cache that cannot be used


@pytest.mark.parametrize("damaged", [b"", OLD[:-1], OLD[:5] + b"!" + OLD[6:], OLD + b"!", b"garbage"])
def test_a_damaged_file_is_replaced_with_a_word(made, damaged):
    made.load("name", lambda: OLD)
    (path,) = made.folder.iterdir()
    path.write_bytes(damaged)
    with pytest.warns(RuntimeWarning, match=f"{path.name} is damaged, so name is computed anew"):
        assert made.load("name", lambda: NEW) == NEW
    assert [path.read_bytes() for path in made.folder.iterdir()] == [NEW]


def refuse(*_, **__):
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("name", ["mkdir", "write_bytes", "replace"])  # a folder that is read-only, a disk that is full
def test_what_cannot_be_kept_is_shown_with_a_word_and_leaves_nothing(made, monkeypatch, name):
    monkeypatch.setattr(Path, name, refuse)
    with pytest.warns(RuntimeWarning, match="name cannot be kept in .*No space left on device.* anew every time"):
        assert made.load("name", lambda: OLD) == OLD
    assert not made.folder.exists() or list(made.folder.iterdir()) == []


def test_a_file_that_may_not_be_read_is_passed_by_with_a_word(made, monkeypatch):
    made.load("name", lambda: OLD)
    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.warns(RuntimeWarning, match="cannot be read .*No space left on device.*, so name is computed anew"):
        assert made.load("name", lambda: NEW) == NEW


def test_two_writers_of_one_process_number_keep_out_of_each_others_way(made, monkeypatch):
    def replace_after_another(unfinished, path):
        monkeypatch.undo()
        made.load("name", lambda: OLD)
        return unfinished.replace(path)

    monkeypatch.setattr(Path, "replace", replace_after_another)
    assert made.load("name", lambda: NEW) == NEW
    assert [path.read_bytes() for path in made.folder.iterdir()] == [NEW]


# The chapter's


@pytest.mark.parametrize(
    "name", [f"why_attention.figures.{name}" for name in ("gradient_decay", "recall", "attention_map")]
)
def test_a_figure_of_the_chapter_depends_on_just_the_files_that_python_imports_for_it(name):
    roots = [Path(package.__file__).parent for package in (why_attention, explorable, traced)]
    program = (
        f"import sys, {name}; print(*(getattr(module, '__file__', None) for module in sys.modules.values()), sep='\\n')"
    )
    imported = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8", check=True).stdout
    expected = {path for path in map(Path, imported.splitlines()) if any(root in path.parents for root in roots)}
    found = figure_cache(name).sources()
    assert found >= expected
    assert {path.name for path in found - expected} <= {"grid.py"}  # explorable.py names it for type checkers only
