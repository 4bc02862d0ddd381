"""The ways to run a page elsewhere: every button leads to what the branch of notebooks holds."""

import importlib
import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from urllib.parse import parse_qs, unquote, urlsplit

import jinja2
import pytest
import yaml
from languages import EDITIONS, FIRST, ROOT

from why_attention.figure_cache import FRAMES

PAGES = sorted(path.stem for path in (ROOT / "book" / FIRST.code).glob("*.md"))
ADDRESSES = [
    "someone/a-book.zh",
    "https://github.com/someone/a-book.zh",
    "https://github.com/someone/a-book.zh/",
    "https://github.com/someone/a-book.zh.git",
    "https://github.com/someone/a-book.zh.git/",
    "git@github.com:someone/a-book.zh.git",
    "ssh://git@github.com/someone/a-book.zh",
    "ssh://git@github.com:22/someone/a-book.zh.git",
    "https://someone@github.com/someone/a-book.zh",
    "http://github.com/someone/a-book.zh",
    "github.com/someone/a-book.zh",
]


@pytest.fixture(scope="module")
def branch(tool, tmp_path_factory):
    """The tree that publish.yml pushes."""
    folder = tmp_path_factory.mktemp("branch")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BOOK_REPOSITORY", ADDRESSES[0])
        patch.setattr(tool("branch"), "run", lambda *_: None)  # which computes the frames; test_colab.py has them
        tool("branch").main(folder)
    return folder


class Links(HTMLParser):
    """The addresses of a part of a page, by class."""

    def __init__(self, text):
        super().__init__()
        self.found = {}
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "a":
            self.found[attributes["class"]] = attributes["href"]


