"""The recall experiment: the task, cheap read-outs against the plain computation, autograd, and what is stored."""

import copy
import itertools
import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from why_attention.fused_rnn import cell_of
from why_attention.rnn import LSTMCell, unroll
from why_attention.tasks import recall
from why_attention.tasks.experiment import content_digest
from why_attention.tasks.recall import EXPERIMENT, HIDDEN, MODELS, QUERY, RATES, SYMBOLS, TRAINED, D

each_model = pytest.mark.parametrize("model", MODELS)


def seeded(seed):
    return torch.Generator().manual_seed(seed)


def doubled(model, T, seed=0):
    """Return an untrained network in float64 whose biases are not 0."""
    generator = seeded(seed)
    network = recall.build(model, T, generator).double()
    for name, weight in network.named_parameters():
        if name.endswith(".b"):
            nn.init.normal_(weight, generator=generator)
    return network


def plain(body, e):
    """Return what a body makes of the last position, all positions computed, by our own layers: (batch, width)."""
    if isinstance(body, recall.Recurrence):
        return unroll(cell_of(body.layer), e.transpose(0, 1))[-1, :, :HIDDEN]
    if isinstance(body, recall.Attention):
        return body.layer(e, need_weights=True)[0][:, -1]
    for layer in body.layers:
        e = F.relu(layer(e))
    return e[:, -1]


# The task


@pytest.mark.parametrize("T", [2, 9])
def test_the_answer_is_the_first_token_and_the_query_the_last(T):
    x, answer = recall.draw(50, T, seeded(0))
    assert x.shape == (50, T) and (x[:, -1] == QUERY).all() and (x[:, 0] == answer).all()
    assert x[:, :-1].max() < SYMBOLS and x.min() >= 0
    assert all(map(torch.equal, recall.draw(50, T, seeded(0)), (x, answer)))  # the seed alone decides


def test_all_symbols_are_equally_likely_everywhere_and_distractors_say_nothing_of_the_answer():
    x, answer = recall.draw(20_000, 6, seeded(0))
    spread = 5 * math.sqrt(recall.CHANCE * (1 - recall.CHANCE) / len(x))  # five standard errors
    for place in range(5):
        shares = x[:, place].bincount(minlength=SYMBOLS) / len(x)
        assert (shares - recall.CHANCE).abs().max() < spread
        assert abs((x[:, place] == answer).float().mean() - (1 if place == 0 else recall.CHANCE)) < spread


@pytest.mark.parametrize("T", [2, 3, 4, 6])
def test_the_best_without_order_is_that_of_all_sequences_counted(T):
    most = [max(map(sequence.count, sequence)) for sequence in itertools.product(range(SYMBOLS), repeat=T - 1)]
    assert recall.best_without_order(T) == pytest.approx(sum(most) / len(most) / (T - 1), abs=1e-12)


@pytest.mark.parametrize(("T", "two_digits"), [(8, 0.34), (64, 0.19), (1024, 0.14)])
def test_the_best_without_order_is_that_of_sequences_drawn(T, two_digits):
    x, answer = recall.draw(20_000, T, seeded(0))
    counts = F.one_hot(x[:, :-1], SYMBOLS).sum(1)
    first = counts.argmax(-1) == answer  # the most frequent symbol, and of several one of the same chances
    error = 4 * math.sqrt(0.25 / len(x))
    assert recall.best_without_order(T) == pytest.approx(first.double().mean().item(), abs=error)
    assert recall.best_without_order(T) == pytest.approx((counts.max(1).values / (T - 1)).mean().item(), abs=0.003)
    assert round(recall.best_without_order(T), 2) == two_digits


# The models


@pytest.mark.parametrize(
    ("model", "body"),
    [
        ("RNN", HIDDEN * (D + HIDDEN + 2)),  # torch's fused layers have two biases
        ("LSTM chrono", 4 * HIDDEN * (D + HIDDEN + 2)),
        ("CNN", 8 * (3 * D * D + D)),
        ("dilated CNN", 8 * (2 * D * D + D)),
        ("attention", 4 * D * D + 100 * D),
        ("attention without positions", 4 * D * D),
    ],
)
def test_parameters_are_counted(model, body):
    embedding, width = (SYMBOLS + 1) * D, recall.build(model, 100, seeded(0)).body.width
    assert recall.parameters(model, 100) == embedding + body + SYMBOLS * (width + 1)


