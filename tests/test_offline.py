"""The book as a zip: it opens from a file and from any sub-path of a server, with figures, search and all editions."""

import sys
import zipfile

import pytest
from chromium import Visit, hash_of, move, served
from languages import EDITIONS, FIRST, folder_of
from routes import ROOT, run

pytestmark = pytest.mark.routes


@pytest.fixture(scope="module")
def unpacked(site_folder, tmp_path_factory):
    """The zip, unpacked in a folder with a blank and Chinese letters in its name."""
    run(sys.executable, ROOT / "tools" / "offline.py")
    folder = tmp_path_factory.mktemp("offline") / "我的 课程"
    with zipfile.ZipFile(ROOT / "book-offline.zip") as file:
        file.extractall(folder)
    return folder


@pytest.fixture(params=["file", "server"])
def root(request, unpacked):
    """The address of the book: of its file, and of a sub-path of a server."""
    if request.param == "file":
        yield (unpacked / "why-attention").as_uri()
    else:
        with served(unpacked.parent) as address:
            yield f"{address}/我的%20课程/why-attention"


@pytest.fixture
def visit(browser):
    visit = Visit(browser)
    yield visit
    visit.close()  # where errors and other hosts are counted


def test_figures_move(visit, root):
    page = visit.open(f"{root}/recurrence.html")
    before = hash_of(page)
    move(page, "t")
    assert hash_of(page) != before


def test_search_finds_words_of_two_letters(visit, root):
    page = visit.open(f"{root}/search.html?q=梯度", figures=False)
    page.locator(".found a", has_text="循环网络").first.click()
    page.wait_for_url("**/recurrence.html?highlight=*#*")


def test_the_language_switch_keeps_the_page_and_comes_back(visit, root):
    page = visit.open(f"{root}/attention.html")
    for code, edition in [*EDITIONS.items(), (FIRST.code, FIRST)]:
        if page.locator("html").get_attribute("lang") != edition.tag:
            page.locator(f"a.language-switch[lang={edition.tag}]").first.click()
            page.wait_for_url(f"**/why-attention{folder_of(code)}/attention.html")
            assert page.locator("html").get_attribute("lang") == edition.tag


def test_the_notebook_of_a_page_is_in_it(unpacked):
    assert (unpacked / "why-attention" / "notebooks" / "attention.ipynb").exists()
