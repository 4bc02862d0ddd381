"""The claims: each check finds the book's verdict, and another one on a model or setting where the claim fares otherwise."""

import ast
import inspect
import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pytest
import torch
from torch.nn import functional as F

from explorable import Text, set_language
from why_attention import claims, cost
from why_attention.claims import CLAIMS, Claim, Result, Source, Verdict, latch
from why_attention.claims import attention as of_attention
from why_attention.claims import comparison as of_comparison
from why_attention.claims import convolution as of_convolution
from why_attention.claims import history as of_history
from why_attention.claims import recurrence as of_recurrence
from why_attention.claims.lstmn import LSTMN
from why_attention.claims.table import markup
from why_attention.convolution import Convolution
from why_attention.parallel_scan import loop
from why_attention.rnn import LSTMCell, RNNCell, unroll

BOOK = Path(__file__).parents[1] / "book"
LANGUAGES = ("zh", "en")
CHECKED = [claim for claim in CLAIMS if claim.check]
BY_SOURCE = [1, 2, 22, 23]  # dates and history

each_claim = pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: str(claim.number))
each_check = pytest.mark.parametrize("claim", CHECKED, ids=lambda claim: str(claim.number))
each_language = pytest.mark.parametrize("language", LANGUAGES)


@cache
def measured(number):
    """Return what a claim's check measures; every one of them is repeatable."""
    return CLAIMS[number - 1].check()


def numbers(text):
    """Return the numbers of a text in the order of their size as text."""
    return sorted(re.findall(r"\d[\d.]*(?:e-?\d+)?%?|[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+", text.replace("₁", "").rstrip(".")))


# The data


def test_the_claims_are_numbered_and_only_dates_and_history_have_no_check():
    assert [claim.number for claim in CLAIMS] == list(range(1, 26))
    assert [claim.number for claim in CLAIMS if claim.check is None] == BY_SOURCE


@each_claim
def test_a_claim_speaks_both_languages(claim):
    for text in (claim.common, claim.correct):
        assert re.search("[一-鿿]", text.words["zh"]) and re.search("[a-z]", text.words["en"])
        assert not re.search("[一-鿿]", text.words["en"])
    assert claim.common != claim.correct


@each_claim
def test_a_claim_has_sources_with_well_formed_links(claim):
    assert claim.sources
    for source in claim.sources:
        assert re.fullmatch(r"[A-Z&a-z .]+ (19|20)\d\d", source.name)
        assert re.fullmatch(r"https://(arxiv\.org/abs/\d{4}\.\d{4,5}|doi\.org/10\.\d{4,}/\S+)", source.link)
        assert (source.place.words["zh"] == "") == (source.place.words["en"] == "")


def test_an_arxiv_number_tells_its_month_and_a_doi_none():
    assert [Source("One 2000", number).month for number in ("1706.03762", "1409.0473")] == ["2017-06", "2014-09"]
    with pytest.raises(ValueError, match="10.3115/v1/D14-1181"):
        _ = Source("Kim 2014", "10.3115/v1/D14-1181").month


@each_claim
def test_the_section_that_shows_a_claim_exists(claim):
    for language in LANGUAGES:
        text = (BOOK / language / f"{claim.page}.md").read_text(encoding="utf-8")
        section = claim.section.words[language]
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
        assert claim.section.words[language] in sections
    assert CLAIMS[7].common.words["zh"] in text or CLAIMS[7].common.words["en"] in text  # which the page quotes


@each_language
def test_the_page_of_claims_says_which_checks_read_the_results_of_training(language):
    text = (BOOK / language / "claims.md").read_text(encoding="utf-8")
    listed = next(line for line in text.splitlines() if "(main-part.md)" in line and re.search("训练|training", line))
    calls = re.compile(r"\b(median_accuracy|longest_learned|induction_head)\(")
    reading = [claim.number for claim in CHECKED if calls.search(inspect.getsource(claim.check))]
    assert [int(number) for number in re.findall(r"\d+", listed)] == reading


