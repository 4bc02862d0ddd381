"""The toy translation: its language, the model against torch's own layers, training, and the stored results."""

import random

import pytest
import torch
from torch import nn

from why_attention.tasks import translation
from why_attention.tasks.translation import ADJECTIVES, END, LEXICON, NOUNS, QUANTIFIERS, Pair, Translator, batch, pair

LENGTHS = [1, 2, 3, 7, 20, 40]


@pytest.fixture(scope="module")
def stored():
    return {tuple(result.settings.values()): result.measured for result in translation.EXPERIMENT.results()}


def translator(attention, size=8):
    torch.manual_seed(0)
    return Translator(attention, size).eval()


# The language


def test_47_words_of_which_no_two_share_a_translation():
    assert len(LEXICON) == 47 and len(set(LEXICON.values())) == 47 and not set(LEXICON) & set(LEXICON.values())
    assert all(word.isascii() and word.isalpha() for pair in LEXICON.items() for word in pair)
    for words, ending in ((NOUNS, "o"), (ADJECTIVES, "a"), (QUANTIFIERS, "i")):
        assert all(word.endswith(ending) for word in words.values())


def test_the_lexicon_keeps_hardly_any_number():
    same = [word for word in LEXICON if translation.SOURCE_NUMBER[word] == translation.TARGET_NUMBER[LEXICON[word]]]
    assert len(same) <= 3  # a random permutation keeps 1 on average


def phrases(source):
    """Cut a sentence after every noun."""
    cut, phrase = [], []
    for word in source:
        phrase.append(word)
        if word in NOUNS:
            cut, phrase = [*cut, phrase], []
    assert not phrase
    return cut


@pytest.mark.parametrize("length", LENGTHS)
def test_a_translation_turns_every_phrase_round_keeps_their_order_and_names_its_places(length):
    rng, seen = random.Random(0), set()
    for _ in range(50):
        one = pair(length, rng)
        assert len(one.source) == len(one.target) == length
        expected = [LEXICON[word] for phrase in phrases(one.source) for word in phrase[::-1]]
        assert one.target == expected == [LEXICON[one.source[place]] for place in one.alignment]
        assert sorted(one.alignment) == list(range(length))
        kinds = {word: kind for kind, words in zip("NAQ", (NOUNS, ADJECTIVES, QUANTIFIERS)) for word in words}
        seen |= {"".join(kinds[word] for word in phrase) for phrase in phrases(one.source)}
    assert seen == {kind for kind in ("N", "AN", "QN", "QAN") if len(kind) <= length}


def test_a_batch_pads_with_ends_and_reads_back():
    pairs = [pair(length, random.Random(length)) for length in (3, 1, 5)]
    given = batch(pairs)
    assert given.lengths.tolist() == [3, 1, 5] and given.source.shape == (3, 5) and given.target.shape == (3, 6)
    assert [translation.decode(row) for row in given.target] == [one.target for one in pairs]
    assert given.real.sum(1).tolist() == [4, 2, 6]
    assert (given.source == END).sum(1).tolist() == [2, 4, 0]


# The model


@pytest.mark.parametrize("length", [1, 4, 9])
def test_the_encoder_is_torchs_bidirectional_gru(length):
    model = translator(attention=True)
    both = nn.GRU(8, 8, bidirectional=True, batch_first=True)
    for layer, suffix in ((model.forwards, "_l0"), (model.backwards, "_l0_reverse")):
        for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
            getattr(both, name + suffix).data.copy_(getattr(layer, f"{name}_l0"))
    given = batch([pair(n, random.Random(n)) for n in (length, 9)])
    packed = nn.utils.rnn.pack_padded_sequence(
        model.source(given.source), given.lengths, batch_first=True, enforce_sorted=False
    )
    packed_states, last = both(packed)
    states = nn.utils.rnn.pad_packed_sequence(packed_states, batch_first=True)[0]
    h, h_last = model.encode(given.source, given.lengths)
    real = given.source != END
    torch.testing.assert_close(h[real], states[real])
    torch.testing.assert_close(h_last, torch.cat([*last], dim=-1))


@pytest.mark.parametrize("attention", [True, False])
def test_padding_changes_nothing(attention):
    model = translator(attention)
    short, long = (pair(n, random.Random(0)) for n in (4, 11))
    alone, together = (batch(pairs) for pairs in ([short], [short, long]))
    scores, weights = model(alone.source, alone.lengths, alone.target)
    padded_scores, padded_weights = model(together.source, together.lengths, together.target)
    torch.testing.assert_close(padded_scores[0, :5], scores[0])
    if attention:
        assert (padded_weights[0, :, 4:] == 0).all()
        torch.testing.assert_close(padded_weights[0, :5, :4], weights[0])
        torch.testing.assert_close(padded_weights.sum(-1), torch.ones(2, 12))


