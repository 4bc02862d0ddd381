"""The explorable stands alone: it knows nothing of the chapter, needs neither torch nor Sphinx, and leaves other widgets be."""

import ast
import json
import re
import subprocess
import sys
from types import SimpleNamespace

import ipywidgets
from ipywidgets.embed import dependency_state
from small_figures import figure

from explorable import script
from explorable.sphinx import STATE, drop_widgets

FILES = [path for ending in ("py", "js", "css", "json", "toml", "md") for path in script.FOLDER.rglob(f"*.{ending}")]
MAY = {"README.md", "pyproject.toml", "sphinx.py"}  # name torch or Sphinx: what a function may return, what to install


def test_no_file_names_the_chapter():
    named = [path.name for path in FILES if re.search("why.?attention", path.read_text(encoding="utf-8"), re.I)]
    assert len(FILES) > 40 and named == []


def test_no_code_names_torch_or_sphinx():
    code = {path.name: path.read_text(encoding="utf-8") for path in FILES if path.name not in MAY}
    code = {name: code_of(text) if name.endswith(".py") else text for name, text in code.items()}
    assert [name for name, text in code.items() if re.search("torch|sphinx", text, re.I)] == []


def code_of(source: str) -> str:
    """Return Python code without its comments and docstrings."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            node.value.value = ...
    return ast.unparse(tree)


def test_code_that_names_torch_is_seen():
    assert "torch" in code_of("def f():\n    import torch")
    assert "torch" in code_of("f('torch')")
    assert "torch" not in code_of('"""A torch tensor."""\n# torch\nx = 1')


def test_none_of_its_modules_but_sphinx_py_loads_them():
    names = [
        ".".join(path.relative_to(script.FOLDER.parent).with_suffix("").parts) for path in FILES if path.suffix == ".py"
    ]
    loaded = {name.removesuffix(".__init__") for name in names} - {"explorable.sphinx"}
    program = f"import sys, {', '.join(sorted(loaded))}\nprint(*sys.modules)"
    seen = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8", check=True).stdout
    assert loaded <= set(seen.split())
    assert not {"why_attention", "torch", "sphinx", "myst_nb"} & set(seen.split())


# In a Sphinx site


def after_dropping(*widgets):
    """Return the scripts that are left of those that MyST-NB puts on a page with widgets, and the saved models."""
    body = json.dumps({"version_major": 2, "version_minor": 0, "state": dependency_state(widgets)})
    state = SimpleNamespace(filename=None, attributes={"type": STATE, "body": body})
    theme, loader = (SimpleNamespace(filename=name, attributes={}) for name in ("theme.js", "widgets.js"))
    context = {"script_files": [theme, state, loader]}
    drop_widgets(SimpleNamespace(config=SimpleNamespace(nb_ipywidgets_js={"widgets.js": {}})), "", "", context, None)
    bodies = [one.attributes["body"] for one in context["script_files"] if "body" in one.attributes]
    models = [model["model_name"] for body in bodies for model in json.loads(body)["state"].values()]
    return [one.filename for one in context["script_files"]], sorted(models)


def test_a_figures_saved_models_are_dropped_and_with_them_the_scripts_that_would_show_them():
    assert after_dropping(figure()) == (["theme.js"], [])


def test_other_widgets_keep_their_models_and_the_scripts():
    expected = ["theme.js", None, "widgets.js"]
    assert after_dropping(ipywidgets.IntSlider()) == (expected, ["IntSliderModel", "LayoutModel", "SliderStyleModel"])
    assert after_dropping(figure(), ipywidgets.IntSlider()) == after_dropping(ipywidgets.IntSlider())
