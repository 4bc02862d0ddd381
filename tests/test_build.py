"""The build is the gate: what is broken does not reach _site. Each case builds one edition of a small copy of the book."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HEAD = (ROOT / "book" / "zh" / "index.md").read_text(encoding="utf-8").split("\n# ")[0]  # the header of a page
FIGURE = """
import numpy as np
from explorable import Axis, Control, Explorable, Heatmap, Sentence
Explorable(
    "small", title="s", caption="r", controls=[Control("n", [2, 3], label="n")], sentence=Sentence("n = {n}"),
    panels=[Heatmap(lambda n: np.eye(n), "s", "i", "j", Axis("v", limits=(0, 1)))],
)
"""


def cell(code: str) -> str:
    return f"\n```{{code-cell}} python\n{code.strip()}\n```\n"


@pytest.fixture
def book(tmp_path) -> Path:
    """A copy of the project with one page, whose package is the copy's own, in a folder with a blank and Chinese letters."""
    book = tmp_path / "我的 课程"
    for name in ("book", "src", "tools", "_config.yml"):
        source = ROOT / name
        shutil.copytree(source, book / name) if source.is_dir() else shutil.copy(source, book)
    for page in [*book.glob("book/zh/*.md"), *book.glob("book/en/*.md")]:
        page.unlink()
    (book / "_toc.yml").write_text("format: jb-book\nroot: book/zh/index\n", encoding="utf-8")
    (book / "node_modules").symlink_to(ROOT / "node_modules")
    return book


def write(book: Path, text: str, editions=("zh",)) -> None:
    for edition in editions:
        (book / "book" / edition / "index.md").write_text(f"{HEAD}\n# 页\n\n{text}\n", encoding="utf-8")


def environment(book: Path) -> dict:
    return {**os.environ, "PYTHONPATH": str(book / "src"), "FIGURE_CACHE": str(book / ".cache")}


def build(book: Path) -> subprocess.CompletedProcess:
    """Build the copy's Chinese edition as tools/site.py does, its output through a pipe."""
    program = f"import runpy, sys; sys.path.insert(0, {str(book / 'tools')!r}); print(runpy.run_path({str(book / 'tools' / 'site.py')!r})['build']('zh'))"
    return subprocess.run(
        [sys.executable, "-c", program],
        cwd=book,
        env=environment(book),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=120,
    )


def servers() -> set[str]:
    """The processes that run KaTeX's server."""
    found = set()
    for line in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = line.read_bytes()
        except OSError:  # it has just ended
            continue
        if b"katex-server" in command:
            found.add(line.parent.name)
    return found


def test_a_sound_page_builds_and_changes_with_the_package_and_leaves_no_server(book):
    before = servers()
    constant = "from why_attention.constant import VALUE\nprint('VALUE', VALUE)"
    write(book, "好的 $x_t$。\n下一句。" + cell(FIGURE) + cell(constant))
    for value in (1, 2):
        (book / "src" / "why_attention" / "constant.py").write_text(f"VALUE = {value}\n", encoding="utf-8")
        result = build(book)
        assert result.returncode == 0, result.stdout
        page = (book / "_build" / "zh" / "_build" / "html" / "index.html").read_text(encoding="utf-8")
        assert f"VALUE {value}" in page
        assert 'data-name="small"' in page
        assert "widget-state+json" in page
        assert 'class="katex' in page
        assert "。</span>下一句" in page  # with the formula; and no space where the source breaks a line
    assert servers() <= before


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (cell("1 / 0"), "ZeroDivisionError"),
        (cell("import sys; print('oops', file=sys.stderr)"), "stderr"),
        ("$$ \\undefinedcommand{x} $$", "KaTeX parse error: Undefined control sequence"),
        ("[nowhere](missing.md)", "missing.md"),
        (cell("import numpy as np\n" + FIGURE.replace("np.eye(n)", "np.full((n, n), np.nan)")), "NaN"),
    ],
    ids=["a cell that fails", "stderr", "a broken formula", "a broken link", "a figure of NaN"],
)
def test_a_broken_page_fails_the_build(book, text, words):
    write(book, text)
    result = build(book)
    assert result.returncode != 0, result.stdout
    assert words in result.stdout
    assert "_site is as it was" in result.stdout or "Error" in result.stdout


def test_a_figure_that_lost_its_state_fails_the_build(book):
    write(book, cell(FIGURE))
    hook = book / "book" / "_ext" / "explorable_page.py"
    spoiled = hook.read_text(encoding="utf-8").replace('== "anywidget"', '== "lost"')
    hook.write_text(spoiled, encoding="utf-8")
    result = build(book)
    assert result.returncode != 0
    assert "a figure without state" in result.stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_build_leaves_the_last_site_whole(book, number):
    write(book, cell("import time; time.sleep(60)"))
    shutil.rmtree(book / "src" / "why_attention" / "figures")  # none to compute
    (book / "src" / "why_attention" / "figures").mkdir()
    for name in ("__init__", "__main__"):
        shutil.copy(
            ROOT / "src" / "why_attention" / "figures" / f"{name}.py", book / "src" / "why_attention" / "figures"
        )
    (book / "_site").mkdir()
    (book / "_site" / "index.html").write_text("the last one", encoding="utf-8")
    before = servers()
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
    assert servers() <= before


@pytest.mark.routes
def test_jupyter_book_builds_the_chinese_edition_from_the_root(tmp_path):
    """With .venv and node_modules beside it, as on a developer's machine; its cells have run in `make site`."""
    config = (ROOT / "_config.yml").read_text(encoding="utf-8")
    assert config.count("execute_notebooks: force") == 1
    root = tmp_path / "root"
    root.mkdir()
    for path in ROOT.iterdir():
        if path.name not in ("_config.yml", "_build"):
            (root / path.name).symlink_to(path)
    unexecuted = config.replace("execute_notebooks: force", 'execute_notebooks: "off"')
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
    page = root / "_build" / "html" / "book" / "zh" / "recurrence.html"
    text = page.read_text(encoding="utf-8")
    assert "gradient_decay" in text and 'class="katex"' in text
    assert "language-switch" not in text  # the other edition is not there
