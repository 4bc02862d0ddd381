"""Colab's route: the first cell of a notebook adds the package to what is there, and touches nothing of it."""

import json
import os
import re
import time
import zipfile

import pytest
from languages import EDITIONS
from routes import ROOT, new_branch, new_environment, new_wheel, pinned, run, run_notebook
from test_site import SHOWN

pytestmark = pytest.mark.routes

COLABS_OWN = "scipy pandas ipywidgets==7.7.1 ipython==7.34.0 joblib tqdm pillow safetensors requests".split()
NEVER = {*"torch numpy scipy pandas matplotlib triton jax ipython ipywidgets requests pillow".split()}
BARE = {name: value for name, value in os.environ.items() if name not in ("OMP_NUM_THREADS", "PYTHONPATH")}
FIGURE = """
from why_attention.figures import heads, recall, receptive_field
for figure in (heads.figure(), recall.figure(), receptive_field.figure()):
    data = figure._repr_mimebundle_()[0]
    assert "<img" in data["text/html"] and figure._esm and figure._css
from why_attention.pages.bertviz_views import head_view
from why_attention.pretrained import load_maps
print("drawn")
"""


@pytest.fixture(scope="module")
def branch(tmp_path_factory):
    return new_branch(tmp_path_factory.mktemp("colab") / "branch")


@pytest.fixture(scope="module")
def wheel(branch):
    return new_wheel(branch)


@pytest.fixture(scope="module")
def colab(tmp_path_factory):
    """The Python of an environment with what Colab has of the packages that matter here."""
    return new_environment(
        tmp_path_factory.mktemp("colab") / "venv", *pinned("torch", "numpy", "matplotlib"), *COLABS_OWN
    )


def test_the_wheel_carries_everything_that_the_package_reads(wheel):
    source = ROOT / "src"
    ours = {path.relative_to(source).as_posix() for path in source.rglob("*.*")}
    kept = (".py", ".js", ".css", ".json", ".html", ".npz", ".safetensors", ".frames")
    with zipfile.ZipFile(wheel) as file:
        assert not (wheel.parents[1] / "build").exists()  # nor does pip leave anything beside the sources
        assert {name for name in ours if name.endswith(kept) and "-unfinished" not in name} <= set(file.namelist())


def test_to_build_the_wheel_leaves_nothing_beside_the_sources(wheel):
    assert not (wheel.parents[1] / "build").exists()


def test_the_wheel_carries_the_frames_of_every_figure_and_what_pages_compute_with(wheel):
    with zipfile.ZipFile(wheel) as file:
        names = file.namelist()
    assert "traced/js/traced.js" in names
    files = {re.sub(r"-\w{16}\.frames$", "", name) for name in names if name.endswith(".frames")}
    kept = {name for name in files if not re.search(r"-trace-\d+$", name)}
    assert len(files - kept) == 3  # of attention-map
    assert kept == {f"why_attention/figures/frames/{name}" for names in SHOWN.values() for name in names}


def test_the_wheel_carries_what_bertviz_draws_with(wheel):
    with zipfile.ZipFile(wheel) as file:
        names = {name.rpartition("/")[2] for name in file.namelist() if name.startswith("why_attention/pages/scripts/")}
    assert names == {"d3.min.js", "jquery.min.js"}


def test_the_first_cell_installs_nothing_that_colab_has(colab, wheel, tmp_path):
    options = ("--quiet", "--disable-pip-version-check", "--dry-run", "--report", tmp_path / "report.json")
    run(colab, "-m", "pip", "install", *options, wheel)
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    added = {item["metadata"]["name"].lower() for item in report["install"]}
    assert "why-attention" in added and "anywidget" in added
    assert added & NEVER == set()
    assert not any(name.startswith("nvidia") for name in added)


def test_figures_draw_once_it_is_installed(colab, wheel, tmp_path):
    run(colab, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel, env=BARE)
    assert run(colab, "-c", FIGURE, cwd=tmp_path, env=BARE).strip().endswith("drawn")


@pytest.mark.parametrize("edition", EDITIONS)
def test_the_first_page_runs_in_a_kernel_that_nobody_has_prepared(colab, wheel, branch, tmp_path, edition):
    """With neither the variables of `make lab` nor frames of this machine's own."""
    run(
        colab,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        wheel,
        "nbclient",
        "ipykernel",
        env=BARE,
    )
    before = time.monotonic()
    peak = run_notebook(colab, branch / "book" / edition / "index.ipynb", tmp_path, BARE)
    print(f"bare: {edition}/index took {peak:.2f} GB at most, {time.monotonic() - before:.0f} s")
    assert peak < 0.4
    assert time.monotonic() - before < 60  # 5 s where nothing else runs; without frames it was 263 s
