"""Figures on a page without a kernel, with made-up numbers: every kind of panel and control, every way to fail."""

import random
import re

import numpy as np
import pytest
from chromium import Visit, hash_of, move, numbers_of, page_of, state_of
from small_figures import figure

from explorable import (
    Axis,
    Choice,
    Companion,
    Control,
    Graph,
    Heatmap,
    Lines,
    Rule,
    Sentence,
    Series,
    Text,
    set_language,
)

X = np.arange(8)


def triangle(n, power):
    """A lower triangle of decades: −(i − j)·power, −∞ above the diagonal."""
    distance = np.subtract.outer(np.arange(n), np.arange(n)).astype(float)
    return np.where(distance >= 0, -distance * power, -np.inf)


def chain(n):
    return np.array([[i, i % 2, i] for i in range(n)], float)


def made_up(name="made-up"):
    return figure(
        Lines(
            title=Text(zh="线", en="Lines"),
            x=Axis(Text(zh="距离", en="distance"), limits=(0, 7), symbol="l"),
            y=Axis(Text(zh="大小", en="size"), limits=(-16, 16), symbol="‖J_t‖_2", log10=True, resolution=0.0005),
            series=[
                Series(lambda power: np.outer([0.9, 1, 1.1], X * power), X, "up", focus=("kind", "up")),
                Series(lambda power: np.outer([0.9, 1, 1.1], -X * power), X, "down", "green", focus=("kind", "down")),
                Series(X * 2, X, Text(zh="界", en="bound"), color="blue", dashed=True, visible_if="bound"),
            ],
            rules=[Rule(0, Text(zh="不变", en="no change"))],
        ),
        Heatmap(
            triangle,
            title=Text(zh="矩阵", en="Matrix"),
            rows=Text(zh="查询 i", en="query i"),
            columns=Text(zh="键 j", en="key j"),
            scale=Axis(Text(zh="影响", en="influence"), limits=(-20, 0), log10=True, resolution=0.005),
        ),
        Graph(
            chain,
            lambda n: np.array([[i, i + 1, 1] for i in range(n - 1)], float),
            title=Text(zh="链", en="Chain"),
            x=Axis(Text(zh="位置", en="position"), limits=lambda n: (-1, n)),
            y=Axis(Text(zh="层", en="layer"), limits=(-1, 2)),
            scale=Axis(Text(zh="步", en="step"), limits=lambda n: (0, n)),
        ),
        name=name,
        title=Text(zh="试验图", en="A test figure"),
        caption=Text(zh="线、矩阵和链。", en="Lines, a matrix and a chain."),
        how_to_read=Text(zh="行是 i，列是 j。", en="Rows are i, columns j."),
        limits=Text(zh="全是编的。", en="All is made up."),
        controls=[
            Control("n", [4, 8, 12], label=Text(zh="长度", en="length"), symbol="n", start=8),
            Control("power", [0.5, 1.0, 2.0], label=Text(zh="幂", en="power")),
            Control("kind", {"up": Text(zh="升", en="rising"), "down": Text(zh="降", en="falling")}, label="±"),
            Control("bound", [False, True], label=Text(zh="界", en="bound"), advanced=True),
        ],
        detail=Sentence(Text(zh="n 的平方是 {square}。", en="The square of n is {square}."), square=lambda n: n * n),
        sentence=Sentence(
            Text(zh="n = {n}，{steps} 步，{kind}，{size}。", en="n = {n}, {steps} steps, {kind}, {size}."),
            steps=lambda n: n - 1,
            size=Choice(lambda n: int(n > 4), [Text(zh="短", en="short"), Text(zh="长", en="long")]),
        ),
    )


@pytest.fixture(scope="module")
def made_up_page(tmp_path_factory):
    """Two figures of the same name and one of another, on one Chinese page and one English page."""
    folder = tmp_path_factory.mktemp("figures")
    for language in ("zh", "en"):
        set_language(language)
        page = page_of([made_up(), made_up(), made_up("other")], {"zh": "zh-CN", "en": "en"}[language])
        (folder / f"{language}.html").write_text(page, encoding="utf-8")
    set_language("zh")
    return folder


