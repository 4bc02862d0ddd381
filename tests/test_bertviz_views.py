"""BertViz's views: what they refuse, and what they draw on a page of files and of a server, without another host."""

import gzip
import html
import importlib.util
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from chromium import Visit, served

from explorable import set_language
from why_attention.pages import bertviz_views
from why_attention.pages.bertviz_scripts import SCRIPTS, elements
from why_attention.pages.bertviz_views import head_view, model_view
from why_attention.pretrained import load_maps

ROOT = Path(__file__).parents[1]
LAYERS, HEADS, TOKENS = 2, 3, ["a", "b", "<c>", "d"]
STYLES = {"light": "", "dark": "html { color-scheme: dark; background: #121212; color: #e8eaed }"}


def random_maps(n=4):
    generator = torch.Generator().manual_seed(0)
    return torch.rand(LAYERS, HEADS, n, n, generator=generator).softmax(-1)


def page_of(*views, style=""):
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>views</title>'
        '<meta name="viewport" content="width=device-width"><style>body { margin: 16px } '
        f"{style}</style></head><body>{''.join(view._repr_html_() for view in views)}</body></html>"
    )


@pytest.fixture
def opened(browser, tmp_path):
    """Opens a page of views, and every view on it; gives the page and their frames."""
    visits = []

    def open(*views, style="", width=800):
        path = tmp_path / f"{len(visits)}.html"
        path.write_text(page_of(*views, style=style), encoding="utf-8")
        visits.append(Visit(browser, viewport={"width": width, "height": 900}))
        page = visits[-1].open(path.as_uri(), figures=False)
        return page, unfold(page)

    yield open
    for visit in visits:
        visit.close()  # where errors and other hosts are counted


def unfold(page):
    """Open every view in a page, or in a part of one, as a reader does; return their frames once they are drawn."""
    frames = []
    for view in page.locator("details.bertviz").all():
        view.locator("summary").click()
        frames.append(view.locator("iframe").element_handle().content_frame())
        frames[-1].wait_for_selector("svg [tabindex]")  # the view grows then, and moves the next one's summary
    return frames


def weights_of(frame, lines):
    """Return the weights that d3 has bound to the lines drawn, in their order."""
    return frame.evaluate(f"[...document.querySelectorAll('{lines}')].map((line) => line.__data__)")


# What is drawn


def test_head_view_draws_every_weight_of_the_layer_that_is_chosen(opened):
    maps = random_maps()
    _, [frame] = opened(head_view(maps, TOKENS, layer=2))
    assert frame.locator("select#layer option").all_inner_texts() == ["1", "2"]
    assert frame.locator("select#layer").input_value() == "2"
    assert weights_of(frame, ".headAttention line") == pytest.approx(maps[1].flatten().tolist(), abs=0.0005)
    frame.locator("select#layer").select_option("1")
    assert weights_of(frame, ".headAttention line") == pytest.approx(maps[0].flatten().tolist(), abs=0.0005)
    assert frame.locator("#left text").all_text_contents() == TOKENS


def test_head_view_starts_with_the_heads_that_are_named(opened):
    _, [frame] = opened(head_view(random_maps(), TOKENS, heads=[2]))
    pressed = [one.get_attribute("aria-pressed") for one in frame.locator("[role=button]").all()]
    assert pressed == ["false", "true", "false"]


def test_model_view_draws_every_weight_of_every_head(opened):
    maps = random_maps()
    _, [frame] = opened(model_view(maps, TOKENS))
    assert weights_of(frame, "line") == pytest.approx(maps.flatten().tolist(), abs=0.0005)
    frame.locator("[role=button]").nth(HEADS + 1).click()
    assert frame.locator("text.detail").text_content() == "层 2, 头 2"
    assert frame.locator(".detail text").all_text_contents() == [*TOKENS, *TOKENS]
    assert weights_of(frame, ".detail line") == pytest.approx(maps[1, 1].flatten().tolist(), abs=0.0005)


