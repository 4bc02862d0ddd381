"""Binder's route: what repo2docker does with .binder/, in a fresh environment, and every notebook run from top to bottom."""

import json
import os
import re
from pathlib import Path

import pytest
from routes import ROOT, new_branch, new_environment, pinned, run, run_notebook

pytestmark = pytest.mark.routes

PAGES = sorted(path.stem for path in (ROOT / "book" / "zh").glob("*.md"))
PACKAGES = pinned("torch")  # .binder/environment.yml in pip's name; conda's pytorch-cpu is here the CPU build
LIMIT = 1.5  # GB a notebook; Binder gives 2


@pytest.fixture(scope="module")
def binder(tmp_path_factory):
    """The tree after postBuild, in a folder with a blank and Chinese letters in its name, and the environment."""
    folder = tmp_path_factory.mktemp("binder")
    python = new_environment(folder / "venv", *PACKAGES)
    tree = new_branch(folder / "我的 课程")
    variables = {**os.environ, "PATH": f"{python.parent}:{os.environ['PATH']}", "HOME": str(folder)}
    run("bash", ".binder/postBuild", cwd=tree, env=variables)
    size = int(run("du", "-sk", folder / "venv", tree).split()[0]) / 1e6
    print(f"Binder: the environment takes {size:.1f} GB")
    started = run("bash", tree / ".binder" / "start", "env", cwd=tree, env=variables)
    return python, tree, dict(line.split("=", 1) for line in started.splitlines() if "=" in line)


@pytest.mark.parametrize("edition", ["zh", "en"])
@pytest.mark.parametrize("page", PAGES)
def test_a_notebook_runs_from_top_to_bottom_in_a_fresh_kernel(binder, tmp_path, page, edition):
    python, tree, variables = binder
    path = tree / "book" / edition / f"{page}.ipynb"
    peak = run_notebook(python, path, tmp_path, variables)
    print(f"Binder: {edition}/{page} took {peak:.2f} GB at most")
    assert peak < LIMIT
    cells = [cell for cell in json.loads(path.read_bytes())["cells"] if cell["cell_type"] == "code"]
    skipped = [cell for cell in cells if "skip-execution" in cell["metadata"].get("tags", [])]
    asked = re.compile(r"\.time_here\(\)|attention_maps\(")  # of the reader's machine, of a network
    assert all(cell["outputs"] == [] and asked.search("".join(cell["source"])) for cell in skipped)
    cells = [cell for cell in cells if cell not in skipped]
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell["outputs"]]
    assert [output["text"] for output in outputs if output.get("name") == "stderr"] == []
    shown = sum("application/vnd.jupyter.widget-view+json" in output.get("data", {}) for output in outputs)
    sources = ["".join(cell["source"]) for cell in cells]
    assert shown == sum(len(re.findall(r"\.figure\(", source)) for source in sources)


def test_links_between_the_notebooks_lead_from_one_to_the_other(binder):
    _, tree, _ = binder
    for path in tree.glob("book/*/*.ipynb"):
        text = "\n".join("".join(cell["source"]) for cell in json.loads(path.read_bytes())["cells"])
        for name in re.findall(r"\]\(([\w-]+\.ipynb)[^)]*\)", text):
            assert (path.parent / name).exists()
        assert "/blob/notebooks/" not in text.replace("git+https", "")


def test_bertviz_finds_its_scripts(binder):
    python, tree, variables = binder
    program = "from why_attention.pages.bertviz_scripts import SCRIPTS; [open(script, 'rb') for script in SCRIPTS]"
    run(python, "-c", program, env=variables, cwd=tree)


def test_jupyterlab_saves_figures_with_a_notebook(binder):
    python, _, _ = binder
    settings = Path(python).parents[1] / "share" / "jupyter" / "lab" / "settings" / "overrides.json"
    assert settings.read_bytes() == (ROOT / "tools" / "lab" / "overrides.json").read_bytes()
