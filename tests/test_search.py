"""Search by sections: what the index holds of a page, what a query finds, and how a browser shows it."""

import importlib
import json
import re

import pytest
from bs4 import BeautifulSoup
from chromium import Visit
from languages import EDITIONS, ROOT, folder_of
from node import evaluate
from sphinx.errors import ExtensionError

STATIC = ROOT / "book" / "_static"


@pytest.fixture
def hook(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "book" / "_ext")
    return importlib.import_module


# The index


@pytest.mark.parametrize(
    "formula, line",
    [
        (r"\sqrt{d_k}", "√d_k"),
        (r"\sqrt{n+1}", "√(n+1)"),
        (r"\frac{a+b}{c}", "(a+b)/c"),
        (r"x_t^2", "x_t^2"),
        (r"h_{t-1}", "h_(t−1)"),
        (r"\operatorname{softmax}(\hat q)", "softmax(q)"),
        (r"\sum_{j=1}^n a_{ij}", "∑_(j=1)^na_ij"),
    ],
)
def test_a_formula_is_read_once_in_one_line(hook, formula, line):
    html = f'<article class="bd-article"><section id="s"><h2>T</h2><p>{hook("katex_build").render(formula, False)}</p></section>'
    assert hook("section_search").read_sections(html)[0]["text"] == line


PAGE = """
<article class="bd-article"><section id="top"><h1>Page<a class="headerlink">#</a></h1><p>The <strong>key</strong> idea.</p>
<div class="cell"><div class="cell_input"><pre><span class="linenos">7</span><span>causal</span><span>_mask()</span></pre></div></div>
<figure class="explorable" data-name="time-chain"><img alt="8 rounds" src="data:"><figcaption>Read it.</figcaption>
<script type="application/json">{"frames": 1}</script></figure>
<section id="inner"><h2>Inner</h2><p>遗忘门</p><table><tr id="claim-1"><td>1 <strong>It cannot.</strong> → It can.</td></tr>
<tr id="gate"><td>gate</td><td>between 0 and 1</td></tr></table>
</section></section></article>
"""


def test_a_section_holds_its_own_words_and_no_others(hook):
    top, inner, row, term = hook("section_search").read_sections(PAGE)
    assert top == {
        "anchor": "top",
        "title": "Page",
        "text": "The key idea. time-chain 8 rounds Read it.",
        "code": "causal_mask()",
        "terms": ["key", "time chain"],
    }
    assert (inner["title"], inner["text"]) == ("Inner", "遗忘门")
    assert row == {"anchor": "claim-1", "title": "It cannot.", "text": "1 → It can.", "code": "", "row": True}
    assert (term["title"], term["text"]) == ("gate", "between 0 and 1")


def test_a_missing_engine_is_named(hook, monkeypatch):
    monkeypatch.setattr(hook("section_search"), "ENGINE", ROOT / "nowhere")
    with pytest.raises(ExtensionError, match="nowhere is missing: run `make setup`"):
        hook("section_search").setup(None)


# The query


def engine(sections: str) -> str:
    """Return a program in which search(query) gives the hits of an index."""
    parts = [ROOT / "node_modules" / "minisearch" / "dist" / "umd" / "index.js", STATIC / "highlight.js"]
    scripts = [
        *(path.read_text(encoding="utf-8") for path in parts),
        sections,
        (STATIC / "search.js").read_text("utf-8"),
    ]
    return f"""
        import vm from "node:vm";
        const page = vm.createContext({{}});
        page.window = page;
        vm.runInContext({json.dumps(";".join(scripts))}, page);
        const {{ find, excerpt, occurrences }} = page.bookSearch;
        const search = (query) => find(query).map(({{ page, anchor }}) => page + anchor);
    """


