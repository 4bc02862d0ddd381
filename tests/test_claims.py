"""The claims: each check finds the book's verdict, and another one where what it measures is broken on purpose."""

import ast
import inspect
import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pytest
import torch

from why_attention import claims, cost
from why_attention.claims import CLAIMS, Claim, Result, Source, Verdict, trained
from why_attention.explorable import Text, set_language

BOOK = Path(__file__).parents[1] / "book"
LANGUAGES = ("zh", "en")
CHECKED = [claim for claim in CLAIMS if claim.check]
BY_SOURCE = [1, 2, 22, 23]  # dates and history

each_claim = pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: str(claim.number))
each_check = pytest.mark.parametrize("claim", CHECKED, ids=lambda claim: str(claim.number))
each_language = pytest.mark.parametrize("language", LANGUAGES)


@pytest.fixture(autouse=True)
def language_as_it_was():
    yield
    set_language("zh")


@cache
def measured(number):
    """Return what a claim's check measures; every one of them is repeatable."""
    return CLAIMS[number - 1].check()


def numbers(text):
    """Return the numbers of a text in the order of their size as text."""
    return sorted(re.findall(r"\d[\d.]*(?:e-?\d+)?%?|[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+", text.replace("₁", "").rstrip(".")))


# The data


def test_the_claims_are_numbered_from_1_to_25():
    assert [claim.number for claim in CLAIMS] == list(range(1, 26))


def test_only_dates_and_history_have_no_check():
    assert [claim.number for claim in CLAIMS if claim.check is None] == BY_SOURCE


@each_claim
def test_a_claim_speaks_both_languages(claim):
    for text in (claim.common, claim.correct):
        assert re.search("[一-鿿]", text.zh) and re.search("[a-z]", text.en)
        assert not re.search("[一-鿿]", text.en)
    assert claim.common != claim.correct


@each_claim
def test_a_claim_has_sources_with_well_formed_links(claim):
    assert claim.sources
    for source in claim.sources:
        assert re.fullmatch(r"[A-Z&a-z .]+ (19|20)\d\d", source.name)
        assert re.fullmatch(r"https://(arxiv\.org/abs/\d{4}\.\d{4,5}|doi\.org/10\.\d{4,}/\S+)", source.link)
        assert (source.place.zh == "") == (source.place.en == "")


@pytest.mark.parametrize(
    "number, month", [("1706.03762", "2017-06"), ("2312.00752", "2023-12"), ("1409.0473", "2014-09")]
)
def test_an_arxiv_number_tells_its_month(number, month):
    assert Source("Someone 2000", number).month == month


def test_a_doi_tells_no_month():
    with pytest.raises(ValueError, match="10.3115/v1/D14-1181"):
        _ = Source("Kim 2014", "10.3115/v1/D14-1181").month


@each_claim
def test_the_section_that_shows_a_claim_exists(claim):
    for language in LANGUAGES:
        text = (BOOK / language / f"{claim.page}.md").read_text(encoding="utf-8")
        section = getattr(claim.section, language)
        assert not section or section in re.findall(r"^#+ (.*)$", text, re.M)


@each_language
def test_the_page_of_claims_says_where_each_is_shown(language):
    text = (BOOK / language / "claims.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([\d、, ]+) \| \[.*?\]\((.*?)\.md\) \| (.*) \|$", text, re.M)
    shown = {int(number): (page, sections) for listed, page, sections in rows for number in re.findall(r"\d+", listed)}
    assert sorted(shown) == [claim.number for claim in CLAIMS]
    for claim in (CLAIMS[number - 1] for number in shown):
        page, sections = shown[claim.number]
        assert page == claim.page
        assert getattr(claim.section, language) in sections
    assert CLAIMS[7].common.zh in text or CLAIMS[7].common.en in text  # which the page quotes


@each_language
def test_the_page_of_claims_says_which_checks_read_the_results_of_training(language):
    text = (BOOK / language / "claims.md").read_text(encoding="utf-8")
    listed = next(line for line in text.splitlines() if "(main-part.md)" in line and re.search("训练|training", line))
    calls = re.compile(rf"\b({'|'.join(trained.__all__)})\(")
    reading = [claim.number for claim in CHECKED if calls.search(inspect.getsource(claim.check))]
    assert [int(number) for number in re.findall(r"\d+", listed)] == reading