# The verdicts


def test_a_verdict_follows_from_the_cases_found():
    cases = [(True, False), (True, True), (False, True), (False, False)]
    verdicts = [Result(Text(zh="", en=""), held, failed).verdict for held, failed in cases]
    assert verdicts == [Verdict.RIGHT, Verdict.QUALIFIED, Verdict.WRONG, Verdict.UNDECIDED]


@each_check
def test_a_check_finds_the_books_verdict(claim):
    assert measured(claim.number).verdict == claim.verdict


@each_check
def test_what_was_measured_is_said_in_both_languages_with_the_same_numbers(claim):
    value = measured(claim.number).value
    assert numbers(value.words["zh"]) and numbers(value.words["zh"]) == numbers(value.words["en"])
    assert re.search("[一-鿿]", value.words["zh"]) and not re.search("[一-鿿]", value.words["en"])
    assert not re.search(r"\bnan\b|\binf\b|None", value.words["zh"] + value.words["en"])


@pytest.mark.parametrize("number", [3, 4, 5, 6, 7, 8, 9, 10, 13, 15, 16, 21, 24])
def test_a_check_measures_the_same_again_whatever_was_drawn_before(number):
    first = measured(number).value
    torch.manual_seed(number)
    torch.randn(number)
    assert CLAIMS[number - 1].check().value == first


# What they measure, against closed forms and torch


# (t + 2) 2H numbers of an LSTMN
STATES = [("RNN", "8、8、8", 8), ("GRU", "8、8、8", 8), ("LSTM", "16、16、16", 16), ("LSTMN", "192、1632、16032", 64)]
METHODS = [("2020-06", 2), ("2022-05", cost.doubling(128, 16)), ("2023-12", 2)]


@pytest.mark.parametrize(
    "number, expected",
    [
        (3, [f"{name}：留下 {kept} 个数，传过 {rank} 个" for name, kept, rank in STATES]),
        (4, ["50%", "12 轮"]),  # d / (d + H), ⌈log2 4096⌉
        (7, ["‖∏J_t‖ 是 0.031；"]),  # 2⁻⁵
        (11, ["500 层", "1000 层"]),  # ⌈1000/2⌉ and ⌈2·1000/2⌉
        (12, ["1024", "3070", "9 层", "7 层", "正是"]),  # 2¹⁰, 1 + 3·1023, 2·(2⁹ − 1) ≥ 1000, 3⁷ − 1 ≥ 1000
        (17, ["RNN: 27", "CNN: 13", "9): 3", "attention: 1；", "(r = 9): 7"]),  # n, ⌈26/2⌉, log₃ 27, 1, ⌈26/4⌉
        (18, [f"{n / (128 + n):.0%}" for n in (32, 128, 1024)]),  # 4n²d / (8nd² + 4n²d)
        (19, [f"{cost.doubling(n, 64):.2f}" for n in (8, 64, 512)] + ["总是 4 倍"]),
        (21, [f"（{month}）：FLOP 变成 {ratio:.2f} 倍" for month, ratio in METHODS]),
    ],
)
def test_a_value_is_the_one_of_its_closed_form(number, expected):
    assert [part for part in expected if part not in measured(number).value.words["zh"]] == []


def test_influence_times_n_stays_the_same():
    small, large = re.search(r"times n: ([\d.]+) and ([\d.]+)", measured(13).value.words["en"]).groups()
    assert float(small) == pytest.approx(float(large), rel=0.1)


def test_training_keeps_one_table_of_n_by_n_weights_unless_fused():
    layer, n = claims.comparison.random_layer(), 256
    weights = sum(W.numel() * W.element_size() for W in layer.parameters())

    def curvature(need_weights):  # what is left of twice as long, less twice the bytes: the part that grows as n²
        tokens = [claims.comparison.random_tokens(m) for m in (n, 2 * n)]
        once, twice = (claims.comparison.kept_for_backward(layer, x, need_weights) for x in tokens)
        return twice - 2 * once

    assert curvature(need_weights=True) == pytest.approx(2 * n**2 * 4, abs=weights)
    assert abs(curvature(need_weights=False)) <= weights


