"""A 0 in a figure says that no path leads there, and nothing else: the figures' exact zeros against who reads whom.

Who reads whom is worked out here, by products of truth values, layer by layer.  The tests of the figures influence,
dilution and gradient-decay ask the same in their own files.
"""

import numpy as np
import pytest
from figure_reading import Reading

from why_attention.figures import alignment, attention_map, effective_field, heads, recall, receptive_field
from why_attention.tasks.recall import LENGTHS

pytestmark = pytest.mark.slow  # where no frames are kept


def zeros(array: np.ndarray) -> np.ndarray:
    return np.isneginf(array)


def later(n: int) -> np.ndarray:
    """Return where a causal mask leaves no path: j > i."""
    return ~np.tri(n, dtype=bool)


def test_weights_are_0_behind_the_mask_alone():
    read = Reading(attention_map.figure())
    for values in read.settings("n", "scale", "mask", "positions"):
        drawn = zeros(read.array(read.panels[0]["matrix"], **values))
        assert np.array_equal(drawn, later(values["n"]) & values["mask"]), values


def test_weights_of_trained_heads_are_0_behind_the_mask_alone():
    read = Reading(heads.figure())
    for panel, (layer, head) in zip(read.panels, heads.HEADS):
        for values in read.settings("sequence", "ablate"):
            drawn = read.array(panel["matrix"], **values)
            assert np.array_equal(zeros(drawn), later(len(read.words(panel["row_words"], **values).split()))), values
            off = values["ablate"] == heads.name_of(layer, head)
            assert off or (drawn != 0).all(), values  # small weights are kept as a step, not as 0


def test_a_bottleneck_has_no_weights_and_attention_no_weight_of_0():
    read = Reading(alignment.figure())
    for values in read.settings("n", "attention"):
        assert (zeros(read.array(read.panels[0]["matrix"], **values)) == (not values["attention"])).all(), values


def reads_the_first(layers: list[tuple[int, int]], T: int) -> bool:
    """Tell whether the last of T positions reads the first through causal layers of a kernel size and a dilation."""
    read = np.arange(T) == T - 1
    for k, dilation in reversed(layers):
        below = np.zeros(T, dtype=bool)
        for back in range(0, min(k * dilation, T), dilation):
            below[: T - back] |= read[back:]
        read = below
    return bool(read[0])


def test_a_gradient_of_0_is_a_first_symbol_out_of_reach():
    read = Reading(recall.figure())
    reach = {"CNN": [(3, 1)] * 8, "dilated CNN": [(2, 2**layer) for layer in range(8)]}
    unreached = 0
    places = [
        (panel, number, name)
        for panel, (*_, models) in enumerate(recall.FAMILIES)
        for number, name in enumerate(models)
    ]
    for panel, number, model in places:
        drawn = zeros(read.series(panel, number))  # (seeds, T)
        paths = [reads_the_first(reach[model], T) if model in reach else True for T in LENGTHS]
        assert np.array_equal(drawn, np.broadcast_to(~np.array(paths), drawn.shape)), model
        unreached += drawn.sum()
    assert unreached > 0


def test_every_input_of_a_receptive_field_has_an_influence_above_0():
    """Which is kept as a step at least, though by the ends of 50 layers it is a share of 3⁻⁵⁰."""
    read = Reading(effective_field.figure())
    for values in read.settings("k", "depth"):
        for number in (1, 2):
            assert (read.series(0, number, **values) > 0).all(), values


def test_a_reach_is_never_0():
    read = Reading(receptive_field.figure())
    for values in read.settings("k", "depth", "growth", "mode"):
        assert np.isfinite(read.series(1, 5, **values)).all(), values
