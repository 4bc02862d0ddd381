"""Norms whose squares neither under- nor overflow: a norm is 0 only if every number is 0."""

import torch
from torch import Tensor

__all__ = ["frobenius_norm"]


def frobenius_norm(tensor: Tensor, dim: tuple[int, ...]) -> Tensor:
    """Return √Σ a², in float64, over some non-empty dimensions of a tensor."""
    tensor = tensor.double()
    largest = tensor.abs().amax(dim, keepdim=True)
    scaled = tensor / torch.where(largest > 0, largest, 1)  # |a| ≤ 1
    return torch.linalg.vector_norm(scaled, dim=dim) * largest.amax(dim)
