"""Notebooks derived from the pages: nothing of a page is lost on the way, nor anything that a reader has written."""

import locale
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import nbformat
import pytest
import yaml
from languages import EDITIONS, ROOT
from test_pages import PAGES, each_page, each_text, tokens
from test_pages import cells as code_of_page

HEAD = """---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  display_name: Python 3
  language: python
  name: python3
---

"""


@pytest.fixture(scope="module")
def derive(tool):
    address = tool("repository").repository()
    return cache(lambda edition, page: tool("notebooks").derive(ROOT / "book" / edition / page, edition, address))


@pytest.fixture(scope="module")
def all_notebooks(tool, tmp_path_factory):
    """The folder of the notebooks of both editions."""
    folder = tmp_path_factory.mktemp("notebooks")
    tool("notebooks").main(folder)
    return folder


@pytest.fixture
def derived_text(tool, tmp_path):
    """What becomes of a made-up page: the sources of its cells."""

    def derived(text, edition="zh"):
        path = tmp_path / "made-up.md"
        path.write_text(HEAD + text, encoding="utf-8")
        _run_all, _first, *cells = nbformat.reads(tool("notebooks").derive(path, edition), as_version=4).cells
        return [cell.source for cell in cells]

    return derived


def read(text):
    return nbformat.reads(text, as_version=4)


def texts_of(notebook):
    """Return the sources of the page's own cells of text."""
    return [cell.source for cell in notebook.cells[1:] if cell.cell_type == "markdown"]


def squeeze(text):
    return re.sub(r"\s", "", text)


def as_notebook(address):
    """Return where a link of a page leads in the notebooks."""
    own = not urlsplit(address).scheme
    return re.sub(r"\.md(?=$|#)", ".ipynb", address) if own else address


def links(sources):
    inline = [token for source in sources for token in tokens(source) if token.type == "inline"]
    children = [child for token in inline for child in token.children]
    return [
        child.attrs.get("href", child.attrs.get("src")) for child in children if child.type in ("link_open", "image")
    ]


def pieces_of(token, link=lambda address: address):
    """Return the pieces of a paragraph, white space left out: [kind, text] of each, runs of text joined."""
    pieces = []
    for child in token.children:
        text = link(child.attrs["href"]) if child.type == "link_open" else squeeze(child.content)
        kind = "text" if child.type in ("text", "softbreak") else child.type
        if kind == "text" and pieces and pieces[-1][0] == "text":
            pieces[-1][1] += text
        else:
            pieces.append([kind, text])
    return [piece for piece in pieces if piece != ["text", ""]]


def blocks(markdown, link=lambda address: address):
    """Return the blocks of a text as its parser reads them; what is set as it stands keeps its white space."""
    found = []
    for token in tokens(markdown):
        code_cell = token.type == "fence" and token.info.startswith("{code-cell}")
        if code_cell or token.type in ("front_matter", "myst_block_break"):
            continue
        content = pieces_of(token, link) if token.type == "inline" else token.content.rstrip("\n")
        found.append((token.type, token.tag, token.markup, token.info, content))
    return found


# Every page


@each_text
def test_the_same_page_gives_the_same_notebook_byte_for_byte(derive, all_notebooks, edition, page):
    assert (all_notebooks / edition / page).with_suffix(".ipynb").read_bytes() == derive(edition, page).encode()


@each_text
def test_a_notebook_is_valid_and_holds_no_outputs(derive, edition, page):
    notebook = read(derive(edition, page))
    nbformat.validate(notebook)
    assert len({cell.id for cell in notebook.cells}) == len(notebook.cells)
    assert all(
        cell.outputs == [] and cell.execution_count is None for cell in notebook.cells if cell.cell_type == "code"
    )


@each_text
def test_a_notebook_names_its_kernel_and_its_page(derive, edition, page):
    metadata = read(derive(edition, page)).metadata
    assert metadata.kernelspec.name == "python3"
    assert metadata.language_info.name == "python"
    assert re.fullmatch("[0-9a-f]{16}", metadata.why_attention.derived)
    assert "jupytext" not in metadata


