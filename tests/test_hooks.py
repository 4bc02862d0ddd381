"""Our Sphinx hooks, one by one: what each does, and that it says so when Sphinx or the theme has changed beneath it."""

import importlib
import re
import subprocess
import sys
from types import SimpleNamespace

import jinja2
import pytest
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po
from docutils import nodes
from docutils.core import publish_doctree
from docutils.utils import new_document
from languages import EDITIONS, FIRST, ROOT
from myst_parser.docutils_ import Parser
from pygments import highlight
from pygments.lexers import PythonLexer
from sphinx.errors import ExtensionError
from test_notebooks import JOINED
from test_pages import PAGES, cells

from why_attention.masks import causal_mask
from why_attention.pages.show_source import show_source

HOOKS = ROOT / "book" / "_ext"


SOURCE = {"markdown": show_source(causal_mask).data, "html": show_source(causal_mask)._repr_html_()}


@pytest.fixture
def hook(monkeypatch):
    monkeypatch.syspath_prepend(HOOKS)
    return importlib.import_module


@pytest.fixture
def built(tmp_path):
    """A build that has ended, with an empty folder."""
    (tmp_path / "_static").mkdir()
    builder, config = SimpleNamespace(name="html"), SimpleNamespace(language="zh_CN")
    return SimpleNamespace(outdir=tmp_path, builder=builder, config=config)


# What cells are made of


@pytest.mark.parametrize("page", PAGES)
def test_every_cell_of_a_page_is_asked_what_it_imports(hook, page):
    page_sources = hook("page_sources")
    found = page_sources.CELL.findall((ROOT / "book" / "en" / page).read_text(encoding="utf-8"))
    assert [code.strip("\n") for code in found] == [code.strip("\n") for code in cells("en", page)]


def test_what_code_imports_counts_in_every_form_and_a_change_of_it_is_seen(hook, monkeypatch):
    page_sources = hook("page_sources")
    code = "import why_attention.cost as c, numpy\nfrom why_attention import (\n    rnn,\n    masks as m,\n)\n%matplotlib inline\n"
    assert {"why_attention.cost", "numpy", "why_attention.rnn", "why_attention.masks"} <= page_sources.imported(code)
    page = f"```{{code-cell}} python\n:tags: [a]\n\n{code}```\n"
    before = page_sources.digest_sources(page)
    monkeypatch.setattr(page_sources, "digest_module", lambda name: "changed" if name == "why_attention.masks" else "")
    assert page_sources.digest_sources(page) != before


# Math


def test_a_formula_is_set_in_a_line_and_as_a_display(hook):
    render = hook("katex_build").render
    assert render("x_t", display=False).startswith('<span class="katex">')
    assert render("隐_t", display=True).startswith('<span class="katex-display">')


def test_a_formula_that_katex_cannot_read_is_named(hook):
    with pytest.raises(ExtensionError, match=r"cannot read '\\\\nothing x': KaTeX parse error: Undefined control"):
        hook("katex_build").render(r"\nothing x", display=False)
    assert "katex" in hook("katex_build").render("x", display=False)  # the next one is set all the same


def test_node_ends_with_the_build_however_that_ends():
    program = "import katex_build, os; katex_build.render('x', False); os._exit(1)"
    # Node holds the pipe to stderr, which ends when all that write to it have
    done = subprocess.run([sys.executable, "-c", program], cwd=HOOKS, stderr=subprocess.PIPE, timeout=20)
    assert done.returncode == 1


@pytest.mark.parametrize("missing", ["DIST", "NODE"])
def test_missing_packages_are_named(hook, monkeypatch, missing):
    monkeypatch.setattr(hook("katex_build"), missing, ROOT / "nowhere")
    with pytest.raises(ExtensionError, match="nowhere is missing: run `make setup`"):
        hook("katex_build").setup(None)


# Chinese lines


CELL = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
PAGES = {
    path.stem: CELL.sub("", path.read_text(encoding="utf-8").split("---\n", 2)[2])
    for path in sorted((ROOT / "book" / FIRST.code).glob("*.md"))
}
TEXTS = {name: text for name, (text, _) in JOINED.items()} | PAGES


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_site_and_notebooks_join_the_same_lines(hook, tool, text):
    def read(markdown):
        settings = {"myst_enable_extensions": ["dollarmath"], "report_level": 5}
        page = publish_doctree(markdown, parser=Parser(), settings_overrides=settings)
        for message in list(page.findall(nodes.system_message)):  # of what it has no renderer for
            message.parent.remove(message)
        return page

    site = read(text)
    hook("chinese_lines").join_lines(SimpleNamespace(config=SimpleNamespace(language="zh_CN")), site)
    assert site.astext() == read(tool("notebooks").join_lines(text)).astext()


