"""The sources of the book: all editions say the same, pages stay portable, files stay in their own house."""

import ast
import re

import pytest
import yaml
from languages import EDITIONS, FIRST, ROOT
from myst_parser.config.main import MdParserConfig
from myst_parser.mdit_to_docutils.base import DocutilsRenderer
from myst_parser.parsers.mdit import create_md_parser
from packaging.specifiers import SpecifierSet

PAGES = sorted(path.name for path in (ROOT / "book" / FIRST.code).glob("*.md"))
TEXTS = [(edition, page) for edition in EDITIONS for page in PAGES]
SETTINGS = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))

each_page = pytest.mark.parametrize("page", PAGES)
each_text = pytest.mark.parametrize("edition, page", TEXTS)


def tokens(text):
    """Return a page's blocks as the book's own Markdown parser reads them."""
    config = MdParserConfig(enable_extensions=set(SETTINGS["parse"]["myst_enable_extensions"]))
    return create_md_parser(config, DocutilsRenderer).parse(text)


def page_source(edition, page):
    return (ROOT / "book" / edition / page).read_text(encoding="utf-8")


def page_tokens(edition, page):
    return tokens(page_source(edition, page))


def front_matter(edition, page):
    return yaml.safe_load(page_tokens(edition, page)[0].content)


def cells(edition, page):
    """Return the code of a page's cells, their options left out."""
    fences = [token for token in page_tokens(edition, page) if token.type == "fence"]
    return [re.sub(r"^:.*\n", "", f.content, flags=re.M) for f in fences if f.info.startswith("{code-cell}")]


def inline(edition, page):
    """Return the inline blocks of a page: paragraphs, headings, cells of tables."""
    return [token for token in page_tokens(edition, page) if token.type == "inline"]


# All editions


def test_all_editions_have_the_same_pages():
    for edition in EDITIONS:
        assert sorted(path.name for path in (ROOT / "book" / edition).glob("*.md")) == PAGES
    assert "index.md" in PAGES


def headings(edition, page):
    return [token.tag for token in page_tokens(edition, page) if token.type == "heading_open"]


def equations(edition, page):
    """Return the \\tag numbers of each displayed equation."""
    blocks = [token.content for token in page_tokens(edition, page) if token.type in ("math_block", "amsmath")]
    return [re.findall(r"\\tag\{(.*?)\}", block) for block in blocks]


def figures(edition, page):
    """Return the figures that cells show and the images of the text."""
    images = [child.attrs["src"] for token in inline(edition, page) for child in token.children if child.tag == "img"]
    return re.findall(r"\b(\w+)\.figure\(", "\n".join(cells(edition, page))) + images


def folded(edition, page):
    return [token.content.count("<details") for token in page_tokens(edition, page) if token.type == "html_block"]


def code(edition, page):
    """Return the syntax trees of a page's cells without comments, and with every string blank, in f-strings too."""
    trees = [ast.parse(cell) for cell in cells(edition, page)]
    for node in (node for tree in trees for node in ast.walk(tree)):
        if isinstance(node, ast.JoinedStr):
            node.values = [value for value in node.values if isinstance(value, ast.FormattedValue)]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = ""
    return [ast.unparse(tree) for tree in trees]


@each_page
@pytest.mark.parametrize("part", [headings, equations, figures, folded, code])
def test_all_editions_of_a_page_have_the_same(part, page):
    for edition in EDITIONS:
        assert part(edition, page) == part(FIRST.code, page)


def test_the_comparison_finds_every_part_somewhere_in_the_book():
    for part in (headings, equations, figures, folded, code):
        assert any(part(FIRST.code, page) for page in PAGES), part.__name__


@each_page
def test_displayed_equations_are_numbered_in_rising_order(page):
    numbers = [tuple(map(int, tag.split("."))) for tags in equations(FIRST.code, page) for tag in tags]
    assert numbers == sorted(set(numbers))


# Every page


SHOWS_A_FIGURE = re.compile(r"from why_attention\.figures import (\w+)(?: as (\w+))?\n+(\w+)\.figure\(\)\n")


