"""The build is the gate: what is broken does not reach _site. Each case builds one edition of a small copy of the book."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from languages import FIRST, ROOT
from small_book import cell, copy_book, environment, write_page

FIGURE = """
import numpy as np
from explorable import Axis, Control, Explorable, Heatmap, Sentence
Explorable(
    "small", title="s", caption="c", how_to_read="r", controls=[Control("n", [2, 3], label="n")], sentence=Sentence("n = {n}"),
    panels=[Heatmap(lambda n: np.eye(n), "s", "i", "j", Axis("v", limits=(0, 1)))],
)
"""


@pytest.fixture
def book(tmp_path) -> Path:
    return copy_book(tmp_path)


def build(book: Path) -> subprocess.CompletedProcess:
    """Build the copy's first edition as tools/site.py does, its output through a pipe."""
    return subprocess.run(command(book), timeout=120, **options(book))


def command(book: Path) -> list[str]:
    program = f"import runpy, sys; sys.path.insert(0, {str(book / 'tools')!r}); print(runpy.run_path({str(book / 'tools' / 'site.py')!r})['build']({FIRST.code!r}))"
    return [sys.executable, "-c", program]


def options(book: Path) -> dict:
    pipe = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "encoding": "utf-8"}
    return {"cwd": book, "env": environment(book), **pipe}


def pages_of(book: Path) -> Path:
    return book / "_build" / FIRST.code / "_build" / "html"


def nodes() -> set[str]:
    """The processes that set math."""
    found = set()
    for line in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = line.read_bytes()
        except OSError:  # it has just ended
            continue
        if b"renderToString" in command:
            found.add(line.parent.name)
    return found


def test_a_sound_page_builds_and_changes_with_the_package_and_leaves_no_node(book):
    before = nodes()
    constant = "from why_attention.constant import VALUE\nprint('VALUE', VALUE)"
    write_page(book, "好的 $x_t$。\n下一句。" + cell(FIGURE) + cell(constant))
    for value in (1, 2):
        (book / "src" / "why_attention" / "constant.py").write_text(f"VALUE = {value}\n", encoding="utf-8")
        result = build(book)
        assert result.returncode == 0, result.stdout
        page = (pages_of(book) / "index.html").read_text(encoding="utf-8")
        assert f"VALUE {value}" in page
        assert 'data-name="small"' in page
        assert "widget-state+json" not in page
        assert 'class="katex' in page
        assert "。</span>下一句" in page  # with the formula; and no space where the source breaks a line
    assert nodes() <= before


def test_cells_run_again_only_where_what_they_are_made_of_has_changed(book):
    module = book / "src" / "why_attention" / "constant.py"
    module.write_text("VALUE = 1\n", encoding="utf-8")
    once = cell("from why_attention.constant import VALUE\nimport time\nprint(VALUE, 'at', time.time_ns())")
    ran = []
    for text, value in (("一", 1), ("二", 1), ("三", 2)):
        module.write_text(f"VALUE = {value}\n", encoding="utf-8")
        write_page(book, text + once)
        result = build(book)
        assert result.returncode == 0, result.stdout
        page = (pages_of(book) / "index.html").read_text(encoding="utf-8")
        assert f">{text}<" in page
        ran.append(re.search(r"\d at \d+", page)[0])
    assert ran[0] == ran[1] != ran[2] and ran[2].startswith("2 at")


def test_a_page_that_was_wrong_is_wrong_again_though_nothing_has_changed(book):
    """Sphinx alone would read it no second time, and so warn no second time."""
    write_page(book, "[nowhere](missing.md)")
    assert all("missing.md" in (result := build(book)).stdout and result.returncode for _ in range(2))


def test_a_site_without_its_figures_is_refused(book):
    config = book / "_config.yml"
    text = config.read_text(encoding="utf-8")
    config.write_text(text.replace("execute_notebooks: cache", 'execute_notebooks: "off"'), encoding="utf-8")
    write_page(book, cell("from why_attention.figures import influence\ninfluence.figure()"))
    result = build(book)
    assert result.returncode != 0
    assert "zh/index.md shows 0 of the 1 figures that its cells make" in result.stdout