def test_english_lines_are_left_alone(hook):
    page = publish_doctree("He said “yes.”\n“No.”", parser=Parser())
    hook("chinese_lines").join_lines(SimpleNamespace(config=SimpleNamespace(language="en")), page)
    assert page.astext() == "He said “yes.”\n“No.”"


# Lines of code


def test_a_line_of_code_is_marked_by_its_indentation_and_its_break_stays_outside(hook):
    lines = hook("code_lines").Lines(nowrap=False)
    html = highlight("def f():\n    if a < b:\n\n        pass\n", PythonLexer(), lines)
    assert re.findall(r'<span class="line indent-(\d+)">', html) == ["0", "4", "8"]
    assert re.sub("<[^>]*>", "", html).strip() == "def f():\n    if a &lt; b:\n\n        pass"


# The words of templates


def words() -> set[str]:
    """Return the words of our templates and tools that are to be in the language of an edition."""
    templates = extract_from_dir(ROOT / "book" / "_templates", [("**.html", "jinja2.ext:babel_extract")])
    found = {message[2] for message in templates}
    for path in [*ROOT.glob("book/_ext/*.py"), *ROOT.glob("tools/*.py"), ROOT / "book" / "404.html"]:
        found |= set(re.findall(r'(?:\b_|translate)\("([^"]+)"\)', path.read_text(encoding="utf-8")))
    return found


def test_every_word_of_ours_is_in_every_language(tool):
    ours = words() | {tool("notebooks").TITLE, tool("notebooks").NOWHERE}
    assert {"Run", "Search this book", "Page not found"} <= ours
    for edition in EDITIONS.values():
        if edition.language != "en":
            assert sorted(ours - edition.catalogue.keys()) == []
            path = ROOT / "book" / "_locale" / edition.language / "LC_MESSAGES" / "sphinx.po"
            with path.open("rb") as file:  # as Sphinx reads it
                assert {one.id: one.string for one in read_po(file) if one.id} == edition.catalogue


@pytest.mark.parametrize("edition", EDITIONS.values(), ids=EDITIONS)
def test_the_switch_and_the_head_name_every_other_edition(hook, edition):
    others = [other for other in EDITIONS.values() if other is not edition]
    paths = [{"name": other.name, "tag": other.tag, "path": f"../{other.code}"} for other in others]
    builder = SimpleNamespace(get_target_uri=lambda page: f"{page}.html")
    app = SimpleNamespace(builder=builder, config=SimpleNamespace(other_editions=paths))
    context = {}
    hook("other_editions").add_context(app, "part/page", "page.html", context, None)
    template = jinja2.Template((ROOT / "book" / "_templates" / "language-switch.html").read_text(encoding="utf-8"))
    links = re.findall(r'href="([^"]+)" lang="([^"]+)" hreflang="([^"]+)".*>(.+)</a>', template.render(context))
    assert links == [(f"../../{o.code}/part/page.html", o.tag, o.tag, o.name) for o in others]


def test_the_packages_source_is_set_like_all_code_of_the_site(hook):
    forms = [nodes.container("", nodes.raw("", text), mime_type=f"text/{name}") for name, text in SOURCE.items()]
    page = nodes.container("", nodes.container("", *forms, nb_element="mime_bundle"))
    hook("source_code").drop_html(None, page)
    assert [form["mime_type"] for form in page[0]] == ["text/markdown"]


# An e-book


@pytest.mark.parametrize(
    "written, expected",
    [
        ("a<br>b<hr class='x'>", "a<br />b<hr class='x' />"),
        ('<img src="a.png"/><input disabled="">', '<img src="a.png" /><input disabled="" />'),
        ("a&nbsp;b &lt; &amp; &#160;", "a\u00a0b &lt; &amp; &#160;"),
        (
            '<details ontoggle="f(\'x\')"><summary>s</summary><iframe src="x"></iframe></details>',
            "<details><summary>s</summary></details>",
        ),
        ("<script>if (a && b < c) d();</script>gone", "gone"),
        ('say onclick="x"', 'say onclick="x"'),
    ],
)
def test_html_becomes_xhtml_without_scripts(hook, written, expected):
    assert hook("epub_pages").to_xhtml(written) == expected


def test_another_builder_than_the_sites_writes_none_of_its_files(hook, built):
    built.builder.name = "epub"
    hook("slim_theme").subset_fonts(built, None)
    hook("section_search").write_index(built, None)
    hook("bertviz_page").copy_scripts(built, None)
    hook("katex_build").copy_katex(built, None)
    assert [*(built.outdir / "_static").iterdir()] == []


