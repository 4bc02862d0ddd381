"""The figure itself: what it refuses, its controls as traits, what it says that it shows, and the HTML that it gives."""

import base64
import io
import json
import re
from html.parser import HTMLParser

import ipywidgets
import numpy as np
import pytest
from chromium import Visit, hash_of, move, state_of
from IPython.core.interactiveshell import InteractiveShell
from PIL import Image
from small_figures import CELL, FLAG, GAIN, UNIT, N, figure, graph, heatmap, lines

from explorable import Choice, Control, Lines, Sentence, Series, Text, language, set_language

# What it refuses


@pytest.mark.parametrize(
    "options, words",
    [
        ({"controls": [N, N]}, r"\['n'\] are named more than once"),
        ({"controls": [N, GAIN]}, r"controls \['gain'\] would change nothing"),
        ({"rows": [2]}, "place 2 panels of 1"),
        ({"rows": [1, 0]}, "1 to 4 in a row"),
        ({"title": 3}, "made-up: title must be str or Text, not 3"),
        ({"caption": None}, "made-up: caption must be str or Text, not None"),
        ({"limits": None}, "made-up: limits must be str or Text, not None"),
        (
            {"sentence": Sentence("{m}", m=lambda: "a"), "detail": Sentence("{m}", m=lambda: "b")},
            r"sentence and detail fill the slots \['m'\] by different functions: name them apart",
        ),
        ({"sentence": Sentence("{m}")}, r"\['m'\] that no function and no control fills"),
        ({"sentence": Sentence("", m=str)}, r"\['m'\] for slots that its template does not name"),
        ({"sentence": Sentence("{m}", m=lambda k: k)}, r"'m'.*depends on \['k'\]"),
        (
            {"sentence": Sentence("{m}", m=Choice(lambda n: n, ["a", "b"]))},
            r"slot 'm' of the sentence chose 2: it must give a whole number from 0 to 1",
        ),
        ({"sentence": Sentence("{n:.2f}")}, r"formats its slots \['n'\]"),
        *(({"sentence": Sentence(template)}, "braces that do not match") for template in ("{", "}", "{n")),
        *(
            ({"name": name}, "^figure name .*: it must be 1 to 60 letters")
            for name in ("", "a b", "a/b", "a#b", "n" * 61, 3)
        ),
    ],
)
def test_a_figure_that_could_not_be_drawn_is_refused(options, words):
    with pytest.raises(ValueError, match=words):
        figure(**options)


def test_more_settings_than_can_be_computed_are_refused_with_their_number():
    controls = [Control(name, list(range(1000)), name) for name in "nm"]
    with pytest.raises(ValueError, match="has 1000000 settings, 1000 of 'n' times 1000 of 'm': at most 10000 can be"):
        figure(lines(lambda n, m: [n, m]), controls=controls)


@pytest.mark.filterwarnings("ignore:.*deprecated:DeprecationWarning")  # hasattr() wakes ipywidgets' old names
def test_no_public_name_of_a_finished_figure_is_free_for_a_control():
    names = [name for name in dir(figure()) if not name.startswith("_") and name != "n"]
    assert {"at", "observe", "comm", "layout", "send", "model_id"} <= set(names)
    for name in names:
        with pytest.raises(ValueError, match=rf"\['{name}'\] have names that every widget uses"):
            figure(controls=[N, Control(name, [1, 2], "")])


# Controls as traits


def test_every_control_is_a_synced_trait_that_starts_where_it_should():
    made = figure(lines(lambda n, gain, causal, cell: [n, gain]), controls=[N, GAIN, FLAG, CELL])
    assert [getattr(made, name) for name in ("n", "gain", "causal", "cell")] == [1, 1.0, False, "a"]
    assert all(made.traits()[name].metadata["sync"] for name in ("n", "gain", "causal", "cell"))


def test_a_change_of_a_control_is_observed():
    made, seen = figure(), []
    made.observe(lambda change: seen.append((change["old"], change["new"])), "n")
    made.n = 4
    made.n = 4
    assert seen == [(1, 4)]