@each_text
def test_code_cells_are_the_pages_own_in_order(derive, edition, page):
    first, *code = [cell.source for cell in read(derive(edition, page)).cells if cell.cell_type == "code"]
    assert "find_spec" in first
    assert code == [cell.strip("\n") for cell in code_of_page(edition, page)]


@each_text
def test_code_that_is_folded_on_the_site_is_open_in_a_notebook(derive, edition, page):
    _first, *cells = [cell for cell in read(derive(edition, page)).cells if cell.cell_type == "code"]
    assert not [cell.source for cell in cells if {"jupyter", "cellView"} & cell.metadata.keys()]


@each_text
def test_no_block_and_no_word_of_a_page_is_lost(derive, edition, page):
    source = (ROOT / "book" / edition / page).read_text(encoding="utf-8")
    notebook = "\n\n".join(texts_of(read(derive(edition, page))))
    assert blocks(notebook) == blocks(source, link=as_notebook)


@pytest.mark.parametrize("page", PAGES)
def test_english_text_keeps_its_lines(derive, page):
    source = (ROOT / "book" / "en" / page).read_text(encoding="utf-8")
    for cell in texts_of(read(derive("en", page))):
        assert cell.replace(".ipynb", ".md") in source


@each_text
def test_links_between_pages_lead_to_notebooks_that_are_there(all_notebooks, edition, page):
    path = (all_notebooks / edition / page).with_suffix(".ipynb")
    sources = texts_of(nbformat.read(path, as_version=4))
    own = [urlsplit(address).path for address in links(sources) if not urlsplit(address).scheme]
    assert [address for address in own if address and not (path.parent / address).exists()] == []
    assert not any(address.endswith(".md") for address in own)


@each_text
def test_links_to_other_sites_stay_as_they_are(derive, edition, page):
    source = (ROOT / "book" / edition / page).read_text(encoding="utf-8")
    outside = [
        [link for link in links(text) if urlsplit(link).scheme]
        for text in ([source], texts_of(read(derive(edition, page))))
    ]
    assert outside[0] == outside[1]


@each_page
def test_all_editions_give_the_same_cells_but_for_their_text(derive, page):
    first, *others = (read(derive(edition, page)).cells for edition in EDITIONS)
    for cells in others:
        assert [(c.id, c.cell_type, c.metadata) for c in cells] == [(c.id, c.cell_type, c.metadata) for c in first]


@pytest.mark.parametrize(("edition", "words"), [("zh", "先运行全部单元格"), ("en", "First run all cells")])
def test_a_notebook_says_first_of_all_how_to_run_it(derive, edition, words):
    first = read(derive(edition, "attention.md")).cells[0]
    assert first.cell_type == "markdown" and first.source.startswith(words)
    assert "**Run → Run All Cells**" in first.source and "**Runtime → Run all**" in first.source


def test_a_page_opened_as_a_notebook_and_saved_keeps_its_header_and_its_text(tmp_path):
    """As jupytext's contents manager does it in JupyterLab; yaml may write a description in other quotes."""
    from jupyter_server.services.contents.largefilemanager import LargeFileManager
    from jupytext.sync_contentsmanager import build_sync_jupytext_contents_manager_class

    shutil.copy(ROOT / "jupytext.toml", tmp_path)
    manager = build_sync_jupytext_contents_manager_class(LargeFileManager)(root_dir=str(tmp_path))
    for edition, page in ((edition, page) for edition in EDITIONS for page in PAGES):
        before = (ROOT / "book" / edition / page).read_text(encoding="utf-8")
        (tmp_path / page).write_text(before, encoding="utf-8")
        opened = manager.get(page, type="notebook", content=True)
        manager.save({"type": "notebook", "format": "json", "content": opened["content"]}, page)
        (_, header, text), (_, saved, same) = (
            one.split("---\n", 2) for one in (before, (tmp_path / page).read_text(encoding="utf-8"))
        )
        assert (yaml.safe_load(saved), same) == (yaml.safe_load(header), text)


# Made-up pages