SECTIONS = [
    {
        "page": "a",
        "anchor": "#1",
        "title": "Masks",
        "text": "what the receptive field is, and 注意力的机制",
        "code": "causal_mask(8)",
        "terms": ["receptive field"],
    },
    {
        "page": "a",
        "anchor": "#2",
        "title": "循环",
        "text": "LSTM 有遗忘门，梯度消失得慢；gradients 除以 √d_k",
    },
    {
        "page": "b",
        "anchor": "#3",
        "title": "Receptive field",
        "text": "梯度不消失，意志的力量。不存。存在。",
        "code": "mask",
    },
    {
        "page": "c",
        "anchor": "#4",
        "title": "Other",
        "text": "LSTM only; receptive to a field, 0.25 of a gradient",
        "terms": ["field"],
    },
]
INDEX = "window.searchIndex = " + json.dumps(
    {"sections": [{"of": "P", "code": "", "terms": []} | section for section in SECTIONS]}
)


@pytest.mark.parametrize(
    "query, hits",
    [
        ("LSTM 量子纠缠", []),  # all words count, also the Chinese ones
        ("LSTM遗忘门", ["a#2"]),
        ("LSTM 遗忘门", ["a#2"]),
        ("梯度消失", ["a#2"]),  # not the two halves apart
        ("注意力", ["a#1"]),
        ("不存在", []),
        ("力", ["a#1", "b#3"]),
        ("注意力机制", ["a#1"]),  # as nobody has written it: two words
        ("receptive field", ["b#3", "a#1", "c#4"]),  # a title first, words side by side before words apart
        ("“Receptive field”?", ["b#3", "a#1", "c#4"]),
        ("gradients", ["a#2", "c#4"]),
        ("field", ["c#4", "b#3", "a#1"]),  # what a section explains comes before what it mentions
        ("gradiant", ["c#4", "a#2"]),  # misspelt
        ("causal_mask", ["a#1"]),
        ("mask", ["a#1", "b#3"]),
        ("√d_k", ["a#2"]),
        ("√", ["a#2"]),
        ("0.25", ["c#4"]),
        ("masks 遗忘门", ["a#1"]),  # in two sections of one page
        ("ＬＳＴＭ　only", ["c#4"]),
        ("xyzzy不存在", []),
        ("§", []),
        ("", []),
    ],
)
def test_a_query_finds_the_sections_that_hold_all_its_words(query, hits):
    found = evaluate(engine(INDEX), f"search({json.dumps(query)})")
    assert found == hits


@pytest.mark.parametrize(
    "text, words, marked",
    [
        ("注意力和注意", ["注意", "注意力"], ["注意力", "注意"]),
        ("Softmax, log-softmax; softmaxed", ["softmax"], ["Softmax", "softmax", "softmaxed"]),
        ("mask causal_mask unmasked", ["mask"], ["mask", "causal_mask"]),
        ("n^2, 22 and N", ["n"], ["n", "N"]),
        ("RNN的RNN", ["rnn"], ["RNN", "RNN"]),
        ("1/√d_k (a.b)", ["√d_k", "(a.b)"], ["√d_k", "(a.b)"]),
        ("naïve café Ωμέγα", ["café", "ωμ"], ["café"]),
        ("0.25 and 25", ["25"], ["25"]),
    ],
)
def test_what_is_marked(text, words, marked):
    spans = evaluate(engine(INDEX), f"occurrences({json.dumps(text)}, {json.dumps(words)})")
    assert [text[start:end] for start, end in spans] == marked


def test_an_excerpt_begins_near_the_first_word():
    text = json.dumps("x " * 100 + "gate <b>")
    pieces = evaluate(engine(INDEX), f'excerpt({{ text: {text}, code: "", words: ["gate"] }})')
    assert [pieces[0][0][:3], *pieces[1:]] == ["…x ", ["gate", True], [" <b>", False]]


# The site


def words_of(path) -> str:
    """Return a page's text, formulas, code and descriptions of figures with it."""
    article = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser").find("article", "bd-article")
    alts = [image.get("alt", "") for image in article.find_all("img")]
    return " ".join([article.get_text(), *alts]).lower()


