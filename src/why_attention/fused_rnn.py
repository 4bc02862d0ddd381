"""Recurrent cells as torch's fused layers, which run all time steps in one call, and back.

A fused layer gives the same states and gradients as ``unroll`` and trains much faster, but has no single steps. It has
two biases for the cell's one, b = b_ih + b_hh; the GRU's b_hn, inside the reset gate, is the last block of b_hh.

Source: the documentation of torch.nn.RNN, torch.nn.GRU and torch.nn.LSTM (equations and the order of the gates).
"""

from typing import Any

import torch
from torch import nn

from why_attention.rnn import Cell, GRUCell, LSTMCell, RNNCell

__all__ = ["fused_layer", "cell_of"]

LAYERS = {RNNCell: nn.RNN, GRUCell: nn.GRU, LSTMCell: nn.LSTM}


@torch.no_grad()
def fused_layer(cell: Cell) -> nn.RNN | nn.GRU | nn.LSTM:
    """Return torch's layer with a copy of the cell's weights: it maps x (batch, T, d) to h_1 … h_T (batch, T, H).

    b_hh is 0, except b_hn. In training both biases move: their sum b moves twice as fast as a cell's b.
    Raises ValueError for a cell of another kind, and for an ensemble.
    """
    if type(cell) not in LAYERS:
        raise ValueError(f"a {type(cell).__name__} has 0 fused layers: it must be an RNNCell, GRUCell or LSTMCell")
    if cell.W_h.ndim != 2:
        raise ValueError(f"W_h has shape {tuple(cell.W_h.shape)}, an ensemble's: it must be one cell's, with 2 axes")
    factory = {"device": cell.b.device, "dtype": cell.b.dtype}
    layer = LAYERS[type(cell)](cell.input_size, cell.hidden_size, batch_first=True, **factory)
    layer.weight_ih_l0.copy_(cell.W_x)
    layer.weight_hh_l0.copy_(cell.W_h)
    layer.bias_ih_l0.copy_(cell.b)
    layer.bias_hh_l0.zero_()
    if isinstance(cell, GRUCell):
        layer.bias_hh_l0.chunk(3)[2].copy_(cell.b_hn)
    return layer


@torch.no_grad()
def cell_of(layer: nn.RNN | nn.GRU | nn.LSTM) -> Cell:
    """Return the cell with a copy of the layer's weights.

    Raises ValueError for a layer that is not one cell: several layers, both directions, no biases, a projection,
    dropout, or a nonlinearity other than tanh.
    """
    kinds = {fused: cell for cell, fused in LAYERS.items()}
    if type(layer) not in kinds:
        raise ValueError(f"{type(layer).__name__} has 0 cells: it must be an nn.RNN, nn.GRU or nn.LSTM")
    wanted: dict[str, Any] = {"num_layers": 1, "bidirectional": False, "bias": True, "proj_size": 0, "dropout": 0.0}
    if type(layer) is nn.RNN:
        wanted["nonlinearity"] = "tanh"
    if other := {name: getattr(layer, name) for name, value in wanted.items() if getattr(layer, name) != value}:
        raise ValueError(f"the layer has {other}: one cell has { ({name: wanted[name] for name in other}) }")
    b = layer.bias_ih_l0
    cell = kinds[type(layer)](layer.input_size, layer.hidden_size, dtype=b.dtype).to(b.device)
    cell.W_x.copy_(layer.weight_ih_l0)
    cell.W_h.copy_(layer.weight_hh_l0)
    b_hh = layer.bias_hh_l0.clone()
    if isinstance(cell, GRUCell):
        b_hn = b_hh.chunk(3)[2]
        cell.b_hn.copy_(b_hn)
        b_hn.zero_()
    cell.b.copy_(layer.bias_ih_l0 + b_hh)
    return cell