# What is taken from Sphinx and the theme


def test_words_of_the_theme_are_translated_or_the_build_ends(hook, monkeypatch):
    templates = hook("theme_templates")
    monkeypatch.setattr(templates, "_", str.upper)
    assert templates.translate_attribute('<nav title="Main">', "title", "Main") == '<nav title="MAIN">'
    assert templates.translate_attribute(" \n", "title", "Main") == " \n"  # the page has none
    with pytest.raises(ExtensionError, match='no title="Main" any more'):
        templates.translate_attribute('<nav title="Chapters">', "title", "Main")


def test_lines_of_the_theme_are_dropped_or_the_build_ends(hook):
    drop_lines = hook("theme_templates").drop_lines
    assert drop_lines("a\nb x\nc", "x") == "a\nc"
    with pytest.raises(ExtensionError, match="no line with 'x' any more"):
        drop_lines("a\nb", "x")


@pytest.mark.parametrize("lost", ["fontawesome.js", "fa-solid.woff2", "theme.css"])
def test_another_font_awesome_ends_the_build(hook, built, lost):
    for path in ("scripts/fontawesome.js", "vendor/fontawesome/fa-solid.woff2", "theme.css"):
        if not path.endswith(lost):
            (built.outdir / "_static" / path).parent.mkdir(parents=True, exist_ok=True)
            (built.outdir / "_static" / path).write_text('.fa-bars{content:"\\f0c9"}', encoding="utf-8")
    (built.outdir / "index.html").write_text('<i class="fa-bars">', encoding="utf-8")
    with pytest.raises(ExtensionError, match="of Font Awesome the theme has .*0 "):
        hook("slim_theme").subset_fonts(built, None)


def test_a_view_with_other_scripts_ends_the_build(hook):
    hooks = hook("bertviz_page")
    context = {"pathto": lambda path, resource: path, "body": f"{hooks.VIEW}></details>"}
    with pytest.raises(ExtensionError, match="other scripts than"):
        hooks.share_scripts(None, "page", "page.html", context, None)


# Links


def test_anchors_are_those_of_the_english_headings_and_no_two_alike(hook):
    page = "---\nmyst: {}\n---\n\n# Why $x_t$\n\n## What you see\n\n```{code-cell}\n# no heading\n```\n\n## What you see\n\n### 1 `B`\n"
    assert hook("lasting_anchors").anchors(page) == ["why-x-t", "what-you-see", "what-you-see-2", "b"]


@pytest.mark.parametrize("address", ["", "https://example.org/book/en/"])
def test_a_page_says_what_a_chat_shows_of_it(hook, address):
    config = SimpleNamespace(html_title="Book", language="en", html_baseurl=address)
    builder = SimpleNamespace(name="html", get_target_uri=lambda page: f"{page}.html")
    context = {"title": "A <em>b</em> &amp; c", "metatags": '<meta content="Of &lt;all&gt;" name="description" />'}
    hook("open_graph").add_tags(SimpleNamespace(config=config, builder=builder), "page", "page.html", context, None)
    tags = dict(re.findall(r'property="og:(\w+)" content="([^"]*)"', context["metatags"]))
    assert tags["title"] == "A b &amp; c" and tags["description"] == "Of &lt;all&gt;"
    assert tags.get("url") == (f"{address}page.html" if address else None)
    assert tags.get("image") == (f"{address}_static/gradient-decay.png" if address else None)


def test_the_code_of_a_cell_with_the_tag_stands_folded_behind_what_it_shows(hook):
    """MyST-NB's own names of nodes and attributes; those of other cells stay as they are."""
    folded_code, document = hook("folded_code"), new_document("page")
    cells = [made_cell("input"), made_cell("output"), made_cell(None)]
    document += cells
    folded_code.FoldCode(document).run()
    assert [child.get("nb_element") for child in cells[0]] == ["cell_code_output", None]
    assert isinstance(cells[0][1], folded_code.FoldedCode)
    assert cells[0][1][0]["nb_element"] == "cell_code_source"
    assert "hide_mode" not in cells[0]  # else MyST-NB would fold it once more
    for cell in cells[1:]:
        assert [child["nb_element"] for child in cell] == ["cell_code_source", "cell_code_output"]


def made_cell(hide_mode):
    parts = [nodes.container(nb_element=f"cell_code_{part}") for part in ("source", "output")]
    return nodes.container("", *parts, nb_element="cell_code", **({"hide_mode": hide_mode} if hide_mode else {}))