@each_text
def test_the_code_of_a_cell_is_folded_where_it_only_shows_a_figure(edition, page):
    for cell in (token.content for token in page_tokens(edition, page) if token.info.startswith("{code-cell}")):
        shows = SHOWS_A_FIGURE.fullmatch(re.sub(r"^:.*\n|^\n", "", cell, flags=re.M))
        tags = re.search(r"^:tags: \[(.*)\]$", cell, re.M)
        assert ("hide-input" in tags[1] if tags else False) == bool(shows and shows[3] in shows.groups()[:2]), cell


@each_text
def test_a_page_has_a_description_in_its_language(edition, page):
    description = front_matter(edition, page)["myst"]["html_meta"]["description"]
    assert bool(re.search("[一-鿿]", description)) == (edition == "zh")


@pytest.mark.parametrize("edition", EDITIONS)
def test_the_index_calls_every_page_by_its_title(edition):
    names = re.findall(r"^\| \[(.+?)\]\((.+?\.md)\)", page_source(edition, "index.md"), re.M)
    assert len(names) == 7
    assert {page: re.search("^# (.+)", page_source(edition, page), re.M)[1] for _, page in names} == {
        page: name for name, page in names
    }


@each_text
def test_the_first_cell_sets_the_language_and_no_other_does(edition, page):
    setting = [re.findall(r"set_language\((.*?)\)", cell) for cell in cells(edition, page)]
    assert setting == [[f'"{edition}"'], *([] for _ in setting[1:])][: len(setting)]


@each_text
def test_a_cell_has_at_most_15_lines(edition, page):
    assert [cell for cell in cells(edition, page) if len(cell.strip().splitlines()) > 15] == []


def sentences(text, ends):
    """Count the sentences that end inside a line of text, those in brackets, quotes, code and formulas aside."""
    text = re.sub(r"`[^`]*`|\$[^$]+\$|\]\([^)]*\)|[*_]", "", text)
    for pair in (r"“[^“”]*”", r'"[^"]*"', r"（[^（）]*）", r"\([^()]*\)", r"《[^《》]*》"):
        text = re.sub(pair, "x", text)
    return len(re.findall(ends, text))


@each_text
def test_a_line_holds_one_sentence(edition, page):
    ends, most = ("[。？！]", 1) if edition == "zh" else (r"[.?!] +[A-Z]", 0)
    lines = [line for token in inline(edition, page) for line in token.content.split("\n")]
    assert [line for line in lines if sentences(line, ends) > most] == []


@pytest.mark.parametrize(
    "line, ends, count",
    [
        ("先看图。再猜。", "[。？！]", 2),
        ("他说“好。行。”（真的。）就走了。", "[。？！]", 1),
        ("Look first. Then guess.", r"[.?!] +[A-Z]", 1),
        ("See `a. B` (so. It is) and $x. Y$ in [Pascanu. A](doi. Org).", r"[.?!] +[A-Z]", 1),
        ("The value 0.5 et al. 2013 is small.", r"[.?!] +[A-Z]", 0),
    ],
)
def test_sentences_are_counted_where_they_end(line, ends, count):
    assert sentences(line, ends) == count


@each_text
def test_a_page_has_no_directive_and_no_role_but_code_cells(edition, page):
    blocks = page_tokens(edition, page)
    children = [child for token in blocks for child in token.children or []]
    assert [token.info for token in blocks if token.info.startswith("{") and token.info != "{code-cell} python"] == []
    allowed = r"front_matter|(heading|paragraph|blockquote|(bullet|ordered)_list|list_item|table|t[hrd]|thead|tbody)_.*"
    allowed += r"|fence|math_block|amsmath|html_block|inline|hr"
    assert {token.type for token in blocks if not re.fullmatch(allowed, token.type)} == set()
    allowed = r"text|softbreak|code_inline|math_inline|html_inline|image|(strong|em|link)_(open|close)"
    assert {child.type for child in children if not re.fullmatch(allowed, child.type)} == set()
    assert (
        re.findall(r"^:::.*|^\{\w.*", page_source(edition, page), re.M) == []
    )  # what MyST might yet be taught to read


