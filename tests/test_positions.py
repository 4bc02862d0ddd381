"""Sinusoidal positions against the paper's formula, entry by entry."""

import math

import pytest
import torch
from torch.testing import assert_close

from why_attention.positions import sinusoidal_positions


def test_they_are_those_of_the_paper():
    PE = sinusoidal_positions(50, 6, dtype=torch.float64)
    for t in (0, 1, 49):
        for i in range(3):
            angle = t / 10000 ** (2 * i / 6)
            wanted = torch.tensor([math.sin(angle), math.cos(angle)], dtype=torch.float64)
            assert_close(PE[t, 2 * i : 2 * i + 2], wanted, atol=1e-12, rtol=0)
    assert sinusoidal_positions(2, 4).dtype == torch.float32


def test_position_t_plus_k_is_a_rotation_of_position_t():
    PE = sinusoidal_positions(40, 8, dtype=torch.float64)
    products = PE @ PE.T
    for k in range(40):  # so that the product of two positions depends on their distance alone
        assert_close(products.diagonal(k), products[0, k].expand(40 - k), atol=1e-12, rtol=0)


@pytest.mark.parametrize(
    "n, d, words",
    [
        (0, 4, "^n=0: it must be one whole number, at least 1"),
        (3, 5, "^n=3 and d=5: n must be at least 1, and d an even number"),
        (3, 0, "^d=0: it must be one whole number, at least 1"),
        (3, 4.0, "^d=4.0: it must be one whole number, at least 1"),
    ],
)
def test_sizes_that_make_no_positions_are_refused(n, d, words):
    with pytest.raises(ValueError, match=words):
        sinusoidal_positions(n, d)