@pytest.mark.parametrize("value", [0, 5, "1", None, 1.5, True, float("nan")])
def test_a_value_out_of_range_is_refused_and_changes_nothing(value):
    made = figure()
    made.n = 2
    with pytest.raises(ValueError, match=re.escape(f"n = {value!r}")):
        made.n = value
    assert made.n == 2


def test_a_trait_takes_whole_numbers_and_numpys_and_keeps_the_grids_own_kind():
    made = figure(lines(lambda gain: [0, gain]), controls=[GAIN])
    for value in (1, np.float32(0.75)):
        made.gain = value
        assert made.gain == value and type(made.gain) is float


def test_jslink_takes_a_control():
    first, second = figure(), figure()
    assert ipywidgets.jslink((first, "n"), (second, "n")).source == (first, "n")


def test_two_figures_share_no_state():
    first, second = figure(), figure(controls=[Control("n", [2, 4], "", start=4)])
    first.n = 2
    assert (first.n, second.n) == (2, 4)
    with pytest.raises(ValueError, match="n = 1"):
        second.n = 1


def test_controls_travel_as_a_list_with_options_in_order():
    state = figure(lines(lambda n, cell: [n, 0]), controls=[N, CELL]).get_state("_spec")["_spec"]
    assert [(c["name"], c["kind"], c["values"]) for c in state["controls"]] == [
        ("n", "range", [1, 2, 4]),
        ("cell", "select", ["a", "b"]),
    ]


# What it shows, as numbers


def many():
    """Return a figure of every kind of panel, with a family of lines, words at a matrix, and all kinds of slots."""
    family = Series(lambda n, gain: np.outer([1, 2, 6], [n, gain]), [0, 1], "family", focus=("cell", "b"))
    hidden = Series(lambda n: [n, n, n], [-1, 0.5, 2], "hidden", visible_if="causal")
    sentence = Sentence("{n} {cell} {gain}: {half}, {big}.", half=lambda n: f"{n / 2:g}", big=Choice(lambda n: int(n > 2), ["small", "big"]))  # fmt: skip
    matrix = heatmap(lambda n, gain: gain * np.eye(round(n)), row_words=lambda n: [f"w{i}" for i in range(round(n))])
    wide = Lines("lines", UNIT, UNIT, [family, hidden])
    return figure(wide, matrix, graph(), controls=[N, GAIN, FLAG, CELL], sentence=sentence)


@pytest.mark.parametrize("n, gain", [(1, 0.5), (4, 1.0), (3, 0.77)])
def test_at_gives_what_the_functions_give_on_the_grid_and_off_it(n, gain):
    shown = many().at(n=n, gain=gain, cell="b", causal=True)
    lines, heatmap, graph = shown["panels"]
    family, hidden = lines["series"]
    np.testing.assert_allclose(family["y"], np.outer([1, 2, 6], [n, gain]), atol=0.0051)
    assert family["inFocus"] and family["label"] == "family"
    np.testing.assert_allclose([hidden["x"], hidden["y"][0]], [[0.5], [n]], atol=0.0051)  # inside the axis only
    np.testing.assert_allclose(heatmap["matrix"], gain * np.eye(n), atol=0.0051)
    assert heatmap["rowWords"] == [f"w{i}" for i in range(n)] and heatmap["columnWords"] == []
    np.testing.assert_allclose(graph["nodes"], [[0, 0, n], [1, 1, 0]], atol=1e-3)
    np.testing.assert_allclose(graph["edges"], [[0, 1, 1]])
    assert [panel["kind"] for panel in shown["panels"]] == ["lines", "heatmap", "graph"]
    np.testing.assert_allclose(lines["limits"], [[0, 1], [0, 1]])
    assert shown["sentence"] == f"{n} 乙 {gain}: {n / 2:g}, {'big' if n > 2 else 'small'}."


def test_at_shows_a_family_out_of_focus_as_its_median_and_no_hidden_line():
    (family,) = many().at(n=4)["panels"][0]["series"]
    assert not family["inFocus"]
    np.testing.assert_allclose(family["y"], [[8, 2]], atol=0.0051)


