"""Attention maps of pretrained encoders: the stored ones and what they show, and a tiny random encoder as a reader's."""

import pytest
import torch
from torch.nn import functional as F

from why_attention import pretrained
from why_attention.pretrained import attention_maps, load_maps, stack_maps

WORDS = ["it", "slept", "the", "animal", "un", "##happy", "."]
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
LAYERS, HEADS, SIZE = 2, 3, 12
SIZES = {"hidden_size": SIZE, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "intermediate_size": 16}


@pytest.fixture
def tiny(tmp_path):
    """The folder of a random BERT with 2 layers of 3 heads, and 10 positions."""
    from transformers import BertConfig, BertModel, BertTokenizer

    vocabulary = tmp_path / "vocab.txt"
    vocabulary.write_text("\n".join(SPECIAL + WORDS), encoding="utf-8")
    torch.manual_seed(0)
    config = BertConfig(vocab_size=len(SPECIAL + WORDS), max_position_embeddings=10, **SIZES)
    BertModel(config).save_pretrained(tmp_path / "model")
    BertTokenizer(str(vocabulary)).save_pretrained(tmp_path / "model")
    return tmp_path / "model"


# Any encoder


def test_tokens_and_maps_of_an_encoder(tiny):
    tokens, maps = attention_maps(tiny, "The unhappy animal slept.")
    assert tokens == ["[CLS]", "the", "un", "##happy", "animal", "slept", ".", "[SEP]"]
    assert maps.shape == (LAYERS, HEADS, 8, 8)
    torch.testing.assert_close(maps.sum(-1), torch.ones(LAYERS, HEADS, 8))
    assert not maps.requires_grad


def test_maps_are_the_softmax_of_the_encoders_own_queries_and_keys(tiny):
    from transformers import BertModel

    tokens, maps = attention_maps(tiny, "It slept.")
    model = BertModel.from_pretrained(tiny).eval()
    ids = torch.tensor([[(SPECIAL + WORDS).index(token) for token in tokens]])
    with torch.no_grad():
        x, attention = model.embeddings(ids), model.encoder.layer[0].attention.self
        Q, K = (layer(x).view(len(tokens), HEADS, -1).transpose(0, 1) for layer in (attention.query, attention.key))
        A = F.softmax(Q @ K.mT / (SIZE / HEADS) ** 0.5, -1)
    torch.testing.assert_close(maps[0], A)


def test_more_tokens_than_positions_are_refused_with_both_numbers(tiny):
    with pytest.raises(ValueError, match="makes 13 tokens, but .* has 10 positions"):
        attention_maps(tiny, "it " * 11)


def test_an_encoder_with_a_decoder_is_refused(tiny):
    from transformers import BartConfig, BartModel

    sizes = dict(encoder_layers=1, decoder_layers=1, encoder_attention_heads=1, decoder_attention_heads=1)
    config = BartConfig(vocab_size=12, d_model=4, encoder_ffn_dim=4, decoder_ffn_dim=4, **sizes)
    BartModel(config).save_pretrained(tiny)
    with pytest.raises(ValueError, match="encoder with a decoder"):
        attention_maps(tiny, "It slept.")


def test_attentions_that_a_model_never_kept_are_refused_with_the_fix(tiny):
    from transformers import BertModel

    kept = BertModel.from_pretrained(tiny)(torch.tensor([[2, 5, 3]]), output_attentions=True).attentions
    assert kept == ()  # what transformers does by default
    with pytest.raises(ValueError, match=r'are \(\).*attn_implementation="eager"'):
        stack_maps(kept)
    with pytest.raises(ValueError, match='attn_implementation="eager"'):
        stack_maps((None, None))
    with pytest.raises(ValueError, match="output_attentions=True"):
        stack_maps(None)


@pytest.mark.parametrize("shape", [(1, 2, 4, 4), (2, 4, 4)])
def test_a_tensor_a_layer_and_one_of_all_layers_are_the_same(shape):
    layers = [torch.rand(shape) for _ in range(3)]
    torch.testing.assert_close(stack_maps(layers), torch.stack([one.view(2, 4, 4) for one in layers]))
    torch.testing.assert_close(stack_maps(torch.stack(layers)), stack_maps(layers))


@pytest.mark.parametrize(
    "layers, words",
    [
        ([torch.rand(2, 2, 4, 4)], r"shapes \[\(2, 2, 4, 4\)\].*batch of one"),
        ([torch.rand(2, 4, 5)], r"\(2, 4, 5\)"),
        ([torch.rand(2, 4, 4), torch.rand(2, 5, 5)], r"\(2, 4, 4\), \(2, 5, 5\).*the same for all"),
        (torch.rand(4, 4), r"4 layers have shapes \[\(4,\)\]"),
        ([torch.rand(2, 0, 0)], r"\(2, 0, 0\)"),
        *((other, "attentions") for other in (3, "maps", [["a"]], torch.tensor(1.0))),
    ],
)
def test_other_shapes_are_refused(layers, words):
    with pytest.raises(ValueError, match=words):
        stack_maps(layers)


# Byte-level tokens