def test_any_token_is_only_written(opened):
    tokens = ["</script><b>", "'\"&amp;", "字", "$HEAD LAYER PART", "PYTHON_PARAMS"]
    maps = random_maps(len(tokens))
    _, [head, model] = opened(head_view(maps, tokens), model_view(maps, tokens))
    assert head.locator("#right text").all_text_contents() == tokens
    model.locator("[role=button]").first.click()
    assert model.locator(".detail text").all_text_contents() == [*tokens, *tokens]


# Special tokens


def test_special_tokens_are_left_out_and_their_share_of_all_attention_is_told(opened):
    tokens, maps = ["[CLS]", "a", "b", "[SEP]"], random_maps()
    view = head_view(maps, tokens)
    share = (maps[..., 0] + maps[..., 3]).sum().item() / (LAYERS * HEADS * 4)  # each row shares 1
    page, [frame] = opened(view)
    assert f"没有画 [CLS]、[SEP]：它们不是句子里的词，却占去全部注意力的 {share:.0%}" in page.inner_text("details")
    assert frame.locator("#left text").all_text_contents() == ["a", "b"]
    assert weights_of(frame, "line") == pytest.approx(maps[0][:, 1:3, 1:3].flatten().tolist(), abs=0.0005)


def test_special_tokens_are_drawn_where_nothing_is_to_be_hidden(opened):
    page, [frame] = opened(head_view(random_maps(), ["[CLS]", "a", "b", "[SEP]"], hide=()))
    assert frame.locator("#left text").all_text_contents() == ["[CLS]", "a", "b", "[SEP]"]
    assert "没有画" not in page.inner_text("details")


# The page


@pytest.mark.parametrize(
    "language, words",
    [
        ("zh", ["层", "头", "左边是查询，右边是键"]),
        ("en", ["Layer", "Head", "Queries stand on the left, keys on the right"]),
    ],
)
def test_words_are_of_the_pages_language(opened, language, words):
    set_language(language)
    page, [head, model] = opened(head_view(random_maps(), TOKENS), model_view(random_maps(), TOKENS))
    layer, one, reading = words
    assert reading in page.locator("details").first.inner_text()
    assert head.locator("label").inner_text().startswith(layer)
    assert head.locator("[role=button]").first.get_attribute("aria-label") == f"{one} 1"
    assert {layer, one} <= {word.rstrip("s") for word in model.locator("svg > text").all_text_contents()}
    for frame, title in zip([head, model], ["head view", "model view"]):
        assert frame.locator("html").get_attribute("lang") == language
        assert title in frame.title()
        assert page.locator(f'iframe[title="{frame.title()}"]').count() == 1


@pytest.mark.parametrize("width", [360, 720])
def test_two_views_on_a_narrow_page_are_whole(opened, width):
    stored = load_maps()
    page, frames = opened(head_view(stored.maps, stored.tokens), model_view(stored.maps, stored.tokens), width=width)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    for frame in frames:
        assert frame.evaluate("document.body.getBoundingClientRect().height <= innerHeight")
        assert frame.evaluate("document.documentElement.scrollWidth <= innerWidth")
        words = "[...document.querySelectorAll('svg text')].map((word) => word.getBoundingClientRect())"
        assert frame.evaluate(f"{words}.filter((box) => box.left < 0 || box.right > innerWidth).length") == 0


POLICY = "default-src 'self'; style-src 'self' 'unsafe-inline'"


@pytest.mark.parametrize("lack", ["script", "policy"])
def test_where_scripts_cannot_run_a_sentence_stands(browser, tmp_path, lack):
    page_text = page_of(head_view(random_maps(), TOKENS))
    if lack == "policy":
        page_text = page_text.replace("<head>", f'<head><meta http-equiv="Content-Security-Policy" content="{POLICY}">')
    (tmp_path / "page.html").write_text(page_text, encoding="utf-8")
    page = browser.new_page(java_script_enabled=lack != "script")
    page.goto((tmp_path / "page.html").as_uri())
    page.locator("summary").click()
    assert page.locator(".waiting").is_visible()
    page.close()


def test_a_view_has_no_handler_inside_and_its_sentence_goes_when_it_is_drawn(opened):
    page, _ = opened(head_view(random_maps(), TOKENS))
    assert "ontoggle" not in page.content()
    assert not page.locator(".waiting").is_visible()


