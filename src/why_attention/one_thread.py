"""One thread for small matrices: a second one only waits, and on a busy machine makes them tens of times slower."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

__all__ = ["one_thread"]


@contextmanager
def one_thread() -> Iterator[None]:
    """Let torch compute with one thread, and then with as many as before.

    Figures are computed within it; the reader's own layers and times keep the threads that they had, which a setting at
    import would take away.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
