"""make preview: what is saved is soon on the page, and cells run again only where what they are made of has changed."""

import os
import re
import signal
import subprocess
import sys

import pytest
from languages import FIRST
from small_book import cell, copy_book, environment, write_page

pytestmark = pytest.mark.sweep
CELL = cell("from why_attention.constant import VALUE\nimport time\nprint(VALUE, 'at', time.time_ns())")


def save_module(book, name: str, value: int) -> None:
    (book / "src" / "why_attention" / f"{name}.py").write_text(f"VALUE = {value}\n", encoding="utf-8")


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    book = copy_book(tmp_path_factory.mktemp("preview"))
    save_module(book, "constant", 1)
    write_page(book, f"第 1 版。{CELL}")
    return book


@pytest.fixture(scope="module")
def builds(book):
    """The lines that the preview prints, one a build, while it runs."""
    process = subprocess.Popen(
        [sys.executable, book / "tools" / "preview.py", "0", FIRST.code],
        env=environment(book),
        stdout=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,
    )
    assert "building" in process.stdout.readline()
    yield process.stdout
    os.killpg(process.pid, signal.SIGINT)
    process.stdout.read()  # ends only when no process holds the pipe any more
    assert process.wait(timeout=20) == 0


@pytest.fixture(scope="module")
def page(browser, builds):
    page = browser.new_page()
    page.goto(re.search(r"http://\S+", builds.readline())[0])
    return page


def output(page) -> str:
    return page.locator(".cell_output").inner_text()


def test_the_page_reloads_with_a_text_and_no_cell_runs_again(book, page):
    assert "第 1 版。" in page.locator("article").inner_text()
    before = output(page)
    assert before.startswith("1 at ")
    write_page(book, f"第 2 版。{CELL}")
    page.get_by_text("第 2 版。").wait_for()
    assert output(page) == before


def test_cells_run_again_when_a_module_of_theirs_has_changed_and_not_for_another(book, builds, page):
    before = output(page)
    save_module(book, "other", 1)
    builds.readline()
    save_module(book, "constant", 2)
    page.get_by_text("2 at ").wait_for(timeout=60_000)
    again = output(page)
    save_module(book, "other", 2)
    write_page(book, f"第 3 版。{CELL}")
    page.get_by_text("第 3 版。").wait_for()
    assert before != output(page) == again


def test_a_cell_that_fails_shows_its_error_and_the_next_save_mends_it(book, page):
    write_page(book, f"第 4 版。{CELL}" + cell("1 / 0"))
    page.get_by_text("ZeroDivisionError").first.wait_for(timeout=60_000)
    write_page(book, f"第 5 版。{CELL}")
    page.get_by_text("第 5 版。").wait_for()
    assert page.get_by_text("ZeroDivisionError").count() == 0


def test_a_change_of_a_hook_is_seen(book, page):
    path = book / "book" / "_ext" / "math_punctuation.py"
    text = path.read_text(encoding="utf-8")
    more = "\n_setup = setup\n\n\ndef setup(app):\n    app.add_css_file('new.css')\n    return _setup(app)\n"
    path.write_text(text + more, encoding="utf-8")
    page.wait_for_function("document.querySelector('link[href*=\"new.css\"]')", timeout=60_000)


@pytest.mark.parametrize(
    ("address", "file"),
    [
        ("/", "zh/"),
        ("/x.html?a", "zh/x.html"),
        ("/en", "en/"),
        ("/en/x.html", "en/x.html"),
        ("/end.html", "zh/end.html"),
    ],
)
def test_an_edition_is_served_in_its_folder(tool, address, file):
    preview = tool("preview")
    handler = object.__new__(preview.Handler)
    code, name = file.split("/")
    assert handler.translate_path(address) == str(preview.OUTPUT / code / "_build" / "html" / name)


def test_an_edition_that_is_none_is_refused(book):
    command = [sys.executable, book / "tools" / "preview.py", "0", "xx"]
    refused = subprocess.run(command, env=environment(book), capture_output=True, encoding="utf-8")
    assert refused.returncode != 0 and "no edition xx; there are zh, en" in refused.stderr