def test_a_slope_takes_attention_to_its_own_bias():
    """F.scaled_dot_product_attention adds a mask of numbers to the scores."""
    layer, x, slope = of_attention.random_layer(), of_attention.random_tokens(7), 0.5
    distance = torch.tensor([[abs(i - j) for j in range(7)] for i in range(7)], dtype=x.dtype)
    output = F.scaled_dot_product_attention(layer.W_q(x), layer.W_k(x), layer.W_v(x), -slope * distance)
    torch.testing.assert_close(of_attention.attend(layer, x, slope=slope)[0], layer.W_o(output))
    torch.testing.assert_close(of_attention.attend(layer, x)[0], layer(x)[0])


def test_chains_and_paths_of_known_graphs():
    x = torch.ones(3, requires_grad=True)
    y = x.exp().exp().exp() + x
    assert of_attention.longest_chain(y) == 5  # the leaf, exp, exp, exp, +
    assert of_history.shortest_path(y, x) == 1  # +
    assert of_history.shortest_path(x.exp().exp(), x) == 2
    assert of_history.shortest_path(x.exp(), torch.ones(3, requires_grad=True)) is None


@torch.no_grad()
def test_the_lstmn_is_its_equations():
    generator, d, H = torch.Generator().manual_seed(0), 3, 4
    lstmn, x = LSTMN(d, H, generator, torch.float64), torch.randn(5, d, generator=generator, dtype=torch.float64)
    W, U, v, cell = lstmn.attention.W.weight, lstmn.attention.U.weight, lstmn.attention.v, lstmn.cell
    memory, s_0, h_tilde = lstmn.start, torch.zeros(2 * H, dtype=torch.float64), torch.zeros(H, dtype=torch.float64)
    states = [s_0]
    for x_t in x:
        memory = lstmn(x_t, memory)
        scores = torch.stack([v @ torch.tanh(W @ torch.cat([x_t, h_tilde]) + U @ s[:H]) for s in states])
        s_tilde = sum(a * s for a, s in zip(scores.softmax(0), states))
        h_tilde = s_tilde[:H]
        states.append(cell(x_t, s_tilde))
    torch.testing.assert_close(memory, torch.stack([s_tilde, *states]))


def test_linear_attention_is_its_sum():
    x = of_history.tokens(6)
    values = [1 + F.elu(token @ torch.ones(16, 16) / 16) for token in x]
    mean = [token @ torch.ones(16, 16) / 16 for token in x]
    expected = sum((values[-1] * phi).sum() * v for phi, v in zip(values, mean))[0]
    torch.testing.assert_close(of_history.linear_attention(x), expected)


def test_the_selective_recurrence_is_a_linear_one():
    x, W = of_history.tokens(6), torch.ones(16, 16) / 16
    a = torch.stack([(token @ W).sigmoid().mT.expand(16, 16) for token in x])
    states = loop(a, torch.stack([token.mT @ (token @ W) for token in x]))
    torch.testing.assert_close(of_history.selective_recurrence(x), states[-1] @ (x[-1] @ W).mT)


@pytest.mark.parametrize("factor", [0.5, 0.01])
def test_a_carousel_has_the_norms_it_was_given(factor):
    cell, x = of_recurrence.carousel(0, factor, few=5)
    norms = torch.linalg.matrix_norm(of_recurrence.step_jacobians(cell, x), ord=2)
    assert norms.sort().values.tolist() == pytest.approx(5 * [factor] + 995 * [1.0])


