"""A recurrence over any number of steps, as one operation of a trace."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch._higher_order_ops.scan import scan_op
from torch.fx.experimental.proxy_tensor import get_proxy_mode

__all__ = ["scan"]


def scan(
    step: Callable, state: Sequence[Tensor], xs: Sequence[Tensor], more: Sequence[Tensor] = ()
) -> tuple[list[Tensor], list[Tensor]]:
    """Return the last state of ``state, out = step(state, x, more)`` over the first axis of the xs, and the outs, stacked.

    state, x, more and out are lists of tensors; x holds row t of every one of the xs.  In a trace the recurrence is one
    operation for every length, and all that step reads must be among its arguments; elsewhere it is a plain loop.
    Raises ValueError for no xs, or xs of different lengths.
    """
    if not xs or any(x.shape[0] != xs[0].shape[0] for x in xs):
        raise ValueError(f"scan over xs of lengths {[x.shape[0] for x in xs]}: they must all have the same")
    if get_proxy_mode() is None:
        return loop(step, list(state), xs, more)
    count, read = len(state), len(xs)

    def flat(*all_: Tensor) -> list[Tensor]:
        after, out = step(list(all_[:count]), list(all_[count : count + read]), list(all_[count + read :]))
        # what a step hands on must be its own
        return [one.clone() for one in [*after, *out]]

    made = scan_op(flat, list(state), list(xs), tuple(more))
    return list(made[:count]), list(made[count:])


def loop(
    step: Callable, state: list[Tensor], xs: Sequence[Tensor], more: Sequence[Tensor]
) -> tuple[list[Tensor], list[Tensor]]:
    outs = []
    for rows in zip(*(x.unbind() for x in xs)):  # slicing x[t] in a loop would make the backward pass O(T²)
        state, out = step(state, list(rows), list(more))
        outs.append(out)
    return state, [torch.stack(of) for of in zip(*outs)]
