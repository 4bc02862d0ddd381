"""Attention maps of pretrained encoders: of any encoder, and stored maps of one.

The stored maps are of all-MiniLM-L6-v2 on one sentence and on the same sentence with another last word.
tools/extract_maps.py writes them, with their provenance.

Sources: Devlin et al. 2019, Section 3 (the encoder); Wang et al. 2020, "MiniLM" (the stored one's pretraining).
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

__all__ = ["StoredMaps", "attention_maps", "stack_maps", "load_maps", "store_maps"]

STORED = Path(__file__).parent / "tasks" / "results" / "minilm_maps.npz"
COUNTED_FROM_PADDING = ("roberta", "xlm-roberta", "camembert", "longformer")  # positions are counted from the padding's
THOUSAND = 1000  # weights are stored in thousandths


@dataclass(frozen=True)
class StoredMaps:
    """The maps (layers, heads, n, n) of an encoder on a sentence of n tokens, and their provenance."""

    sentence: str
    tokens: list[str]
    maps: Tensor
    provenance: dict[str, str]


def attention_maps(model: str | Path, sentence: str) -> tuple[list[str], Tensor]:
    """Return the n tokens of a sentence, and an encoder's attention maps (layers, heads, n, n).

    model: a name on Hugging Face, which needs a network, or a folder with the files.
    Raises ValueError for an empty sentence, for an encoder-decoder, for more tokens than the encoder has positions, and
    as ``stack_maps`` does.
    """
    if not isinstance(sentence, str) or not sentence.strip():
        raise ValueError(f"the sentence is {sentence!r}: it must be text of at least 1 word")
    from transformers import AutoModel, AutoTokenizer  # slow to import

    tokenizer = AutoTokenizer.from_pretrained(model)
    # the default attention keeps no weights
    encoder = AutoModel.from_pretrained(model, attn_implementation="eager").eval()
    if encoder.config.is_encoder_decoder:
        raise ValueError(f"{model} is an encoder with a decoder: name an encoder, such as bert-base-chinese")
    encoded = tokenizer(sentence, return_tensors="pt")
    tokens = readable_tokens(tokenizer, sentence)
    positions = min(encoder.config.max_position_embeddings, tokenizer.model_max_length)
    if encoder.config.model_type in COUNTED_FROM_PADDING:
        positions = min(positions, encoder.config.max_position_embeddings - encoder.config.pad_token_id - 1)
    if len(tokens) > positions:
        raise ValueError(f"the sentence makes {len(tokens)} tokens, but {model} has {positions} positions: shorten it")
    with torch.no_grad():
        attentions = encoder(**encoded, output_attentions=True).attentions
    return tokens, stack_maps(attentions)


def readable_tokens(tokenizer: Any, sentence: str) -> list[str]:
    """Return the tokens of a sentence as readable text: WordPiece's own, or pieces of the sentence.

    A byte-level tokenizer may split a character: its pieces read 机[1/3], 机[2/3], 机[3/3].  A blank reads ␣.
    """
    encoded = tokenizer(sentence, return_special_tokens_mask=True, return_offsets_mapping=tokenizer.is_fast)
    tokens = tokenizer.convert_ids_to_tokens(encoded["input_ids"])
    if not tokenizer.is_fast or json.loads(tokenizer.backend_tokenizer.to_str())["model"]["type"] == "WordPiece":
        return tokens
    spans = encoded["offset_mapping"]
    words = [i for i, special in enumerate(encoded["special_tokens_mask"]) if not special]
    for group in group_overlaps(words, spans):
        text = sentence[spans[group[0]][0] : max(spans[i][1] for i in group)].strip() or "␣"
        for part, i in enumerate(group, start=1):
            tokens[i] = text if len(group) == 1 else f"{text}[{part}/{len(group)}]"
    return tokens


def group_overlaps(places: list[int], spans: list[tuple[int, int]]) -> list[list[int]]:
    """Group neighbouring places whose spans of a sentence overlap: the pieces of a split character."""
    groups: list[list[int]] = []
    for i in places:
        if groups and spans[i][0] < max(spans[j][1] for j in groups[-1]):
            groups[-1].append(i)
        else:
            groups.append([i])
    return groups


def stack_maps(attentions: Tensor | Sequence[Tensor] | None) -> Tensor:
    """Return the ``attentions`` of a Hugging Face model as one tensor (layers, heads, n, n).

    attentions: a tensor (heads, n, n) or (1, heads, n, n) for each layer, or one tensor of all.
    Raises ValueError for missing attentions, other shapes, and more than one sentence.
    """
    if not isinstance(attentions, Tensor | np.ndarray | Sequence | None):
        raise ValueError(f"the attentions are a {type(attentions).__name__}: they must be 1 tensor, or a list of them")
    if (
        attentions is None
        or getattr(attentions, "ndim", 1) == 0
        or len(attentions) == 0
        or any(one is None for one in attentions)
    ):
        raise ValueError(
            f"the attentions are {attentions!r}: without output_attentions=True, and with the attention that "
            'transformers chooses by default, no weights are kept; load the model with attn_implementation="eager"'
        )
    attentions = [map_of(one) for one in attentions]
    shapes = [tuple(one.shape) for one in attentions]
    layers = [one[0] if one.ndim == 4 and len(one) == 1 else one for one in attentions]
    square = all(one.ndim == 3 and one.shape[1] == one.shape[2] and one.numel() for one in layers)
    if not square or len({one.shape for one in layers}) > 1:
        raise ValueError(
            f"the attentions of {len(shapes)} layers have shapes {sorted(set(shapes))}: "
            "each must be (heads, n, n) or, of a batch of one sentence, (1, heads, n, n), the same for all"
        )
    return torch.stack(layers)


def map_of(attention: Any) -> Tensor:
    """Return the attentions of a layer as a tensor.  Raises ValueError unless they are numbers."""
    try:
        return torch.as_tensor(attention)
    except (TypeError, ValueError, RuntimeError) as error:
        raise ValueError(
            f"the attentions of a layer are a {type(attention).__name__}: they must be numbers, (heads, n, n), in 1 tensor"
        ) from error


def load_maps(last_word: str = "tired") -> StoredMaps:
    """Return the stored maps of the sentence that ends in "tired" or in "wide".

    The weights are float32, rounded to thousandths.  Raises ValueError for another word and for a file that is missing
    or damaged.
    """
    try:
        with np.load(STORED) as file:
            stored = json.loads(file["about"].item())
            numbers = {word: file[word] for word in stored["sentences"]}
    except Exception as error:  # numpy, zipfile and json raise different ones
        raise ValueError(
            f"the stored maps {STORED.name} cannot be read ({error}): restore the file from the repository, "
            "or make it anew with tools/extract_maps.py"
        ) from error
    if last_word not in numbers:
        raise ValueError(f"no maps are stored for {last_word!r}: the last word is one of {', '.join(numbers)}")
    maps = torch.from_numpy(numbers[last_word].astype(np.float32) / THOUSAND)
    return StoredMaps(stored["sentences"][last_word], stored["tokens"][last_word], maps, stored["provenance"])


def store_maps(file: Path, maps: dict[str, StoredMaps]) -> None:
    """Write maps of one provenance to a file, in thousandths, keyed by the last word of their sentences."""
    about = {
        "sentences": {word: one.sentence for word, one in maps.items()},
        "tokens": {word: one.tokens for word, one in maps.items()},
        "provenance": next(iter(maps.values())).provenance,
    }
    numbers = {word: (one.maps.numpy() * THOUSAND).round().astype(np.uint16) for word, one in maps.items()}
    np.savez_compressed(file, about=json.dumps(about), **numbers)