def test_holes_are_told_by_the_positions_that_taps_reach():
    holes = [of_convolution.has_holes(*stack) for stack in of_convolution.random_stacks()]
    assert 50 < sum(holes) < len(holes) - 50  # some have, some do not
    for dilations, k in of_convolution.random_stacks(40):
        reached = {0}
        for d in dilations:
            reached = {position + m * d for position in reached for m in range(k)}
        assert of_convolution.has_holes(dilations, k) == (len(reached) < max(reached) + 1)
    for dilations in [(1, 1, 4), (1, 2, 7), (1, 2, 4, 13)]:  # grow by more than a factor of k = 3, and have none
        assert not of_convolution.has_holes(dilations, 3) and of_convolution.within_the_field(dilations, 3)


def test_a_latch_is_asked_for_its_first_symbol():
    x, answer = latch.draw(50, 9, torch.Generator().manual_seed(0))
    assert x.shape == (50, 9, latch.INPUTS)
    assert torch.equal(x[:, 0, :8].argmax(-1), answer) and not x[:, 1:, :8].any() and not x[:, 0, 8:].any()
    untrained = latch.train(LSTMCell(latch.INPUTS, 4), T=9, steps=0)
    assert latch.accuracy(untrained, 9) < 0.3  # chance is 1/8


def test_what_an_input_adds_waits_for_no_state_in_an_rnn_only():
    assert of_recurrence.waits_less(of_recurrence.random_cell(RNNCell))
    assert not of_recurrence.waits_less(of_recurrence.random_cell(ProductCell))


# Each check comes out otherwise on a model or setting where the claim fares otherwise


class ProductCell(RNNCell):
    """h_t = tanh(W_h h_{t-1} + W_x (x_t ⊙ h_{t-1}) + b): what an input adds depends on the state."""

    def forward(self, x, h):
        return super().forward(x * h, h)


def nonlinear_loop(a, b):
    """h_t = tanh(a_t ⊙ h_{t-1} + b_t), which no scan joins."""
    h, states = torch.zeros_like(b[0]), []
    for a_t, b_t in zip(a, b):
        h = torch.tanh(a_t * h + b_t)
        states.append(h)
    return torch.stack(states)


def diagonal_rnn():
    """An RNN whose units do not read one another: its Jacobians are diagonal, and their order does not matter."""
    cell = of_recurrence.random_cell(RNNCell, size=of_recurrence.SMALL)
    cell.W_h.data = torch.diag(torch.linspace(0.5, 1.5, of_recurrence.SMALL, dtype=torch.float64))
    return {"diagonal RNN": cell}


def convolve(x, mask=None):
    layer = Convolution(of_attention.SIZE, 3, dtype=torch.float64)
    layer.reset_parameters(torch.Generator().manual_seed(0))
    return layer(x), None


def recur(x):
    """An RNN as a layer: it sees the past only, and needs a step for each token."""
    return unroll(of_recurrence.random_cell(RNNCell, size=of_attention.SIZE), x)


def no_positions(n, d, dtype):
    return torch.zeros(n, d, dtype=dtype)


def no_mask(L, S):
    return torch.ones(L, S, dtype=torch.bool)


