"""Fixtures: the stored frames, the language, a Chromium, and the site."""

import importlib
import os
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

pytest.register_assert_rewrite("chromium", "live_lab", "figure_reading")
from chromium import ARGUMENTS, served  # noqa: E402

from explorable import set_language  # noqa: E402

ROOT = Path(__file__).parents[1]
os.environ.pop("PYTHONWARNDEFAULTENCODING", None)  # asked of us alone: what we start is to write what it always does
os.environ.setdefault("FIGURE_CACHE", str(ROOT / ".cache"))


def pytest_collection_modifyitems(items):
    """Begin with the tests in JupyterLab, so that they stay with one worker: to start it takes 20 seconds."""
    items.sort(key=lambda item: item.path.stem != "test_lab")


@pytest.fixture(autouse=True)
def chinese():
    """Every test starts in Chinese, and leaves the next one there."""
    set_language("zh")
    yield
    set_language("zh")


@pytest.fixture(scope="module")
def tool():
    """Tools import each other by name, as when one of them is run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "tools")
        yield importlib.import_module


@pytest.fixture(scope="session")
def browser():
    """The browser that the Makefile found; without one the tests fail, for a skip would say nothing."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=os.environ["CHROMIUM"], args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def site_folder() -> Path:
    """Both editions, as `make test` has just built them."""
    folder = ROOT / "_site"
    assert (folder / "en" / "index.html").exists(), "_site is not there: run `make site` first"
    return folder


@pytest.fixture(scope="session")
def site(site_folder):
    """The address of the site."""
    with served(site_folder) as address:
        yield address


@pytest.fixture(scope="session")
def axe() -> str:
    """The script of axe-core, which npm installed."""
    return (ROOT / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")
