"""Recurrent cells against torch's own modules, Jacobians against autodiff, decays against closed forms."""

import copy
import math
from functools import partial

import numpy as np
import pytest
import torch
from torch import nn
from torch.func import jacrev, vmap

from why_attention.rnn import (
    GRUCell,
    LSTMCell,
    RNNCell,
    decay_bound,
    ensemble,
    gradient_decay,
    step_jacobians,
    unroll,
)

D, H, T, BATCH = 3, 5, 7, 4  # all different, so that a swapped axis cannot fit by luck
TORCH_LAYER = {RNNCell: nn.RNN, GRUCell: nn.GRU, LSTMCell: nn.LSTM}
both_decays = pytest.mark.parametrize("function", [gradient_decay, decay_bound])
each_device = pytest.mark.parametrize("device", ["cpu", *["cuda"] * torch.cuda.is_available()])
each_cell = pytest.mark.parametrize("cell_class", [RNNCell, GRUCell, LSTMCell])


def random_cell(cell_class, input_size=D, hidden_size=H, gain=1.0, seed=0):
    """Return a float64 cell with random weights and biases, none of them zero."""
    generator = torch.Generator().manual_seed(seed)
    cell = cell_class(input_size, hidden_size, dtype=torch.float64)
    cell.reset_parameters(gain, generator)
    with torch.no_grad():
        cell.b.normal_(generator=generator)
        if cell_class is GRUCell:
            cell.b_hn.normal_(generator=generator)
    return cell


def randn(*shape, seed=1):
    """Return float64 noise."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def double(numbers):
    """Return Python's numbers as a float64 tensor, without a detour through float32."""
    return torch.tensor(numbers, dtype=torch.float64)


def run_layer(cell, x, s_0):
    """Run torch's nn.RNN, nn.GRU or nn.LSTM with our weights and state; return h at all steps and the last state."""
    b_hh = randn(cell.b.numel(), seed=2).to(cell.b)  # torch has two biases: ours is split in two uneven parts
    b_ih = cell.b.detach() - b_hh
    if isinstance(cell, GRUCell):
        b_hh[2 * cell.hidden_size :] = cell.b_hn.detach()
        b_ih[2 * cell.hidden_size :] = cell.b.detach()[2 * cell.hidden_size :]
    layer = TORCH_LAYER[type(cell)](cell.input_size, cell.hidden_size, device=cell.b.device, dtype=cell.b.dtype)
    weights = {"weight_ih": cell.W_x.detach(), "weight_hh": cell.W_h.detach(), "bias_ih": b_ih, "bias_hh": b_hh}
    layer.load_state_dict({f"{name}_l0": weight for name, weight in weights.items()})
    start = s_0.unsqueeze(0)  # torch's layers want an axis for their number of layers
    if isinstance(cell, LSTMCell):
        h, last = layer(x, tuple(part.contiguous() for part in start.chunk(2, dim=-1)))
        return h, torch.cat(last, dim=-1)[0]
    h, last = layer(x, start)
    return h, last[0]


def one_step_after_another(cell, x, s):
    """Return the last state without calling ``unroll``."""
    for x_t in x:
        s = cell(x_t, s)
    return s


def linear_rnn(W, dtype=torch.float64):
    """Return an RNN cell that, from s_0 = 0 and with inputs 0, stays at h = 0: every Jacobian is W itself."""
    cell = RNNCell(1, len(W), dtype=dtype)
    with torch.no_grad():
        cell.W_h.copy_(W)
    return cell


def close(actual, expected, atol=1e-12):
    """Assert that both have one shape and dtype and differ by ``atol`` at most."""
    torch.testing.assert_close(actual, expected, rtol=0, atol=atol)


# The cells


@each_device
@each_cell
def test_unroll_equals_torchs_layer_at_all_steps(cell_class, device):
    cell, x = random_cell(cell_class).to(device), randn(T, BATCH, D).to(device)
    for s_0 in (randn(BATCH, cell.state_size, seed=3).to(device), torch.zeros(BATCH, cell.state_size).to(x)):
        h, last = run_layer(cell, x, s_0)
        s = unroll(cell, x, s_0)
        close(s[..., :H], h)
        close(s[-1], last)  # for the LSTM this holds c too
    close(unroll(cell, x), s)  # zeros when s_0 is left out
    close(unroll(cell, x[:, 1]), s[:, 1])  # one trajectory, without the batch axis


