"""How every figure lies on its page: all of it on one screen, few words, wide plots, no label cut or over another.

A new figure is found and asked without being listed. One visit to a page answers for both editions' texts and all widths
that it is drawn at, for what takes time is to open it.
"""

import re

import pytest
from chromium import Visit, page_of
from languages import EDITIONS
from test_every_figure import FIGURES, made

ONE_SCREEN = {1280: 700, 390: 760}  # pixels that controls, sentence and stage take at most, by the width of the window
WIDTHS = (320, 390, 1280)
LONGEST = {"zh": {"caption": 40, "sentence": 45}, "en": {"caption": 25, "sentence": 25}}  # characters; words
MOST_NUMBERS = 3  # that a sentence measures
NARROWEST_PLOT = 0.6  # of its panel
MANY = 9  # values of one control, where two move
NUMBER = re.compile(r"\d[\d.,]*(?:[×·]10)?[⁻⁰¹²³⁴-⁹]*")
CHARACTER = re.compile(r"[一-鿿]|[A-Za-z]+|" + NUMBER.pattern)  # of Chinese text, in which a word or a number is one
EVERY = [pytest.mark.slow, pytest.mark.parametrize("name", FIGURES), pytest.mark.parametrize("edition", EDITIONS)]


def for_every_figure(test):
    for mark in EVERY:
        test = mark(test)
    return test


def length_of(text, edition):
    """Return how long a text is, in characters if it is Chinese, else in words."""
    if edition == "zh":
        return len(CHARACTER.findall(text))
    return len([word for word in text.split() if re.search(r"\w", word)])


def texts_of(figure, slot):
    """Return what may stand in a slot of the sentence, at all settings."""
    if slot in figure._slots:
        texts = figure._kept.header["slots"][slot]["words"]
        choices = figure._spec["sentence"]["choices"].get(slot)
        return [choices[int(text)] for text in texts] if choices else texts
    return next(control["words"] for control in figure._spec["controls"] if control["name"] == slot)


@for_every_figure
def test_its_words_are_few_at_every_setting(name, edition):
    figure = made(name, edition)
    assert length_of(figure._spec["caption"], edition) <= LONGEST[edition]["caption"]
    said, numbers = "", 0
    for text, slot in figure._spec["sentence"]["parts"]:
        said += text
        if slot is None:
            continue
        texts = texts_of(figure, slot)
        said += max(texts, key=lambda text: length_of(text, edition))
        if slot in figure._slots and slot not in figure._spec["sentence"]["choices"]:
            # the value of a control and words to choose from are nothing measured
            numbers += max(len(NUMBER.findall(text)) for text in texts)
    assert length_of(said, edition) <= LONGEST[edition]["sentence"], said
    assert numbers <= MOST_NUMBERS, said


# In the browser


@pytest.fixture(scope="module")
def screen(browser, tmp_path_factory):
    """Pages of figures, the last of which stays open: a function of a figure's name and an edition."""
    folder = tmp_path_factory.mktemp("figures")
    visit = Visit(browser, reduced_motion="reduce")  # a state that moves into the next has no place yet
    shown = []

    def open_at(name, edition, width):
        visit.page.set_viewport_size({"width": width, "height": 900})
        if shown != [name, edition]:
            path = folder / f"{name}-{edition}.html"
            if not path.exists():
                path.write_text(page_of([made(name, edition)], edition), encoding="utf-8")
            shown[:] = []
            visit.open(path.as_uri())
            shown[:] = [name, edition]
            visit.page.evaluate(READER)
        visit.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")  # drawn anew
        return visit.page

    open_at.errors = visit.errors
    yield open_at
    visit.close()


