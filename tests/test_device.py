"""The device that is picked, with and without CUDA."""

import pytest
import torch

from why_attention.device import pick_device


@pytest.mark.parametrize(("available", "expected"), [(True, "cuda"), (False, "cpu")])
def test_cuda_when_available_else_the_cpu(monkeypatch, available, expected):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: available)
    assert pick_device() == torch.device(expected)


def test_a_tensor_can_live_there():
    device = pick_device()
    assert torch.ones(3, device=device).sum().item() == 3
    assert device.type == ("cuda" if torch.cuda.is_available() else "cpu")
