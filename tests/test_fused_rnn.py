"""Fused layers against our own cells unrolled, in values and gradients, and back."""

import pytest
import torch
from torch import nn

from why_attention.fused_rnn import cell_of, fused_layer
from why_attention.rnn import Cell, GRUCell, LSTMCell, RNNCell, ensemble, unroll

D, H, T, BATCH = 3, 5, 7, 4  # all different, so that a swapped axis cannot fit by luck
each_cell = pytest.mark.parametrize("cell_class", [RNNCell, GRUCell, LSTMCell])
each_layer = pytest.mark.parametrize("layer_class", [nn.RNN, nn.GRU, nn.LSTM])


def randn(*shape, seed=1):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def random_cell(cell_class, seed=0):
    """Return a float64 cell whose biases are random too."""
    generator = torch.Generator().manual_seed(seed)
    cell = cell_class(D, H, dtype=torch.float64)
    for weight in cell.parameters():
        nn.init.normal_(weight, generator=generator)
    return cell


def states(cell, x):
    """Return h_1 … h_T (batch, T, H) of our own cell, unrolled."""
    return unroll(cell, x.transpose(0, 1))[..., :H].transpose(0, 1)


@each_cell
def test_a_fused_layer_gives_the_states_and_the_gradients_of_the_unrolled_cell(cell_class):
    cell, x = random_cell(cell_class), randn(BATCH, T, D).requires_grad_()
    layer, weight = fused_layer(cell), randn(BATCH, T, H, seed=2)
    h, h_fused = states(cell, x), layer(x)[0]
    torch.testing.assert_close(h_fused, h, rtol=0, atol=1e-12)
    own = torch.autograd.grad((weight * h).sum(), [x, cell.W_x, cell.W_h, cell.b])
    parameters = [layer.weight_ih_l0, layer.weight_hh_l0, layer.bias_ih_l0, layer.bias_hh_l0]
    *fused, b_hh = torch.autograd.grad((weight * h_fused).sum(), [x, *parameters])
    torch.testing.assert_close(fused, list(own), rtol=0, atol=1e-11)
    if cell_class is GRUCell:
        (b_hn,) = torch.autograd.grad((weight * states(cell, x)).sum(), [cell.b_hn])
        torch.testing.assert_close(b_hh.chunk(3)[2], b_hn, rtol=0, atol=1e-11)


@each_layer
def test_the_cell_of_a_layer_with_two_biases_gives_its_states(layer_class):
    layer = layer_class(D, H, batch_first=True, dtype=torch.float64)  # torch draws b_ih and b_hh, both not 0
    assert layer.bias_ih_l0.abs().min() > 0 and layer.bias_hh_l0.abs().min() > 0
    x = randn(BATCH, T, D)
    torch.testing.assert_close(states(cell_of(layer), x), layer(x)[0], rtol=0, atol=1e-12)


@each_cell
def test_there_and_back_is_the_same_cell_and_shares_no_memory(cell_class):
    cell = random_cell(cell_class)
    layer = fused_layer(cell)
    back = cell_of(layer)
    assert type(back) is cell_class
    for name, weight in cell.named_parameters():
        torch.testing.assert_close(getattr(back, name), weight, rtol=0, atol=0)
    with torch.no_grad():
        for weight in layer.parameters():
            weight.zero_()
    assert all(weight.abs().min() > 0 for weight in [*cell.parameters(), *back.parameters()])


def test_what_has_no_twin_is_refused():
    class Other(Cell):
        blocks = 1

    with pytest.raises(ValueError, match="Other has 0 fused layers"):
        fused_layer(Other(D, H))
    with pytest.raises(ValueError, match=r"\(2, 5, 5\), an ensemble's"):
        fused_layer(ensemble([RNNCell(D, H), RNNCell(D, H)]))
    with pytest.raises(ValueError, match="Linear has 0 cells"):
        cell_of(nn.Linear(D, H))


@pytest.mark.parametrize(
    "option",
    [{"num_layers": 2}, {"bidirectional": True}, {"bias": False}, {"nonlinearity": "relu"}],
)
def test_a_layer_that_no_single_cell_equals_is_refused(option):
    (name,) = option
    with pytest.raises(ValueError, match=f"the layer has .*{name}.*: one cell has"):
        cell_of(nn.RNN(D, H, **option))
    if name != "nonlinearity":
        with pytest.raises(ValueError, match=name):
            cell_of(nn.LSTM(D, H, **option))