@pytest.mark.parametrize("style", STYLES)
def test_words_have_the_ink_of_the_page_around(opened, style):
    page, frames = opened(head_view(random_maps(), TOKENS), model_view(random_maps(), TOKENS), style=STYLES[style])
    ink = page.evaluate("getComputedStyle(document.body).color")
    for frame in frames:
        assert frame.locator("svg text").first.evaluate("(text) => getComputedStyle(text).fill") == ink
    background = frames[1].locator(".attn_background").first.get_attribute("fill")
    assert background == {"light": "white", "dark": "black"}[style]


def test_a_view_follows_a_change_of_theme(opened):
    page, [frame] = opened(model_view(random_maps(), TOKENS), style=STYLES["dark"].replace("html", "html.night"))
    page.evaluate("document.documentElement.classList.add('night')")
    page.frame_locator("iframe").locator('.attn_background[fill="black"]').first.wait_for()


def test_heads_and_tokens_are_reached_and_used_by_keyboard(opened):
    page, [frame] = opened(head_view(random_maps(), TOKENS))
    frame.locator("select#layer").focus()
    reached = []
    for _ in range(2 * len(TOKENS) + HEADS):
        page.keyboard.press("Tab")
        reached.append(frame.evaluate("document.activeElement.ariaLabel"))
    assert sorted(reached) == sorted([*TOKENS, *TOKENS, "头 1", "头 2", "头 3"])
    frame.locator('[aria-label="头 1"]').focus()
    page.keyboard.press("Enter")
    pressed = [one.get_attribute("aria-pressed") for one in frame.locator("[role=button]").all()]
    assert pressed == ["false", "true", "true"]
    frame.locator('#left [aria-label="b"]').focus()
    assert frame.evaluate("[...document.querySelectorAll('line[visibility=visible]')].length") == HEADS * len(TOKENS)
    frame.locator("select#layer").focus()
    assert frame.evaluate("[...document.querySelectorAll('line[visibility=visible]')].length") == 0


def test_small_pictures_open_by_keyboard(opened):
    page, [frame] = opened(model_view(random_maps(), TOKENS))
    page.locator("summary").focus()
    for _ in range(5):
        page.keyboard.press("Tab")
        if frame.evaluate("document.activeElement.ariaLabel") == "层 1, 头 2":
            break
    page.keyboard.press("Space")
    assert frame.locator("text.detail").text_content() == "层 1, 头 2"


# Weight, and the site


def test_both_views_of_a_pretrained_encoder_are_small():
    stored = load_maps()
    for view in (head_view(stored.maps, stored.tokens), model_view(stored.maps, stored.tokens)):
        whole = view._repr_html_()
        shared = whole.replace(html.escape(elements()), "")
        assert len(shared) < len(whole) - 300_000
        assert len(gzip.compress(whole.encode())) < 150_000
        assert len(gzip.compress(shared.encode())) < 30_000


