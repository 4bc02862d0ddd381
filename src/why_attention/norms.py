"""Norms whose squares neither under- nor overflow: a norm is 0 where every number is, and nowhere else."""

import torch
from torch import Tensor

__all__ = ["frobenius_norm"]


def frobenius_norm(tensor: Tensor, dim: tuple[int, ...]) -> Tensor:
    """Return √Σ a², in float64, over some dimensions of a tensor, which must not be empty."""
    tensor = tensor.double()
    largest = tensor.abs().amax(dim, keepdim=True)
    scaled = tensor / torch.where(largest > 0, largest, 1)  # at most 1 in size
    return torch.linalg.vector_norm(scaled, dim=dim) * largest.amax(dim)
