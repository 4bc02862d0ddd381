"""Recurrent cells, and how a gradient decays on its way back through them.

A cell maps an input and the previous state to the next state, s_t = cell(x_t, s_{t-1}).
The state is s = h for the RNN and the GRU, and s = [h; c] for the LSTM; for all three

    ∂s_T/∂s_{T-l} = J_T J_{T-1} ⋯ J_{T-l+1},    J_t = ∂s_t/∂s_{t-1}.

Sources: Elman 1990 (RNN); Hochreiter & Schmidhuber 1997 and Gers et al. 2000 (LSTM with a forget gate);
Cho et al. 2014 (GRU; here in the form of PyTorch, which resets after the matrix product);
Tallec & Ollivier 2018, arXiv 1804.11188 (chrono initialisation of the LSTM).
"""

import copy
import math
from collections.abc import Iterator

import torch
from torch import Tensor, nn

from why_attention.checks import (
    check_all_whole,
    check_dtype,
    check_finite,
    check_floats,
    check_real,
    check_result,
    check_same_dtype,
    check_whole,
)

__all__ = ["RNNCell", "GRUCell", "LSTMCell", "ensemble", "unroll", "step_jacobians", "gradient_decay", "decay_bound"]

BLOCK = 50  # Jacobians in memory at a time


class Cell(nn.Module):
    """The weights of every cell: W_x (G·H, d), W_h (G·H, H) and b (G·H,) for G blocks of H rows.

    An ``ensemble`` of cells has one more axis in front.  A cell and its Jacobian check shapes and dtypes; ``unroll`` and
    its callers also check the numbers, once for all steps.
    """

    blocks: int  # G, the blocks of H rows in W_x, W_h and b
    states: int = 1  # vectors of length H in the state

    def __init__(self, input_size: int, hidden_size: int, *, dtype: torch.dtype | None = None):
        super().__init__()
        check_dtype(dtype)
        input_size, hidden_size = check_whole(input_size=input_size, hidden_size=hidden_size)
        rows = self.blocks * hidden_size
        self.input_size, self.hidden_size, self.state_size = input_size, hidden_size, self.states * hidden_size
        self.W_x = nn.Parameter(torch.empty(rows, input_size, dtype=dtype))
        self.W_h = nn.Parameter(torch.empty(rows, hidden_size, dtype=dtype))
        self.b = nn.Parameter(torch.empty(rows, dtype=dtype))
        self.reset_parameters()

    @torch.no_grad()
    def reset_parameters(self, gain: float = 1.0, generator: torch.Generator | None = None) -> None:
        """Draw W_h from N(0, gain²/H) and W_x from N(0, 1/d), and set b to 0.

        Each H × H block of W_h then has a spectral radius near ``gain`` (the circular law).
        Raises ValueError for a gain that is negative or not finite.
        """
        (gain,) = check_real(gain=gain, least=0)
        self.W_h.normal_(0, gain / math.sqrt(self.hidden_size), generator=generator)
        self.W_x.normal_(0, 1 / math.sqrt(self.input_size), generator=generator)
        self.b.zero_()

    def check(self, x: Tensor, s: Tensor) -> None:
        """Raise a ValueError where an input or a state does not fit the cell in size or dtype."""
        check_floats(x=x, s=s)
        for name, tensor, size in (("x", x, self.input_size), ("s", s, self.state_size)):
            if tensor.ndim == 0 or tensor.shape[-1] != size:
                raise ValueError(f"{name} has shape {tuple(tensor.shape)}: the cell reads size {size} on its last axis")
        if x.shape[:-1] != s.shape[:-1]:
            shapes = f"s has shape {tuple(s.shape)}, but x has {tuple(x.shape)}"
            raise ValueError(f"{shapes}: both must be the same, but for the last axis")
        members = tuple(self.W_h.shape[:-2])
        if members and tuple(x.shape[-2:-1]) != members:
            raise ValueError(
                f"x has shape {tuple(x.shape)}, but an ensemble of {members[0]} reads (…, {members[0]}, d)"
            )
        check_same_dtype(W_h=self.W_h, x=x, s=s)


