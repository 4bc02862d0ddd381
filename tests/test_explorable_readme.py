"""A stranger's five minutes: what explorable's README says, done to the letter outside the repository, in an empty venv."""

import os
import re
import shutil
import subprocess
import sys
from email.parser import Parser
from importlib.metadata import Distribution
from pathlib import Path

import pytest
from chromium import Visit, move, state_of

import explorable

FENCE = re.compile(r"^(`{3,})(\w+)\n(.*?)^\1$", re.MULTILINE | re.DOTALL)
BUILT = shutil.ignore_patterns("__pycache__", "build", "*.egg-info")
pytestmark = pytest.mark.sweep  # it installs Jupyter Book


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Return a folder in which every command of the README has run and every file of it was written, in its order."""
    folder = tmp_path_factory.mktemp("stranger")
    source = Path(explorable.__file__).parent
    shutil.copytree(source, folder / "explorable", ignore=BUILT)
    text = (source / "README.md").read_text(encoding="utf-8").split("\n## ")[1]  # "Five minutes"
    ours = ("PYTHONPATH", "VIRTUAL_ENV", "PYTHONWARNDEFAULTENCODING")
    variables = {name: value for name, value in os.environ.items() if name not in ours}
    for fence in FENCE.finditer(text):
        if fence[2] == "sh":
            for command in fence[3].splitlines():
                command = re.sub("^python3", sys.executable, command)
                done = subprocess.run(
                    command, shell=True, cwd=folder, env=variables, capture_output=True, encoding="utf-8"
                )
                assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
                assert "WARNING: " not in done.stderr or "jupyter-book build" not in command, done.stderr
        else:
            name = re.findall(r"`(\w+\.\w+)`", text[: fence.start()])[-1]
            (folder / name).write_text(fence[3], encoding="utf-8")
    return folder


def check_figure(page):
    """Check that the figure of a page stands at its start, says so, and moves."""
    assert page.locator("figure.explorable").count() == 1
    assert state_of(page) == "n=2;faces=6"
    said = "With n = 2, the sum is 7.0 on average, with a standard deviation of 2.42."
    assert page.locator("figure output").inner_text() == said
    move(page, "n")
    assert state_of(page) == "n=3;faces=6"


def test_the_file_moves_and_calls_nobody(browser, folder):
    visit = Visit(browser)
    check_figure(visit.open((folder / "dice.html").as_uri()))
    visit.close()


def test_the_figure_moves_in_the_book(browser, folder):
    visit = Visit(browser)
    check_figure(visit.open((folder / "_build" / "html" / "dice.html").as_uri()))
    visit.context.close()  # the theme and MathJax, which are not ours, call other hosts


def test_it_needed_neither_torch_nor_sphinx_before_it_was_asked(folder):
    (info,) = (folder / "venv").rglob("explorable-*.dist-info")
    needed = Parser().parsestr(Distribution.at(info).read_text("METADATA")).get_all("Requires-Dist")
    always = {re.match(r"[\w-]+", line)[0] for line in needed if "extra ==" not in line}
    assert always == {"numpy", "anywidget", "pillow", "matplotlib"}