@each_device
@each_cell
def test_unroll_carries_the_gradient_to_every_input(cell_class, device):
    # eval(), for torch's own layers refuse a backward pass after it on CUDA; ours must not
    cell, s_0 = random_cell(cell_class).to(device).eval(), randn(BATCH, cell_class.states * H, seed=3).to(device)
    ours, theirs = (randn(T, BATCH, D).to(device).requires_grad_() for _ in range(2))
    unroll(cell, ours, s_0)[-1, :, :H].sum().backward()
    run_layer(cell, theirs, s_0)[0][-1].sum().backward()
    assert (ours.grad[0].abs() > 1e-9).all()
    close(ours.grad, theirs.grad)
    assert all((parameter.grad != 0).any() for parameter in cell.parameters())


@each_cell
def test_gain_is_the_spectral_radius_of_each_block(cell_class):
    cell, again = (random_cell(cell_class, D, 200, gain=0.7, seed=5) for _ in range(2))
    for block in cell.W_h.detach().chunk(cell.blocks):
        assert torch.linalg.eigvals(block).abs().max() == pytest.approx(0.7, rel=0.1)
    assert cell.W_x.std().item() == pytest.approx(1 / math.sqrt(D), rel=0.1)
    assert torch.equal(cell.W_h, again.W_h)  # the generator alone decides


def test_forget_bias_is_set_on_the_forget_gate_alone():
    cell = LSTMCell(D, H)
    cell.reset_parameters(forget_bias=3.0)
    i, f, g, o = cell.b.detach().chunk(4)
    assert (f == 3).all() and not torch.cat([i, g, o]).any()


@pytest.mark.parametrize("chrono", [3, 10, 1000])
def test_chrono_spreads_the_forget_gates_over_all_times(chrono):
    cell, plain, again = (LSTMCell(D, 500, dtype=torch.float64) for _ in range(3))
    for one, options in ((cell, {"chrono": chrono}), (plain, {}), (again, {"chrono": chrono})):
        one.reset_parameters(0.7, torch.Generator().manual_seed(5), **options)
    i, f, g, o = cell.b.detach().chunk(4)
    assert torch.equal(i, -f) and not torch.cat([g, o]).any()
    times = 1 / (1 - torch.sigmoid(f))  # without input, a gate f forgets in 1 / (1 − f) steps: here 2 … T_max
    quantiles = torch.linspace(0, 1, 500, dtype=torch.float64)
    close(((times - 2) / (chrono - 2)).sort().values, quantiles, atol=0.07)  # 1.63/√500 is the 1 % level (Kolmogorov)
    assert (f >= 0).all() and times.max() <= chrono + 1e-9
    assert torch.equal(cell.W_h, plain.W_h) and torch.equal(cell.W_x, plain.W_x)  # the biases are drawn after them
    assert torch.equal(cell.b, again.b)


def test_chrono_holds_the_gradient_for_a_thousand_steps():
    x, cell = randn(1000, 64), LSTMCell(64, 64, dtype=torch.float64)
    decays = []
    for options in ({"chrono": 1000}, {"forget_bias": 0.0}):
        cell.reset_parameters(1.0, torch.Generator().manual_seed(0), **options)
        decays.append(gradient_decay(cell, x, [1000]).item())
    assert decays[0] > -10 and decays[1] < -150


# The Jacobians


@each_cell
def test_step_jacobians_equal_autodiff_along_the_trajectory(cell_class):
    cell, x, s_0 = random_cell(cell_class), randn(T, BATCH, D), randn(BATCH, cell_class.states * H, seed=3)
    expected, s = [], s_0
    for x_t in x:
        expected.append(vmap(jacrev(cell, argnums=1))(x_t, s).detach())
        s = cell(x_t, s)
    close(step_jacobians(cell, x, s_0), torch.stack(expected))
    close(step_jacobians(cell, x[:, 1], s_0[1]), torch.stack(expected)[:, 1])
    close(cell.jacobian(x[0, 1], s_0[1]).detach(), expected[0][1])


# How far the gradient travels