JOINED = {
    "paragraph": ("甲，\n乙。\n丙", "甲，乙。丙"),
    "quotation": ("> 甲，\n> 乙", "> 甲，乙"),
    "item of a list": ("- 甲，\n  乙", "- 甲，乙"),
    "numbered item in a quotation": ("> 1. 甲，\n>    乙", "> 1. 甲，乙"),
    "before a year": ("甲，\n2017 年", "甲，2017 年"),
    "before a decimal fraction": ("甲，\n0.5 倍", "甲，0.5 倍"),
    "before a formula": ("甲，\n$x$ 乙", "甲，$x$ 乙"),
    "before code": ("甲，\n`x` 乙", "甲，`x` 乙"),
    "before bold": ("甲。\n**乙**", "甲。**乙**"),
    "after bold": ("**甲**。\n乙", "**甲**。乙"),
    "after the title of a book": ("《甲》\n乙", "《甲》乙"),
    "before a quotation": ("甲\n“乙”", "甲“乙”"),
    "before brackets": ("x\n（乙）", "x（乙）"),
    "between characters": ("甲\n乙", "甲乙"),
    "after a link": ("[甲](https://example.org)\n乙", "[甲](https://example.org)乙"),
    "after code that ends in a letter": ("甲，`x`\n“乙”", "甲，`x`“乙”"),
    "before a link": ("甲，\n[乙](https://example.org)", "甲，[乙](https://example.org)"),
    "in what is folded": ("<details>\n\n甲，\n乙\n\n</details>", "<details>\n\n甲，乙\n\n</details>"),
}


@pytest.mark.parametrize(("text", "joined"), JOINED.values(), ids=JOINED)
def test_lines_of_a_chinese_paragraph_are_joined_after_punctuation(derived_text, text, joined):
    assert derived_text(text) == [joined]


KEPT = {
    "two paragraphs": "甲。\n\n乙",
    "a list after text": "甲：\n- 乙，\n- 丙",
    "a numbered list after text": "甲：\n1. 乙，\n2. 丙",
    "a numbered list of brackets": "甲：\n1) 乙，\n2) 丙",
    "a list in a quotation": "> 甲：\n>\n> 1. 乙，\n> 2. 丙",
    "a display after text": "甲：\n$$\nx\n$$",
    "code": "甲\n\n```text\n乙，\n丙\n```",
    "code after text": "甲：\n```text\n乙\n```",
    "a table": "| 甲： | 乙 |\n|---|---|\n| 丙， | 丁 |",
    "what is folded": "甲。\n<details>\n<summary>答案</summary>\n\n乙\n\n</details>",
    "a heading after text": "甲。\n# 乙",
    "bold that ends in punctuation": "**甲。**\n乙",
    "bold that begins with punctuation": "甲\n**“乙”**",
    "a hard line break": "甲，\\\n乙",
    "before a Latin word": "甲\nLSTM",
    "after a formula": "$x$\n乙",
    "between Latin words": "a\nb",
    "code that goes over lines": "`a\nb`，\n乙",
}


@pytest.mark.parametrize("text", KEPT.values(), ids=KEPT)
def test_line_breaks_that_mean_something_are_kept(derived_text, text):
    assert derived_text(text) == [text]


def test_a_code_cells_text_is_never_joined(derived_text):
    assert derived_text('甲\n\n```{code-cell} python\nx = """乙，\n丙"""\n```')[1] == 'x = """乙，\n丙"""'


LINKS = {
    "page": ("[a](recurrence.md)", "[a](recurrence.ipynb)"),
    "place in a page": ("[a](recurrence.md#top)", "[a](recurrence.ipynb#top)"),
    "page of the other edition": ("[a](../en/index.md)", "[a](../en/index.ipynb)"),
    "two pages": ("[a](x.md) [b](y.md)", "[a](x.ipynb) [b](y.ipynb)"),
    "other site": ("[a](https://example.org/README.md)", "[a](https://example.org/README.md)"),
    "no link": ("`x.md`", "`x.md`"),
}


@pytest.mark.parametrize(("text", "turned"), LINKS.values(), ids=LINKS)
def test_a_link_to_a_page_becomes_one_to_its_notebook(derived_text, text, turned):
    assert derived_text(text, "en") == [turned]


