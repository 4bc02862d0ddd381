"""The book as an e-book and as LaTeX: every figure as its picture, every formula, and nothing of a screen's."""

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest
from languages import EDITIONS, FIRST, ROOT
from small_book import cell, copy_book, copy_project, environment, write_page
from test_build import FIGURE
from test_site import SHOWN

XHTML = "{http://www.w3.org/1999/xhtml}"
MATH = "{http://www.w3.org/1998/Math/MathML}math"
OBJECTS = re.compile(
    r"<(?:IPython|why_attention|explorable)[\w.]* |Explorable\(_"
)  # how Python says what it cannot show
PROGRAM = """
import subprocess, sys
from pathlib import Path
sys.path.insert(0, str(Path.cwd() / "tools"))
from settings import EDITIONS, arguments, settings, write_settings
code, builder = sys.argv[1:]
output = Path.cwd() / "_build" / builder
output.mkdir(parents=True)
write_settings(output, settings(EDITIONS[code]))
options = ["--builder", "custom", "--custom-builder", builder, "-W", "-n", "--keep-going"]
jupyter_book = Path(sys.executable).parent / "jupyter-book"
sys.exit(subprocess.run([jupyter_book, *arguments(EDITIONS[code], output), *options]).returncode)
"""


def build(book: Path, code: str, builder: str) -> Path:
    """Build an edition with a builder of Sphinx's and return the folder of what it made."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, code, builder],
        cwd=book,
        env=environment(book),
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-4000:]
    return book / "_build" / builder / "_build" / builder


def pages_of(folder: Path) -> dict[str, ElementTree.Element]:
    """Return the pages of the e-book in a folder by name, each well formed."""
    (path,) = folder.glob("*.epub")
    with zipfile.ZipFile(path) as file:
        return {name: ElementTree.fromstring(file.read(name)) for name in file.namelist() if name.endswith(".xhtml")}


def pictures(page: ElementTree.Element) -> list[str]:
    """Return the words of a page's pictures."""
    return [image.get("alt") for image in page.iter(f"{XHTML}img")]


PAGE = f"好的 $x_t$。\n\n$$ y = 1 \\tag{{2.1}} $$\n{cell(FIGURE)}\n<details>\n<summary>答&nbsp;案<br></summary>\n\n内容\n\n</details>\n"


@pytest.mark.slow
def test_a_page_becomes_xhtml_with_pictures_and_formulas(tmp_path):
    book = copy_book(tmp_path)
    write_page(book, PAGE)
    page = pages_of(build(book, FIRST.code, "epub"))["index.xhtml"]
    assert pictures(page) == ["s. n = 2"]
    assert len([*page.iter(MATH)]) == 2
    assert "内容" in "".join(page.itertext())


@pytest.mark.slow
def test_a_page_becomes_latex_with_pictures_and_formulas(tmp_path):
    book = copy_book(tmp_path)
    write_page(book, PAGE)
    (path,) = build(book, FIRST.code, "latex").glob("*.tex")
    text = path.read_text(encoding="utf-8")
    assert text.count("\\sphinxincludegraphics") == 1
    assert "\\(x_t\\)" in text and re.search(r"\\begin\{equation\*\}\s*y = 1 \\tag\{2.1\}\s*\\end\{equation\*\}", text)
    assert "xeCJK" in text and "内容" in text


@pytest.fixture(scope="module", params=EDITIONS)
def executed(request, site_folder, tmp_path_factory):
    """A copy of the project with what its cells gave in `make site`, and an edition."""
    book = copy_project(tmp_path_factory.mktemp("paper"))
    shutil.copytree(ROOT / "_build" / "outputs", book / "_build" / "outputs")
    return book, request.param


def displays(code: str) -> int:
    """Return how many formulas stand by themselves in an edition."""
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "book" / code).glob("*.md")]
    return sum(text.count("$$") for text in texts) // 2


def test_an_edition_becomes_an_e_book(executed):
    book, code = executed
    made = pages_of(build(book, code, "epub"))
    for name, figures in SHOWN.items():
        words = pictures(made[f"{name}.xhtml"])
        assert len(words) == len(figures) and all(re.search(r"\w+.*\d", one) for one in words)
    assert sum(one.get("display") == "block" for page in made.values() for one in page.iter(MATH)) == displays(code)
    text = "".join(text for page in made.values() for text in page.itertext())
    assert not OBJECTS.search(text) and "ParseError" not in text


def test_an_edition_becomes_latex(executed):
    book, code = executed
    (path,) = build(book, code, "latex").glob("*.tex")
    text = path.read_text(encoding="utf-8")
    assert text.count("\\sphinxincludegraphics") == sum(map(len, SHOWN.values()))
    assert len(re.findall(r"\\begin\{(?:equation|align|gather)\*?\}", text)) == displays(code)
    assert not OBJECTS.search(text.replace(r"\PYGZlt{}", "<"))