@pytest.mark.sweep
def test_two_builds_side_by_side_never_take_a_port_of_each_other(tmp_path):
    """Ten times; with ports one build in five died of it."""
    books = [copy_book(tmp_path / name) for name in "ab"]
    for book in books:
        write_page(book, cell("print(1)"))
    for number in range(10):
        processes = []
        for book in books:
            write_page(book, cell(f"print({number})"))
            processes.append(subprocess.Popen(command(book), **options(book)))
        for process in processes:
            words, _ = process.communicate(timeout=120)
            assert process.returncode == 0 and "eavesdropping" not in words, words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (cell("1 / 0"), "ZeroDivisionError"),
        pytest.param(cell("import sys; print('oops', file=sys.stderr)"), "stderr", marks=pytest.mark.sweep),
        ("$$ \\undefinedcommand{x} $$", "KaTeX parse error: Undefined control sequence"),
        pytest.param("[nowhere](missing.md)", "missing.md", marks=pytest.mark.sweep),
        (cell("import numpy as np\n" + FIGURE.replace("np.eye(n)", "np.full((n, n), np.nan)")), "NaN"),
    ],
    ids=["a cell that fails", "stderr", "a broken formula", "a broken link", "a figure of NaN"],
)
def test_a_broken_page_fails_the_build(book, text, words):
    write_page(book, text)
    result = build(book)
    assert result.returncode != 0, result.stdout
    assert words in result.stdout
    assert "_site is as it was" in result.stdout or "Error" in result.stdout


def test_a_theme_with_other_words_fails_the_build(book):
    template = book / "book" / "_templates" / "sbt-sidebar-nav.html"
    spoiled = template.read_text(encoding="utf-8").replace('"Main"', '"Chapters"')  # as if the theme had renamed it
    template.write_text(spoiled, encoding="utf-8")
    write_page(book, "好的。")
    result = build(book)
    assert result.returncode != 0
    assert 'the theme\'s template has no aria-label="Chapters" any more' in result.stdout.replace("\\", "")


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.sweep)])
def test_an_interrupted_build_leaves_the_last_site_whole(book, number):
    write_page(book, cell("import time; time.sleep(60)"))
    (book / "_site").mkdir()
    (book / "_site" / "index.html").write_text("the last one", encoding="utf-8")
    before = nodes()
    process = subprocess.Popen(
        [sys.executable, "tools/site.py"],
        cwd=book,
        env=environment(book),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # what runs in the background ignores it
    )
    for line in process.stdout:
        if b"Executing notebook" in line:
            break
    time.sleep(0.5)
    process.send_signal(number)
    process.stdout.read()  # ends only when no process holds the pipe any more
    assert process.wait(timeout=20) != 0
    assert (book / "_site" / "index.html").read_text(encoding="utf-8") == "the last one"
    assert nodes() <= before


@pytest.mark.routes
def test_jupyter_book_builds_the_first_edition_from_the_root(tmp_path):
    """With .venv and node_modules beside it, as on a developer's machine; its cells have run in `make site`."""
    config = (ROOT / "_config.yml").read_text(encoding="utf-8")
    assert config.count("execute_notebooks: cache") == 1
    root = tmp_path / "root"
    root.mkdir()
    for path in ROOT.iterdir():
        if path.name not in ("_config.yml", "_build"):
            (root / path.name).symlink_to(path)
    unexecuted = config.replace("execute_notebooks: cache", 'execute_notebooks: "off"')
    (root / "_config.yml").write_text(unexecuted, encoding="utf-8")
    command = [Path(sys.executable).parent / "jupyter-book", "build", ".", "-W", "-n", "--keep-going"]
    result = subprocess.run(
        command,
        cwd=root,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert result.returncode == 0, result.stdout[-2000:]
    page = root / "_build" / "html" / "book" / FIRST.code / "recurrence.html"
    text = page.read_text(encoding="utf-8")
    assert "gradient_decay" in text and 'class="katex"' in text
    assert "language-switch" not in text  # the other edition is not there