@each_model
@pytest.mark.parametrize("T", [3, 16, 17, 40])
def test_the_cheap_read_out_is_the_full_computations(model, T):
    network, e = doubled(model, T), torch.randn(4, T, D, generator=seeded(1), dtype=torch.float64)
    full = plain(network.body, e)
    assert full.abs().max() > 1e-3
    torch.testing.assert_close(network.body(e), full, rtol=0, atol=1e-12)


@pytest.mark.parametrize("T", [255, 256, 300])
def test_the_tree_of_dilated_convolutions_is_a_dilated_stack_around_its_span(T):
    network, e = doubled("dilated CNN", T), torch.randn(2, T, D, generator=seeded(1), dtype=torch.float64)
    torch.testing.assert_close(network.body(e), plain(network.body, e), rtol=0, atol=1e-12)
    assert network.body.span == 256 and doubled("CNN", T).body.span == 17
    assert [layer.dilation for layer in network.body.layers] == [1, 2, 4, 8, 16, 32, 64, 128]


@each_model
def test_the_initial_gradient_is_that_of_autograd_on_the_plain_computation(model):
    T = 12
    network = recall.build(model, T, seeded(0))
    x, answer = recall.draw(recall.BATCH, T, seeded(recall.TEST))
    twin = copy.deepcopy(network).double()
    norms = []
    for tokens, symbol in zip(x, answer):  # one sequence a time
        e = twin.embed(tokens[None]).detach().requires_grad_()
        scores = twin.readout(plain(twin.body, e))
        (torch.logsumexp(scores, -1) - scores[:, symbol]).sum().backward()
        norms.append(e.grad[0, 0].norm())
    assert recall.initial_gradient(network, T) == pytest.approx(torch.stack(norms).mean().log10().item(), abs=1e-9)


def test_a_gradient_is_exactly_0_where_no_path_leads_and_above_it_everywhere_else():
    generator = seeded(0)
    for model, span in (("CNN", 17), ("dilated CNN", 256)):
        assert recall.initial_gradient(recall.build(model, span, generator), span) > -4
        assert recall.initial_gradient(recall.build(model, span + 1, generator), span + 1) == -math.inf


def test_a_gradient_too_small_for_float64_is_no_0():
    short, middle, long = (recall.initial_gradient(recall.build("RNN", T, seeded(0)), T) for T in (256, 512, 1024))
    assert long < -300 and long - middle == pytest.approx(2 * (middle - short), rel=0.02)  # the same factor every step


def test_cells_start_as_their_names_say():
    bound = 1 / math.sqrt(HIDDEN)
    for model, biases in (("LSTM b=0", (0, 0)), ("LSTM b=1", (0, 1))):
        cell = cell_of(recall.build(model, 32, seeded(0)).body.layer)
        assert [part.unique().tolist() for part in cell.b.chunk(4)[:2]] == [[bias] for bias in biases]
        assert 0.99 * bound < cell.W_h.abs().max() <= bound
    chrono = cell_of(recall.build("LSTM chrono", 32, seeded(0)).body.layer)
    b_i, b_f, _, _ = chrono.b.chunk(4)
    assert isinstance(chrono, LSTMCell) and torch.equal(b_i, -b_f) and 0 <= b_f.min() < b_f.max() <= math.log(31)
    W_h = recall.build("RNN orthogonal", 32, seeded(0)).body.layer.weight_hh_l0
    torch.testing.assert_close(W_h @ W_h.T, torch.eye(HIDDEN), rtol=0, atol=1e-5)


def test_without_positions_the_order_of_the_tokens_before_the_query_makes_no_difference():
    x, _ = recall.draw(4, 12, seeded(0))
    shuffled = torch.cat([x[:, torch.randperm(11, generator=seeded(1))], x[:, -1:]], dim=1)
    for model, alike in (("attention without positions", True), ("attention", False)):
        network = doubled(model, 12)
        assert torch.allclose(network(x), network(shuffled), rtol=0, atol=1e-12) == alike


REFUSED = [
    (lambda: recall.draw(4, 1, seeded(0)), "T=1: it must be one whole number, at least 2"),
    (lambda: recall.draw(0, 9, seeded(0)), "batch=0"),
    (lambda: recall.train("GRU", 8, 0), "model 'GRU' is none of the 9"),
    (lambda: recall.parameters("GRU", 8), "model 'GRU' is none of the 9"),
    (lambda: recall.best_without_order(1), "T=1: it must be one whole number, at least 2"),
    (lambda: recall.load("RNN", 64), "keeps no checkpoint of .*'T': 64"),
    (lambda: recall.median_accuracy("RNN", 1024), "model 'RNN' was not trained with T=1024, seed=0: the longest T"),
]