@each_cell
def test_gradient_decay_and_bound_equal_autodiff_through_the_unrolled_network(cell_class):
    steps = 12
    cell, x, s_0 = random_cell(cell_class), randn(steps, D), randn(cell_class.states * H, seed=3)
    lags = [steps, 0, 5, *range(steps), 5]  # out of order and repeated
    states = [s_0, *unroll(cell, x, s_0).detach()]  # s_0 … s_T

    def log_norm(end, lag):
        def last_state(s):
            return one_step_after_another(cell, x[end - lag : end], s)

        return torch.linalg.matrix_norm(jacrev(last_state)(states[end - lag]), ord=2).log10().detach()

    decay = gradient_decay(cell, x, lags, s_0)
    close(decay, torch.stack([log_norm(steps, lag) for lag in lags]), atol=1e-10)
    for function in (gradient_decay, decay_bound):  # one lag alone counts back from T as well
        close(function(cell, x, [5], s_0), function(cell, x, lags, s_0)[2:3])
    assert abs(decay[1]) < 1e-14  # lag 0 is the identity: a Frobenius norm would give log10 √S
    bounds = torch.stack([sum((log_norm(steps - k, 1) for k in range(lag)), double(0)) for lag in lags])
    close(decay_bound(cell, x, lags, s_0), bounds, atol=1e-10)


@each_cell
@both_decays
def test_a_batch_gives_what_each_trajectory_gives_alone(function, cell_class):
    cell, x, s_0 = random_cell(cell_class), randn(T, BATCH, D), randn(BATCH, cell_class.states * H, seed=3)
    for lags in ([T, 0, 3], [3], [0]):
        together = function(cell, x, lags, s_0)
        close(together, torch.stack([function(cell, x[:, k], lags, s_0[k]) for k in range(BATCH)], dim=1))
    assert together.shape == (1, BATCH)


@both_decays
def test_a_zero_in_one_trajectory_does_not_reach_the_next(function):
    cell, x = linear_rnn(double([[0.5]])), torch.zeros(T, 2, 1).double()
    torch.nn.init.ones_(cell.W_x)
    x[3, 0] = 800  # tanh(800) is 1 to the last digit, so its slope is 0
    close(function(cell, x, [0, T]), double([[0, 0], [-math.inf, T * math.log10(0.5)]]))
    assert function(cell, x, [3]).isfinite().all()  # the three steps after it


@both_decays
def test_a_fast_decay_in_one_trajectory_does_not_underflow_beside_a_slow_one(function):
    cell, x = linear_rnn(double([[0.5]])), torch.zeros(100, 2, 1).double()
    torch.nn.init.ones_(cell.W_x)
    x[:, 0] = 5
    decay = function(cell, x, [100])[0]
    assert decay[0] < -400 and decay[0].isfinite()  # a scale shared by the batch would end near 1e-308
    close(decay, double([function(cell, x[:, 0], [100]).item(), 100 * math.log10(0.5)]))


@pytest.mark.parametrize(
    ("w", "lag", "dtype"),
    [(0.5, 1000, torch.float64), (0.1, 1000, torch.float64), (0.1, 60, torch.float32), (3.0, 1000, torch.float64)],
)
def test_decay_of_a_linear_cell_is_exact_where_the_naive_product_is_lost(w, lag, dtype):
    W = w * torch.eye(2, dtype=dtype)
    cell, x = linear_rnn(W, dtype), torch.zeros(lag, 1, dtype=dtype)
    expected = torch.tensor([lag * math.log10(w)], dtype=dtype)
    tolerance = 1e-9 if dtype == torch.float64 else 1e-4
    close(gradient_decay(cell, x, [lag]), expected, atol=tolerance)
    close(decay_bound(cell, x, [lag]), expected, atol=tolerance)
    if w == 0.1:
        naive = torch.eye(2, dtype=dtype)
        for _ in range(lag):
            naive = naive @ W
        assert torch.linalg.matrix_norm(naive, ord=2) == 0.0  # the truth is 10^-lag


def test_gated_cells_without_weights_decay_by_their_gates():
    lag = 2000  # 2^-2000 is beyond float64
    x = torch.zeros(lag, 1).double()
    for cell_class, first in [(GRUCell, 0.5), (LSTMCell, math.hypot(0.5, 0.25))]:  # z = f = 1/2; ∂h/∂c = o f = 1/4
        cell = cell_class(1, 2, dtype=torch.float64)
        torch.nn.init.zeros_(cell.W_h)
        expected = math.log10(first) + (lag - 1) * math.log10(0.5)
        assert gradient_decay(cell, x, [lag]).item() == pytest.approx(expected, abs=1e-9)