@pytest.fixture(scope="module")
def byte_level(tmp_path_factory):
    """The folder of a random RoBERTa of 20 positions, whose tokens are bytes and what they have been joined to."""
    from tokenizers import ByteLevelBPETokenizer
    from transformers import RobertaConfig, RobertaModel, RobertaTokenizerFast

    folder = tmp_path_factory.mktemp("roberta")
    tokenizer = ByteLevelBPETokenizer()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    tokenizer.train_from_iterator(["注意力 the animal the"] * 5, vocab_size=400, special_tokens=special)
    tokenizer.save_model(str(folder))
    RobertaTokenizerFast.from_pretrained(str(folder)).save_pretrained(folder / "model")
    RobertaModel(RobertaConfig(vocab_size=400, max_position_embeddings=22, **SIZES)).save_pretrained(folder / "model")
    return folder / "model"


@pytest.mark.parametrize(
    "sentence, expected",
    [
        ("注意力机制", ["注意力", *(f"{letter}[{i}/3]" for letter in "机制" for i in (1, 2, 3))]),
        ("the naïve animal", ["the", "␣", "n", "a", "ï[1/2]", "ï[2/2]", "v", "e", "animal"]),
        ("the  animal", ["the", "␣", "animal"]),
    ],
)
def test_byte_level_tokens_read_as_the_text_that_they_stand_for(byte_level, sentence, expected):
    tokens, maps = attention_maps(byte_level, sentence)
    assert tokens == ["<s>", *expected, "</s>"]
    assert maps.shape == (2, 3, len(tokens), len(tokens))


def test_positions_that_roberta_keeps_to_itself_are_no_places_for_tokens(byte_level):
    assert len(attention_maps(byte_level, "机" * 6)[0]) == 20
    with pytest.raises(ValueError, match="makes 23 tokens, but .* has 20 positions"):
        attention_maps(byte_level, "机" * 7)


@pytest.mark.parametrize("sentence", ["", " ", None, ["It slept."]])
def test_a_sentence_without_words_is_refused(tiny, sentence):
    with pytest.raises(ValueError, match="^the sentence is .*: it must be text of at least 1 word"):
        attention_maps(tiny, sentence)


# The stored maps


@pytest.fixture(params=["tired", "wide"])
def stored(request):
    return load_maps(request.param)


def test_a_map_for_each_of_12_heads_in_6_layers(stored):
    assert stored.tokens[0] == "[CLS]" and stored.tokens[-1] == "[SEP]"
    assert stored.sentence.lower().replace(" ", "") == "".join(stored.tokens[1:-1])
    assert stored.maps.shape == (6, 12, len(stored.tokens), len(stored.tokens))
    torch.testing.assert_close(stored.maps.sum(-1), torch.ones(6, 12, 16), atol=16 * 0.0005, rtol=0)


def test_the_two_sentences_differ_in_one_token():
    tired, wide = load_maps("tired"), load_maps("wide")
    assert [pair for pair in zip(tired.tokens, wide.tokens) if pair[0] != pair[1]] == [("tired", "wide")]


def test_where_they_come_from_is_stored_with_them(stored):
    assert stored.provenance["model"] == "sentence-transformers/all-MiniLM-L6-v2"
    assert stored.provenance["licence of the model"] == "apache-2.0"
    assert {"package", "software", "command", "date"} < set(stored.provenance)
    assert len(stored.provenance["weights, SHA-256"]) == 64


def from_it(stored, token):
    """Return how much "it" attends to a token in each head, and the layer and head, from 1, of the two that do so most."""
    weights = stored.maps[:, :, stored.tokens.index("it"), stored.tokens.index(token)]
    most = weights.flatten().topk(2).indices.tolist()
    return weights, {(i // 12 + 1, i % 12 + 1) for i in most}


def test_it_attends_to_the_animal_in_two_heads():
    weights, most = from_it(load_maps("tired"), "animal")
    assert most == {(4, 2), (6, 12)}
    assert weights[3, 1] == pytest.approx(0.68, abs=0.005)
    assert weights[5, 11] == pytest.approx(0.67, abs=0.005)


def test_it_does_not_switch_to_the_street_where_the_street_is_wide():
    wide = load_maps("wide")
    animal, most = from_it(wide, "animal")
    street, _ = from_it(wide, "street")
    assert most == {(4, 2), (6, 12)}
    assert animal[3, 1] == pytest.approx(0.28, abs=0.005)
    assert animal[5, 11] == pytest.approx(0.56, abs=0.005)
    assert street.max() < animal[3, 1]
    assert street[5, 11] < animal[5, 11]


def test_almost_half_of_all_attention_goes_to_cls():
    assert load_maps("tired").maps[..., 0].mean() == pytest.approx(0.47, abs=0.005)


def test_another_word_is_refused_with_those_that_there_are():
    with pytest.raises(ValueError, match="'sleepy': the last word is one of tired, wide"):
        load_maps("sleepy")


@pytest.mark.parametrize("content", [None, b"", b"no zip"])
def test_a_file_that_is_missing_or_damaged_is_named_with_the_way_back(monkeypatch, tmp_path, content):
    monkeypatch.setattr(pretrained, "STORED", tmp_path / "minilm_maps.npz")
    if content is not None:
        pretrained.STORED.write_bytes(content)
    with pytest.raises(ValueError, match="minilm_maps.npz cannot be read .*tools/extract_maps.py"):
        load_maps()


def test_the_file_is_small():
    assert pretrained.STORED.stat().st_size < 45_000