RIGHT, QUALIFIED, WRONG = Verdict.RIGHT, Verdict.QUALIFIED, Verdict.WRONG
LSTM = {"LSTM": of_recurrence.random_cell(LSTMCell, size=of_recurrence.SMALL, forget_bias=5.0)}
OTHERWISE = {  # on what: number, check, verdict
    "networks of one state": (3, lambda: of_recurrence.fixed_state(("RNN", "LSTM")), RIGHT),
    "an LSTM that keeps every state": (3, lambda: of_recurrence.fixed_state(("LSTMN",)), WRONG),
    "no linear part": (4, lambda: of_recurrence.work_that_need_not_wait(ProductCell, nonlinear_loop), RIGHT),
    "an RNN that expands": (5, lambda: of_recurrence.waiting_in_line(((3.0, 0.1),)), RIGHT),
    "an RNN that contracts": (5, lambda: of_recurrence.waiting_in_line(((1.0, 1.0),)), WRONG),
    "an RNN of separate units": (6, lambda: of_recurrence.order_of_the_product(diagonal_rnn()), RIGHT),
    "an LSTM, whose signal takes c": (6, lambda: of_recurrence.order_of_the_product(LSTM), WRONG),
    "a few norms of 0.001": (7, lambda: of_recurrence.a_few_small_norms(factor=0.001), RIGHT),
    "a gain of 0.5": (8, lambda: of_recurrence.explosion(0.5), RIGHT),
    "a gain of 3, small inputs": (8, lambda: of_recurrence.explosion(3.0, scales=(0.1,)), WRONG),
    "a forget bias of 1": (9, lambda: of_recurrence.forget_gates(((1, 1),)), RIGHT),
    "a forget bias of 5, no inputs": (9, lambda: of_recurrence.forget_gates(((5, 0),)), WRONG),
    "an LSTM that starts with bias 1": (10, lambda: of_recurrence.memory_of_the_trained(forget_bias=1.0), RIGHT),
    "the longest T learned": (10, lambda: of_recurrence.memory_of_the_trained(models=("attention",)), WRONG),
    "neighbours": (11, lambda: of_convolution.layers_to_reach(distance=1), RIGHT),
    "dilated layers": (11, lambda: of_convolution.layers_to_reach(growth=2), WRONG),
    "a single block": (12, lambda: of_convolution.dilated_blocks(copies=1), RIGHT),
    "no dilation": (12, lambda: of_convolution.dilated_blocks(growth=1), WRONG),
    "a dilation that leaves holes": (12, lambda: of_convolution.dilated_blocks(growth=3), WRONG),
    "uneven weights": (13, lambda: of_attention.one_step_fades(factors=(4,), residual=True, slope=0.0), RIGHT),
    "neither positions nor mask": (14, lambda: of_attention.blind_to_order(None, no_positions, no_mask), RIGHT),
    "a convolution": (14, lambda: of_attention.blind_to_order(convolve), WRONG),
    "no mask": (15, lambda: of_attention.all_at_once(lambda x: of_attention.attend_causally(x, mask=False)), WRONG),
    "a recurrent layer": (15, lambda: of_attention.all_at_once(recur), WRONG),
    "a distance inside the convolution's window": (16, lambda: of_attention.content_and_support(T=16), WRONG),
    "dilated convolutions": (16, lambda: of_attention.content_and_support(without="dilated CNN"), RIGHT),
    "a kernel as wide as the sequence": (17, lambda: of_comparison.paths_and_steps(n=27, k=27), RIGHT),
    "a long sequence": (18, lambda: of_comparison.share_of_the_scores((16,)), RIGHT),
    "a short sequence": (18, lambda: of_comparison.share_of_the_scores((0.5,)), WRONG),
    "n far above d": (19, lambda: of_comparison.twice_as_long((64,), d=4), RIGHT),
    "weights that are stored": (20, lambda: of_comparison.memory((True,)), RIGHT),
    "a fused kernel": (20, lambda: of_comparison.memory((False,)), WRONG),
    "an earlier year": (21, lambda: of_history.efficient_since(since="2020-01"), QUALIFIED),
    "positions besides": (24, lambda: of_history.four_parts(positions=True), RIGHT),
    "32 layers, in which tokens become alike all the same": (24, lambda: of_history.four_parts(depth=32), WRONG),
    "no residual connections": (24, lambda: of_history.four_parts(residual=False), WRONG),
    "a right one": (25, lambda: of_comparison.summary({11: lambda: of_convolution.layers_to_reach(distance=1)}), RIGHT),
    "a claim that is wrong": (25, lambda: of_comparison.summary({4: of_recurrence.work_that_need_not_wait}), WRONG),
}