# Writing beside what a reader has written


def notebook_text(text, derived):
    """Return a notebook as ``derive`` gives it."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(text, id="cell-0")])
    notebook.metadata["why_attention"] = {"derived": derived}
    return nbformat.writes(notebook) + "\n"


def test_a_notebook_that_was_only_run_is_replaced_and_one_with_a_changed_cell_set_aside(tool, tmp_path):
    page, target = tmp_path / "page.md", tmp_path / "page.ipynb"
    derived = []
    for text in ("甲", "乙", "丙"):
        page.write_text(f"{HEAD}{text}\n\n```{{code-cell}} python\n1 + 1\n```\n", encoding="utf-8")
        derived.append(tool("notebooks").derive(page, "zh"))
    tool("notebooks").write(derived[0], target)
    run = nbformat.read(target, as_version=4)  # as JupyterLab saves it: outputs, a kernel's metadata, an empty cell
    run.cells[-1] |= {"execution_count": 1, "outputs": [nbformat.v4.new_output("stream", text="2")]}
    run.cells[-1].metadata["execution"] = {"iopub.status.idle": "2026"}
    run.cells.append(nbformat.v4.new_code_cell())
    run.metadata |= {"language_info": {"name": "python", "version": "3.11"}, "widgets": {}}
    nbformat.write(run, target)
    tool("notebooks").write(derived[1], target)
    assert target.read_text(encoding="utf-8") == derived[1]
    assert not target.with_suffix(".before-1.ipynb").exists()
    readers = change_as_a_reader(target)
    tool("notebooks").write(derived[2], target)
    assert target.with_suffix(".before-1.ipynb").read_text(encoding="utf-8") == readers


def test_a_readers_notebook_stays_where_its_successor_cannot_be_written(write, target, monkeypatch):
    write(notebook_text("the page", "1"), target)
    readers = change_as_a_reader(target)

    def half(self, text, **options):
        self.write_bytes(text.encode()[:100])
        raise OSError("the disk is full")

    monkeypatch.setattr(Path, "write_text", half)
    with pytest.raises(OSError, match="full"):
        write(notebook_text("the new page", "2"), target)
    assert folder_of(target) == {"page.ipynb": readers}


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "gbk"])
def test_what_a_terminal_cannot_show_stops_nothing(tmp_path, encoding):
    """Two pages that a reader has changed, on another system's terminal."""
    for name in ("index", "recurrence"):
        path = tmp_path / "zh" / f"{name}.ipynb"
        path.parent.mkdir(exist_ok=True)
        path.write_text(notebook_text("an earlier page", "1"), encoding="utf-8")
    command = [sys.executable, ROOT / "tools" / "notebooks.py", tmp_path]
    done = subprocess.run(command, env={**os.environ, "PYTHONIOENCODING": encoding}, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.count(b"has changed; your notebook") == 2
    assert len([*tmp_path.rglob("*.before-1.ipynb")]) == 2
    assert len([*tmp_path.rglob("*.ipynb")]) == 2 * len(PAGES) + 2


def change_as_a_reader(path):
    """Change a notebook as JupyterLab does when a reader writes, runs and saves."""
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[0].source += "\n\nmy own note"
    notebook.cells.append(nbformat.v4.new_code_cell("1 + 1", outputs=[nbformat.v4.new_output("stream", text="2")]))
    notebook.metadata["widgets"] = {}
    notebook.metadata["language_info"] = {"name": "python", "version": "3.11"}
    nbformat.write(notebook, path)
    return path.read_text(encoding="utf-8")


@pytest.fixture
def write(tool):
    return tool("notebooks").write


@pytest.fixture
def target(tmp_path):
    return tmp_path / "zh" / "page.ipynb"


def folder_of(target):
    return {path.name: path.read_text(encoding="utf-8") for path in target.parent.iterdir()}


def test_a_notebook_is_written_where_there_is_none(write, target):
    text = notebook_text("the page", "1")
    write(text, target)
    assert folder_of(target) == {"page.ipynb": text}


def test_a_readers_notebook_stays_while_the_page_is_the_same(write, target):
    write(notebook_text("the page", "1"), target)
    readers = change_as_a_reader(target)
    write(notebook_text("the page", "1"), target)
    assert folder_of(target) == {"page.ipynb": readers}


def test_a_readers_notebook_is_set_aside_when_the_page_has_changed(write, target, capsys):
    write(notebook_text("the page", "1"), target)
    readers = change_as_a_reader(target)
    write(notebook_text("the new page", "2"), target)
    assert folder_of(target) == {"page.ipynb": notebook_text("the new page", "2"), "page.before-1.ipynb": readers}
    said = capsys.readouterr().out
    assert "page.ipynb" in said
    assert "page.before-1.ipynb" in said


def test_no_notebook_that_was_set_aside_is_ever_overwritten(write, target):
    kept = []
    for number in range(4):
        write(notebook_text("the page", str(number)), target)
        kept.append(change_as_a_reader(target))
    now = folder_of(target)
    assert now.pop("page.ipynb") == kept.pop()
    assert sorted(now) == ["page.before-1.ipynb", "page.before-2.ipynb", "page.before-3.ipynb"]
    assert sorted(now.values()) == sorted(kept)


BROKEN = {
    "empty": b"",
    "text": "甲".encode(),
    "cut short": notebook_text("the page", "1").encode()[:100],
    "not UTF-8": "甲".encode("utf-16"),
    "a list": b"[]",
    "null": b"null",
    "an object": b"{}",
    "no metadata": b'{"nbformat": 4, "nbformat_minor": 5, "cells": []}',
    "odd metadata": b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {"why_attention": "1"}, "cells": []}',
    "no cells": b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}}',
    "an older format": b'{"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": []}',
    "a later format": b'{"nbformat": 9, "nbformat_minor": 0, "metadata": {}, "cells": []}',
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_a_broken_notebook_is_set_aside(write, target, broken):
    target.parent.mkdir()
    target.write_bytes(broken)
    write(notebook_text("the page", "1"), target)
    assert target.read_text(encoding="utf-8") == notebook_text("the page", "1")
    assert target.with_name("page.before-1.ipynb").read_bytes() == broken