def show(visit, folder, *panels, n=(3, 4)):
    """Open a page of one figure with these panels, one a row, and the control n."""
    one = figure(*panels, controls=[Control("n", list(n), label="n")], rows=[1] * len(panels))
    (folder / "page.html").write_text(page_of([one], "en"), encoding="utf-8")
    return visit.open((folder / "page.html").as_uri())


@pytest.fixture
def visit(browser, request):
    """A visit in a browser with the options that are a test's parameter."""
    visit = Visit(browser, **getattr(request, "param", {}))
    yield visit
    visit.close()


@pytest.fixture
def page(visit, made_up_page):
    return visit.open((made_up_page / "zh.html").as_uri())


def test_a_family_is_drawn_whole_in_focus_and_elsewhere_its_median_only(page):
    lines = "(path) => [path.parentNode.classList[0], path.getAttribute('d').split('M').length - 1]"
    seen = []
    for _ in range(3):
        paths = page.locator("figure.explorable").first.locator("path.thin").all()
        seen.append(dict(path.evaluate(lines) for path in paths))
        move(page, "kind")
    assert seen == [{"vermilion": 3, "aside": 0}, {"green": 3, "aside": 0}, {"vermilion": 3, "aside": 0}]


def test_canvas_shows_zero_clear_and_values_in_colour(page):
    pixel = "([x, y]) => [...document.querySelector('canvas').getContext('2d').getImageData(x, y, 1, 1).data]"
    assert page.evaluate(pixel, [7, 0])[3] == 0  # row 0, column 7: no path
    diagonal, corner = page.evaluate(pixel, [0, 0]), page.evaluate(pixel, [0, 7])
    assert diagonal[3] == corner[3] == 255
    assert diagonal != corner


def test_two_figures_share_nothing(page):
    before = [(state_of(page, i), hash_of(page, i)) for i in (1, 2)]
    move(page, "n", figure=0)
    page.wait_for_timeout(400)
    assert [(state_of(page, i), hash_of(page, i)) for i in (1, 2)] == before
    page.reload()
    page.wait_for_function("document.querySelectorAll('figure.explorable.live').length === 3")
    assert [state_of(page, i)[:4] for i in range(3)] == ["n=12", "n=8;", "n=8;"]


def test_address_carries_the_state_and_start_leaves_it_clean(page):
    move(page, "power", figure=1)
    move(page, "kind", figure=2)
    page.wait_for_timeout(400)
    assert page.url.endswith("#other:kind=down&made-up-2:power=1")  # the one moved last is the one a link shows
    page.locator("figure.explorable").nth(1).locator('[name="power"]').press("ArrowLeft")
    page.wait_for_timeout(400)
    assert page.url.endswith("#other:kind=down")


def test_hostile_addresses_neither_run_nor_show(visit, made_up_page):
    random.seed(0)
    page = visit.open((made_up_page / "zh.html").as_uri())
    start = state_of(page)
    hostile = "<img src=x onerror=window.hit=1> javascript:window.hit=1 __proto__= constructor toString"
    parts = [*hostile.split(" "), *"made-up: n= kind= % %F0%9F = ; & 1e999 NaN '\"".split(), "9" * 50]
    for _ in range(60):
        fragment = "".join(random.choices(parts, k=random.randint(1, 9)))
        page.evaluate("(fragment) => { location.hash = fragment }", fragment)
    page.evaluate("() => { location.hash = 'made-up:n=<b>x</b>;power=7;kind=__proto__;bound=constructor' }")
    page.wait_for_timeout(100)
    assert page.evaluate("window.hit") is None
    assert page.evaluate("({}).n") is None
    assert state_of(page) == start
    assert "<b>x" not in page.locator("main").inner_html()
    assert "onerror" not in page.locator("main").inner_html()


