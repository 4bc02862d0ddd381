"""The one table of symbols against what the pages, the package and the figures really write."""

import ast
import re
from pathlib import Path

import pytest
from test_pages import EDITIONS, PAGES, inline, page_tokens

from explorable import set_language
from why_attention.pages.symbols import SYMBOLS, table

PACKAGE = Path(__file__).parents[1] / "src" / "why_attention"
MODULES = sorted(PACKAGE.glob("*.py"))
FIGURES = sorted((PACKAGE / "figures").glob("*.py"))
SHORT = re.compile(r"[A-Za-z](_\w{1,2})?")  # one letter, or one with a subscript
WRITTEN = re.compile(r"[A-Za-zα-ω](?:_\{[^}]*\}|_\w)?")  # such a letter in a figure's symbol
INDEX = re.compile(r"[A-Za-z]")
each_figure = pytest.mark.parametrize("path", FIGURES, ids=lambda path: path.name)
each_module = pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)


def tree(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def exported(module):
    """Return the functions and classes that a module names in __all__."""
    assigned = [node for node in module.body if isinstance(node, ast.Assign)]
    lists = [node.value for node in assigned if getattr(node.targets[0], "id", "") == "__all__"]
    names = {name for one in lists for name in ast.literal_eval(one)}
    return [node for node in module.body if getattr(node, "name", None) in names]


def parameters(definition):
    """Return the names of a function's parameters, or of those of a class's public methods."""
    functions = [node for node in (definition, *definition.body) if isinstance(node, ast.FunctionDef)]
    public = [function for function in functions if function.name == "__init__" or function.name[0] != "_"]
    return {one.arg for function in public for one in (*function.args.args, *function.args.kwonlyargs)}


def attributes(module):
    """Return the names that a module's classes give to their fields and attributes."""
    nodes = list(ast.walk(module))
    fields = {getattr(node.target, "id", "") for node in nodes if isinstance(node, ast.AnnAssign)}
    wholes = [whole for node in nodes if isinstance(node, ast.Assign) for whole in node.targets]
    targets = [target for whole in wholes for target in getattr(whole, "elts", [whole])]
    of_self = [one for one in targets if isinstance(one, ast.Attribute) and getattr(one.value, "id", "") == "self"]
    return fields | {target.attr for target in of_self}


def short_names(path):
    module = tree(path)
    names = attributes(module).union(*(parameters(one) for one in exported(module)))
    return {name for name in names if SHORT.fullmatch(name)}


def figure_symbols(path):
    """Return what a figure writes beside its controls and axes."""
    calls = [node for node in ast.walk(tree(path)) if isinstance(node, ast.Call)]
    values = [keyword.value for call in calls for keyword in call.keywords if keyword.arg == "symbol"]
    return [written_text(value) for value in values]


def written_text(value):
    """Return a text as it stands in the code; of an f-string, what stands around its numbers."""
    if isinstance(value, ast.JoinedStr):
        return "".join(part.value for part in value.values if isinstance(part, ast.Constant))
    return ast.literal_eval(value)


def formulas(edition):
    """Return every formula of an edition's pages."""
    blocks = [token.content for page in PAGES for token in page_tokens(edition, page) if token.type == "math_block"]
    children = [child for page in PAGES for token in inline(edition, page) for child in token.children]
    return blocks + [child.content for child in children if child.type == "math_inline"]


@each_module
def test_every_short_name_of_the_package_is_in_the_table(path):
    assert short_names(path) - {symbol.code for symbol in SYMBOLS} == set()


@each_figure
def test_every_letter_of_a_figures_symbols_is_in_the_table(path):
    known = {symbol.figure for symbol in SYMBOLS}
    bases, indices = {name[0] for name in known if name}, {name for name in known if len(name) == 1}
    for symbol in figure_symbols(path):
        for letter in WRITTEN.findall(symbol):
            assert letter[0] in bases, symbol
            assert set(INDEX.findall(letter[1:])) <= indices, symbol


def test_no_code_of_the_table_is_dead():
    used = set().union(*map(short_names, MODULES))
    assert {symbol.code for symbol in SYMBOLS if symbol.code} - used == set()


def test_no_figure_of_the_table_is_dead():
    written = WRITTEN.findall(" ".join(symbol for path in FIGURES for symbol in figure_symbols(path)))
    indices = {index for letter in written for index in INDEX.findall(letter[1:])}
    assert {symbol.figure for symbol in SYMBOLS if symbol.figure} - {*written, *indices} == set()


@pytest.mark.parametrize("edition", EDITIONS)
def test_a_symbol_without_code_is_in_a_formula_of_the_pages(edition):
    written = "\n".join(formulas(edition))
    dead = [
        symbol.tex
        for symbol in SYMBOLS
        if not symbol.code and not re.search(rf"(?<![A-Za-z\\]){re.escape(symbol.tex)}(?![A-Za-z])", written)
    ]
    assert dead == []


def test_no_meaning_is_given_twice():
    for edition in EDITIONS:
        meanings = [symbol.meaning.words[edition] for symbol in SYMBOLS]
        assert len(meanings) == len(set(meanings))


@pytest.mark.parametrize("edition, words", [("zh", "感受野"), ("en", "receptive field")])
def test_the_table_has_a_row_for_each_symbol_in_the_pages_language(edition, words):
    set_language(edition)
    lines = table().data.splitlines()
    assert len(lines) == 2 + len(SYMBOLS)
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {6}
    assert f"| $R$ |  |  |  | {words} |" in lines


@pytest.mark.parametrize(
    "source, names",
    [
        ("__all__ = ['f']\ndef f(x, width): pass\ndef g(y): pass", {"x"}),
        ("__all__ = ['C']\nclass C:\n    k: int\n    def m(self, s_0): self.W, self.wide = 1, 2", {"k", "s_0", "W"}),
        ("__all__ = ['f']\ndef f(*, b_hn): z = 1", {"b_hn"}),
    ],
)
def test_short_names_are_found(tmp_path, source, names):
    path = tmp_path / "module.py"
    path.write_text(source, encoding="utf-8")
    assert short_names(path) == names
