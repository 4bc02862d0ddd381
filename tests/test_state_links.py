"""Links to a figure's state: the address says how every figure stands, the figure that it names is in view and marked."""

import pytest
from chromium import Visit, move, state_of
from small_figures import CELL, GAIN, N, figure, heatmap

from explorable import Control, set_address, set_language
from explorable.page import page

# without scroll anchoring, as in Safari: what stands above an anchor pushes it away while the figures arrive
HEAD = '<style>html { overflow-anchor: none }</style><h2 id="first">First</h2><div style="height: 3000px"></div>'
TAIL = '<h2 id="last">Last</h2><div style="height: 3000px"></div></main>'
FOLDED = Control("folded", [0.0, 1.0], label="folded", advanced=True)
SIZES = [{"width": 1280, "height": 800}, {"width": 390, "height": 800}]


def book_page() -> str:
    """A long page: a section, two figures, another section."""
    set_language("en")
    controls = [N, CELL, GAIN, FOLDED]
    figures = [
        figure(heatmap(lambda n, cell, gain, folded: [[n, gain, folded]]), controls=controls, name=name)
        for name in "fg"
    ]
    return page(figures).replace("<main>", f"<main>{HEAD}").replace("</main>", TAIL)


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    path = tmp_path_factory.mktemp("links") / "page.html"
    path.write_text(book_page(), encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def visit(browser, request):
    visit = Visit(browser, **getattr(request, "param", {}))
    yield visit
    visit.close()


def top_of(page, selector):
    return page.locator(selector).evaluate("(element) => element.getBoundingClientRect().top")


def settled(page):
    page.wait_for_load_state("load")
    page.wait_for_timeout(300)
    return page


@pytest.mark.parametrize("visit", [{"viewport": size} for size in SIZES], indirect=True)
def test_a_link_to_a_state_opens_with_its_figure_in_view_and_marked(visit, address):
    page = settled(visit.open(f"{address}#g:cell=b;folded=1"))
    assert 0 <= top_of(page, "figure[data-name=g]") < 100
    assert page.locator("figure.linked").get_attribute("data-name") == "g"
    assert page.locator("figure[data-name=g] [name=folded]").is_visible()  # what has left its start is unfolded
    assert page.locator("figure[data-name=f] [name=folded]").is_hidden()


def test_a_link_means_the_same_in_a_fresh_tab_and_in_an_open_one(visit, address):
    page = settled(visit.open(f"{address}#g:cell=b;gain=0.5"))
    page.evaluate("location.hash = '#f:n=4'")
    page.wait_for_timeout(400)
    assert [state_of(page, 0), state_of(page, 1)] == ["n=4;cell=a;gain=1;folded=0", "n=1;cell=a;gain=1;folded=0"]
    assert page.url == f"{address}#f:n=4"
    assert page.locator("figure.linked").get_attribute("data-name") == "f"
    page.evaluate("location.hash = ''")
    page.wait_for_timeout(100)
    assert state_of(page, 0) == "n=1;cell=a;gain=1;folded=0"


def test_a_section_and_states_live_in_one_address(visit, address):
    page = settled(visit.open(f"{address}#last&g:n=2"))
    assert abs(top_of(page, "#last")) < 2 and page.locator("figure.linked").count() == 0
    page.evaluate("location.hash = '#first'")  # as a click in the contents does
    page.wait_for_timeout(100)
    assert page.url == f"{address}#first&g:n=2" and "n=2" in state_of(page, 1)
    move(page, "n", figure=0)
    page.wait_for_timeout(400)
    assert page.url == f"{address}#first&f:n=2&g:n=2"


def test_a_heading_is_met_though_figures_grow_above_it(visit, address):
    assert abs(top_of(settled(visit.open(f"{address}#last")), "#last")) < 2


def test_what_was_set_just_before_leaving_is_there_on_the_way_back(visit, address):
    page = settled(visit.open(address))
    move(page, "cell")
    page.goto("about:blank")
    page.go_back()
    page.wait_for_selector("figure[data-drawn]")
    assert "cell=b" in state_of(page)


def test_the_link_of_a_figure_in_its_start_names_it_too(visit, address):
    page = settled(visit.open(f"{address}#f:n=4"))
    assert page.locator("a.copy").nth(1).get_attribute("href") == f"{address}#g:&f:n=4"


def test_space_presses_the_link_and_the_page_stays(visit, address):
    page = settled(visit.open(f"{address}#f:n=4"))
    link = page.locator("a.copy").first
    link.focus()
    before = page.evaluate("scrollY")
    link.press("Space")
    page.wait_for_function("document.querySelector('a.copy').textContent !== 'Copy a link to these settings'")
    assert page.evaluate("scrollY") == before


# In a notebook


def test_a_published_page_must_be_an_address():
    with pytest.raises(ValueError, match="book.html"):
        set_address("book.html")
