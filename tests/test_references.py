"""The list of references: one for both editions, sound in form, complete, and without an entry that nobody cites."""

import ast
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from test_pages import EDITIONS, PAGES, page_source

PACKAGE = Path(__file__).parents[1] / "src" / "why_attention"
ENTRY = re.compile(
    r"- (?P<authors>[^()]+) \((?P<year>\d{4}[a-z]?)\): \*(?P<title>[^*]+)\*, (?P<venue>[^[\]]+?)"
    r"(?:, \[(?P<label>[^]]+)\]\((?P<link>\S+)\))?"
)
LINK = re.compile(r"\[([^]]*)\]\((https://(?:arxiv\.org/abs|doi\.org)/[^)\s]*)\)")
NAMED = re.compile(r"((?:van den )?[A-Z][\w-]+)(?: & [A-Z]\w+| et al\.)? ((?:19|20)\d\d[a-z]?)(?![\d.])")


@dataclass(frozen=True)
class Entry:
    authors: str
    year: str
    title: str
    venue: str
    label: str | None
    link: str | None

    @property
    def first(self):
        """The first author's family name."""
        return self.authors.split(",")[0].rsplit(" ", 1)[0]


def lines(edition):
    return [line for line in page_source(edition, "references.md").splitlines() if line.startswith("- ")]


def entries():
    return [Entry(**ENTRY.fullmatch(line).groupdict()) for line in lines("zh")]


def links(edition):
    """Return text and address of every link to a paper on the other pages of an edition."""
    return [link for page in PAGES if page != "references.md" for link in LINK.findall(page_source(edition, page))]


def trees(folder=PACKAGE):
    return [ast.parse(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.py"))]


def sources():
    """Return the name and the number that each ``Source(name, number, …)`` of a claim gives."""
    calls = [node for tree in trees(PACKAGE / "claims") for node in ast.walk(tree) if isinstance(node, ast.Call)]
    calls = [call for call in calls if getattr(call.func, "id", "") == "Source"]
    return [(ast.literal_eval(call.args[0]), ast.literal_eval(call.args[1])) for call in calls]


def docstrings():
    """Return every docstring of the package as one line."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    texts = [ast.get_docstring(node) for tree in trees() for node in ast.walk(tree) if isinstance(node, documented)]
    return [" ".join(text.split()) for text in texts if text]


def named():
    """Return name and year of every paper that a docstring or a ``Source`` of the package names."""
    return {pair for text in (*docstrings(), *(name for name, _ in sources())) for pair in NAMED.findall(text)}


def numbered():
    """Return the address of every paper whose arXiv number or DOI the package gives."""
    numbers = {number for text in docstrings() for number in re.findall(r"arXiv:? ?(\d{4}\.\d{4,5})", text)}
    numbers |= {number for _, number in sources()}
    return {f"https://{'doi.org' if '/' in number else 'arxiv.org/abs'}/{number}" for number in numbers}


def test_all_editions_have_the_same_entries():
    assert [edition for edition in EDITIONS if lines(edition) != lines("zh")] == []
    assert lines("zh")


def test_an_entry_has_authors_year_title_and_venue():
    assert [line for line in lines("zh") if not ENTRY.fullmatch(line)] == []


def test_an_entry_has_an_identifier_of_sound_form_that_its_link_leads_to():
    assert [entry for entry in entries() if not identified(entry)] == []


def identified(entry):
    """Tell whether an entry has an arXiv number or a DOI that may be, and a link to it, or else is a report."""
    if entry.link is None:
        return re.search(r"technical report [A-Z]+-[\w-]+", entry.venue)
    kind, identifier = entry.label.split(":", 1)
    if entry.link != {"arXiv": "https://arxiv.org/abs/", "doi": "https://doi.org/"}[kind] + identifier:
        return False
    if kind == "doi":
        return re.fullmatch(r"10\.\d{4,9}/[\w./-]+", identifier)
    year, month, number = re.fullmatch(r"(\d\d)(\d\d)\.(\d{4,5})", identifier).groups()
    assert 1 <= int(month) <= 12
    assert len(number) == (5 if int(year) >= 15 else 4)  # arXiv went from four digits to five in January 2015
    return 2007 <= 2000 + int(year) <= int(entry.year[:4]) + 1  # some are in print a little before they are on arXiv


def test_entries_are_sorted_and_none_is_there_twice():
    listed = entries()
    order = [(entry.first.casefold(), entry.year) for entry in listed]
    assert order == sorted(set(order))
    for column in ([entry.link for entry in listed if entry.link], [entry.title.casefold() for entry in listed]):
        assert len(column) == len(set(column))


@pytest.mark.parametrize("edition", EDITIONS)
def test_every_paper_that_a_page_links_is_listed(edition):
    assert {link for _, link in links(edition)} - {entry.link for entry in entries()} == set()


@pytest.mark.parametrize("edition", EDITIONS)
def test_a_link_names_the_first_author_and_the_year_of_its_paper(edition):
    listed = {entry.link: entry for entry in entries()}
    for text, link in links(edition):
        assert listed[link].first in text
        assert set(re.findall(r"\d{4}[a-z]?", text)) <= {listed[link].year}


def test_every_paper_that_the_package_names_is_listed():
    assert named() - {(entry.first, entry.year) for entry in entries()} == set()
    assert numbered() - {entry.link for entry in entries()} == set()


def test_a_source_of_the_package_has_the_name_and_the_number_of_one_paper():
    listed = {(entry.first, entry.year): entry.link for entry in entries()}
    for name, number in sources():
        (pair,) = NAMED.findall(name)
        assert listed[pair].endswith(f"/{number}")


def test_no_entry_is_cited_by_nobody():
    linked = set.intersection(*({link for _, link in links(edition)} for edition in EDITIONS))
    cited = named()
    dead = [one for one in entries() if one.link not in linked and (one.first, one.year) not in cited]
    assert dead == []


@pytest.mark.parametrize(
    "text, found",
    [
        ("Sources: Hillis & Steele 1986 (joining)", [("Hillis", "1986")]),
        ("van den Oord et al. 2016, arXiv 1609.03499, §2.1", [("van den Oord", "2016")]),
        ("Kahn 1962; arXiv 2006.16236", [("Kahn", "1962")]),
        ("Return 10 of 2017 numbers", []),
    ],
)
def test_works_named_in_a_docstring_are_found(text, found):
    assert NAMED.findall(text) == found