def test_keyboard_alone_reaches_and_moves_every_control(visit, made_up_page):
    page = visit.open((made_up_page / "en.html").as_uri())
    seen = []
    for _ in range(13):
        page.keyboard.press("Tab")
        seen.append(page.evaluate("document.activeElement.name || document.activeElement.tagName.toUpperCase()"))
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none", seen
        if seen[-1] == "SUMMARY":
            page.keyboard.press("Enter")
    # no box to type in, without a kernel; the last one, a table, scrolls
    assert seen == ["n", "power", "kind", "SUMMARY", "bound", "SVG", "SVG", "SVG", *4 * ["SUMMARY"], "DIV"]
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "copy"
    page.locator('[name="bound"]').first.focus()
    page.keyboard.press("Space")
    assert state_of(page).endswith("bound=true")


def picture(page, number: int, figure: int = 0):
    return page.locator("figure.explorable").nth(figure).locator("svg[role=application]").nth(number)


def readout(page, figure: int = 0) -> str:
    return page.locator("figure.explorable").nth(figure).locator(".readout").inner_text()


def test_pointing_reads_a_cells_value_or_every_series_of_a_line(page):
    assert "方向键" in readout(page)  # before it is touched, how to read it
    box = page.locator("canvas").first.bounding_box()  # 8 by 8 cells
    page.mouse.move(box["x"] + box["width"] * 2.5 / 8, box["y"] + box["height"] * 5.5 / 8)
    assert readout(page) == "查询 i = 6，键 j = 3：矩阵 影响 0.032"  # 10^(−3 · 0.5)
    page.mouse.move(box["x"] + box["width"] * 6.5 / 8, box["y"] + box["height"] * 0.5 / 8)
    assert readout(page) == "查询 i = 1，键 j = 7：矩阵 恰为 0：没有通路"
    plot = picture(page, 0).locator("svg").bounding_box()
    page.mouse.move(plot["x"] + plot["width"] * 4.1 / 7, plot["y"] + 20)
    # 10^(4 · 0.5), and times 0.9 and 1.1 in the exponent
    assert readout(page) == "l = 4：up 100 (63.1 … 158)；down 0.01"


@pytest.mark.parametrize("place", [0, 0.05, 0.5, 1])
def test_a_series_of_one_point_has_one_whole_mark(visit, tmp_path, place):
    axis = Axis("size", limits=(0, 1), resolution=0.01)
    series = Series(lambda n: [0.1 * n], [place], "now", mark="diamond")
    page = show(visit, tmp_path, Lines("lines", axis, axis, [series]))
    plot, mark = picture(page, 0).locator("svg"), picture(page, 0).locator("svg path.mark")
    assert mark.get_attribute("d").count("M") == 1
    shape, clip = mark.bounding_box(), plot.bounding_box()
    assert clip["x"] <= shape["x"] < shape["x"] + shape["width"] <= clip["x"] + clip["width"]