@pytest.mark.parametrize(
    "query", ["RNN 量子纠缠", "LSTM 遗忘门", "softmax 饱和", "Bahdanau 对齐", "LSTM 梯度爆炸", "xyzzy不存在"]
)
def test_the_pages_found_are_those_with_all_words(site_folder, query):
    words = query.lower().split()
    pages = {path.name for path in site_folder.glob("*.html") if path.name not in ("404.html", "search.html")}
    right = {page for page in pages if all(word in words_of(site_folder / page) for word in words)}
    index = (site_folder / "_static" / "search-index.js").read_text(encoding="utf-8")
    found = evaluate(engine(index), f"find({json.dumps(query)}).map(({{ page }}) => page)")
    assert set(found) == right
    print(query, len(right))


@pytest.mark.parametrize("code", EDITIONS)
def test_the_title_of_a_page_finds_it_first(site_folder, code):
    index = (site_folder / EDITIONS[code].folder / "_static" / "search-index.js").read_text(encoding="utf-8")
    wrong = "[...new Set(page.searchIndex.sections.map(({ of }) => of))].filter((title) => find(title)[0].of !== title)"
    assert evaluate(engine(index), wrong) == []


WANTED = {  # the page that a reader wants first
    "zh": {
        "梯度消失": "recurrence",
        "感受野": "convolution",
        "位置编码": "attention",
        "遗忘门偏置": "main-part",
        "softmax 饱和": "attention",
        "为什么除以√d_k": "attention",
        "causal_mask": "attention",
        "注意力不是解释": "main-part",
        "谁更省": "comparison",
        "并行扫描": "recurrence",
        "BertViz": "main-part",
    },
    "en": {
        "receptive field": "convolution",
        "vanishing gradients": "recurrence",
        "positional encoding": "attention",
        "softmax saturates": "attention",
        "√d_k": "attention",
        "masks": "attention",
        "effective_field": "convolution",
        "cost memory": "comparison",
        "long range dependence": "recurrence",
        "bahdanu": "claims",
        "induction": "main-part",
    },
}


@pytest.mark.parametrize("code, query", [(code, query) for code, queries in WANTED.items() for query in queries])
def test_the_page_that_a_reader_wants_comes_first(site_folder, code, query):
    index = (site_folder / EDITIONS[code].folder / "_static" / "search-index.js").read_text(encoding="utf-8")
    assert evaluate(engine(index), f"find({json.dumps(query)})[0].page") == f"{WANTED[code][query]}.html"


@pytest.fixture
def visit(browser):
    visit = Visit(browser)
    yield visit
    visit.close()  # where errors and other hosts are counted


@pytest.fixture(params=["http", "file"])
def root(request, site_folder):
    return site_folder.as_uri() if request.param == "file" else request.getfixturevalue("site")


MARKED = "[...(CSS.highlights.get('found') ?? [])].map((range) => range.toString().toLowerCase())"


@pytest.mark.parametrize(
    "code, query, page",
    [("en", "softmax", "attention"), ("zh", "注意力", "attention"), ("zh", "梯度消失", "recurrence")],
)
def test_a_hit_leads_to_its_section_where_the_words_are_marked(visit, root, code, query, page):
    start = visit.open(f"{root}{folder_of(code)}/summary.html", figures=False)
    scripts = "[...document.scripts].map((script) => script.src).filter((src) => /search-index|minisearch/.test(src))"
    assert start.evaluate(scripts) == []  # before anybody searches
    start.keyboard.press("Control+k")
    start.keyboard.type(query)
    first = start.locator("#pst-search-dialog .found a").first
    first.wait_for()
    assert query in first.locator("mark").first.inner_text().lower()
    start.keyboard.press("ArrowDown")
    start.keyboard.press("Enter")
    start.wait_for_url(f"**/{page}.html?highlight=*#*")
    anchor = start.evaluate("decodeURIComponent(location.hash.slice(1))")
    assert 0 <= start.evaluate("(id) => document.getElementById(id).getBoundingClientRect().top", anchor) < 400
    marked = start.evaluate(MARKED)
    assert marked and all(query in word for word in marked)  # masked_softmax, too
    start.keyboard.press("Escape")
    assert start.evaluate(MARKED) == []
    assert start.url.endswith(f"/{page}.html#{start.evaluate('location.hash.slice(1)')}")
    assert start.evaluate("decodeURIComponent(location.hash.slice(1))") == anchor


