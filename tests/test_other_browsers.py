"""Firefox and WebKit, Safari's engine: three figures show there what they show in Chromium, step by step."""

import pytest
import webdriver
from chromium import Visit

pytestmark = pytest.mark.sweep
ENGINES = ["firefox", "webkit"]
DRAWN = "[...document.querySelectorAll('figure.explorable')].every((figure) => figure.dataset.drawn)"
FIGURES = {
    "recurrence": "gradient-decay",
    "index": "influence",
    "convolution": "receptive-field",
}  # one of each kind of panel
# What a figure shows when each control has moved one step, one after the other
STEPS = """const figure = document.querySelector(`figure[data-name=${name}]`);
const seen = [];
const note = () => seen.push([figure.dataset.state, figure.dataset.drawn, figure.querySelector("output").textContent]);
note();
for (const input of figure.querySelectorAll(".controls [name]")) {
  if (input.type === "checkbox") input.checked = !input.checked;
  else input.value = (Number(input.value) + 1) % (input.options?.length ?? Number(input.max) + 1);
  input.dispatchEvent(new Event("input", { bubbles: true }));
  note();
}
return seen;"""
CANVAS = """const [canvas] = document.querySelectorAll("figure[data-name=influence] canvas");
return [...canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data];"""
RIGHT = "\ue014"  # the arrow key


@pytest.fixture(scope="module", params=ENGINES)
def other(request):
    if not webdriver.is_there(request.param):
        pytest.skip(f"{request.param} is not here, and only root on Debian can have it installed")
    with getattr(webdriver, request.param)() as browser:
        yield browser


def opened(other, address):
    other.open("about:blank")  # else an address that differs in its fragment loads nothing
    other.open(address)
    other.wait(DRAWN)


@pytest.mark.parametrize("page", FIGURES)
def test_a_figure_shows_what_it_shows_in_chromium(other, browser, site, page):
    address = f"{site}/{page}.html"
    opened(other, address)
    visit = Visit(browser)
    in_chromium = visit.open(address)
    assert other.run("return document.querySelectorAll('.notice').length") == 0
    steps = "const [name] = arguments;" + STEPS
    shown = in_chromium.evaluate(f"(name) => {{ {STEPS} }}", FIGURES[page])
    assert len(shown) > 2 and other.run(steps, FIGURES[page]) == shown
    if page == "index":
        assert other.run(CANVAS) == in_chromium.evaluate(f"() => {{ {CANVAS} }}")
    visit.close()


def test_a_link_to_a_state_opens_at_its_figure_and_keys_move_it_on(other, site):
    opened(other, f"{site}/en/recurrence.html#gradient-decay:cell=LSTM")
    figure = "document.querySelector('figure.linked[data-name=gradient-decay]')"
    other.wait(f"{figure} && Math.abs({figure}.getBoundingClientRect().top) < 200")
    other.run(f"{figure}.querySelector('[name=gain]').focus()")
    other.press(RIGHT)
    other.wait("location.hash === '#gradient-decay:cell=LSTM;gain=1.2'")
    other.run("location.hash = '#gradient-decay:cell=GRU'")
    other.wait(f"{figure}.dataset.state.startsWith('cell=GRU;gain=1;')")


def test_a_heading_is_met_though_figures_grow_above_it(other, site):
    opened(other, f"{site}/recurrence.html#exploding-gradients")
    other.wait("document.readyState === 'complete'")
    heading = "document.querySelector('#exploding-gradients').getBoundingClientRect().top"
    other.wait(f"{heading} > -2 && {heading} < 200")


def test_search_finds_a_section(other, site):
    other.open(f"{site}/search.html?q=%E9%81%97%E5%BF%98%E9%97%A8")  # 遗忘门
    other.wait("document.querySelectorAll('.bd-search-container .found a').length > 0")