def test_zero_weights_give_minus_infinity_and_no_nan():
    cell, x = linear_rnn(torch.zeros(2, 2)), torch.zeros(5, 1).double()
    expected = double([0, -math.inf, -math.inf])
    assert torch.equal(gradient_decay(cell, x, [0, 1, 5]), expected)
    assert torch.equal(decay_bound(cell, x, [0, 1, 5]), expected)


@each_cell
def test_float32_agrees_with_float64_after_500_steps(cell_class):
    cell, x = random_cell(cell_class, hidden_size=16, gain=0.8), randn(500, D)
    decay = gradient_decay(cell, x, [500])
    single = gradient_decay(copy.deepcopy(cell).float(), x.float(), [500])
    assert decay < -38 and single.dtype == torch.float32  # below float32's smallest normal number, 1e-38
    close(single.double(), decay, atol=1e-2)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@each_cell
def test_decay_on_cuda_equals_decay_on_cpu(cell_class):
    cell, x, lags = random_cell(cell_class), randn(60, D), [0, 1, 60]
    on_cuda = copy.deepcopy(cell).cuda()
    for function in (gradient_decay, decay_bound):
        close(function(on_cuda, x.cuda(), lags).cpu(), function(cell, x, lags), atol=1e-9)


@both_decays
def test_lags_are_whole_numbers_of_any_kind_in_a_list_of_any_kind(function):
    cell, x = random_cell(RNNCell), randn(T, D)
    expected = function(cell, x, [1, 2, T])
    assert expected.isfinite().all()  # T itself is the last lag that there is
    for lags in (np.array([1, 2, T]), torch.tensor([1, 2, T]), (1, 2, T), [np.int32(1), torch.tensor(2), T]):
        assert torch.equal(function(cell, x, lags), expected)


@pytest.mark.parametrize(
    ("dtype", "w"), [(torch.float32, 1e-25), (torch.float32, 1e20), (torch.float64, 1e-170), (torch.float64, 1e160)]
)
def test_a_single_step_may_be_as_small_or_large_as_the_type_holds(dtype, w):
    """Squares of such entries under- or overflow, so neither the rescaling nor the norm may take one."""
    cell = RNNCell(1, 2, dtype=dtype)
    with torch.no_grad():
        cell.W_h.copy_(w * torch.eye(2, dtype=dtype))
    x = torch.zeros(5, 1, dtype=dtype)
    expected = torch.tensor([1, 3, 5], dtype=dtype) * math.log10(w)
    torch.testing.assert_close(gradient_decay(cell, x, [1, 3, 5]), expected, rtol=1e-5, atol=0)
    torch.testing.assert_close(decay_bound(cell, x, [1, 3, 5]), expected, rtol=1e-5, atol=0)


# What is refused


FUNCTIONS = {
    "unroll": unroll,
    "step_jacobians": step_jacobians,
    "gradient_decay": lambda cell, x, s_0=None: gradient_decay(cell, x, [0], s_0),
    "decay_bound": lambda cell, x, s_0=None: decay_bound(cell, x, [0], s_0),
}