def hook():
    spec = importlib.util.spec_from_file_location("bertviz_page", ROOT / "book" / "_ext" / "bertviz_page.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("host", ["http", "file"])
def test_the_site_has_one_copy_of_the_scripts_fetched_on_opening(browser, tmp_path, host):
    maps, shared = random_maps(), hook()
    context = {
        "body": page_of(head_view(maps, TOKENS), model_view(maps, TOKENS)),
        "pathto": lambda name, resource: f"../{name}",
    }
    shared.share_scripts(None, "page", "page.html", context, None)
    assert len(context["body"]) < 80_000
    (tmp_path / "en").mkdir()
    (tmp_path / "_static").mkdir()
    (tmp_path / "en" / "page.html").write_text(context["body"], encoding="utf-8")
    shared.copy_scripts(SimpleNamespace(outdir=tmp_path, builder=SimpleNamespace(name="html")), None)
    visit = Visit(browser)
    with served(tmp_path) as address:
        page = visit.open(f"{address if host == 'http' else tmp_path.as_uri()}/en/page.html", figures=False)
        page.wait_for_load_state("networkidle")
        assert [answer.url for answer in visit.answers if answer.url.endswith(".js")] == [
            page.locator("script").get_attribute("src").replace("..", page.url.rsplit("/", 2)[0])
        ]
        assert [frame.evaluate("document.querySelectorAll('*').length") for frame in page.frames[1:]] == [3, 3]  # empty
        head, model = unfold(page)
        assert weights_of(model, "line") == pytest.approx(maps.flatten().tolist(), abs=0.0005)
        assert weights_of(head, "line") == pytest.approx(maps[0].flatten().tolist(), abs=0.0005)
        visit.close()


# Without npm's files


def test_without_the_scripts_bertviz_gets_them_itself_and_the_view_says_so(monkeypatch):
    monkeypatch.setattr(bertviz_views, "SCRIPTS", [SCRIPTS[0].with_name("missing.js")])
    for view in (head_view(random_maps(), TOKENS), model_view(random_maps(), TOKENS)):
        assert "require.config" in view.document and "requirejs(['jquery', 'd3']" in view.document
        assert "断网时就是空白" in view._repr_html_()


def test_without_the_scripts_a_view_draws_as_soon_as_their_hosts_answer(monkeypatch, browser, tmp_path):
    monkeypatch.setattr(bertviz_views, "SCRIPTS", [SCRIPTS[0].with_name("missing.js")])
    maps = random_maps()
    path = tmp_path / "page.html"
    path.write_text(page_of(model_view(maps, TOKENS)), encoding="utf-8")
    names = {"d3": SCRIPTS[0], "jquery": SCRIPTS[1]}
    # what require.js does, as far as BertViz asks it
    loader = """globalThis.require = { config({ paths }) { this.paths = paths } };
        globalThis.requirejs = async (names, use) => {
            for (const name of names) await new Promise((done) => {
                const script = Object.assign(document.createElement("script"), { src: require.paths[name] + ".js", onload: done });
                document.head.append(script);
            });
            use(jQuery, d3);
        };"""

    def answer(route):
        script = next((script for name, script in names.items() if f"/{name}/" in route.request.url), None)
        body = script.read_text(encoding="utf-8") if script else loader
        route.fulfill(body=body, content_type="text/javascript")

    visit = Visit(browser)
    visit.page.route(re.compile("^https://"), answer)
    [frame] = unfold(visit.open(path.as_uri(), figures=False))
    assert weights_of(frame, "line") == pytest.approx(maps.flatten().tolist(), abs=0.0005)
    visit.close()


def test_another_bertviz_is_refused(monkeypatch):
    monkeypatch.setattr(bertviz_views.bertviz, "head_view", lambda *_, **__: SimpleNamespace(data="<b>new</b>"))
    with pytest.raises(ValueError, match="BertViz wrote no 'Layer: .*version 1.4.1"):
        head_view(random_maps(), TOKENS)


# Errors


SPOILT = random_maps()
SPOILT[0, 1, 2, 3] = torch.nan
REFUSED = [
    ((), TOKENS, 'attn_implementation="eager"'),
    (random_maps(), ["a", "b"], r"of 4 positions, but there are 2 tokens: \['a', 'b'\]"),
    (torch.rand(2, 3, 4, 5), TOKENS, r"\(3, 4, 5\)"),
    (SPOILT, TOKENS, "1 of 96 weights lie outside 0 … 1, the first is nan"),
    (3 * torch.ones(2, 3, 4, 4), TOKENS, "not the scores before it"),
    (random_maps(), ["[PAD]"] * 4, "all 4 tokens are to be hidden"),
]


@pytest.mark.parametrize("make", [head_view, model_view])
@pytest.mark.parametrize("maps, tokens, words", REFUSED)
def test_what_is_no_map_is_refused_with_its_numbers(make, maps, tokens, words):
    with pytest.raises(ValueError, match=words):
        make(maps, tokens)


@pytest.mark.parametrize(
    "options, words",
    [
        *(({"layer": layer}, f"layer {layer} is none of 1 … 2") for layer in (0, 3)),
        *(({"heads": heads}, f"heads {heads} are not all of 1 … 3") for heads in ([], [0], [1, 4])),
    ],
)
def test_a_layer_or_heads_that_are_not_there_are_refused(options, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        head_view(random_maps(), TOKENS, **options)