def template(edition: str = "en") -> jinja2.Template:
    """Return the template of the buttons, with the words of an edition."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(ROOT / "book" / "_templates"), autoescape=True, extensions=["jinja2.ext.i18n"]
    )
    environment.install_gettext_callables(EDITIONS[edition].translate, None)
    return environment.get_template("launch.html")


def buttons(repository: str, page: str = "attention", edition: str = "zh", notebooks: str | None = None) -> str:
    """Return what the template makes, which the theme puts at the head of a page."""
    return template(edition).render(
        notebooks=notebooks or f"book/{edition}",
        notebooks_branch="notebooks",
        repository=repository,
        pagename=page,
        page_source_suffix=".md",
        pathto=lambda path, resource: path,
    )


@pytest.mark.parametrize("address", ADDRESSES)
def test_every_way_to_write_the_repositorys_address_is_understood(tool, monkeypatch, address):
    monkeypatch.setenv("BOOK_REPOSITORY", address)
    assert tool("repository").repository() == "someone/a-book.zh"


@pytest.mark.parametrize(
    "address", ["someone", "https://example.org/someone/book", "a/b/c", "a b/c", "github.com/someone"]
)
def test_an_address_that_is_none_is_refused(tool, monkeypatch, address):
    monkeypatch.setenv("BOOK_REPOSITORY", address)
    with pytest.raises(SystemExit, match=re.escape(repr(address))):
        tool("repository").repository()


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        ("git@github.com:someone/book.git", "someone/book"),
        ("https://github.com/someone/book", "someone/book"),
        ("https://example.org/someone/book.git", ""),
        ("/srv/git/book", ""),
        (None, ""),
    ],
)
def test_without_it_gits_origin_is_taken_if_it_is_on_github(tool, monkeypatch, tmp_path, origin, expected):
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    if origin:
        subprocess.run(["git", "-C", tmp_path, "remote", "add", "origin", origin], check=True)
    monkeypatch.delenv("BOOK_REPOSITORY", raising=False)
    monkeypatch.setattr(tool("repository"), "ROOT", tmp_path)
    assert tool("repository").repository() == expected


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("page", PAGES)
def test_every_button_leads_to_a_notebook_of_the_branch(branch, page, edition):
    links = Links(buttons("someone/a-book.zh", page, edition)).found
    assert set(links) == {"binder", "colab", "download", "project"}
    assert links["project"] == "https://github.com/someone/a-book.zh"
    binder = urlsplit(links["binder"])
    assert binder.path == "/v2/gh/someone/a-book.zh/notebooks"
    (opened,) = parse_qs(binder.query)["urlpath"]
    assert opened.startswith("lab/tree/")  # as a notebook in JupyterLab
    in_colab = re.fullmatch("/github/someone/a-book.zh/blob/notebooks/(.*)", urlsplit(links["colab"]).path)[1]
    for path in (opened.removeprefix("lab/tree/"), unquote(in_colab)):
        assert path.endswith(f"{page}.ipynb")
        assert json.loads((branch / path).read_bytes())["nbformat"] == 4
    assert links["download"] == f"notebooks/{page}.ipynb"


def test_spaces_and_chinese_letters_are_percent_encoded():
    links = Links(buttons("someone/book", notebooks="我的 课程/zh")).found
    for name in ("binder", "colab"):
        assert re.fullmatch(r"[!-~]+", links[name])  # plain ASCII, without a blank
        assert "我的 课程/zh/attention.ipynb" in unquote(links[name])


@pytest.mark.parametrize("edition", EDITIONS)
def test_without_a_repository_no_button_is_dead(edition):
    text = buttons("", edition=edition)
    assert set(Links(text).found) == {"download"}
    assert "make lab" in text


@pytest.mark.parametrize(("edition", "words"), [("zh", "排队"), ("en", "busy")])
def test_the_page_says_what_to_do_where_binder_or_colab_fails(edition, words):
    text = buttons("someone/book", edition=edition)
    assert words in text and "make lab" in text


def test_a_page_of_no_source_and_a_build_from_the_root_have_no_buttons():
    assert template().render(notebooks="book/zh", pagename="search").strip() == ""
    assert template().render(page_source_suffix=".md", pagename="index").strip() == ""


@pytest.mark.parametrize("edition", EDITIONS)
def test_the_sites_own_notebooks_are_there_to_download(site_folder, edition):
    folder = site_folder / EDITIONS[edition].folder
    assert {path.stem for path in (folder / "notebooks").glob("*.ipynb")} == set(PAGES)
    for page in PAGES:
        text = (folder / f"{page}.html").read_text(encoding="utf-8")
        assert Links(re.search(r'<details class="launch">.*?</details>', text, re.DOTALL)[0]).found["download"]


def test_links_between_the_branchs_notebooks_lead_to_colab(branch):
    for path in branch.glob("book/*/*.ipynb"):
        text = "\n".join("".join(cell["source"]) for cell in json.loads(path.read_bytes())["cells"])
        for address in re.findall(r"\]\(([^)\s]+\.ipynb)[^)]*\)", text):
            where = re.fullmatch(r"https://[^/]+/github/someone/a-book\.zh/blob/notebooks/(.*)", address)[1]
            assert (branch / where).exists(), (path, address)


def test_the_branch_is_the_tree_of_git_the_frames_and_a_notebook_beside_every_page(branch):
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, encoding="utf-8", check=True).stdout
    notebooks = {f"book/{edition}/{page}.ipynb" for edition in EDITIONS for page in PAGES}
    scripts = {
        f"src/why_attention/pages/scripts/{name}.min.js" for name in ("d3", "jquery")
    }  # for views without a network
    held = {path.relative_to(branch).as_posix() for path in branch.rglob("*") if path.is_file()}
    frames = {name for name in held if name.endswith(".frames")}
    assert frames <= {path.relative_to(ROOT).as_posix() for path in FRAMES.glob("*.frames")}  # other tests add some
    tracked = {name for name in listed.split("\n") if name and not name.startswith(".github/")}
    assert held - frames == tracked | notebooks | scripts


def test_where_git_is_not_installed_there_is_no_repository(tool, monkeypatch):
    monkeypatch.delenv("BOOK_REPOSITORY", raising=False)
    monkeypatch.setenv("PATH", "")
    assert tool("repository").repository() == ""


def test_a_branch_without_a_repository_is_refused(tool, monkeypatch, tmp_path):
    monkeypatch.setattr(tool("branch"), "repository", lambda: "")
    with pytest.raises(SystemExit, match="BOOK_REPOSITORY"):
        tool("branch").main(tmp_path)


# The public address


@pytest.mark.parametrize(
    ("named", "repository", "address"),
    [
        ("https://example.org/book/", "someone/a", "https://example.org/book/"),
        ("http://localhost:8000", "", "http://localhost:8000/"),
        ("", "SomeOne/A-Book", "https://someone.github.io/A-Book/"),
        ("", "SomeOne/someone.GitHub.io", "https://someone.github.io/"),
        ("", "", ""),
    ],
)
def test_the_sites_address_is_what_is_named_or_what_github_makes_of_the_repository(
    tool, monkeypatch, named, repository, address
):
    monkeypatch.setenv("BOOK_ADDRESS", named)
    monkeypatch.setattr(tool("address"), "repository", lambda: repository)
    assert tool("address").address() == address
    public = {code: tool("settings").settings(EDITIONS[code])["sphinx"]["config"] for code in ("zh", "en")}
    assert [config["html_context"]["address"] for config in public.values()] == [address] * 2
    assert [public[code]["html_baseurl"] for code in ("zh", "en")] == [address, address and f"{address}en/"]
    text = tool("notebooks").derive(ROOT / "book" / "en" / "attention.md", "en")
    assert (f'set_address(\\"{address}en/attention.html\\")' in text) == bool(address) == ("set_address" in text)


@pytest.mark.parametrize(
    "named",
    ["example.org/book", "ftp://example.org/", "https:///book", "https://example.org/?a", "http://a b.org/"]
    + ["https://example.org/#a", "https://example.org/index.html", "https://example.org//book"],
)
def test_an_address_that_is_no_folder_of_a_website_is_refused(tool, monkeypatch, named):
    monkeypatch.setenv("BOOK_ADDRESS", named)
    with pytest.raises(SystemExit, match=f"BOOK_ADDRESS is {re.escape(repr(named))}, but must be"):
        tool("address").address()


# The first cell of a notebook


@pytest.fixture
def first_cell(branch):
    cell = json.loads((branch / "book" / "zh" / "attention.ipynb").read_bytes())["cells"][1]
    return "".join(cell["source"]), cell["metadata"]


def test_the_first_cell_is_folded_where_it_is_read(first_cell):
    source, metadata = first_cell
    assert metadata["cellView"] == "form" and source.startswith("# @title")  # Colab
    assert metadata["jupyter"]["source_hidden"]  # JupyterLab


def test_the_first_cell_does_nothing_where_the_package_is_there(first_cell):
    done = subprocess.run([sys.executable, "-c", first_cell[0]], capture_output=True, encoding="utf-8", check=True)
    assert done.stdout == done.stderr == ""


def test_elsewhere_the_first_cell_installs_from_the_branch(first_cell, monkeypatch):
    asked = []
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(
        subprocess, "run", lambda command: asked.append(command) or subprocess.CompletedProcess(command, 0)
    )
    exec(first_cell[0], {})
    (command,) = asked
    assert command[1:4] == ["-m", "pip", "install"] and "-qq" in command
    assert command[-1] == "why-attention @ git+https://github.com/someone/a-book.zh@notebooks"


def test_without_a_network_the_first_cell_ends_in_a_sentence(first_cell, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(subprocess, "run", lambda command: subprocess.CompletedProcess(command, 1))
    with pytest.raises(ModuleNotFoundError, match="why_attention 没有装上：看看这台机器能不能上网"):
        exec(first_cell[0], {})


def test_on_colab_the_first_cell_turns_on_widgets_of_others(first_cell, monkeypatch):
    calls = []
    output = type("output", (), {"enable_custom_widget_manager": lambda: calls.append(1)})
    monkeypatch.setitem(sys.modules, "google", type("google", (), {}))
    monkeypatch.setitem(sys.modules, "google.colab", type("colab", (), {"output": output}))
    exec(first_cell[0], {})
    assert calls == [1]


# What the workflows and Binder read


def test_the_workflows_are_what_github_takes():
    files = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    assert [file.name for file in files] == ["check.yml", "newest.yml", "publish.yml"]
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", *files]
    checked = subprocess.run(command, capture_output=True, encoding="utf-8")
    assert checked.returncode == 0, checked.stdout


def test_a_workflow_that_is_wrong_is_noticed(tmp_path):
    wrong = tmp_path / "wrong.yml"
    wrong.write_text("on: push\njobs: {test: {runs-on: x, steps: [{run: a, uses: b}]}}\n", encoding="utf-8")
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", wrong]
    assert subprocess.run(command, capture_output=True).returncode != 0


def test_every_make_target_and_file_that_a_workflow_names_is_there():
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for file in (ROOT / ".github" / "workflows").glob("*.yml"):
        text = file.read_text(encoding="utf-8")
        assert set(re.findall(r"\bmake ([\w-]+)", text)) <= targets
        for path in re.findall(r"tools/\w+\.py|\./\.github/\S+\.yml", text):
            assert (ROOT / path).exists(), path


def test_the_weekly_run_loosens_every_pin_to_the_versions_within_its_major_one(tmp_path):
    text = (ROOT / ".github" / "workflows" / "check.yml").read_text(encoding="utf-8")
    (command,) = re.findall(r"run: (sed .*)", text)
    (tmp_path / "requirements.txt").write_text(
        (ROOT / "requirements.txt").read_text(encoding="utf-8"), encoding="utf-8"
    )
    subprocess.run(command, shell=True, cwd=tmp_path, check=True)
    loosened = (tmp_path / "requirements.txt").read_text(encoding="utf-8")
    assert "==" not in loosened.replace("python_version ==", "")
    assert "torch~=2.13\n" in loosened and 'sphinx-book-theme~=1.3 ; python_version >= "3.11"' in loosened


def test_binders_environment_brings_no_cuda_and_names_no_host():
    environment = yaml.safe_load((ROOT / ".binder" / "environment.yml").read_text(encoding="utf-8"))
    assert "pytorch-cpu" in {re.split("[=<>]", one)[0] for one in environment["dependencies"]}
    assert environment["channels"] == ["conda-forge"]  # by name: no index address
