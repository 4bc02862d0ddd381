"""The commands around the book: what they refuse, in one sentence each, what they lock, and what the server answers."""

import ast
import importlib.util
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from importlib.metadata import requires
from pathlib import Path

import pytest
import yaml
from languages import EDITIONS
from packaging.markers import default_environment
from packaging.requirements import Requirement
from small_book import cell, copy_book, environment, write_page

ROOT = Path(__file__).parents[1]
TOOLS = ROOT / "tools"
LOCKS = [ROOT / "requirements.lock", ROOT / "requirements-test.lock"]
OF_A_MACHINE = ("torch", "triton", "nvidia-", "cuda-")  # packages that differ from machine to machine


@pytest.mark.parametrize("version", [(2, 7, 18), (3, 9, 18), (3, 14, 0), (4, 0, 0)])
def test_a_python_too_old_or_too_new_is_refused(tool, monkeypatch, version):
    monkeypatch.setattr(sys, "version_info", version)
    with pytest.raises(SystemExit, match=r"needs 3\.10 to 3\.13"):
        tool("set_up").check_python()


@pytest.mark.parametrize("file", ["set_up", "port"])
def test_what_old_pythons_run_first_has_nothing_that_they_cannot_read(file):
    """No annotation, f-string, `:=` or letter that is not ASCII; where one is installed here, it reads the file itself."""
    text = (TOOLS / f"{file}.py").read_bytes()
    nodes = {type(node) for node in ast.walk(ast.parse(text))}
    assert text.isascii() and nodes & {ast.JoinedStr, ast.AnnAssign, ast.NamedExpr, ast.Starred} == set()
    assert not re.search(rb"^def .*(->|: )", text, re.MULTILINE)
    for python in filter(None, map(shutil.which, ("python2.7", "python3.9"))):
        done = subprocess.run([python, TOOLS / f"{file}.py", "abc"], capture_output=True, encoding="utf-8")
        if "pyenv:" not in done.stderr:  # which has a command for a Python that is not chosen
            assert done.returncode == 1 and re.fullmatch("make: .* (needs|must be) .*\n", done.stderr), done.stderr


@pytest.mark.parametrize("version", [(3, 10, 0), (3, 13, 9)])
def test_a_python_within_the_bounds_is_taken(tool, monkeypatch, version):
    monkeypatch.setattr(sys, "version_info", version)
    tool("set_up").check_python()


def test_a_missing_venv_is_named(tool, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SystemExit, match="apt install python3-venv"):
        tool("set_up").check_python()


