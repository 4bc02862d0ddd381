"""Fixtures: the language, a Chromium, and the site; which tests are slow."""

import importlib
import os
from pathlib import Path

import pytest

from explorable import set_language

pytest.register_assert_rewrite("chromium", "live_lab", "figure_reading")
ROOT = Path(__file__).parents[1]
set_language("zh")  # of what a module makes before its first test begins

# What is slow, beside what is marked so: tests with these fixtures, and these files, which build, train or time something
FIXTURES = {"browser", "site_folder"}
FILES = set("build claims experiment induction missing_parts rates recall timing transformer translation".split())
QUICK = 10  # seconds of a processor that a test may take in `make check`, which is to take 90 in all


def pytest_collection_modifyitems(items):
    """Mark as slow what needs a browser or a build, or is marked to run later still; begin with what starts slowly."""
    # here, where the workers have started, who inherit it: what tests start is to write what it always does
    os.environ.pop("PYTHONWARNDEFAULTENCODING", None)
    for item in items:
        file = item.path.stem.removeprefix("test_")
        late = FIXTURES & set(item.fixturenames) or file in FILES
        if late or item.get_closest_marker("sweep") or item.get_closest_marker("routes"):
            item.add_marker("slow")
    items.sort(key=lambda item: item.path.stem != "test_lab")  # with one worker: JupyterLab starts in 20 seconds


def processor_time() -> float:
    """Return the seconds that this process and those it has started have computed: what others do does not count."""
    return sum(os.times()[:4])


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    item.began = processor_time()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    """In `make check` a test that takes long, with what it sets up, fails, so that somebody marks it."""
    report = yield
    took = processor_time() - item.began
    if item.config.option.markexpr == "not slow" and report.when == "call" and report.passed and took > QUICK:
        report.outcome = "failed"
        report.longrepr = f"took {took:.0f} s of at most {QUICK}: quicken it or mark it slow"
    return report


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
    from chromium import ARGUMENTS
    from playwright.sync_api import sync_playwright  # here, for most tests need neither

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=os.environ["CHROMIUM"], args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def site_folder() -> Path:
    """Both editions, as `make test` has just built them."""
    folder = ROOT / "_site"
    assert (folder / "index.html").exists(), "_site is not there: run `make site` first"
    return folder


@pytest.fixture(scope="session")
def site(site_folder):
    """The address of the site."""
    from chromium import served

    with served(site_folder) as address:
        yield address


@pytest.fixture(scope="session")
def axe() -> str:
    """The script of axe-core, which npm installed."""
    return (ROOT / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")