def test_the_bottleneck_knows_a_sentence_by_its_last_state_alone(monkeypatch):
    model = translator(attention=False)
    given, other = (batch([pair(8, random.Random(seed))]) for seed in (0, 1))
    scores, weights = model(given.source, given.lengths, given.target)
    assert weights is None
    assert (model(other.source, other.lengths, given.target)[0] - scores).abs().max() > 0.01
    h, last = model.encode(given.source, given.lengths)
    monkeypatch.setattr(model, "encode", lambda source, lengths: (torch.randn_like(h), last))
    assert torch.equal(model(other.source, other.lengths, given.target)[0], scores)


def test_told_its_own_words_a_model_writes_them_again():
    model = translator(attention=True)
    given = batch([pair(6, random.Random(0))])
    own, own_weights = model(given.source, given.lengths)
    told, told_weights = model(given.source, given.lengths, own.argmax(-1))
    assert torch.equal(own, told) and torch.equal(own_weights, told_weights)
    assert not torch.equal(model(given.source, given.lengths, given.target)[0], own)


# The stopping rule


def looks(losses, cap=translation.CAP):
    """What the rule does with made-up losses, one a look, at a starting rate of 1; and how many steps it took."""
    optimiser = torch.optim.SGD([torch.zeros(1)], lr=1.0)
    losses, steps = iter(losses), []
    how = translation.train_to_plateau(lambda: steps.append(1), lambda: next(losses), optimiser, cap)
    assert how["steps"] == len(steps)
    return how


def ended_by_hand(losses, better=0.001, patience=4, falls=2):
    """The rule, without torch: the rates of the looks, each in units of the first, and the look it ends at, or None."""
    lowest, waited, fallen, rates = float("inf"), 0, 0, []
    for look, loss in enumerate(losses, start=1):
        rates.append(4.0**-fallen)
        waited = 0 if loss < lowest - better else waited + 1
        lowest = loss if waited == 0 else lowest
        if waited == patience:
            fallen, waited = fallen + 1, 0
        if fallen > falls:
            return rates, look
    return rates, None


def test_an_improvement_starts_the_wait_again_and_a_smaller_one_does_not():
    how = looks([1.0, 0.9995, 0.9992, 0.998, *[0.9975] * 12, 0.1])  # .998 is .002 below 1, .9975 only .0005 below .998
    assert how["rates"] == [1.0] * 8 + [1 / 4] * 4 + [1 / 16] * 4 and not how["capped"]


def test_a_model_that_still_improves_is_not_stopped():
    how = looks([1 - 0.002 * look for look in range(300)], cap=300)
    assert how["rates"] == [1.0] * 300 and how["capped"]


@pytest.mark.parametrize("seed", range(20))
def test_the_rule_is_the_one_written_out(seed):
    rng = random.Random(seed)
    losses = [0.9**look * rng.uniform(0.9, 1.1) + 0.05 for look in range(200)]
    rates, end = ended_by_hand(losses)
    how = looks(losses)
    assert len(how["losses"]) == end and how["rates"] == rates and not how["capped"]


# Training


def test_the_loss_is_that_of_each_sentence_by_itself():
    model = translator(attention=True)
    pairs = [pair(n, random.Random(n)) for n in (1, 5, 9)]
    each = []
    for one in pairs:
        given = batch([one])
        scores, _ = model(given.source, given.lengths, given.target)
        each += nn.functional.cross_entropy(scores[0], given.target[0], reduction="none").tolist()
    assert len(each) == 2 + 6 + 10
    assert translation.held_out_loss(model, batch(pairs)) == pytest.approx(sum(each) / len(each), rel=1e-5)


def test_a_small_one_learns_words_and_their_alignment(monkeypatch):
    monkeypatch.setattr(translation, "LENGTHS", [2, 20])
    measured = translation.train("attention", seed=0, rate=5e-3, longest=3, size=32, cap=1).measured
    assert measured["steps"] == translation.EVERY and measured["capped"]
    assert measured["exact_match"][0] >= 0.8 and measured["top1"][0] >= 0.9 and measured["mass"][0] >= 0.6
    assert measured["exact_match"][-1] == 0  # nobody learns 20 words from sentences of 3


def test_a_seed_gives_the_same_weights_again_and_another_gives_others(monkeypatch):
    monkeypatch.setattr(translation, "LENGTHS", [3])
    monkeypatch.setattr(translation, "EVERY", 3)
    a, b, c = (translation.train("attention", seed, rate=5e-3, longest=3, size=8, cap=1) for seed in (0, 0, 1))
    assert a.measured == b.measured and all(torch.equal(a.weights[name], b.weights[name]) for name in a.weights)
    assert {weight.dtype for weight in a.weights.values()} == {torch.float16}
    assert c.weights is None and c.measured["mass"] != a.measured["mass"]


