"""The site as readers meet it: both editions in Chromium, over http and from files."""

import gzip
import re

import pytest
from chromium import Visit, hash_of, move
from languages import EDITIONS, FIRST, folder_of
from playwright.sync_api import Page

SHOWN = {  # the figures of a page, in their order
    "index": ["influence"],
    "recurrence": ["unrolled-rnn", "time-chain", "gradient-decay", "gates"],
    "convolution": ["sliding-window", "receptive-field", "effective-field"],
    "attention": ["one-query", "attention-map", "dilution"],
    "comparison": ["influence", "cost"],
    "main-part": ["alignment", "recall", "transformer-block", "heads"],
}
PLAIN = ["two-roads", "summary", "claims", "glossary", "references"]  # pages without a figure
GRADIENT_DECAY = SHOWN["recurrence"].index("gradient-decay")
BUDGETS = {"comparison": 550_000}  # bytes, gzip, everything loaded; others have 450 kB
FIGURES = [f"{folder_of(edition)}/{name}.html" for edition in EDITIONS for name in SHOWN]
PAGES = [f"{folder_of(edition)}/{name}.html" for edition in EDITIONS for name in [*SHOWN, *PLAIN]]


def figures_on(path: str) -> list[str]:
    return SHOWN[path.split("/")[-1].removesuffix(".html")]


@pytest.fixture
def visit(browser):
    visit = Visit(browser)
    yield visit
    visit.close()  # where errors and other hosts are counted


@pytest.fixture(scope="module")
def reading(request, browser, site):
    """A visit to a page that the tests of this page share, each of which leaves the figures as it found them.

    To lay out a page takes Chromium a second, more than most of them do. pytest puts the tests of one page together.
    """
    visit = Visit(browser)
    visit.path = request.param
    visit.open(site + visit.path).wait_for_load_state("networkidle")
    visit.loaded = [answer for answer in visit.answers if not answer.url.startswith(("data:", "blob:"))]
    yield visit
    visit.close()


def on(pages: list[str]):
    """Have a test read each of some pages."""
    return pytest.mark.parametrize("reading", pages, indirect=True)


@pytest.mark.parametrize("path", ["/404.html", *(f"{folder_of(edition)}/search.html" for edition in EDITIONS)])
def test_no_other_page_has_an_error_or_asks_another_host(visit, site, path):
    page = visit.open(site + path)
    page.wait_for_load_state("networkidle")


@pytest.mark.parametrize("path", PAGES)
def test_no_page_names_another_host_to_load_from(site_folder, path):
    text = (site_folder / path[1:]).read_text(encoding="utf-8")
    assert re.findall(r'<(?:script|img|iframe|source)[^>]+src="https?:[^"]*"', text) == []
    loads = [tag for tag in re.findall(r"<link[^>]+>", text) if 'href="http' in tag and "alternate" not in tag]
    assert loads == []


@pytest.mark.parametrize("path", [path for path in PAGES if path.startswith("/en/")])
def test_a_sentence_is_a_space_away_from_a_quotation_before_it(site_folder, path):
    assert re.findall(r"[.?!,]”\w+", (site_folder / path[1:]).read_text(encoding="utf-8")) == []


def test_every_page_is_tested(site_folder):
    built = {path.name for path in site_folder.glob("*.html")} - {"404.html", "search.html"}
    assert {f"/{name}" for name in built} == {path for path in PAGES if path.count("/") == 1}