# The verdicts


@pytest.mark.parametrize(
    "held, failed, verdict",
    [
        (True, False, Verdict.RIGHT),
        (True, True, Verdict.QUALIFIED),
        (False, True, Verdict.WRONG),
        (False, False, Verdict.UNDECIDED),
    ],
)
def test_a_verdict_follows_from_the_cases_found(held, failed, verdict):
    assert Result(Text("", ""), held, failed).verdict == verdict


@each_check
def test_a_check_finds_the_books_verdict(claim):
    assert measured(claim.number).verdict == claim.verdict


@each_check
def test_what_was_measured_is_said_in_both_languages_with_the_same_numbers(claim):
    value = measured(claim.number).value
    assert numbers(value.zh) and numbers(value.zh) == numbers(value.en)
    assert re.search("[一-鿿]", value.zh) and not re.search("[一-鿿]", value.en)
    assert not re.search(r"\bnan\b|\binf\b|None", value.zh + value.en)


@pytest.mark.parametrize("number", [4, 6, 8, 9, 13, 16, 24])
def test_a_check_measures_the_same_again_whatever_was_drawn_before(number):
    first = measured(number).value
    torch.manual_seed(number)
    torch.randn(number)
    assert CLAIMS[number - 1].check().value == first


def test_a_right_claim_can_only_be_overturned_by_its_check():
    assert not measured(3).failed and measured(3).held


# What they measure, against closed forms and torch


@pytest.mark.parametrize(
    "number, expected",
    [
        (3, ["64、64、64"]),
        (4, ["50%", "12 轮"]),  # d / (d + H), ⌈log2 4096⌉
        (7, ["0.031"]),  # 2⁻⁵
        (11, ["500 层", "1000 层"]),  # ⌈1000/2⌉ and ⌈2·1000/2⌉
        (12, ["1024", "3070", "9 层", "7 层"]),  # 2¹⁰, 1 + 3·1023, 2·(2⁹ − 1) ≥ 1000, 3⁷ − 1 ≥ 1000
        (15, ["1 步", "99 步"]),
        (17, ["RNN: 27", "CNN: 13", "9): 3", "attention: 1；", "(r = 9): 7"]),  # n, ⌈26/2⌉, log₃ 27, 1, ⌈26/4⌉
        (18, [f"{n / (128 + n):.0%}" for n in (32, 128, 1024)]),  # 4n²d / (8nd² + 4n²d)
        (19, [f"{cost.doubling(n, 64):.2f}" for n in (8, 64, 512)] + ["总是 4 倍"]),
        (21, ["2020-06", "2022-05", "2023-12"]),
    ],
)
def test_a_value_is_the_one_of_its_closed_form(number, expected):
    assert [part for part in expected if part not in measured(number).value.zh] == []


def test_influence_times_n_stays_the_same():
    small, large = re.search(r"times n: ([\d.]+) and ([\d.]+)", measured(13).value.en).groups()
    assert float(small) == pytest.approx(float(large), rel=0.1)


def test_training_keeps_one_table_of_n_by_n_weights_unless_fused():
    layer, n = claims.comparison.random_layer(), 256
    weights = sum(W.numel() * W.element_size() for W in layer.parameters())

    def curvature(need_weights):  # what is left of twice as long, less twice the bytes: the part that grows as n²
        kept = [
            claims.comparison.kept_for_backward(layer, claims.comparison.random_tokens(m), need_weights)
            for m in (n, 2 * n)
        ]
        return kept[1] - 2 * kept[0]

    assert curvature(need_weights=True) == pytest.approx(2 * n**2 * 4, abs=weights)
    assert abs(curvature(need_weights=False)) <= weights


def test_calls_are_counted():
    x = torch.ones(2)
    with claims.recurrence.Calls() as counter:
        (x + x) * x
    assert counter.count == 2