@each_cell
@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_trajectories_that_do_not_fit_the_cell_are_refused(function, cell_class):
    cell, x, S = random_cell(cell_class), randn(T, D), cell_class.states * H
    nan, large = x.clone(), x.clone()
    nan[2:4, 1], large[0] = math.nan, double([1e200, -1e200, 1e200])
    broken = {name: copy.deepcopy(cell) for name, _ in cell.named_parameters()}
    for name, one in broken.items():
        one.get_parameter(name).data.view(-1)[-1] = math.nan
    overflowing = copy.deepcopy(cell)
    overflowing.W_x.data.fill_(1e200)
    cases = [
        (cell, x[:0], None, rf"x has T = 0 steps, shape \(0, {D}\): T must be at least 1"),
        (cell, x[0], None, rf"x has 1 dimensions, shape \({D},\).*\(T, d\)"),
        (cell, randn(2, T, BATCH, D), None, rf"x has 4 dimensions, shape \(2, {T}, {BATCH}, {D}\).*\(T, d\)"),
        (cell, randn(T, D + 1), None, f"x has size {D + 1} a step, but the cell reads size {D}"),
        # of these some would broadcast in silence
        *((cell, x, randn(*bad), rf"s_0 has shape .*need \({S},\)") for bad in [(S + 1,), (1, S), ()]),
        *((cell, randn(T, BATCH, D), randn(*bad), rf"s_0 has .*need \({BATCH}, {S}\)") for bad in [(S,), (1, S)]),
        (cell, nan, None, f"x has 2 NaN or infinite among its {T * D} numbers: it must have 0"),
        (cell, x, randn(S) * math.nan, f"s_0 has {S} NaN or infinite among its {S} numbers: it must have 0"),
        *((one, x, None, rf"{name} has 1 NaN or infinite among its \d+ numbers") for name, one in broken.items()),
        (overflowing, large, None, "the result has .* NaN or infinite among its .*torch.float64 ends at 1.8e.308"),
    ]
    for one, inputs, s_0, words in cases:
        with pytest.raises(ValueError, match=f"^{words}"):
            function(one, inputs, s_0)


@both_decays
@pytest.mark.parametrize(
    "lags, words",
    [
        ([0, T + 1], rf"lags \[{T + 1}\] lie outside 0 … {T}"),
        ([0, -1], r"lags\[1\]=-1: it must be one whole number, at least 0"),
        ([], "lags has 0 entries: name at least 1"),
        ([1.5], r"lags\[0\]=1.5: it must be"),
        (torch.ones(2), r"lags\[0\]=1.0: it must be"),
        ([True], r"lags\[0\]=True: it must be"),
        (3, "lags=3: it must be"),
    ],
)
def test_lags_outside_the_trajectory_are_refused(function, lags, words):
    with pytest.raises(ValueError, match=f"^{words}"):
        function(random_cell(RNNCell), randn(T, D), lags)


@both_decays
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_refused_where_norms_are_taken(function, dtype):
    cell, x = random_cell(RNNCell).to(dtype), randn(T, D).to(dtype)
    assert unroll(cell, x).isfinite().all()
    with pytest.raises(ValueError, match=f"^x is {dtype}: it must be torch.float32 or torch.float64"):
        function(cell, x, [1])


LSTM, WHOLE = LSTMCell(D, H), "it must be one whole number, at least"
REFUSED = [
    *((partial(LSTM.reset_parameters, chrono=chrono), f"chrono={chrono}: {WHOLE} 3") for chrono in (2, 0, -5)),
    (partial(LSTM.reset_parameters, forget_bias=1.0, chrono=10), "forget_bias=1.0 and chrono=10 both set the forget"),
    (partial(LSTM.reset_parameters, forget_bias=math.nan), "forget_bias=nan: it must be 1 finite number"),
    (partial(LSTM.reset_parameters, gain=-1), "gain=-1: it must be at least 0"),
    (partial(LSTM.reset_parameters, gain=math.inf), "gain=inf: it must be 1 finite number"),
    *((partial(cell_class, D, 0), f"hidden_size=0: {WHOLE} 1") for cell_class in TORCH_LAYER),
    *((partial(cell_class, 0, H), f"input_size=0: {WHOLE} 1") for cell_class in TORCH_LAYER),
    (partial(ensemble, [RNNCell(D, H), RNNCell(D, H, dtype=torch.float64)]), "an ensemble of .* its 2 cells must be"),
]


@pytest.mark.parametrize("call, words", REFUSED)
def test_cells_that_cannot_be_are_refused_and_change_nothing(call, words):
    before = copy.deepcopy(LSTM.state_dict())
    with pytest.raises(ValueError, match=f"^{words}"):
        call()
    assert all(torch.equal(weight, before[name]) for name, weight in LSTM.state_dict().items())


@each_cell
def test_a_step_that_does_not_fit_the_cell_is_refused(cell_class):
    cell, s = random_cell(cell_class), torch.zeros(cell_class.states * H, dtype=torch.float64)
    for function in (cell, cell.jacobian):
        with pytest.raises(ValueError, match=f"x has shape .{D + 1},.: the cell reads size {D}"):
            function(randn(D + 1), s)
        with pytest.raises(ValueError, match="x is torch.float32"):
            function(randn(D).float(), s)