# What a reader does to the controls, and what he sees: names of the page that the tests call
READER = """() => {
  const figure = document.querySelector("figure.explorable");
  const inputs = [...figure.querySelectorAll(".controls [name]")];
  const panels = [...figure.querySelectorAll(".stage svg[role=application]")].map((svg) => svg.closest(".stage > *"));
  const read = (input) => (input.type === "checkbox" ? input.checked : input.value);
  // Its value and, as it may have been refused, whether it has taken it.
  const choose = (input, value) => {
    if (input.type === "checkbox") input.checked = value;
    else input.value = value;
    input.dispatchEvent(new Event("input", { bubbles: true }));
  };
  const valuesOf = (input) => {
    if (input.type === "checkbox") return [false, true];
    if (input.options) return [...input.options].map(({ value }) => value);
    const [min, max, step] = [input.min, input.max, input.step === "any" ? 1 : input.step].map(Number);
    return Array.from({ length: Math.round((max - min) / step) + 1 }, (_, i) => String(min + i * step));
  };
  // Some of a control's values, as many at most, both ends among them.
  const someOf = (input, most) => {
    const values = valuesOf(input);
    if (values.length <= most) return values;
    return Array.from({ length: most }, (_, i) => values[Math.round((i * (values.length - 1)) / (most - 1))]);
  };
  // Where the ink of an element's letters is: of a line's height letters fill 0.97 em.
  const inkOf = (element, text) => {
    if (!element.getBoundingClientRect().width) return null;
    const range = document.createRange();
    range.selectNodeContents(text ?? element);
    const lines = [...range.getClientRects()].filter(({ width, height }) => width && height);
    if (!lines.length) return null;
    const [left, top] = ["left", "top"].map((side) => Math.min(...lines.map((line) => line[side])));
    const [right, bottom] = ["right", "bottom"].map((side) => Math.max(...lines.map((line) => line[side])));
    const em = parseFloat(getComputedStyle(element).fontSize);
    const turned = Math.abs(element.getScreenCTM?.().b ?? 0) > 0.5;
    const spare = (size) => Math.max(0, (size - 0.97 * em) / 2);
    const [across, down] = turned ? [spare(Math.min(...lines.map(({ width }) => width))), 0] : [0, spare(Math.min(...lines.map(({ height }) => height)))];
    return { left: left + across, right: right - across, top: top + down, bottom: bottom - down };
  };
  const labelsOf = () => {
    const labels = [];
    for (const text of figure.querySelectorAll(".stage text")) {
      if (text.textContent.trim() && text.checkVisibility({ visibilityProperty: true, opacityProperty: true })) labels.push({ element: text, ink: inkOf(text) });
    }
    const walker = document.createTreeWalker(figure, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const text = walker.currentNode, element = text.parentElement;
      if (!text.data.trim() || element.closest("svg, script, option, .room, .readout, .foot, [hidden]") || !element.checkVisibility({ visibilityProperty: true })) continue;
      labels.push({ element, ink: inkOf(element, text) });
    }
    return labels.filter(({ ink }) => ink);
  };
  const blockOf = (element) => element.closest("text, output, figcaption, label, p, td, th, button, summary") ?? element;
  // Where a plot is: an svg within an svg calls its contents' box its own.
  const boxOf = (plot) => {
    if (!plot.ownerSVGElement) return plot.getBoundingClientRect();
    const { a, e, f } = plot.parentElement.getScreenCTM();
    const [x, y, width, height] = ["x", "y", "width", "height"].map((side) => a * plot[side].baseVal.value);
    return { left: e + x, right: e + x + width, top: f + y, bottom: f + y + height };
  };
  const beyond = (inner, outer) => Math.max(outer.left - inner.left, inner.right - outer.right, outer.top - inner.top, inner.bottom - outer.bottom);
  // What lies wholly outside a plot is hidden by it.
  const isShown = ({ element, ink }) => !element.closest("svg svg") || !isApart(ink, boxOf(element.closest("svg svg")));
  const isApart = (a, b) => a.right - b.left <= 2 || b.right - a.left <= 2 || a.bottom - b.top <= 2 || b.bottom - a.top <= 2;
  // What is wrong with the labels now.
  const faults = () => {
    const found = [];
    const labels = labelsOf().filter(isShown);
    const page = figure.getBoundingClientRect();
    const said = (element) => JSON.stringify(element.textContent.trim().slice(0, 40));
    labels.forEach(({ element, ink }, i) => {
      const panel = element.closest(".stage > *");
      const plot = element.closest("svg svg");
      if (beyond(ink, { top: -Infinity, bottom: Infinity, left: page.left, right: page.right }) > 2) found.push(`${said(element)} leaves the figure`);
      else if (panel && beyond(ink, panel.getBoundingClientRect()) > 2) found.push(`${said(element)} leaves its panel`);
      if (plot && beyond(ink, boxOf(plot)) > 2) found.push(`${said(element)} is cut by its plot`);
      if (!panel && getComputedStyle(element).overflowX !== "visible" && element.scrollWidth > element.clientWidth + 2) found.push(`${said(element)} is cut`);
      for (const other of labels.slice(i + 1)) {
        if (blockOf(element) !== blockOf(other.element) && !isApart(ink, other.ink)) found.push(`${said(element)} over ${said(other.element)}`);
      }
    });
    return found;
  };
  const size = () => `${Math.round(figure.getBoundingClientRect().height)} px`;
  // Move controls from where they are, each to some of its values, and back; give what is seen, with where it is first.
  window.moved = (names, most) => {
    const sizes = {}, wrong = {};
    const start = inputs.map(read);
    for (const details of figure.querySelectorAll(".more")) details.open = true;
    const note = () => {
      sizes[size()] ??= figure.dataset.state;
      for (const fault of faults()) wrong[fault] ??= figure.dataset.state;
    };
    const go = ([input, ...others]) => {
      if (!input) return note();
      const before = read(input);
      for (const value of someOf(input, most)) choose(input, value), go(others);
      choose(input, before);
    };
    note();
    for (const some of names) go(some.map((name) => inputs.find((input) => input.name === name)));
    inputs.forEach((input, i) => read(input) !== start[i] && choose(input, start[i]));
    for (const details of figure.querySelectorAll(".more")) details.open = false;
    return { sizes, wrong, wide: document.documentElement.scrollWidth };
  };
  window.part = (selector) => figure.querySelector(selector).getBoundingClientRect();
  // How much of its panel's width each plot has: a canvas, what clips the lines, or the grid of the axes.
  window.plots = () => panels.map((panel) => {
    const plot = panel.querySelector("canvas, svg svg, .plot");
    const grid = plot ? [plot] : [...panel.querySelectorAll(".grid")];
    if (!grid.length) return 1;
    const boxes = grid.map((one) => (one.matches("svg svg") ? boxOf(one) : one.getBoundingClientRect()));
    return (Math.max(...boxes.map(({ right }) => right)) - Math.min(...boxes.map(({ left }) => left))) / panel.clientWidth;
  });
  window.tops = () => panels.map((panel) => Math.round(panel.getBoundingClientRect().top));
  // Point at places all over every panel; give what the tips say that do not lie wholly inside the window.
  window.pointedAt = (pointerType) => {
    const outside = [];
    const tip = figure.querySelector(".tip");
    let tips = 0;
    for (const panel of panels) {
      const surface = panel.querySelector("svg[role=application]") ?? panel;
      surface.scrollIntoView({ block: "center" });
      const { left, top, width, height } = surface.getBoundingClientRect();
      for (let i = 0; i < 36; i++) {
        const at = { clientX: left + (((i % 6) + 0.5) / 6) * width, clientY: top + ((Math.floor(i / 6) + 0.5) / 6) * height };
        surface.dispatchEvent(new PointerEvent("pointermove", { ...at, pointerType, bubbles: true }));
        if (!tip || tip.hidden) continue;
        tips++;
        if (beyond(tip.getBoundingClientRect(), { left: 0, top: 0, right: innerWidth, bottom: innerHeight }) > 0) outside.push(tip.textContent);
      }
    }
    return { tips, outside };
  };
  // Move every control, then go back as a reader would.
  window.leaveAndReturn = () => {
    const { state, drawn } = figure.dataset;
    for (const input of inputs) choose(input, valuesOf(input).find((value) => value !== read(input)));
    const left = figure.dataset.state;
    figure.querySelector("button.reset").click();
    return { left: left !== state, back: figure.dataset.state === state && figure.dataset.drawn === drawn, disabled: figure.querySelector("button.reset").disabled };
  };
}"""