def test_an_lstm_step_by_step_is_nn_lstm():
    """Claim 5 compares their calls, which says something only where both compute the same."""
    fused, cell = torch.nn.LSTM(3, 4), claims.recurrence.LSTMCell(3, 4)
    with torch.no_grad():
        cell.W_x.copy_(fused.weight_ih_l0)
        cell.W_h.copy_(fused.weight_hh_l0)
        cell.b.copy_(fused.bias_ih_l0 + fused.bias_hh_l0)
        x = torch.randn(10, 3, generator=torch.Generator().manual_seed(0))
        torch.testing.assert_close(claims.recurrence.unroll(cell, x)[:, :4], fused(x)[0])


@pytest.mark.parametrize("gain, verdict", [(0.5, Verdict.RIGHT), (1.5, Verdict.QUALIFIED), (3.0, Verdict.WRONG)])
def test_the_verdict_on_explosion_depends_on_the_gain_as_the_page_says(gain, verdict):
    assert claims.recurrence.explosion(gain).verdict == verdict


def test_the_verdict_on_depth_holds_for_other_distances():
    assert claims.convolution.layers_to_reach(distance=300, k=5).verdict == Verdict.QUALIFIED


# Each check fails where what it measures is broken

original = {
    "unroll": claims.recurrence.unroll,
    "step_jacobians": claims.recurrence.step_jacobians,
    "depth_needed": claims.convolution.depth_needed,
    "counted_flops": claims.comparison.counted_flops,
    "kept_for_backward": claims.comparison.kept_for_backward,
    "hidden_states": claims.attention.hidden_states,
}
FAULTS = {
    "more comes from before than the state": (
        3,
        "recurrence",
        "unroll",
        lambda *given: original["unroll"](*given[:2]),  # from a state of zeros, whatever is given
    ),
    "the scan does not add up": (4, "recurrence", "parallel_scan", lambda a, b: b),
    "no step waits": (5, "recurrence", "sequential_steps", lambda graph: 1),
    "Jacobians in reverse": (
        6,
        "recurrence",
        "step_jacobians",
        lambda *given: original["step_jacobians"](*given).flip(0),
    ),
    "the gradient holds": (7, "recurrence", "gradient_decay", lambda *_: torch.zeros(1)),
    "all draws vanish": (8, "recurrence", "gradient_decay", lambda *_: torch.full((1, 8), -9.0)),
    "every gate holds": (9, "recurrence", "gradient_decay", lambda *_: torch.zeros(1, 3)),
    "the LSTM recalls across the longest distance": (10, "recurrence", "recalled", lambda model, T: 1.0),
    "a layer too few": (11, "convolution", "depth_needed", lambda *given: original["depth_needed"](*given) - 1),
    "a layer too many": (11, "convolution", "depth_needed", lambda *given: original["depth_needed"](*given) + 1),
    "dilation left out": (12, "convolution", "span", lambda layers: 1 + len(layers)),
    "influence does not thin out": (13, "attention", "influence_matrix", lambda layer, x: torch.ones(len(x), len(x))),
    "tokens stay apart": (13, "attention", "token_diversity", lambda states: torch.ones(len(states))),
    "no path": (13, "attention", "path_length", lambda *_: None),
    "positions do nothing": (
        14,
        "attention",
        "sinusoidal_positions",
        lambda n, d, dtype: torch.zeros(n, d, dtype=dtype),
    ),
    "the mask hides nothing": (15, "attention", "causal_mask", lambda L, S: torch.ones(L, S, dtype=torch.bool)),
    "influence outside the window": (16, "attention", "influence_matrix", lambda layer, x: torch.ones(len(x), len(x))),
    "recurrence is one step": (17, "comparison", "recurrence", claims.comparison.attention),
    "the counter misses half": (18, "comparison", "counted_flops", lambda call: original["counted_flops"](call) // 2),
    "projections not counted": (
        19,
        "comparison",
        "counted_flops",
        lambda call: 0.5 * original["counted_flops"](call) ** 2,
    ),
    "fused keeps the table": (
        20,
        "comparison",
        "kept_for_backward",
        lambda layer, x, need_weights: original["kept_for_backward"](layer, x, True),
    ),
    "all came later": (21, "history", "KATHAROPOULOS", Source("Someone 2024", "2401.00001")),
    "tokens alike with all four": (24, "history", "token_diversity", lambda x: torch.tensor(1e-16)),
    "the summary's row is right": (25, "comparison", "layers_to_reach", lambda: Result(Text("", ""), True, False)),
}


@pytest.mark.parametrize("number, module, name, broken", FAULTS.values(), ids=FAULTS)
def test_a_check_fails_where_its_measurement_is_broken(monkeypatch, number, module, name, broken):
    monkeypatch.setattr(getattr(claims, module), name, broken)
    if number == 21:
        monkeypatch.setattr(claims.history, "DAO", broken)
    assert CLAIMS[number - 1].check().verdict != CLAIMS[number - 1].verdict


def test_every_check_has_a_fault_that_it_finds():
    assert {number for number, *_ in FAULTS.values()} == {claim.number for claim in CHECKED}


# What a page shows


class Rows(HTMLParser):
    """Collects what a table has: attributes of each tag, text of each row, and links."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.rows = [], []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag == "tr":
            self.rows.append("")

    def handle_data(self, data):
        if self.rows:
            self.rows[-1] += data + "\n"

    def attributes(self, name):
        return [attrs for tag, attrs in self.tags if tag == name]


def example(verdict, check, number=1):
    return Claim(
        number,
        Text("甲 < 乙", "a < b"),
        Text("丙", "c"),
        verdict,
        (Source("One 2001", "0101.00001"),),
        "page",
        check=check,
    )


def found(held, failed):
    return lambda: Result(Text("量到 7", "measured 7"), held, failed)


@each_language
def test_the_table_has_a_row_a_claim_with_its_verdict_in_words(language):
    set_language(language)
    claims_ = (
        example(Verdict.WRONG, found(False, True)),
        example(Verdict.QUALIFIED, found(True, True), 2),
        example(Verdict.RIGHT, None, 3),
    )
    table = Rows(claims.table(claims_).data)
    for row, claim in zip(table.rows[1:], claims_):
        assert getattr(claim.verdict.value, language) in row
        assert getattr(claim.common, language) in row and getattr(claim.correct, language) in row
        assert ("7" in row) == (claim.check is not None)
        assert "⚠" not in row
    assert len(table.rows) == 4
    assert [attrs["scope"] for attrs in table.attributes("th")] == 3 * ["col"] + 3 * ["row"]
    assert [attrs["href"] for attrs in table.attributes("a")] == 3 * [CLAIMS[0].sources[0].link[:22] + "0101.00001"]
    (box,) = table.attributes("div")
    assert (box["lang"], box["tabindex"], box["class"]) == (language, "0", "claims")
    assert "overflow-x: auto" in box["style"] and box["aria-label"]


@each_language
@pytest.mark.parametrize("held, failed", [(True, True), (False, True), (False, False)])
def test_the_table_shows_a_check_that_does_not_agree(language, held, failed):
    set_language(language)
    _, row = Rows(claims.table((example(Verdict.RIGHT, found(held, failed)),)).data).rows
    assert "⚠" in row and str(Verdict.RIGHT) in row and str(found(held, failed)().verdict) in row


def test_the_page_names_each_check_as_it_calls_it(site_folder):
    page = (site_folder / "claims.html").read_text(encoding="utf-8")
    rows = re.findall(r'<tr id="claim-\d+">.*?</tr>', page, re.DOTALL)
    assert len(rows) == len(CLAIMS)
    for claim, row in zip(CLAIMS, rows):
        called = re.search(r"claims\.(\w+)\.(\w+)", row)
        assert (called is None) == (claim.check is None)
        if called:
            assert getattr(getattr(claims, called[1]), called[2]) is claim.check


@each_language
def test_the_list_of_statements_gives_no_verdict_away(language):
    set_language(language)
    text = claims.statements(CLAIMS).data
    items = Rows(text).attributes("li")
    assert [item["value"] for item in items] == [str(number) for number in range(1, 26)]
    assert not any(getattr(verdict.value, language) in text for verdict in Verdict)


def test_no_module_of_claims_reads_a_number_from_its_own_texts():
    """A verdict comes from booleans that were measured: no check compares with a text."""
    for path in Path(claims.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Result":
                flags = node.args[1:] + [keyword.value for keyword in node.keywords if keyword.arg != "value"]
                assert not any(isinstance(flag, ast.Constant) for flag in flags), path.name