@on(PAGES)
def test_a_page_describes_itself_shows_no_marks_and_is_light(reading):
    page = reading.page
    assert len(page.locator("meta[name=description]").get_attribute("content")) > 20
    assert page.locator("link[rel*=icon]").count() == 1
    text = page.evaluate(
        """() => {
          const article = document.querySelector("article").cloneNode(true);
          article.querySelectorAll("pre, code, .math, figure, script").forEach((part) => part.remove());
          return article.innerText;
        }"""
    )
    assert not any(mark in text for mark in ("**", "__", "$"))  # of Markdown
    bodies = [(answer.url, answer.body()) for answer in reading.loaded]
    weight = sum(len(body) if url.endswith(("woff2", "png")) else len(gzip.compress(body)) for url, body in bodies)
    own = next(len(gzip.compress(body)) for url, body in bodies if url.endswith(reading.path))
    print(f"{reading.path}: {weight / 1000:.0f} kB, the shell {(weight - own) / 1000:.0f} kB")
    assert weight <= BUDGETS.get(reading.path.split("/")[-1].removesuffix(".html"), 450_000)
    assert weight - own <= 410_000  # the shell, without the page's content
    assert sum("explorable.js" in url for url, _ in bodies) == (reading.path in FIGURES)


@on(PAGES)
def test_no_page_scrolls_sideways(reading):
    usual = reading.page.viewport_size
    for width in (320, 360, 768, 1280):
        reading.page.set_viewport_size({"width": width, "height": 800})
        assert reading.page.evaluate("document.documentElement.scrollWidth") <= width
    reading.page.set_viewport_size(usual)


@on(FIGURES)
def test_the_code_that_shows_a_figure_is_folded_below_it_in_the_pages_language(reading):
    folds = reading.page.locator(".cell_output:has(figure.explorable) + details.folded-code")
    assert folds.count() == len(figures_on(reading.path))
    tag = reading.page.locator("html").get_attribute("lang")
    edition = next(edition for edition in EDITIONS.values() if edition.tag == tag)
    summary, code = folds.first.locator("summary"), folds.first.locator("pre")
    assert summary.inner_text() == edition.translate("Code of this figure")
    for shown in (False, True, False):
        assert code.is_visible() == shown
        summary.press("Enter")
    folds.first.evaluate("(fold) => (fold.open = false)")
    reading.page.emulate_media(media="print")
    assert not summary.is_visible()
    reading.page.emulate_media(media="screen")


@pytest.mark.parametrize("path", FIGURES)
def test_page_works_from_a_file(visit, site_folder, path):
    page = visit.open((site_folder / path[1:]).as_uri())
    figures = page.locator("figure.explorable")
    assert [figure.get_attribute("data-name") for figure in figures.all()] == figures_on(path)
    for number in range(len(figures_on(path))):
        before = hash_of(page, number)
        move(page, figures.nth(number).locator("[name]").first.get_attribute("name"), number)
        assert hash_of(page, number) != before


@pytest.mark.parametrize("path", FIGURES)
def test_without_javascript_the_picture_shows(browser, site, path):
    visit = Visit(browser, java_script_enabled=False)
    page = visit.open(site + path, figures=False)
    images = page.locator("figure.explorable img.still")
    assert images.count() == len(figures_on(path))
    for image in images.all():
        assert image.is_visible()
        assert image.evaluate("(image) => image.naturalWidth") > 300
        assert re.search(r"\d", image.get_attribute("alt"))
    visit.close()


@on(FIGURES[: len(SHOWN)])
@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_figures_words_stand_out_from_the_ground(reading, scheme):
    in_scheme(reading.page, scheme)
    colors = reading.page.evaluate(
        """() => {
          const ground = [...document.querySelectorAll("figure.explorable *")][0];
          let behind = ground;
          while (getComputedStyle(behind).backgroundColor === "rgba(0, 0, 0, 0)") behind = behind.parentElement;
          const texts = [...document.querySelectorAll("figure.explorable text")].filter((text) => text.textContent && text.checkVisibility()).map((text) => getComputedStyle(text).fill);
          const words = [...document.querySelectorAll("figure.explorable :is(output, figcaption, summary, .name)")];
          return [getComputedStyle(behind).backgroundColor, ...texts, ...words.map((word) => getComputedStyle(word).color)];
        }"""
    )
    ground, *words = [luminance(color) for color in colors]
    assert (ground < 0.2) == (scheme == "dark")
    for word in words:
        assert (max(word, ground) + 0.05) / (min(word, ground) + 0.05) >= 4.5  # WCAG AA