@each_text
def test_no_item_of_a_list_is_an_empty_list(edition, page):
    """Such as "3. 500.", which Markdown reads as a list in a list."""
    kinds = [token.type for token in page_tokens(edition, page)]
    assert ("list_item_open", "list_item_close") not in zip(kinds, kinds[1:])


def literal_marks(blocks):
    """Return the stretches of text in which a mark of bold type is left standing."""
    texts = [child.content for token in blocks for child in token.children or [] if child.type == "text"]
    return [text for text in texts if "**" in text or "__" in text]


@each_text
def test_no_mark_of_bold_type_is_left_standing(edition, page):
    assert literal_marks(page_tokens(edition, page)) == []


@pytest.mark.parametrize(
    "text, standing",
    [
        ("**注意力：**它看得远", True),
        ("**注意力**：它看得远", False),
        ("这是**“软对齐”**的例子", True),
        ("`a**b`", False),
    ],
)
def test_bold_type_before_chinese_punctuation_is_seen(text, standing):
    assert bool(literal_marks(tokens(text))) == standing


# Every file


def own_files(*folders):
    """Return the text files of folders, what was built or cached left out."""
    kinds = {"", ".py", ".js", ".css", ".html", ".md", ".yml", ".yaml", ".toml", ".txt", ".svg", ".json", ".sh", ".cff"}
    paths = [
        path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in kinds and path.is_file()
    ]
    return [path for path in paths if not re.search(r"egg-info|__pycache__|\.ipynb_checkpoints", str(path))]


def other_hosts(path):
    """Return the hosts that a file names, links to papers in a page's prose left out."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        text = re.sub(r"\]\(https://(arxiv|doi)\.org/[^)\s]*\)", "]", text)
    hosts = re.findall(r"\b(?:https?|wss?)://([\w.-]+)", text) + re.findall(r"[\"'(=]//([\w-]+\.[\w.-]+)", text)
    return set(hosts) - {"localhost", "www.w3.org"}  # the latter: names of XML namespaces, which nobody fetches


def test_no_file_names_another_host():
    """But for the buttons that lead to Binder and Colab, the repository that these open, and a link for readers."""
    launch = {
        "README.md": {"jupyterbook.org"},
        "launch.html": {"mybinder.org", "colab.research.google.com", "github.com"},
        "address.py": {"example.org"},
        "repository.py": {"colab.research.google.com", "github.com"},
    }
    found = {str(path): other_hosts(path) - launch.get(path.name, set()) for path in own_files("src", "book", "tools")}
    assert {path: hosts for path, hosts in found.items() if hosts} == {}


def install_files():
    """Return the files that say what to install."""
    kinds = {".txt", ".toml", ".yml", ".yaml"}
    files = [path for path in ROOT.iterdir() if path.suffix in kinds or path.name == "Makefile"]
    return files + own_files(".binder", ".github", ".ci", "tools")


def test_jupyter_book_is_asked_for_below_version_2():
    """Version 2 is another program, which reads no _config.yml."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in install_files())
    asked = re.findall(r"\bjupyter-book *((?:(?:[<>=!~]=|[<>]) *[\w.*]+ *,? *)+)", text)
    assert asked and [one for one in asked if SpecifierSet(one).contains("2.0.0")] == []
    assert not re.search(r"\binstall\b[^;&|\n]*\bjupyter-book(?![\w-]| *[<>=~!])", text)  # any version


def test_only_requirements_txt_pins():
    kinds = {".txt", ".toml", ".yml", ".yaml", ""}
    pin = re.compile(r"[A-Za-z][\w.-]*(?:\[[\w,]*\])? *===? *v?\d")
    texts = {path.name: path.read_text(encoding="utf-8") for path in install_files() if path.suffix in kinds}
    assert {name for name, text in texts.items() if pin.search(text)} == {"requirements.txt"}


def test_every_requirement_is_pinned():
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    packages = [line for line in lines if line.strip() and not line.startswith("#")]
    assert [line for line in packages if not re.match(r"[\w.-]+(\[\w+\])?==\d", line)] == []