@for_every_figure
@pytest.mark.parametrize("width", ONE_SCREEN)
def test_controls_sentence_and_stage_stand_on_one_screen(screen, name, edition, width):
    page = screen(name, edition, width)
    parts = {part: round(page.evaluate("part", f".{part}")["height"]) for part in ("controls", "sentence", "stage")}
    assert page.evaluate("part", ".play")["height"] <= ONE_SCREEN[width], parts


@for_every_figure
def test_plots_are_wide_and_squares_stand_side_by_side(screen, name, edition):
    assert min(screen(name, edition, 1280).evaluate("plots()")) >= NARROWEST_PLOT
    tops = screen(name, edition, 390).evaluate("tops()")
    spec = made(name, edition)._spec
    kinds = [panel["kind"] for panel in spec["panels"]]
    for count in spec["rows"]:
        if set(kinds[:count]) == {"heatmap"}:
            assert len(set(tops[:count])) <= max(1, count // 2)  # four stand two by two
        kinds, tops = kinds[count:], tops[count:]


@for_every_figure
@pytest.mark.parametrize("width", WIDTHS)
def test_while_a_control_moves_nothing_shifts_and_no_label_is_cut_or_over_another(screen, name, edition, width):
    page = screen(name, edition, width)
    seen = page.evaluate("(names) => moved(names, Infinity)", [[control] for control in made(name)._controls])
    assert len(seen["sizes"]) == 1 and seen["wide"] <= width, seen
    assert not seen["wrong"]


@pytest.mark.sweep
@for_every_figure
@pytest.mark.parametrize("width", [390, 1280])
def test_while_two_controls_move_no_label_is_cut_or_over_another(screen, name, edition, width):
    controls = [*made(name)._controls]
    pairs = [[a, b] for i, a in enumerate(controls) for b in controls[i + 1 :]]
    seen = screen(name, edition, width).evaluate(f"(pairs) => moved(pairs, {MANY})", pairs)
    assert len(seen["sizes"]) == 1 and not seen["wrong"]


@for_every_figure
def test_it_has_a_way_back_to_its_start(screen, name, edition):
    assert screen(name, edition, 1280).evaluate("leaveAndReturn()") == {"left": True, "back": True, "disabled": True}


@for_every_figure
@pytest.mark.parametrize(("width", "pointer"), [(1280, "mouse"), (390, "touch")])
def test_what_is_pointed_at_is_read_out_inside_the_window(screen, name, edition, width, pointer):
    page = screen(name, edition, width)
    seen = page.evaluate("pointedAt", pointer)
    assert seen["tips"] and not seen["outside"]
    assert not screen.errors


@for_every_figure
@pytest.mark.parametrize("size", [(1280, 720), (390, 844)])
def test_controls_stay_in_sight_while_the_stage_does(screen, name, edition, size):
    page = screen(name, edition, size[0])
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.evaluate("document.body.style.paddingBottom = '2000px'")
    for share in (0.2, 0.5, 0.8):
        page.evaluate(
            "(share) => scrollTo(0, part('.stage').top + scrollY + share * part('.stage').height - part('.controls').height)",
            share,
        )
        assert abs(page.evaluate("part", ".controls")["top"]) < 1
    page.evaluate("scrollTo(0, 0)")