def in_scheme(page: Page, scheme: str) -> None:
    """Ask for light or dark, as a system does that changes at sunset, and wait until the page is."""
    page.emulate_media(color_scheme=scheme)
    page.wait_for_function("(scheme) => document.documentElement.dataset.theme === scheme", arg=scheme)


def luminance(color: str) -> float:
    channels = [int(channel) / 255 for channel in re.findall(r"\d+", color)[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize(
    ("reading", "scheme"),
    [
        ("/recurrence.html", "light"),
        ("/en/convolution.html", "dark"),
        ("/en/attention.html", "light"),
        ("/comparison.html", "dark"),
        ("/main-part.html", "light"),
        ("/en/claims.html", "dark"),
        ("/two-roads.html", "light"),
        ("/summary.html", "dark"),
        ("/en/glossary.html", "light"),
        ("/references.html", "light"),
    ],
    indirect=["reading"],
)
def test_axe_finds_nothing_in_our_own_parts(reading, axe, scheme):
    page = reading.page
    in_scheme(page, scheme)
    page.evaluate("document.querySelectorAll('details:not(.numbers)').forEach((folded) => (folded.open = true))")
    if reading.path == "/main-part.html":  # tables of numbers are alike on all pages, and the largest take axe a minute
        page.locator("details.numbers summary").first.click()
        page.locator("details.numbers table").first.wait_for()
    page.evaluate(axe)
    violations = page.evaluate(
        """() => axe.run(
             {
               include: [["article"], [".language-switch"], [".license"]],
               exclude: [[".copybtn"], [".headerlink"], [".highlight"]],  // the theme's
             },
             { preload: false, resultTypes: ["violations"] },
           ).then((found) => found.violations)"""
    )
    assert [(violation["id"], node["html"]) for violation in violations for node in violation["nodes"]] == []


def test_a_switch_of_the_language_keeps_the_section_and_the_states_of_figures(visit, site):
    page = visit.open(site + "/en/recurrence.html#gradient-decay:cell=LSTM")
    page.locator("figure[data-name=gradient-decay].linked").wait_for()
    move(page, "gain", figure=GRADIENT_DECAY)
    page.locator("#exploding-gradients").scroll_into_view_if_needed()
    page.evaluate("document.querySelector('#exploding-gradients').scrollIntoView()")
    page.locator(".language-switch[lang=zh-CN]").first.evaluate(
        "(link) => link.click()"
    )  # where he is, without a scroll
    page.wait_for_url("**/recurrence.html#exploding-gradients&gradient-decay:*")
    page.wait_for_selector("figure[data-name=gradient-decay][data-drawn]")
    page.wait_for_load_state("networkidle")
    assert "cell=LSTM;gain=1.2" in page.locator("figure[data-name=gradient-decay]").get_attribute("data-state")
    assert 0 <= page.locator("#exploding-gradients").evaluate("(section) => section.getBoundingClientRect().top") < 160


@on([f"{folder_of(edition)}/recurrence.html" for edition in EDITIONS])
def test_a_heading_in_the_contents_keeps_the_states_of_figures(reading):
    page = reading.page
    move(page, "cell", figure=GRADIENT_DECAY)
    page.evaluate("document.querySelector('.page-toc a[href=\"#exploding-gradients\"]').click()")
    page.wait_for_timeout(300)
    address = page.url
    page.evaluate("location.hash = ''")  # as it was found
    page.wait_for_timeout(300)
    assert address.endswith("#exploding-gradients&gradient-decay:cell=GRU")


@pytest.mark.parametrize("name", [*SHOWN, *PLAIN])
def test_a_section_has_the_same_anchor_in_every_edition(site_folder, name):
    anchors = {edition: anchors_of(site_folder, edition, name) for edition in EDITIONS}
    assert all(found == anchors["en"] for found in anchors.values())
    assert not [anchor for anchor in anchors["en"] if re.fullmatch(r"id\d+", anchor)]


def anchors_of(site_folder, edition, name) -> list[str]:
    page = site_folder / folder_of(edition).strip("/") / f"{name}.html"
    return re.findall(r'<section id="([^"]*)"', page.read_text(encoding="utf-8"))


def test_editions_point_at_each_other(visit, site):
    addresses = {edition.tag: f"{site}{folder_of(code)}/recurrence.html" for code, edition in EDITIONS.items()}
    page = visit.open(site + "/recurrence.html")
    for tag in [*addresses, FIRST.tag]:  # to each from the one before, and back
        if page.url != addresses[tag]:
            page.locator(f".language-switch[lang={tag}]").first.click()
            page.wait_for_url(addresses[tag])
        assert page.locator("html").get_attribute("lang") == tag
        alternates = page.locator("link[rel=alternate]").evaluate_all(
            "(links) => links.map((link) => [link.hreflang, link.href])"
        )
        assert dict(alternates) == addresses
        switch = page.locator(".language-switch").evaluate_all("(links) => links.map((link) => link.textContent)")
        assert set(switch) == {edition.name for edition in EDITIONS.values() if edition.tag != tag}


def test_the_themes_words_are_chinese(visit, site):
    labels = visit.open(f"{site}/recurrence.html").evaluate(
        """() => [...document.querySelectorAll("button, input, a, nav, summary, [title], [aria-label]")]
             .filter((e) => !e.closest("figure") && !e.closest(".language-switch"))
             .flatMap((e) => [e.getAttribute("aria-label"), e.title, e.placeholder, e.dataset.bsTitle])
             .filter(Boolean)"""
    )
    english = [
        label for label in labels if re.search(r"[A-Za-z]{3}", label) and not re.search(r"[\u4e00-\u9fff]", label)
    ]
    assert english == []


POLICY = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:"


@pytest.mark.parametrize("edition", EDITIONS)
def test_under_a_strict_policy_figures_and_search_work_and_a_view_says_why_not(browser, site, edition):
    context = browser.new_context()
    page = context.new_page()

    def with_policy(route):
        answer = route.fetch()
        route.fulfill(response=answer, headers={**answer.headers, "content-security-policy": POLICY})

    page.route("**/*.html*", with_policy)
    page.goto(f"{site}{folder_of(edition)}/main-part.html#alignment:attention=false")
    page.wait_for_selector("figure.linked[data-drawn]")
    view = page.locator("details.bertviz").first
    view.locator("summary").click()
    assert len(view.inner_text().splitlines()) > 1
    page.locator(".launch summary").click()
    page.keyboard.press("Escape")
    assert page.locator(".launch[open]").count() == 0
    page.goto(f"{site}{folder_of(edition)}/search.html?q=LSTM")
    page.locator(".found a").first.wait_for()
    context.close()


def test_a_missing_page_answers_in_every_language_and_leads_home(visit, site):
    page = visit.open(site + "/404.html", figures=False)
    text = page.locator("main").inner_text()
    for edition in EDITIONS.values():
        assert edition.translate("There is no such page.") in text
        assert edition.title in text
    page.wait_for_function("document.querySelector('.home').getAttribute('href') !== './'")
    homes = page.locator(".home").evaluate_all("(links) => links.map((link) => link.href)")
    assert homes == [f"{site}{folder_of(code)}/" for code in EDITIONS]


@pytest.mark.parametrize("path", FIGURES)
def test_the_figures_code_is_on_the_page_once(site_folder, path):
    text = (site_folder / path[1:]).read_text(encoding="utf-8")
    assert '"_esm"' not in text
    assert '"_css"' not in text
    assert len(re.findall(r"_static/explorable\.js\?v=\w+", text)) == text.count("_static/explorable.js") == 1
    assert "fontawesome.js" not in text
    assert "katex-error" not in text