@pytest.mark.parametrize("n", [1, 2, 3, 4])  # 3 is off the grid
def test_a_focus_may_be_a_function_of_controls(n):
    series = Series(lambda n: np.outer([1, 2, 6], [n, n]), [0, 1], "family", focus=lambda n: n > 2)
    (family,) = figure(Lines("lines", UNIT, UNIT, [series])).at(n=n)["panels"][0]["series"]
    assert (family["inFocus"], len(family["y"])) == ((True, 3) if n > 2 else (False, 1))


def test_the_key_of_the_still_picture_names_what_the_start_shows():
    def one(label, **options):
        return Series([0, 1], options.pop("x", [0, 1]), label, **options)

    panel = Lines(
        "lines",
        UNIT,
        UNIT,
        [
            one("plain", mark="square"),
            one("chosen", focus=("cell", "a")),
            one("other", focus=("cell", "b")),
            one("least", color="green", focus=lambda n: n == 1),
            one("most", focus=lambda n: n > 1),
            one("beyond", x=[2, 3]),
            one("hidden", visible_if="causal"),
        ],
    )
    html = figure(panel, controls=[N, CELL, FLAG]).html()
    key = re.search('<ul class="key"><li>lines (.*?)</li></ul>', html)[1]
    assert re.findall('<span class="(.*?)">(.) (.*?)</span>', key) == [
        ("vermilion", "■", "plain"),
        ("vermilion", "●", "chosen"),
        ("grey", "●", "other"),
        ("green", "●", "least"),
        ("grey", "●", "most"),
    ]


def test_at_takes_what_it_is_not_told_from_the_controls_and_moves_none():
    made = many()
    made.n = 2
    assert made.at(gain=0.5)["sentence"] == "2 Alpha 0.5: 1, small."
    assert (made.n, made.gain) == (2, 1.0)


@pytest.mark.parametrize(
    "values, words",
    [
        ({"m": 1}, r"made-up has no controls \['m'\], only \['n', 'gain', 'causal', 'cell'\]"),
        ({"n": 9}, "n = 9: it must be a whole number from 1 to 4"),
        ({"cell": "c"}, "cell = 'c' is none of the values"),
    ],
)
def test_at_refuses_unknown_controls_and_values(values, words):
    with pytest.raises(ValueError, match=words):
        many().at(**values)


# Words in several languages


@pytest.fixture
def french(monkeypatch):
    monkeypatch.setattr("explorable.text.LANGUAGES", ("zh", "en", "fr"))
    set_language("fr")


def test_text_falls_back_to_english_or_else_to_its_first_language(french):
    words = Text(zh="长度", en="length", fr="longueur")
    assert (language(), str(words)) == ("fr", "longueur")
    set_language("zh")
    assert str(words) == "长度"
    set_language("fr")
    assert str(Text(zh="长度", en="length")) == "length"
    assert str(Text(zh="长度", de="Länge")) == "长度"
    assert str(Text(fr="", en="length")) == ""  # no word is a word too


def test_texts_join_in_every_language_of_either(french):
    joined = Text(zh="你的", en="your ") + Text(fr="réseau", en="network") + "."
    assert joined == Text(zh="你的network.", en="your network.", fr="your réseau.")


def test_text_is_equal_by_its_words_and_says_them():
    assert Text(zh="一", en="one") == Text(en="one", zh="一") != Text(en="one")
    assert repr(Text(zh="一", en="one")) == "Text(zh='一', en='one')"


@pytest.mark.parametrize("words", [{}, {"zh": 3, "en": "three"}])
def test_text_that_is_no_text_is_refused(words):
    with pytest.raises(ValueError, match="give at least 1 language, and str for each"):
        Text(**words)


def test_a_language_without_words_of_the_figures_own_is_refused():
    with pytest.raises(ValueError, match="language 'fr' is none of zh, en"):
        set_language("fr")