@pytest.mark.parametrize("number, check, verdict", OTHERWISE.values(), ids=OTHERWISE)
def test_a_check_comes_out_otherwise_on(number, check, verdict):
    assert check().verdict == verdict != CLAIMS[number - 1].verdict


def test_every_check_comes_out_otherwise_on_something():
    assert {number for number, *_ in OTHERWISE.values()} == {claim.number for claim in CHECKED}


@pytest.mark.parametrize(
    "gain, scales, verdict",
    [(0.5, (0.1, 1.0), RIGHT), (1.5, (0.1, 1.0), QUALIFIED), (3.0, (0.1, 1.0), WRONG), (3.0, (0.1, 10.0), QUALIFIED)],
)
def test_the_verdict_on_explosion_depends_on_the_setting_as_the_page_says(gain, scales, verdict):
    assert of_recurrence.explosion(gain, scales).verdict == verdict


def test_the_verdict_on_depth_holds_for_other_distances():
    assert of_convolution.layers_to_reach(distance=300, k=5).verdict == QUALIFIED


def test_a_carousel_of_many_seeds_and_an_rnn_of_many_seeds_give_the_same_verdict():
    assert of_recurrence.a_few_small_norms(seeds=6).verdict == WRONG


# What a page shows


def test_subscripts_and_powers_are_set_as_such():
    assert markup("∂h_t/∂h_{t−1} < 1") == "∂h<sub>t</sub>/∂h<sub>t−1</sub> &lt; 1"
    assert markup("2e-15, 3e+07; one 1e5 scene") == "2×10<sup>−15</sup>, 3×10<sup>7</sup>; one 1e5 scene"


@each_language
def test_no_subscript_of_a_claim_is_left_raw(language):
    set_language(language)
    visible = re.sub("<code.*?</code>|<[^>]*>", "", claims.table(CLAIMS).data)
    assert not re.search(r"_|\d[eE][-+]\d", visible)


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
    common, correct, sources = (
        Text(zh="甲 < 乙", en="a < b"),
        Text(zh="丙", en="c"),
        (Source("One 2001", "0101.00001"),),
    )
    return Claim(number, common, correct, verdict, sources, "page", check=check)


def found(held, failed):
    return lambda: Result(Text(zh="量到 7", en="measured 7"), held, failed)


@each_language
def test_the_table_has_a_row_a_claim_with_its_verdict_in_words(language):
    set_language(language)
    claims_ = example(WRONG, found(False, True)), example(QUALIFIED, found(True, True), 2), example(RIGHT, None, 3)
    table = Rows(claims.table(claims_).data)
    for row, claim in zip(table.rows[1:], claims_):
        assert claim.verdict.value.words[language] in row
        assert claim.common.words[language] in row and claim.correct.words[language] in row
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


def test_where_no_html_is_shown_the_claims_are_lists():
    set_language("en")
    claims_ = example(WRONG, found(False, True)), example(RIGHT, None, 2)
    assert claims.statements(claims_)._repr_markdown_() == "1. a < b\n2. a < b"
    source = "[One 2001](https://arxiv.org/abs/0101.00001)"
    first, second = claims.table(claims_)._repr_markdown_().split("\n2. ")
    assert first == f"1. **{WRONG}**\\\n   a < b → c\\\n   measured 7\\\n   {source}"
    assert second.startswith(f"**{RIGHT}**") and second.endswith(source)


def test_the_page_names_each_check_as_it_calls_it(site_folder):
    page = (site_folder / "claims.html").read_text(encoding="utf-8").replace("<wbr>", "")
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
    assert not any(verdict.value.words[language] in text for verdict in Verdict)


def test_no_module_of_claims_reads_a_number_from_its_own_texts():
    """A verdict comes from booleans that were measured: no check compares with a text."""
    for path in Path(claims.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Result":
                flags = node.args[1:] + [keyword.value for keyword in node.keywords if keyword.arg != "value"]
                assert not any(isinstance(flag, ast.Constant) for flag in flags), path.name
