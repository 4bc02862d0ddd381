"""The device that is picked, with and without CUDA."""

import pytest
import torch

from why_attention.device import pick_device


@pytest.mark.parametrize(("available", "expected"), [(True, "cuda"), (False, "cpu")])
def test_cuda_when_available_else_the_cpu(monkeypatch, available, expected):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: available)
    assert pick_device() == torch.device(expected)