class RNNCell(Cell):
    """h_t = tanh(W_h h_{t-1} + W_x x_t + b)  (Elman 1990)."""

    blocks = 1

    def forward(self, x: Tensor, h: Tensor) -> Tensor:
        """Map x (…, d) and h (…, H) to the next state h (…, H)."""
        self.check(x, h)
        return torch.tanh(times(self.W_h, h) + times(self.W_x, x) + self.b)

    def jacobian(self, x: Tensor, h: Tensor) -> Tensor:
        """∂h_t/∂h_{t-1} = diag(1 − h_t²) W_h, of shape (…, H, H)."""
        return diag(1 - self(x, h) ** 2) * self.W_h


class GRUCell(Cell):
    """h_t = (1 − z_t) ⊙ n_t + z_t ⊙ h_{t-1}  (Cho et al. 2014, in PyTorch's form).

    Rows of W_x, W_h and b are stacked in the order r, z, n; ``b_hn`` stays inside the reset, as in PyTorch.
    """

    blocks = 3

    def __init__(self, input_size: int, hidden_size: int, *, dtype: torch.dtype | None = None):
        super().__init__(input_size, hidden_size, dtype=dtype)
        self.b_hn = nn.Parameter(torch.zeros(hidden_size, dtype=dtype))

    def gates(self, x: Tensor, h: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return r_t, z_t, n_t and the recurrent part u_t of the candidate, each of shape (…, H)."""
        W_hr, W_hz, W_hn = self.W_h.chunk(3, dim=-2)
        x_r, x_z, x_n = (times(self.W_x, x) + self.b).chunk(3, dim=-1)
        r = torch.sigmoid(x_r + times(W_hr, h))  # reset gate
        z = torch.sigmoid(x_z + times(W_hz, h))  # update gate
        u = times(W_hn, h) + self.b_hn
        n = torch.tanh(x_n + r * u)  # candidate state
        return r, z, n, u

    def forward(self, x: Tensor, h: Tensor) -> Tensor:
        """Map x (…, d) and h (…, H) to the next state h (…, H)."""
        self.check(x, h)
        _, z, n, _ = self.gates(x, h)
        return (1 - z) * n + z * h

    def jacobian(self, x: Tensor, h: Tensor) -> Tensor:
        """∂h_t/∂h_{t-1} in closed form, of shape (…, H, H)."""
        self.check(x, h)
        W_hr, W_hz, W_hn = self.W_h.chunk(3, dim=-2)
        r, z, n, u = self.gates(x, h)
        dh_dn = (1 - z) * (1 - n**2)
        J = torch.diag_embed(z)
        J.addcmul_(diag(dh_dn * r), W_hn)  # J += diag(…) W, in place: the matrices dominate memory
        J.addcmul_(diag(dh_dn * u * r * (1 - r)), W_hr)
        J.addcmul_(diag((h - n) * z * (1 - z)), W_hz)
        return J


class LSTMCell(Cell):
    """c_t = f_t ⊙ c_{t-1} + i_t ⊙ g_t,  h_t = o_t ⊙ tanh(c_t)  (Gers et al. 2000).

    Rows of W_x, W_h and b are stacked in PyTorch's order i, f, g, o. The state is s = [h; c].
    """

    blocks = 4
    states = 2

    @torch.no_grad()
    def reset_parameters(
        self,
        gain: float = 1.0,
        generator: torch.Generator | None = None,
        forget_bias: float = 0.0,
        chrono: int | None = None,
    ) -> None:
        """Draw the weights as every cell does, then set the forget gate's bias to ``forget_bias``.

        With ``chrono`` = T_max instead, draw b_f = log u, u ~ U(1, T_max − 1), and set b_i = −b_f: without input, unit j
        then forgets in about 1 + u_j steps.  Raises ValueError for T_max < 3, and for both.
        Source: Tallec & Ollivier 2018, §2.
        """
        (forget_bias,) = check_real(forget_bias=forget_bias)
        if chrono is not None and forget_bias != 0:
            raise ValueError(f"forget_bias={forget_bias} and chrono={chrono} both set the forget gate: give only 1")
        (chrono,) = [None] if chrono is None else check_whole(least=3, chrono=chrono)  # or 1 … T_max − 1 is empty
        super().reset_parameters(gain, generator)
        b_i, b_f, _, _ = self.b.chunk(4)
        b_f.fill_(forget_bias)
        if chrono is not None:
            b_f.uniform_(1, chrono - 1, generator=generator).log_()
            b_i.copy_(-b_f)

    def gates(self, x: Tensor, h: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return i_t, f_t, g_t and o_t, each of shape (…, H)."""
        a_i, a_f, a_g, a_o = (times(self.W_h, h) + times(self.W_x, x) + self.b).chunk(4, dim=-1)
        return torch.sigmoid(a_i), torch.sigmoid(a_f), torch.tanh(a_g), torch.sigmoid(a_o)

    def forward(self, x: Tensor, s: Tensor) -> Tensor:
        """Map x (…, d) and s = [h; c] (…, 2H) to the next state [h; c] (…, 2H)."""
        self.check(x, s)
        h, c = s.chunk(2, dim=-1)
        i, f, g, o = self.gates(x, h)
        c = f * c + i * g
        h = o * torch.tanh(c)
        return torch.cat([h, c], dim=-1)

    def jacobian(self, x: Tensor, s: Tensor) -> Tensor:
        """∂[h_t; c_t]/∂[h_{t-1}; c_{t-1}] in closed form, of shape (…, 2H, 2H)."""
        self.check(x, s)
        W_i, W_f, W_g, W_o = self.W_h.chunk(4, dim=-2)
        h, c = s.chunk(2, dim=-1)
        i, f, g, o = self.gates(x, h)
        tanh_c = torch.tanh(f * c + i * g)
        dh_dc = o * (1 - tanh_c**2)  # on the diagonal; the same for the old c, times f
        J_ch = diag(c * f * (1 - f)) * W_f
        J_ch.addcmul_(diag(g * i * (1 - i)), W_i)
        J_ch.addcmul_(diag(i * (1 - g**2)), W_g)
        H = self.hidden_size
        J = s.new_zeros(*s.shape, 2 * H)  # blocks: [h; c] down, [h, c] across
        J[..., :H, :H] = (diag(dh_dc) * J_ch).addcmul_(diag(tanh_c * o * (1 - o)), W_o)
        J[..., :H, H:].diagonal(dim1=-2, dim2=-1).copy_(dh_dc * f)
        J[..., H:, :H] = J_ch
        J[..., H:, H:].diagonal(dim1=-2, dim2=-1).copy_(f)
        return J


def times(W: Tensor, v: Tensor) -> Tensor:
    """Return W v for every vector v (…, m), with one W (k, m), or W (B, k, m) for the B members of an ensemble."""
    if W.ndim == 2:
        return v @ W.T
    members = v.reshape(-1, *v.shape[-2:]).transpose(0, 1)  # (B, N, m): one product a member, W is not copied
    return (members @ W.mT).transpose(0, 1).reshape(*v.shape[:-1], -1)


def diag(v: Tensor) -> Tensor:
    """Shape v (…, H) so that ``diag(v) * W`` is the matrix product diag(v) W: it scales the rows of W."""
    return v.unsqueeze(-1)


def ensemble(cells: list[Cell]) -> Cell:
    """Stack B cells into one, which runs a batch of B sequences, each through its own member.

    Raises ValueError for no cells, for anything but single cells, and for mixed kinds, sizes or dtypes.
    """
    cells = list(cells)
    if other := [type(cell).__name__ for cell in cells if not isinstance(cell, Cell) or cell.W_h.ndim != 2]:
        raise ValueError(
            f"an ensemble of {other}: each of its {len(cells)} cells must be an RNNCell, GRUCell or LSTMCell"
        )
    kinds = {f"{type(cell).__name__}({cell.input_size}, {cell.hidden_size}) in {cell.W_h.dtype}" for cell in cells}
    if len(kinds) != 1:
        raise ValueError(
            f"an ensemble of {sorted(kinds)}: its {len(cells)} cells must be at least 1, of one kind, size and dtype"
        )
    together = copy.deepcopy(cells[0])
    for name, _ in cells[0].named_parameters():
        weights = torch.stack([getattr(cell, name).detach() for cell in cells])
        setattr(together, name, nn.Parameter(weights))
    return together


def unroll(cell: Cell, x: Tensor, s_0: Tensor | None = None) -> Tensor:
    """Run a cell over time and return the states s_1 … s_T.

    x: (T, d) or (T, batch, d).  s_0: (S,) or (batch, S), zeros when left out.  Returns (T, S) or (T, batch, S).
    Raises ValueError for T = 0, a wrong rank, sizes that do not fit the cell, and NaN.
    """
    return check_result(states(cell, *check_inputs(cell, x, s_0)))


def states(cell: Cell, x: Tensor, s: Tensor) -> Tensor:
    """Return what ``unroll`` does from a state s_0 on, without its checks of numbers."""
    all_ = []
    for x_t in x.unbind():  # slicing x[t] in a loop would make the backward pass O(T²)
        s = cell(x_t, s)
        all_.append(s)
    return torch.stack(all_)


@torch.no_grad()
def step_jacobians(cell: Cell, x: Tensor, s_0: Tensor | None = None) -> Tensor:
    """Return J_t = ∂s_t/∂s_{t-1} for t = 1 … T along one trajectory, in closed form.

    x: (T, d) or (T, batch, d).  Returns (T, S, S) or (T, batch, S, S).  Raises as ``unroll`` does.
    """
    x, s_0 = check_inputs(cell, x, s_0)
    s = unroll(cell, x, s_0)
    before = torch.cat([s_0.unsqueeze(0), s[:-1]])  # s_0 … s_{T-1}
    return check_result(cell.jacobian(x, before))


@torch.no_grad()
def gradient_decay(cell: Cell, x: Tensor, lags: list[int], s_0: Tensor | None = None) -> Tensor:
    """Return log10 ‖∂s_T/∂s_{T-l}‖₂ at each lag l: the spectral norm of the product of l Jacobians.

    x: (T, d) or (T, batch, d).  lags: whole numbers between 0 and T.  Returns (len(lags),) or (len(lags), batch);
    an exact zero gives −inf.  Raises as ``unroll`` does, and ValueError for a lag outside 0 … T and for half precision.
    The product is rescaled at each step and its logarithm kept, against under- and overflow.
    """
    x, s_0 = check_inputs(cell, x, s_0)
    lags = check_lags(lags, x)
    A = torch.eye(s_0.shape[-1], dtype=x.dtype, device=x.device).expand(*s_0.shape, -1)
    log_scale = x.new_zeros(s_0.shape[:-1])
    log_norms = {0: log_scale}
    for lag, J_t in enumerate(jacobians_back(cell, x, s_0, max(lags)), start=1):
        A = A @ J_t  # ∂s_T/∂s_{T-lag}, up to the factor 10^log_scale
        scale = A.abs().amax(dim=(-2, -1))
        A = A / torch.where(scale > 0, scale, 1)[..., None, None]
        log_scale = log_scale + scale.log10()
        if lag in lags:
            log_norms[lag] = log_scale + spectral_norm(A).log10()
    return check_logs(torch.stack([log_norms[lag] for lag in lags]))


def jacobians_back(cell: Cell, x: Tensor, s_0: Tensor, steps: int) -> Iterator[Tensor]:
    """Yield J_T, J_{T-1} … of the last steps, each (…, S, S), computed in blocks."""
    before = torch.cat([s_0.unsqueeze(0), unroll(cell, x, s_0)[:-1]])  # s_0 … s_{T-1}
    for end in range(len(x), len(x) - steps, -BLOCK):
        block = slice(max(0, end - BLOCK, len(x) - steps), end)
        yield from reversed(check_result(cell.jacobian(x[block], before[block])).unbind())


@torch.no_grad()
def decay_bound(cell: Cell, x: Tensor, lags: list[int], s_0: Tensor | None = None) -> Tensor:
    """Return log10 ∏‖J_t‖₂ over the last l steps at each lag l: an upper bound on ``gradient_decay``.

    Shapes and errors as for ``gradient_decay``.  Source: Pascanu et al. 2013, §2.1.
    """
    x, s_0 = check_inputs(cell, x, s_0)
    lags = check_lags(lags, x)
    J = step_jacobians(cell, x, s_0)
    log_norms = spectral_norm(J.flip(0)[: max(lags)]).log10()  # of J_T, J_{T-1}, …
    log_products = torch.cat([J.new_zeros(1, *J.shape[1:-2]), log_norms.cumsum(0)])
    return check_logs(log_products[torch.tensor(lags, device=J.device)])


def spectral_norm(A: Tensor) -> Tensor:
    """Return ‖A‖₂, the largest singular value, of each matrix in A (…, S, S): √λ_max(AᵀA)."""
    largest = A.abs().amax(dim=(-2, -1))
    B = A / torch.where(largest > 0, largest, 1)[..., None, None]  # against under- and overflow of squares
    return largest * torch.linalg.eigvalsh(B.mT @ B)[..., -1].clamp_min(0).sqrt()


def check_logs(logs: Tensor) -> Tensor:
    """Return logarithms, −∞ among them.  Raises ValueError where a norm overflowed."""
    check_result(logs.masked_fill(logs == -math.inf, 0))
    return logs


def check_inputs(cell: Cell, x: Tensor, s_0: Tensor | None) -> tuple[Tensor, Tensor]:
    """Return x and s_0 (zeros when left out).  Raises ValueError where they do not fit the cell."""
    if not isinstance(cell, Cell):
        raise ValueError(f"cell is a {type(cell).__name__}: it must be 1 RNNCell, GRUCell or LSTMCell")
    check_floats(x=x)
    if x.ndim not in (2, 3):
        raise ValueError(f"x has {x.ndim} dimensions, shape {tuple(x.shape)}: it must be (T, d) or (T, batch, d)")
    if x.shape[0] == 0:
        raise ValueError(f"x has T = 0 steps, shape {tuple(x.shape)}: T must be at least 1")
    if 0 in x.shape:
        raise ValueError(f"x has shape {tuple(x.shape)}: it must have 0 empty axes")
    if x.shape[-1] != cell.input_size:
        raise ValueError(f"x has size {x.shape[-1]} a step, but the cell reads size {cell.input_size}")
    members = tuple(cell.W_h.shape[:-2])
    if members and tuple(x.shape[1:-1]) != members:
        raise ValueError(f"x has shape {tuple(x.shape)}, but an ensemble of {members[0]} reads (T, {members[0]}, d)")
    state_shape = (*x.shape[1:-1], cell.state_size)
    if s_0 is None:
        s_0 = x.new_zeros(state_shape)
    check_floats(s_0=s_0)
    if tuple(s_0.shape) != state_shape:
        raise ValueError(f"s_0 has shape {tuple(s_0.shape)}, but this cell and x need {state_shape}")
    weights = dict(cell.named_parameters())
    check_same_dtype(x=x, s_0=s_0, **weights)
    check_finite(x=x, s_0=s_0, **weights)
    return x, s_0


def check_lags(lags: list[int], x: Tensor) -> list[int]:
    """Return lags as int.  Raises ValueError for no lags, and for one outside 0 … T."""
    check_dtype(x.dtype, (torch.float32, torch.float64), name="x")  # torch has no norm in half precision
    lags, steps = check_all_whole("lags", lags, least=0), len(x)
    if not lags:
        raise ValueError("lags has 0 entries: name at least 1 lag")
    if outside := [lag for lag in lags if lag > steps]:
        raise ValueError(f"lags {outside} lie outside 0 … {steps}, the steps of x")
    return lags