def test_a_run_trains_at_the_rate_that_the_search_found(monkeypatch):
    monkeypatch.setattr(translation, "LENGTHS", [3])
    monkeypatch.setattr(translation, "EVERY", 1)
    monkeypatch.setattr(translation.RATES, "best", {"attention": 0.25, "bottleneck": 0.5}.get)
    for model, rate in (("attention", 0.25), ("bottleneck", 0.5)):
        assert translation.train(model, seed=0, longest=3, size=8, cap=1).measured["rates"] == [rate]


def test_the_search_uses_other_seeds_and_gives_a_loss(monkeypatch):
    assert not {run["seed"] for run in translation.RATES.runs} & set(translation.SEEDS)
    monkeypatch.setattr(translation, "SEARCH", 2)
    slow, fast = (translation.search("bottleneck", rate, seed=10).measured["loss"] for rate in (1e-5, 1e-2))
    assert 3 < fast < slow < 4.5  # at first about ln 48 = 3.87


# The stored results


@pytest.mark.parametrize("model", translation.MODELS)
def test_the_checkpoint_gives_what_is_stored(stored, model):
    trained = translation.load(model)
    for length in (2, 8, 12, 20):
        measured = translation.measure(trained, length)
        for name in ("exact_match", "top1", "mass"):
            value = stored[model, 0][name][translation.LENGTHS.index(length)]
            # another machine may round one word of a hundred sentences otherwise
            assert measured[name] == (value if value is None else pytest.approx(value, abs=0.02)), (length, name)


def test_every_stored_run_ended_by_the_rule_and_not_at_the_cap(stored):
    for (model, _), measured in stored.items():
        losses, rates = measured["losses"], measured["rates"]
        assert not measured["capped"] and len(losses) < translation.CAP and rates[0] == translation.RATES.best(model)
        in_units, end = ended_by_hand(losses)
        assert end == len(losses) and measured["steps"] == translation.EVERY * end
        assert rates == pytest.approx([rates[0] * unit for unit in in_units])
        assert min(losses[-4:]) >= min(losses[:-4]) - 0.001  # the last looks did not improve


def test_a_stored_rate_is_inside_the_grid_of_the_search():
    for model in translation.MODELS:
        assert translation.RATES.rates[0] < translation.RATES.best(model) < translation.RATES.rates[-1]


def test_attention_opens_the_bottleneck_and_fails_past_its_training_too(stored):
    lengths = (translation.LONGEST, translation.LONGEST + 2, translation.LENGTHS[-1])
    longest, longer, far = (translation.LENGTHS.index(length) for length in lengths)
    for seed in translation.SEEDS:
        attention, bottleneck = stored["attention", seed], stored["bottleneck", seed]
        assert attention["exact_match"][longest] >= 0.99 > bottleneck["exact_match"][longest]
        assert attention["exact_match"][longer] >= 0.9 and bottleneck["exact_match"][longer] < 0.5
        assert attention["top1"][longest] >= 0.9
        assert attention["exact_match"][far] < 0.5


# Refusals


@pytest.mark.parametrize(
    ("refused", "words"),
    [
        (lambda: pair(0, random.Random(0)), "length=0: a sentence has at least 1 word"),
        (lambda: batch([]), "pairs has 0 entries"),
        (lambda: batch([Pair(["cat", "unicorn"], ["felo", "felo"], [0, 1])]), r"\['unicorn'\] are none of the 47"),
        (lambda: translation.train("transformer", 0, rate=1e-3), "model='transformer': it must be one of"),
        (lambda: translation.load("lstm"), "model='lstm': it must be one of"),
        (lambda: call(torch.zeros(3, dtype=int), [3]), r"source has shape \(3,\): it must be \(batch, S\)"),
        (lambda: call(torch.zeros(1, 0, dtype=int), [0]), r"source has shape \(1, 0\)"),
        (lambda: call(torch.zeros(1, 3, dtype=int), [3, 3]), r"lengths has shape \(2,\), but source has 1 sentences"),
        (lambda: call(torch.zeros(2, 3, dtype=int), [0, 4]), r"lengths \[0, 4\] lie outside 1 … 3"),
        (lambda: call(torch.zeros(1, 3, dtype=int), [3], torch.zeros(1, 3)), r"needs \(1, 4\)"),
    ],
)
def test_what_cannot_be_is_refused(refused, words):
    with pytest.raises(ValueError, match=words):
        refused()


def call(source, lengths, target=None):
    return translator(attention=True)(source, torch.tensor(lengths), target)