@pytest.mark.parametrize("call, words", REFUSED)
def test_what_cannot_be_is_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()


# What is stored


@pytest.fixture(scope="module")
def results():
    return {tuple(result.settings.values()): result.measured for result in EXPERIMENT.results()}


def test_exactly_the_runs_within_reach_are_trained(results):
    assert len(results) == len(MODELS) * len(recall.LENGTHS) * len(recall.SEEDS)
    for (model, T, _), measured in results.items():
        assert ("accuracy" in measured) == (T <= TRAINED[model])


@pytest.mark.parametrize("experiment", [EXPERIMENT, recall.HELD_OUT], ids=lambda experiment: experiment.name)
def test_every_run_was_trained_at_the_rate_found_for_its_model(experiment):
    for run in experiment.results():
        if "accuracy" in run.measured:
            assert run.measured["rate"] == RATES.best(run.settings["model"])
    assert experiment.stored_provenance()["rates"] == content_digest(RATES.read())


def test_the_runs_held_out_are_trained_and_have_no_length_and_no_seed_of_those_drawn():
    runs = recall.HELD_OUT.results()
    assert all("accuracy" in run.measured for run in runs) and {run.settings["model"] for run in runs} == set(MODELS)
    for name in ("T", "seed"):
        assert not {run.settings[name] for run in runs} & {run.settings[name] for run in EXPERIMENT.results()}


def test_training_stopped_when_it_had_learned_and_at_no_other_time(results):
    for setting, measured in results.items():
        if curve := measured.get("accuracies"):
            assert all(accuracy < recall.ENOUGH for accuracy in curve[:-1]), setting
            assert curve[-1] >= recall.ENOUGH or len(curve) == 1 + recall.STEPS // recall.EVERY, setting
            # 1000 and 2000 sequences, and float16: five standard errors, and the rounding
            assert abs(measured["accuracy"] - curve[-1]) < 0.01 + 5 * math.sqrt(0.25 / 1000 + 0.25 / 2000), setting


@pytest.mark.parametrize(("model", "seed"), [("attention", 1), ("LSTM chrono", 0)])
def test_training_again_gives_the_stored_run(results, model, seed):
    stored, measured = results[model, 16, seed], recall.train(model, 16, seed).measured
    assert measured["log_gradient"] == pytest.approx(stored["log_gradient"], abs=1e-3)
    assert measured["accuracy"] == pytest.approx(stored["accuracy"], abs=0.02)  # another machine rounds otherwise


def test_initial_gradients_are_those_stored(results):
    for model in MODELS:
        network = recall.build(model, 64, seeded(2))
        stored = results[model, 64, 2]["log_gradient"]
        expected = -math.inf if stored is None else pytest.approx(stored, abs=1e-3)
        assert recall.initial_gradient(network, 64) == expected, model


def test_attention_without_positions_does_as_well_as_can_be_without_order_and_no_better(results):
    for T in [T for T in recall.LENGTHS if T <= TRAINED["attention without positions"]]:
        best, error = recall.best_without_order(T), 4 * math.sqrt(0.25 / recall.TESTED)
        each = [results["attention without positions", T, seed]["accuracy"] for seed in recall.SEEDS]
        assert max(each) <= best + error, T
        if T == 8:
            assert min(each) > best - error  # it does learn to count


@pytest.mark.parametrize("T", recall.LENGTHS)
def test_every_checkpoint_has_the_stored_accuracy(results, T):
    x, answer = recall.draw(recall.TESTED, T, seeded(recall.TEST))
    again = recall.accuracy(recall.load("attention", T), x, answer)
    assert again == pytest.approx(results["attention", T, 0]["accuracy"], abs=0.005)


def test_the_checkpoints_are_those_that_a_page_reads():
    paths = list((EXPERIMENT.folder / "recall").iterdir())
    assert len(paths) == len(recall.LENGTHS) and sum(path.stat().st_size for path in paths) <= 250_000


def test_the_longest_learned_is_the_last_median_of_at_least_nine_tenths(results):
    for model in ("RNN", "CNN", "LSTM chrono", "attention"):
        lengths = [T for T in recall.LENGTHS if T <= TRAINED[model]]
        medians = [sorted(results[model, T, seed]["accuracy"] for seed in range(3))[1] for T in lengths]
        learned = [T for T, median in zip(lengths, medians) if median >= 0.9]
        assert recall.longest_learned(model) == max(learned, default=0)
