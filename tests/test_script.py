"""The browser's half: every module is part of the script, none is in another's way, and no file knows the kinds of panel."""

import json
import re

import pytest
from node import check, evaluate

from explorable import script
from explorable.panels import KINDS

PAGE_JS = script.FOLDER / "js" / "page.js"


def test_every_module_is_part_of_the_page_and_all_but_its_host_of_the_widget():
    every = {path for folder in ("js", "panels") for path in (script.FOLDER / folder).glob("*.js")}
    assert set(script.modules(*script.PANELS, PAGE_JS)) == every
    assert set(script.modules(*script.PANELS, script.FOLDER / "js" / "explorable.js")) == every - {PAGE_JS}


def test_every_module_comes_once_and_after_those_that_it_imports(tmp_path):
    imports = {"a": "bd", "b": "cd", "c": "d", "d": ""}
    for name, needed in imports.items():
        lines = [f'import {{ {one} }} from "./{one}.js";\n' for one in needed]
        (tmp_path / f"{name}.js").write_text("".join(lines) + f"export const {name} = 1;\n", encoding="utf-8")
    assert [path.stem for path in script.modules(tmp_path / "c.js", tmp_path / "a.js")] == ["d", "c", "b", "a"]
    assert "import" not in script.join(tmp_path / "a.js")


def test_what_a_module_does_not_export_is_its_own(tmp_path):
    (tmp_path / "a.js").write_text("const own = 1;\nexport const a = own;\n", encoding="utf-8")
    (tmp_path / "b.js").write_text(
        'import { a } from "./a.js";\nconst own = 2;\nexport const b = a + own;\n', encoding="utf-8"
    )
    assert evaluate(script.join(tmp_path / "b.js"), "[a, b, typeof own]") == [1, 3, "undefined"]


def test_the_widget_is_a_module_with_one_default_export_and_no_import():
    assert re.findall(r".*\bexport\b.*", script.WIDGET) == ["export default { render };"]
    assert not re.search(r"^\s*import\b", script.WIDGET, re.MULTILINE)
    check(script.WIDGET, ".mjs")


def test_the_page_script_is_classic_and_no_two_modules_export_one_name():
    assert not re.search(r"^\s*(import|export)\b", script.PAGE, re.MULTILINE)
    check(script.PAGE, ".cjs")
    check(script.join(*script.PANELS, PAGE_JS), ".mjs")  # a module refuses a second export of one name too


def test_the_page_script_runs_without_figures_and_leaves_no_global():
    program = f"""
        import vm from "node:vm";
        const page = vm.createContext({{ document: {{ querySelectorAll: () => [] }} }});
        vm.runInContext({json.dumps(script.PAGE)}, page);
        const names = ["KINDS", "LOOK", "WORDS", "element", "readAddress", "render"];
        const leaked = names.filter((name) => vm.runInContext(`typeof ${{name}}`, page) !== "undefined");
    """
    assert evaluate(program, "[Object.keys(page), leaked]") == [["document"], []]


@pytest.mark.parametrize("kind", [panel.kind for panel in KINDS])
def test_a_kind_of_panel_is_named_in_its_two_files_and_the_list_only(kind):
    texts = [path for ending in ("py", "js", "css", "json") for path in script.FOLDER.rglob(f"*.{ending}")]
    naming = {
        path.name
        for path in texts
        if re.search(rf"[\"']{kind}\b|KINDS\.{kind}\b|\.{kind} import", path.read_text(encoding="utf-8"))
    }
    assert naming == {f"{kind}.py", f"{kind}.js", "__init__.py"}
