"""The commands around the book: what they refuse, in one sentence each, what they lock, and what the server answers."""

import importlib.util
import re
import subprocess
import sys
import urllib.error
import urllib.request
from importlib.metadata import requires
from pathlib import Path

import pytest
import yaml
from packaging.markers import default_environment
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
TOOLS = ROOT / "tools"
LOCKS = [ROOT / "requirements.lock", ROOT / "requirements-test.lock"]
OF_A_MACHINE = ("torch", "triton", "nvidia-", "cuda-")  # packages that differ from machine to machine


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
