"""The commands around the book: what they refuse, in one sentence each, and what the server answers."""

import importlib.util
import re
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[1] / "tools"


@pytest.fixture
def tool():
    def load(name: str):
        spec = importlib.util.spec_from_file_location(name, TOOLS / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load


@pytest.mark.parametrize("version", [(3, 9, 18), (3, 14, 0), (4, 0, 0)])
def test_a_python_too_old_or_too_new_is_refused(tool, monkeypatch, version):
    environment = tool("environment")
    monkeypatch.setattr(sys, "version_info", version)
    with pytest.raises(SystemExit, match=r"needs 3\.10 to 3\.13"):
        environment.check_python()


@pytest.mark.parametrize("version", [(3, 10, 0), (3, 13, 9)])
def test_a_python_within_the_bounds_is_taken(tool, monkeypatch, version):
    environment = tool("environment")
    monkeypatch.setattr(sys, "version_info", version)
    environment.check_python()


def test_a_missing_venv_is_named(tool, monkeypatch):
    environment = tool("environment")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SystemExit, match="apt install python3-venv"):
        environment.check_python()


def test_a_failing_step_names_its_command(tool):
    with pytest.raises(SystemExit, match="`false` failed with status 1"):
        tool("environment").run("false")


def test_no_browser_ends_in_a_sentence(tool, monkeypatch):
    browser = tool("browser")
    monkeypatch.delenv("CHROMIUM", raising=False)
    for way in ("on_path", "from_debian", "from_playwright"):
        monkeypatch.setattr(browser, way, lambda: None)
    with pytest.raises(SystemExit, match="no browser was found"):
        browser.main()


def test_a_browser_that_is_named_and_missing_is_refused(tool, monkeypatch):
    monkeypatch.setenv("CHROMIUM", "/nowhere/chromium")
    with pytest.raises(SystemExit, match="/nowhere/chromium, which is no program"):
        tool("browser").main()


def test_the_server_prints_its_address_and_answers_with_the_books_404(site_folder):
    process = subprocess.Popen(
        [sys.executable, TOOLS / "serve.py", "0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8"
    )
    try:
        address = re.search(r"http://localhost:\d+", process.stdout.readline())[0]
        assert b"gradient" in urllib.request.urlopen(f"{address}/en/recurrence.html").read()
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(f"{address}/en/nowhere.html")
        assert refused.value.code == 404
        page = refused.value.read().decode("utf-8")
        assert "没有这一页" in page
        assert "no such page" in page
    finally:
        process.kill()
        process.wait()


def test_a_taken_port_is_named(site_folder):
    server = subprocess.Popen([sys.executable, TOOLS / "serve.py", "0"], stdout=subprocess.PIPE, encoding="utf-8")
    try:
        port = re.search(r"localhost:(\d+)", server.stdout.readline())[1]
        second = subprocess.run([sys.executable, TOOLS / "serve.py", port], capture_output=True, encoding="utf-8")
        assert second.returncode != 0
        assert f"port {port} is taken" in second.stderr
    finally:
        server.kill()
        server.wait()


def test_make_bench_runs_every_benchmark():
    makefile = (TOOLS.parent / "Makefile").read_text(encoding="utf-8")
    run = re.findall(r"benchmarks/(\w+)\.py", makefile.split("\nbench:")[1].split("\n\n")[0])
    there = {path.stem for path in (TOOLS.parent / "benchmarks").glob("*.py")} - {"fastest"}  # that one others import
    assert sorted(run) == sorted(there)
