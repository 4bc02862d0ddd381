"""Where to compute: on the GPU where there is one."""

import torch

__all__ = ["pick_device"]


def pick_device() -> torch.device:
    """Return CUDA's device when there is one, else the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")
