"""The scan against the loop, a closed form and autograd through the loop."""

import math

import pytest
import torch

from why_attention import parallel_scan as module
from why_attention.parallel_scan import loop, parallel_scan, scan_rounds

each_length = pytest.mark.parametrize("T", [1, 2, 3, 4, 5, 8, 9, 1000, 4096])
both = pytest.mark.parametrize("function", [loop, parallel_scan])
DEVICES = ["cpu", *["cuda"] * torch.cuda.is_available()]


def random_steps(*shape, seed=0):
    """Return float64 a, uniform in (0, 1), and b, normal."""
    generator = torch.Generator().manual_seed(seed)
    a = torch.rand(shape, generator=generator, dtype=torch.float64)
    return a, torch.randn(shape, generator=generator, dtype=torch.float64)


def close(actual, expected, atol=1e-13):
    """Assert that both have one shape and dtype and differ by ``atol`` at most."""
    torch.testing.assert_close(actual, expected, rtol=0, atol=atol)


@pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
@pytest.mark.parametrize("T", [1, 2, 3, 5, 50])
def test_loop_is_the_recurrence_written_out(T, shape):
    a, b = random_steps(T, *shape)
    h = torch.zeros_like(a)
    for t in range(T):
        for s in range(t + 1):  # h_t is the sum of what is left of each b_s
            h[t] += a[s + 1 : t + 1].prod(dim=0) * b[s]
    close(loop(a, b), h)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
@each_length
def test_scan_equals_the_loop(T, shape, device):
    a, b = (steps.to(device) for steps in random_steps(T, *shape))
    close(parallel_scan(a, b), loop(a, b))


@both
@pytest.mark.parametrize("factor", [0.0, 0.5, 0.9, -0.9, 1.0])
@each_length
def test_a_constant_factor_gives_a_geometric_sum(T, factor, function):
    a = torch.full((T,), factor, dtype=torch.float64)
    t = torch.arange(1, T + 1, dtype=torch.float64)
    expected = t if factor == 1 else (1 - factor**t) / (1 - factor)
    close(function(a, torch.ones_like(a)), expected, atol=1e-12)


@each_length
def test_gradients_equal_those_through_the_loop(T):
    weights = torch.linspace(-1, 2, T * 3, dtype=torch.float64).view(T, 3)  # so that no two steps count alike
    gradients = []
    for function in (loop, parallel_scan):
        a, b = (steps.requires_grad_() for steps in random_steps(T, 3))
        (weights * function(a, b)).sum().backward()
        gradients.append((a.grad, b.grad))
    (a_loop, b_loop), (a_scan, b_scan) = gradients
    close(b_scan, b_loop, atol=1e-12)
    if T == 1:
        assert a_scan is None and not a_loop.any()  # a_1 meets only h_0 = 0, and without a round it is not even read
    else:
        close(a_scan, a_loop, atol=1e-12)


@both
def test_inputs_are_left_as_they_were(function):
    a, b = random_steps(9, 3)
    copies = a.clone(), b.clone()
    function(a, b)
    assert torch.equal(a, copies[0]) and torch.equal(b, copies[1])


def test_rounds():
    for T in range(1, 2000):
        assert scan_rounds(T) == math.ceil(math.log2(T))


@pytest.mark.parametrize("T", [2, 3, 5, 1000, 4096])
def test_one_round_less_does_not_reach_the_first_step(T, monkeypatch):
    b = torch.zeros(T, dtype=torch.float64)
    b[0] = 1
    a = torch.ones_like(b)
    assert parallel_scan(a, b)[-1] == 1
    monkeypatch.setattr(module, "scan_rounds", lambda T: scan_rounds(T) - 1)
    assert parallel_scan(a, b)[-1] == 0


@both
def test_what_does_not_fit_is_refused(function):
    a, b = random_steps(4, 3)
    for one, other, words in (
        (a, b[:3], r"a has shape \(4, 3\), but b has \(3, 3\): both must be the same"),
        (a[:, :1], b, r"a has shape \(4, 1\), but b has \(4, 3\): both must be the same"),
        (a[:0], b[:0], r"a and b have shape \(0, 3\): it must be \(T, …\), with T at least 1"),
        (a[0, 0], b[0, 0], r"a and b have shape \(\): it must be \(T, …\), with T at least 1"),
        (a.float(), b, "a is torch.float32, but b is torch.float64: both must be the same"),
    ):
        with pytest.raises(ValueError, match=f"^{words}"):
            function(one, other)
    bad = a.clone()
    bad[1:3, 0] = torch.tensor([math.nan, math.inf])
    for name, steps in (("a", (bad, b)), ("b", (a, bad))):
        with pytest.raises(ValueError, match=f"^{name} has 2 NaN or infinite among its 12 numbers: it must have 0"):
            function(*steps)


@pytest.mark.parametrize("T", [0, -1, 2.0, True])
def test_no_steps_have_no_rounds(T):
    with pytest.raises(ValueError, match=f"^T={T}: it must be one whole number, at least 1"):
        scan_rounds(T)
