"""The glossary: both editions list the same pairs of terms, and every term is on the page that its row names."""

import re
from itertools import groupby

import pytest
from test_pages import EDITIONS, PAGES, cells, page_source

ROW = re.compile(r"^\| (.+?) \| (.+?) \| (.+?) \| \[(.+?)\]\((.+?)\) \|$", re.M)


def rows(edition):
    """Return the term, its translation, the line about it and the page of each row."""
    return [
        (term, other, line, page) for term, other, line, _, page in ROW.findall(page_source(edition, "glossary.md"))
    ]


def test_both_editions_list_the_same_pairs_in_the_same_order():
    zh = [(term, other, page) for term, other, _, page in rows("zh")]
    en = [(other, term, page) for term, other, _, page in rows("en")]
    assert zh == en


@pytest.mark.parametrize("edition", EDITIONS)
def test_every_line_of_the_table_is_a_row(edition):
    source = page_source(edition, "glossary.md").split("|---|---|---|---|\n")[1]
    assert len(rows(edition)) == len(re.findall(r"^\|", source, re.M)) > 0


@pytest.mark.parametrize("edition", EDITIONS)
def test_no_term_and_no_line_is_given_twice(edition):
    for column in zip(*[row[:3] for row in rows(edition)]):
        assert len(column) == len(set(column))


@pytest.mark.parametrize("edition", EDITIONS)
def test_every_term_is_on_the_page_that_its_row_names(edition):
    missing = [
        (term, page)
        for term, _, _, page in rows(edition)
        if page not in PAGES or term.lower() not in page_source(edition, page).lower()
    ]
    assert missing == []


@pytest.mark.parametrize("edition", EDITIONS)
def test_terms_of_a_page_stand_together(edition):
    groups = [page for page, _ in groupby(page for *_, page in rows(edition))]
    assert len(groups) == len(set(groups))


@pytest.mark.parametrize("edition", EDITIONS)
def test_the_page_shows_the_table_of_symbols(edition):
    assert cells(edition, "glossary.md")[-1] == "from why_attention.pages import symbols\n\nsymbols.table()\n"
