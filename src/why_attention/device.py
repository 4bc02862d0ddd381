"""Where to compute: on the GPU if there is one."""

import torch

__all__ = ["pick_device"]


def pick_device() -> torch.device:
    """Return CUDA's device if there is one, else the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")