def test_a_venv_without_pip_or_of_another_python_is_made_anew(tool, monkeypatch, tmp_path):
    environment = tool("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path], check=True)
    monkeypatch.setattr(environment, "PYTHON", tmp_path / "bin" / "python")
    assert not environment.has_pip()
    monkeypatch.setattr(environment, "PYTHON", Path(sys.executable))
    assert environment.has_pip()
    monkeypatch.setattr(sys, "version_info", (3, 10, 0))
    assert not environment.has_pip()


@pytest.mark.parametrize("port", ["abc", "80000", "", "-1", "8000 8001", "８０００"])
def test_a_port_that_is_none_is_refused(tool, port):
    with pytest.raises(SystemExit, match=f"PORT is {port!r}, but must be a whole number up to 65535"):
        tool("port").free_port(port)


@pytest.mark.parametrize("target", ["serve", "preview"])
def test_a_taken_port_is_told_before_anything_is_done(target):
    with socket.create_server(("localhost", 0)) as taken:
        port = taken.getsockname()[1]
        command = ["make", target, f"PORT={port}", f"PYTHON={sys.executable}"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8")
    assert done.returncode != 0 and "──" not in done.stdout  # make itself may name its folder
    assert f"port {port} cannot be had" in done.stderr and "PORT=8001" in done.stderr


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


@pytest.fixture
def built_book(tmp_path):
    """A small copy of the book, and a site that was built from other sources."""
    book = copy_book(tmp_path)
    for edition in EDITIONS:
        write_page(book, f"新的。{cell('print(1)')}", edition)
    (book / "_site" / "en").mkdir(parents=True)
    (book / "_site" / "index.html").write_text("the site that stands", encoding="utf-8")
    (book / "_site" / "404.html").write_text("no such page", encoding="utf-8")
    return book


@pytest.mark.slow
def test_the_server_serves_what_stands_and_then_what_has_changed(built_book):
    command = [sys.executable, built_book / "tools" / "serve.py", "0"]
    process = subprocess.Popen(command, env=environment(built_book), stdout=subprocess.PIPE, encoding="utf-8")
    try:
        address = re.search(r"http://localhost:\d+", process.stdout.readline())[0]
        assert urllib.request.urlopen(address).read() == b"the site that stands"
        assert "building the new one" in process.stdout.readline()
        assert "the new site is there" in process.stdout.readline()
        for folder in ("/", "/en/"):
            assert "新的。" in urllib.request.urlopen(address + folder).read().decode("utf-8")
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(f"{address}/en/nowhere.html")
        page = refused.value.read().decode("utf-8")
        assert refused.value.code == 404 and "没有这一页" in page and "no such page" in page
    finally:
        process.kill()
        process.wait()
    start = time.monotonic()
    site = [sys.executable, built_book / "tools" / "site.py"]
    done = subprocess.run(site, env=environment(built_book), capture_output=True, encoding="utf-8")
    assert "nothing to build" in done.stdout and time.monotonic() - start < 3


# What is locked


def requirements(lines: list[str], python: str, extra: str) -> list[Requirement]:
    """Return the requirements among lines that hold under a Python, on this system."""
    wanted = [Requirement(line.split(" #")[0].rstrip("\\ ")) for line in lines if re.match(r"\w", line)]
    here = {**default_environment(), "python_version": python, "python_full_version": f"{python}.9", "extra": extra}
    return [one for one in wanted if one.marker is None or one.marker.evaluate(here)]


@pytest.mark.skipif(not LOCKS[0].exists(), reason="newest.yml goes without the locks")
@pytest.mark.parametrize("python", ["3.10", "3.11", "3.12", "3.13"])
def test_the_locks_hold_what_is_asked_for_under_every_python(python):
    """In one version each. Where this fails after a change of requirements.txt or pyproject.toml: make lock."""
    lines = [line for lock in LOCKS for line in lock.read_text(encoding="utf-8").splitlines()]
    locked = {}
    for one in requirements(lines, python, ""):
        (version,) = one.specifier
        assert locked.setdefault(one.name, version.version) == version.version, one.name
    asked = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    for one in requirements([*asked, *requires("why-attention")], python, "test"):
        if one.name != "torch":
            assert one.specifier.contains(locked[one.name.replace("_", "-").lower()]), f"{one}: {locked[one.name]}"


@pytest.mark.skipif(not LOCKS[0].exists(), reason="newest.yml goes without the locks")
@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_a_lock_has_a_hash_for_every_file_names_no_host_and_leaves_torch_to_the_machine(lock):
    text = lock.read_text(encoding="utf-8")
    assert "://" not in text
    entries = re.split(r"\n(?=[\w#])", text.strip())[1:]  # without the first line, which says who wrote it
    assert all("--hash=sha256:" in entry for entry in entries) and len(entries) > 10
    assert [entry for entry in entries if entry.startswith(OF_A_MACHINE)] == []


def test_without_locks_the_newest_that_fits_is_installed(tool, monkeypatch, tmp_path):
    environment, ran = tool("environment"), []
    monkeypatch.setattr(environment, "run", lambda *command: ran.append(" ".join(map(str, command))))
    monkeypatch.setattr(environment, "VENV", tmp_path)
    environment.main(test=False)
    monkeypatch.setattr(environment, "LOCKS", [tmp_path / "none"])
    environment.main(test=True)
    locked = ["--require-hashes" in command for command in ran if " install " in command]
    assert locked == ([True] if LOCKS[0].exists() else []) + [False, False]


# What the tests themselves see


@pytest.mark.slow
@pytest.mark.parametrize("workers", [["-p", "no:xdist"], ["-n", "1"]], ids=["alone", "with workers"])
def test_text_without_a_named_encoding_fails(tmp_path, workers):
    planted = tmp_path / "test_planted.py"
    planted.write_text("def test_planted(tmp_path):\n    open(tmp_path / 'x', 'w').close()\n", encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-c", ROOT / "pyproject.toml", "-p", "conftest", *workers, planted]
    variables = {**os.environ, "PYTHONWARNDEFAULTENCODING": "1", "PYTHONPATH": f"{ROOT / 'src'}:{ROOT / 'tests'}"}
    done = subprocess.run(command, env=variables, capture_output=True, encoding="utf-8", cwd=ROOT)
    assert "FAILED" in done.stdout and "EncodingWarning: 'encoding' argument not specified" in done.stdout


def test_of_all_our_modules_encodings_are_watched(pytestconfig):
    (watched,) = re.findall(r"error::EncodingWarning:(.*)", "\n".join(pytestconfig.getini("filterwarnings")))
    modules = [path.stem for folder in ("tests", "tools") for path in (ROOT / folder).glob("*.py")]
    by_themselves = {"conftest", "extract_maps", "lock", "picture", "site"}  # which no test imports
    assert [name for name in modules if not re.match(watched, name) and name not in by_themselves] == []


# What says the same in two places


def test_make_bench_runs_every_benchmark():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    run = re.findall(r"benchmarks/(\w+)\.py", makefile.split("\nbench:")[1].split("\n\n")[0])
    there = {path.stem for path in (ROOT / "benchmarks").glob("*.py")} - {"fastest"}  # that one others import
    assert sorted(run) == sorted(there)


def test_ci_runs_what_the_readmes_name():
    run = re.findall(r"^make ([\w-]+)", (ROOT / ".ci" / "run").read_text(encoding="utf-8"), re.MULTILINE)
    assert run == ["check", "test-all", "test-routes"]
    for name in ("README.md", "README.zh.md"):
        assert set(run) <= set(re.findall(r"make ([\w-]+)", (ROOT / name).read_text(encoding="utf-8")))


def test_the_changelog_and_the_citation_are_of_this_version():
    (version,) = re.findall(r'^version = "(.+)"', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["version"] == version
    assert version in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(
    "schema, files",
    [("github-issue-forms", ".github/ISSUE_TEMPLATE/*.yml"), ("citation-file-format", "CITATION.cff")],
)
def test_what_others_read_has_their_form(schema, files):
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}"]
    command += ["--default-filetype", "yaml", *ROOT.glob(files)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stdout
