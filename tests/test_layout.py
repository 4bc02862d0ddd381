"""How pages lie on screens and on paper: formulas on one line, nothing cut in silence, code whole."""

import re

import pytest
from chromium import Visit
from languages import EDITIONS, folder_of
from test_site import PAGES

# Boxes that may scroll sideways; each has a shadow where there is more (book.css)
SCROLLERS = ".katex-display, pre, .pst-scrollable-table-container"
OPEN = "document.querySelectorAll('.bd-article details').forEach((folded) => (folded.open = true))"
CUT = """(scrollers) => [...document.querySelectorAll(".bd-main *")].filter((box) => {
    if (box.closest("svg, figure.explorable, .bertviz, .launch, .katex-mathml, .bd-sidebar-secondary") || !box.checkVisibility()) return false;
    const box_ = box.getBoundingClientRect(), scroller = box.closest(scrollers);
    if (scroller && scroller !== box) return false;
    if (scroller && box.scrollWidth > box.clientWidth + 1)
      return box.tabIndex !== 0 || !getComputedStyle(box).backgroundImage.includes("linear-gradient");
    return box_.width > 0 && box_.right > document.documentElement.clientWidth + 1;
  }).map((box) => `${box.tagName}.${box.className}: ${box.textContent.trim().slice(0, 60)}`)"""


# The marks that begin a line, with what stands before each
FALLEN = r"""() => {
  const fallen = [];
  const walker = document.createTreeWalker(document.querySelector(".bd-article"), NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  while (walker.nextNode()) {
    const text = walker.currentNode;
    if (text.parentElement.closest("script, style, pre, .katex, figure, noscript, template")) continue;
    for (const { index } of text.data.matchAll(/[，。；：、！？）」”,.;:](?!\d)/g)) {
      range.setStart(text, index);
      range.setEnd(text, index + 1);
      const mark = range.getBoundingClientRect();
      const before = index ? text : (text.previousSibling ?? text.parentElement.previousSibling);
      if (!before || !mark.width) continue;
      if (index) range.setStart(text, index - 1), range.setEnd(text, index);
      else range.selectNode(before);
      const last = [...range.getClientRects()].at(-1);
      if (last?.width && mark.top > last.bottom - 2) fallen.push(before.textContent.slice(-20) + " | " + text.data.slice(index, index + 12));
    }
  }
  return fallen;
}"""


@pytest.fixture(scope="module", params=PAGES)
def page(request, browser, site):
    visit = Visit(browser)
    page = visit.open(site + request.param, figures=False)
    page.wait_for_load_state("networkidle")
    page.evaluate(OPEN)
    yield page
    visit.close()


@pytest.mark.parametrize("width", [320, 360, 768, 1280])
def test_nothing_is_cut_without_a_cue(page, width):
    page.set_viewport_size({"width": width, "height": 800})
    page.wait_for_timeout(100)  # the script hears of the new size
    assert page.evaluate(CUT, SCROLLERS) == []
    assert page.evaluate(FALLEN) == []  # a full stop stays with what it ends


def test_no_code_scrolls_on_a_desktop(page):
    page.set_viewport_size({"width": 1280, "height": 800})
    wide = "[...document.querySelectorAll('.bd-article pre')].filter((pre) => pre.scrollWidth > pre.clientWidth + 1)"
    assert page.evaluate(f"{wide}.map((pre) => pre.textContent)") == []


def test_the_terms_of_an_equation_stand_on_one_line(page):
    page.set_viewport_size({"width": 1280, "height": 800})
    # an empty box has its lower edge on the baseline of the line that it is put in
    uneven = page.evaluate(
        """() => [...document.querySelectorAll(".katex-display")].filter((display) => {
          const lines = [...display.querySelectorAll(":scope > .katex > .katex-html > :is(.base, .tag)")].map((base) => {
            const mark = base.appendChild(document.createElement("span"));
            mark.style.display = "inline-block";
            const { bottom } = mark.getBoundingClientRect();
            mark.remove();
            return bottom;
          });
          return Math.max(...lines) - Math.min(...lines) > 1;
        }).map((display) => display.textContent)"""
    )
    assert uneven == []