def test_every_page_of_both_editions_is_written(all_notebooks):
    names = {f"{edition}/{Path(page).stem}.ipynb" for edition in EDITIONS for page in PAGES}
    assert {path.relative_to(all_notebooks).as_posix() for path in all_notebooks.rglob("*.*")} == names


def test_writing_all_notebooks_again_changes_none(tool, all_notebooks, capsys):
    before = {path: path.read_bytes() for path in all_notebooks.rglob("*.*")}
    tool("notebooks").main(all_notebooks)
    assert {path: path.read_bytes() for path in all_notebooks.rglob("*.*")} == before
    assert capsys.readouterr().out == ""


# The edition that `make lab` opens


@pytest.mark.parametrize(
    ("variables", "found", "edition"),
    [
        ({"LANG": "zh_CN.UTF-8"}, None, "zh"),
        ({"LANG": "zh_TW"}, None, "zh"),
        ({"LANG": "en_US.UTF-8"}, None, "en"),
        ({"LANG": "fr_FR@euro"}, None, "en"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "de_DE.UTF-8"}, None, "en"),
        ({"LANG": "zh_CN.UTF-8", "LC_TIME": "nb_NO.UTF-8"}, None, "zh"),
        ({"LANG": "C.UTF-8"}, None, "zh"),
        ({"LC_ALL": "POSIX"}, None, "zh"),
        ({}, "Chinese (Simplified)_China", "zh"),  # as Windows says it
        ({}, "English_United States", "en"),
        ({}, None, "zh"),  # what Python makes of C
    ],
)
def test_the_readers_locale_chooses_the_edition_though_it_is_not_installed(
    tool, monkeypatch, variables, found, edition
):
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    def refuse(*_):
        raise locale.Error("unsupported locale setting")

    monkeypatch.setattr(locale, "setlocale", refuse)
    monkeypatch.setattr(locale, "getlocale", lambda *_: (found, "UTF-8"))
    assert tool("lab").edition(tool("lab").spoken()) == edition