def test_marks_go_with_a_tap_and_leave_the_figures_state_in_the_address(visit, site):
    page = visit.open(f"{site}/en/attention.html?highlight=softmax#attention-map:n=8")
    page.locator(".clear-highlights").click()
    assert page.evaluate(MARKED) == []
    assert page.evaluate("location.search + location.hash") == "#attention-map:n=8"


@pytest.mark.parametrize("fragment", ["three-questions", "three-questions&cost:n=64", "five-misconceptions", "%", ""])
def test_an_answer_opens_where_its_section_has_the_words_nowhere_else(visit, site, fragment):
    page = visit.open(f"{site}/en/summary.html?highlight=misconception#{fragment}", figures=False)
    page.locator(".clear-highlights").wait_for()
    assert page.locator("article details[open]").count() == fragment.startswith("three-questions")


@pytest.mark.parametrize("code", EDITIONS)
def test_a_query_without_a_hit_says_so_and_offers_the_glossary(visit, root, code):
    edition = EDITIONS[code]
    page = visit.open(f"{root}{folder_of(code)}/search.html?q=xyzzy不存在", figures=False)
    page.get_by_text(edition.translate("No page holds all of these words.")).wait_for()
    page.get_by_role("link", name=edition.translate("All terms and symbols of this book")).click()
    page.wait_for_url("**/glossary.html")


@pytest.mark.parametrize("code", EDITIONS)
def test_the_dialog_opens_and_closes_and_nothing_lies_over_what_is_typed(visit, site, code):
    page = visit.open(f"{site}{folder_of(code)}/summary.html", figures=False)
    dialog = page.locator("#pst-search-dialog")
    for close in (lambda: page.keyboard.press("Escape"), lambda: page.mouse.click(5, 5)):
        page.locator(".search-button__button:visible").first.click()
        assert dialog.locator("input").evaluate("(field) => field === document.activeElement")
        page.keyboard.type("LSTM")
        dialog.locator(".found a").first.wait_for()
        assert not dialog.locator(".fa-magnifying-glass").is_visible()
        close()
        assert not dialog.is_visible()
    page.keyboard.press("Control+k")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Escape")  # with a hit in focus
    assert not dialog.is_visible()
    page.keyboard.press("Control+k")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search.html?q=LSTM")
    assert not page.locator(".bd-search-container .fa-magnifying-glass").is_visible()
    page.locator(".bd-search-container .found a").first.wait_for()


@pytest.mark.parametrize("code", EDITIONS)
def test_without_javascript_or_index_the_search_page_says_so(browser, site, code):
    sentences = {
        False: "To search, this page needs JavaScript.",
        True: "The index of this book could not be loaded, so there is no search.",
    }
    for scripts, sentence in sentences.items():
        context = browser.new_context(java_script_enabled=scripts)
        page = context.new_page()
        page.route("**/search-index.js", lambda route: route.abort())
        page.goto(f"{site}{folder_of(code)}/search.html?q=LSTM", wait_until="networkidle")
        assert EDITIONS[code].translate(sentence) in page.locator(".bd-search-container").inner_text()
        assert page.locator("input[name=q]:visible").count() == scripts
        context.close()


def test_no_page_loads_sphinxs_search(site_folder):
    loaded = r"(searchtools|language_data|searchindex|sphinx_highlight|doctools)\.js"
    assert [
        path.name for path in site_folder.rglob("*.html") if re.search(loaded, path.read_text(encoding="utf-8"))
    ] == []