def test_arrow_keys_walk_over_every_kind_of_panel_and_escape_leaves(visit, made_up_page):
    page = visit.open((made_up_page / "en.html").as_uri())
    hint = readout(page)
    picture(page, 0).focus()
    for key in ("ArrowRight", "ArrowRight", "End", "ArrowLeft"):
        page.keyboard.press(key)
    assert readout(page).startswith("l = 6: up 10³")
    picture(page, 1).focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    assert readout(page) == "query i = 3, key j = 2: Matrix: influence 0.32"
    picture(page, 2).focus()
    scrolled = page.evaluate("scrollY")
    for key in ("Home", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    assert readout(page) == "position = 2: Chain: layer 0, step 2, reads 1 value"
    page.keyboard.press("Escape")
    assert readout(page) == hint
    assert page.evaluate("scrollY") == scrolled  # the keys did not scroll the page


def test_a_pick_stays_while_the_figure_moves_and_follows_its_numbers(page):
    picture(page, 1).focus()
    for _ in range(4):
        page.keyboard.press("ArrowDown")
    assert readout(page).endswith("键 j = 1：矩阵 影响 0.032")
    move(page, "power")
    assert readout(page).endswith("键 j = 1：矩阵 影响 10⁻³")


def test_panels_of_one_figure_share_the_pick(visit, tmp_path):
    scale = Axis("size", limits=(0, 9), resolution=0.01)
    ones = Heatmap(lambda n: np.ones((n, n)), "ones", "row", "column", scale)
    twos = Heatmap(lambda n: 2 * np.ones((n, n)), "twos", "row", "column", scale)
    page = show(visit, tmp_path, ones, twos)
    picture(page, 0).focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("rect.ring:visible").count() == 2
    assert "ones" in readout(page)
    assert "twos" in readout(page)


def test_two_lines_of_the_same_heights_stand_where_each_has_its_own_places(visit, tmp_path):
    unit = Axis("size", limits=(0, 9), resolution=0.01)
    places = {"left": lambda n: [n, n], "right": [8, 8]}
    uprights = [Series([0, 9], x, label) for label, x in places.items()]
    page = show(visit, tmp_path, Lines("", unit, unit, uprights), n=[1, 2])

    def drawn():
        paths = page.locator("figure svg svg path.bold").evaluate_all(
            "(paths) => paths.map((path) => path.getAttribute('d'))"
        )
        return [float(path[1:].split(",")[0]) for path in paths]

    before = drawn()
    assert before[0] < before[1]
    move(page, "n")
    after = drawn()
    assert before[0] < after[0] < after[1] == before[1]


def test_words_stand_at_the_cells_of_a_heatmap_in_its_table_and_in_what_a_pick_reads_out(visit, tmp_path):
    scale = Axis("size", limits=(0, 9), resolution=0.01)
    words = {"row_words": lambda n: [f"word{i}" for i in range(n)], "column_words": ["left", "right"]}
    page = show(visit, tmp_path, Heatmap(lambda n: np.ones((n, 2)), "ones", "query", "key", scale, **words))
    ticks = page.locator("figure .layered svg text.tick").all_text_contents()
    assert {"left", "right", "word0", "word1", "word2"} <= set(ticks)
    assert numbers_of(page)["panels"][0]["rowWords"] == ["word0", "word1", "word2"]
    boxes = {text.text_content(): text.bounding_box() for text in page.locator("figure .layered svg text.tick").all()}
    picture_box = page.locator("figure .layered canvas").bounding_box()
    assert all(boxes[f"word{i}"]["x"] + boxes[f"word{i}"]["width"] <= picture_box["x"] for i in range(3))
    assert boxes["left"]["y"] >= picture_box["y"] + picture_box["height"]  # upright below the matrix
    assert boxes["left"]["height"] > boxes["left"]["width"]
    picture(page, 0).focus()
    page.keyboard.press("ArrowRight")
    assert readout(page) == "query 1: word0，key 1: left：ones size 1"
    move(page, "n")
    page.locator("figure details.numbers summary").click()
    page.locator("figure .tables table").first.wait_for()  # they are written after the click
    assert page.locator("figure .tables th").all_text_contents() == [
        *("query \\ key", "1 left", "2 right"),
        *("1 word0", "2 word1", "3 word2", "4 word3"),
    ]


def test_a_series_of_which_nothing_is_inside_is_left_out_and_a_pick_beyond_its_ends_says_nothing(visit, tmp_path):
    unit = Axis("size", limits=(0, 9), resolution=0.01)
    series = [
        Series(lambda n: list(range(n + 3)), lambda n: list(range(n + 3)), "long"),
        Series([1, 2], [3, 4], "short", "green"),
        Series([5], lambda n: [2 if n == 4 else -np.inf], "point", "blue"),
    ]
    page = show(visit, tmp_path, Lines("lines", unit, unit, series))
    labels = page.locator("figure.explorable text.label")
    assert [label.text_content() for label in labels.all() if label.is_visible()] == ["long", "short"]
    assert "NaN" not in page.locator("figure.explorable svg").first.evaluate("(svg) => svg.outerHTML")
    move(page, "n")
    assert [label.text_content() for label in labels.all() if label.is_visible()] == ["long", "short", "point"]
    said = []
    picture(page, 0).focus()
    for _ in range(6):
        page.keyboard.press("ArrowRight")
        said.append([name for name in ("long", "short", "point") if name in readout(page)])
    assert said == [["long"], ["long"], ["long", "point"], ["long", "short"], ["long", "short"], ["long"]]


def test_the_table_holds_the_numbers_drawn(visit, made_up_page):
    page = visit.open((made_up_page / "en.html").as_uri())
    tables = page.locator("figure.explorable").first.locator(".tables")
    page.locator(".numbers > summary").first.click()
    tables.locator("table").first.wait_for()
    assert tables.locator("table").count() == 3
    head = tables.locator("table").nth(1).locator("thead th").all_inner_texts()
    assert head == ["query i \\ key j", *map(str, range(1, 9))]
    cells = tables.locator("table").nth(1).locator("tbody tr").nth(4).locator("th, td").all_inner_texts()
    assert cells == ["5", "0.01", "0.032", "0.1", "0.32", "1", "0", "0", "0"]
    move(page, "n")
    assert tables.locator("table").nth(1).locator("tbody tr").count() == 12


@pytest.mark.parametrize("visit", [{"permissions": ["clipboard-read", "clipboard-write"]}], indirect=True)
def test_the_link_copies_the_state_and_opens_it(visit, page):
    move(page, "n")
    move(page, "kind")
    page.locator("a.copy").first.click()
    page.wait_for_function("document.querySelector('a.copy').textContent === '已复制'")
    address = page.evaluate("navigator.clipboard.readText()")
    assert address == page.locator("a.copy").first.get_attribute("href")
    state = state_of(page)
    page.goto("about:blank")
    assert state_of(visit.open(address)) == state == "n=12;power=0.5;kind=down;bound=false"


def test_a_page_without_a_clipboard_copies_all_the_same(visit, made_up_page):
    visit.page.add_init_script("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page = visit.open((made_up_page / "en.html").as_uri())
    page.locator("a.copy").first.click()
    page.wait_for_function("document.querySelector('a.copy').textContent === 'Copied'")


def test_the_sentence_is_announced_whole_and_once_a_change(page):
    output = page.locator("figure.explorable output").first
    assert output.get_attribute("aria-atomic") == "true"
    page.wait_for_function("document.querySelector('output').getAttribute('aria-busy') === 'false'")
    for name in ("n", "power", "power"):
        move(page, name)
        assert output.get_attribute("aria-busy") == "true"  # a screen reader waits for the reader's pause
    page.wait_for_function("document.querySelector('output').getAttribute('aria-busy') === 'false'")


@pytest.mark.parametrize("visit", [{"reduced_motion": "reduce"}], indirect=True)
def test_nothing_moves_by_itself(page):
    styles = "[...document.querySelectorAll('figure.explorable *')].map((e) => getComputedStyle(e))"
    assert page.evaluate(f"{styles}.every((s) => s.animationName === 'none' && s.transitionDuration === '0s')")


TOUCH = {"has_touch": True, "is_mobile": True, "viewport": {"width": 360, "height": 740}}


@pytest.mark.parametrize("visit", [TOUCH], indirect=True)
def test_touch_moves_a_slider(page):
    box = page.locator('figure.explorable [name="n"]').first.bounding_box()
    assert box["height"] >= 24
    page.touchscreen.tap(box["x"] + box["width"] - 3, box["y"] + box["height"] / 2)
    assert state_of(page).startswith("n=12")


def test_english_page_speaks_english(visit, made_up_page):
    page = visit.open((made_up_page / "en.html").as_uri())
    text = page.locator("figure.explorable").first.inner_text()
    assert "n = 8, 7 steps, rising, long." in text
    assert "exactly 0: no path" in text
    assert not any("\u4e00" <= letter <= "\u9fff" for letter in text)


DAMAGE = {  # what becomes of the frames, the page's language and what it says: one without words says it in English
    "flipped": (r'"frames":"\1AAAA\3"', "zh-CN", "静态画面"),
    "cut": (r'"frames":"\1"', "en", "still picture"),
    "empty": ('"frames":""', "fr", "still picture"),
    "lost": ("", "zh", "静态画面"),
}


@pytest.mark.parametrize(("damaged", "language", "sentence"), DAMAGE.values(), ids=DAMAGE)
def test_damaged_data_leaves_the_picture_and_a_sentence(visit, made_up_page, damaged, language, sentence):
    whole = re.sub('(lang="|"language":")zh"', rf'\1{language}"', page_of([made_up()]))
    half = len(re.search('"frames":"(.*?)"', whole)[1]) // 2
    path = made_up_page / "damaged.html"
    page, count = re.subn(f'"frames":"(.{{{half}}})(.{{4}})(.*?)"', damaged, whole)
    assert count == 1
    path.write_text(page, encoding="utf-8")
    page = visit.open(path.as_uri(), figures=False)
    assert sentence in page.locator(".notice").inner_text()
    assert page.locator("img.still").is_visible()
    assert page.locator("input").count() == 0


LACKS = [
    "window.DecompressionStream",
    "window.ResizeObserver",
    "Object.hasOwn",
    "Array.prototype.at",
    "Array.prototype.findLastIndex",
    "Float64Array.__proto__.prototype.findLastIndex",
    "Element.prototype.replaceChildren",
    "window.ImageData",  # whatever else is missing is not called damage either
]


@pytest.mark.parametrize("lacks", LACKS)
def test_a_browser_that_is_too_old_leaves_the_picture_and_says_so(visit, made_up_page, lacks):
    visit.page.add_init_script(f"delete {lacks}")
    page = visit.open((made_up_page / "zh.html").as_uri(), figures=False)
    assert "浏览器" in page.locator(".notice").first.inner_text()
    assert page.locator("img.still").first.is_visible()
    assert page.locator("input, output, svg, button, .numbers").count() == 0
    page.locator(".how_to_read > summary").first.click()
    assert page.locator(".how_to_read > p").first.inner_text() == "行是 i，列是 j。"


@pytest.mark.parametrize("visit", [{"java_script_enabled": False}], indirect=True)
def test_without_javascript_the_picture_shows(visit, made_up_page):
    image = visit.open((made_up_page / "zh.html").as_uri(), figures=False).locator("img.still").first
    assert image.is_visible()
    assert "n = 8，7 步，升，长。" in image.get_attribute("alt")
    assert visit.page.locator(".key").first.inner_text().split() == "线 ● up ● down 矩阵 链".split()


@pytest.mark.parametrize(
    "visit", [{"has_touch": True, "is_mobile": True, "viewport": {"width": 390, "height": 700}}], indirect=True
)
@pytest.mark.parametrize(("across", "down", "moves"), [(0, -12, False), (-6, 0, True)])
def test_a_swipe_that_begins_on_a_slider_scrolls_the_page_and_a_drag_moves_it(visit, page, across, down, moves):
    page.evaluate("scrollTo(0, 0)")
    slider = page.locator("[name=power]").nth(1)
    slider.evaluate("(input) => input.scrollIntoView({ block: 'center' })")
    box, before = slider.bounding_box(), state_of(page, 1)
    x, y = box["x"] + 0.9 * box["width"], box["y"] + box["height"] / 2
    touch = visit.context.new_cdp_session(page)
    scrolled = page.evaluate("scrollY")
    for step in range(11):
        point = {"x": x + across * step, "y": y + down * step}
        touch.send("Input.dispatchTouchEvent", {"type": "touchMove" if step else "touchStart", "touchPoints": [point]})
        page.wait_for_timeout(16)
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    page.wait_for_timeout(300)
    assert (state_of(page, 1) != before) == moves
    assert (page.evaluate("scrollY") > scrolled + 50) != moves


def test_print_shows_what_the_reader_has_set(page):
    move(page, "bound")  # folded at first
    move(page, "kind")
    shown = hash_of(page)
    width = page.locator(".stage").first.bounding_box()["width"]
    page.emulate_media(media="print")
    figure = page.locator("figure.explorable").first
    assert hash_of(page) == shown and figure.locator("img.still").is_hidden()
    assert figure.locator(".stage").bounding_box()["width"] == pytest.approx(640) and width > 640  # a sheet of paper's
    canvas, surface = (figure.locator(f".layered > {part}").bounding_box() for part in ("canvas", "svg"))
    assert surface["x"] < canvas["x"] < canvas["x"] + canvas["width"] < surface["x"] + surface["width"]
    assert "降" in figure.locator("output").inner_text()
    assert figure.locator("[name=bound]").is_visible() and figure.locator("[name=power]").is_hidden()
    assert figure.locator(".value").first.is_visible()


@pytest.mark.parametrize("width", [320, 360, 768, 1280])
def test_nothing_overflows_or_shifts(visit, made_up_page, width):
    visit.page.set_viewport_size({"width": width, "height": 800})
    page = visit.open((made_up_page / "zh.html").as_uri())
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    scales = "[...document.querySelectorAll('.stage > svg, .layered > svg')].map((svg) => svg.getScreenCTM().a)"
    assert page.evaluate(scales) == pytest.approx([1] * 9, abs=0.01)  # letters are as large as the style sheet says
    boxes = "[...document.querySelectorAll('.control, .stage, output')].map((e) => JSON.stringify(e.getBoundingClientRect()))"
    move(page, "bound")  # opens "more"
    before = page.evaluate(boxes)
    for name in ("power", "kind"):
        move(page, name)
    assert page.evaluate(boxes) == before
    page.locator(".numbers > summary").first.click()
    page.locator(".tables table").first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("width", [280, 320, 1280])
def test_numbers_without_an_end_and_long_labels_are_drawn(visit, tmp_path, width):
    set_language("en")
    nothing, unit = [-np.inf] * 3, Axis("size", limits=(0, 9), resolution=0.01)
    decades = Axis("amount", limits=(-3, 0), log10=True, resolution=0.0005)
    panels = [
        Lines("zeros", unit, decades, [Series(nothing, [0, 1, 2], "none"), Series([-1, -1, -2], [0, 1, 2], "some")]),
        Lines("plain", unit, unit, [Series(nothing, [0, 1, 2], "20 letters for a line"[:20]), Series([1, 2], [0, 1], 10 * "长")]),
        Lines("large", unit, Axis("size", (-1e300, 1e300)), [Series([-1e300, 0, 1e300], [0, 1, 2], "all")]),
        Heatmap(lambda n: np.array([[0.5, -np.inf]] * n), "map", "row", "column", unit, companion=Companion(lambda n: np.array([[-np.inf, 1]] * n), "beside")),
    ]  # fmt: skip
    visit.page.set_viewport_size({"width": width, "height": 800})
    page = show(visit, tmp_path, *panels)
    plots = "(plots) => plots.map((plot) => plot.width.baseVal.value * plot.getCTM().a)"
    drawn = page.locator("figure svg svg").evaluate_all(plots)
    assert len(drawn) == 3 and min(drawn) > 60  # pixels: room for the lines
    labels = [text.bounding_box() for text in page.locator("figure text.label").all()]
    assert all(box["x"] + box["width"] <= width for box in labels)
    picture(page, 0).focus()
    page.keyboard.press("ArrowRight")
    assert "none 0; some 0.1; " in readout(page)
    assert "20 letters for a line"[:20] + " −∞" in readout(page)
    assert "all −10³⁰⁰" in readout(page)
    ticks = picture(page, 2).locator("text.tick").all_text_contents()
    assert "−10³⁰⁰" in ticks and "10³⁰⁰" in ticks
    picture(page, 3).focus()
    page.keyboard.press("ArrowRight")
    assert readout(page) == "row = 1, column = 1: map: size 0.5"
    page.locator("figure details.numbers summary").click()
    page.locator("figure .tables table").first.wait_for()
    assert page.locator("figure .tables table").nth(3).locator("td").all_text_contents() == 3 * ["0.5", "0"]
    assert "Infinity" not in page.locator("figure").inner_text()