def test_words_follow_the_language_and_frames_do_not():
    title = Text(zh="题", en="Title")
    chinese = figure(lines(lambda n, cell: [n, 0]), controls=[N, CELL], title=title)
    set_language("en")
    english = figure(lines(lambda n, cell: [n, 0]), controls=[N, CELL], title=title)
    assert (chinese._spec["title"], english._spec["title"]) == ("题", "Title")
    assert english._spec["controls"][1]["words"] == ["Alpha", "Beta"]
    assert chinese._frames == english._frames


# As HTML


class Tags(HTMLParser):
    """The tags of a page with the attributes of each one's first, and the text inside each."""

    def __init__(self, page: str):
        super().__init__()
        self.tags, self.text = {}, {}
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        assert tag not in self.tags or tag in ("p", "details", "summary")
        self.tags.setdefault(tag, dict(attrs))

    def handle_data(self, data):
        self.text[list(self.tags)[-1]] = data


def test_html_is_one_figure_that_brings_its_own_data():
    set_language("en")
    slots = {"size": lambda n: f"10^{n}", "verdict": Choice(lambda n: int(n > 1), ["short", "long"])}
    made = figure(name="my-figure", sentence=Sentence("n is {n}, size {size}: {verdict}.", **slots))
    made.n = 4
    html = Tags(made.html())
    assert html.tags["figure"] == {"class": "explorable", "data-name": "my-figure", "lang": "en"}
    assert html.tags["img"]["alt"] == "Title. n is 1, size 10^1: short."  # the still picture is of the start
    data = json.loads(html.text["script"])
    assert (data["spec"], data["values"]) == (made._spec, {"n": 4})
    assert base64.b64decode(data["frames"]) == made._frames


def test_a_notebook_gets_the_widget_and_the_same_html():
    made = figure()
    data, _ = made._repr_mimebundle_()
    assert data["text/html"] == made.html()
    assert data["application/vnd.jupyter.widget-view+json"]["model_id"] == made.model_id
    assert made._still == {key: Tags(made.html()).tags["img"][key] for key in ("src", "alt")}


def test_who_shows_no_html_gets_the_picture_or_words():
    made = figure(title=Text(zh="题", en="Title"), sentence=Sentence(Text(zh="n 是 {n}。", en="n is {n}.")))
    shown, _ = InteractiveShell.instance().display_formatter.format(made)
    picture = Image.open(io.BytesIO(base64.b64decode(shown["image/png"], validate=True)))
    assert picture.format == "PNG" and picture.width > 400
    assert shown["text/plain"] == "题. n 是 1。"


def test_words_with_quotes_and_angle_brackets_stay_words():
    name, hostile = "a\"b'<c>&amp;", '"><script>alert(1)</script>'
    words = dict.fromkeys(("title", "caption", "how_to_read", "limits"), hostile)
    html = Tags(figure(name=name, **words, sentence=Sentence(hostile), detail=Sentence(hostile)).html())
    assert list(html.tags) == ["figure", "p", "img", "ul", "li", "figcaption", "div", "details", "summary", "script"]
    assert html.tags["figure"]["data-name"] == name
    assert html.tags["img"]["alt"] == f"{hostile}. {hostile}"
    assert html.text["figcaption"] == hostile


def test_a_saved_file_moves_when_it_is_opened_and_asks_nobody(browser, tmp_path):
    made = many()
    made.n = 2
    made.save_html(tmp_path / "x.html")
    visit = Visit(browser)
    page = visit.open((tmp_path / "x.html").as_uri())
    assert (page.title(), page.locator("html").get_attribute("lang")) == ("Title", "zh")
    assert state_of(page) == "n=2;gain=1;causal=false;cell=a"
    assert page.locator("output").inner_text() == made.at()["sentence"]
    before = hash_of(page)
    move(page, "n")
    assert hash_of(page) != before
    assert page.locator("output").inner_text() == made.at(n=4)["sentence"]
    assert [answer.url for answer in visit.answers] == [page.url.partition("#")[0]]
    visit.close()