@pytest.mark.parametrize("path", PAGES)
def test_on_paper_the_ends_of_long_lines_and_the_answers_are_whole(browser, site, path):
    visit = Visit(browser, color_scheme="dark", viewport={"width": 650, "height": 900})
    page = visit.open(site + path)
    page.emulate_media(media="print")
    page.wait_for_function("document.documentElement.dataset.theme === 'light'")
    inks = "[...document.querySelectorAll('.bd-article p, pre .line')].map((text) => getComputedStyle(text).color)"
    assert max(max(map(int, re.findall(r"\d+", ink)[:3])) for ink in page.evaluate(inks)) < 130  # dark
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") in (
        "rgb(255, 255, 255)",
        "rgba(0, 0, 0, 0)",
    )
    cut = "[...document.querySelectorAll('.bd-article pre')].filter((pre) => pre.scrollWidth > pre.clientWidth + 1).length"
    assert page.evaluate(cut) == 0
    closed = "(all) => all.filter((one) => one.querySelector('p').getBoundingClientRect().height < 10).length"
    assert page.locator(".bd-article details:not(.explorable details, .bertviz):has(p)").evaluate_all(closed) == 0
    assert page.locator(".launch").is_hidden()
    visit.close()


# The page with the tallest figure
FIGURES = "/comparison.html"


@pytest.fixture
def figures(browser, site):
    visit = Visit(browser)
    yield visit.open(site + FIGURES)
    visit.close()


@pytest.mark.parametrize("width", [320, 390, 768, 769, 1199, 1280, 1600])
def test_a_figures_controls_stick_below_the_header_while_its_stage_is_in_view(figures, width):
    figures.set_viewport_size({"width": width, "height": 900})
    figures.wait_for_timeout(300)  # figures hear of the new size and are as high as they will be
    figure = figures.locator("figure.explorable").first
    figure.locator(".stage").evaluate("(stage) => scrollBy(0, stage.getBoundingClientRect().top - 100)")
    box = figure.locator(".controls").first.bounding_box()
    header = figures.locator(".bd-header-article").bounding_box()
    assert box["y"] == pytest.approx(header["y"] + header["height"], abs=1)
    assert figures.evaluate(
        "([x, y]) => document.elementFromPoint(x, y).closest('.controls') !== null", [box["x"] + 2, box["y"] + 8]
    )
    figure.locator(".foot").evaluate("(foot) => scrollBy(0, foot.getBoundingClientRect().top - 60)")
    assert figure.locator(".controls").first.bounding_box()["y"] < 0  # they leave with the stage


@pytest.mark.parametrize("width", [1200, 1280, 1600])
def test_a_figure_reaches_into_the_margin_and_the_contents_step_aside(figures, width):
    figures.set_viewport_size({"width": width, "height": 800})
    figures.evaluate("scrollTo(0, 0)")
    contents = figures.locator(".bd-sidebar-secondary")
    figures.wait_for_function("!document.querySelector('.bd-sidebar-secondary.aside')")
    figure = figures.locator("figure.explorable").first
    figure.evaluate("(figure) => figure.scrollIntoView()")
    figures.wait_for_function("getComputedStyle(document.querySelector('.bd-sidebar-secondary')).opacity === '0'")
    box, aside = figure.bounding_box(), contents.bounding_box()
    assert aside["x"] < box["x"] + box["width"] <= width and box["width"] >= 890
    contents.locator("a").first.focus()  # by keyboard they can be reached all the same
    figures.wait_for_function("getComputedStyle(document.querySelector('.bd-sidebar-secondary')).opacity === '1'")


@pytest.mark.parametrize("edition", EDITIONS)
def test_without_javascript_code_is_readable_in_a_dark_system(browser, site, edition):
    visit = Visit(browser, color_scheme="dark", java_script_enabled=False)
    page = visit.open(f"{site}{folder_of(edition)}/attention.html", figures=False)
    ground = page.locator("div.cell_input").first.evaluate("(cell) => getComputedStyle(cell).backgroundColor")
    assert ground == "rgb(247, 247, 247)"  # under black
    visit.close()


def test_the_menu_closes_on_escape_and_on_a_click_elsewhere(browser, site):
    visit = Visit(browser)
    page = visit.open(f"{site}/summary.html")
    menu, button = page.locator(".launch"), page.locator(".launch summary")
    button.click()
    assert not page.locator(".from-file").is_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    assert menu.get_attribute("open") is None
    assert page.evaluate("document.activeElement.matches('.launch summary')")
    button.click()
    page.mouse.click(1200, 600)
    assert menu.get_attribute("open") is None
    visit.close()


def test_a_book_of_files_says_how_to_save_a_notebook(browser, site_folder):
    visit = Visit(browser)
    page = visit.open((site_folder / "summary.html").as_uri())
    page.locator(".launch summary").click()
    assert "右键" in page.locator(".launch").inner_text()
    visit.close()


@pytest.mark.parametrize("path", PAGES)
def test_no_element_has_a_handler_inside(browser, site_folder, path):
    page = browser.new_page(java_script_enabled=False)
    page.goto((site_folder / path[1:]).as_uri())
    handlers = "[...document.querySelectorAll('.bd-main *')].flatMap((one) => one.getAttributeNames()).filter((name) => /^on/.test(name))"
    assert page.evaluate(handlers) == []
    page.close()
