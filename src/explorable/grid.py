"""A slow function, computed for a whole grid of its arguments at once, on all cores."""

import math
import os
from collections.abc import Callable, Collection
from itertools import product

from joblib import Parallel, delayed
from joblib.externals.loky import get_reusable_executor

__all__ = ["OnGrid"]


class OnGrid:
    """A function that remembers what it gave, and whose whole grid can be computed ahead, on all cores.

    The grid names every parameter with its values. A value that was not computed ahead, on the grid or between its
    values, is computed when it is asked for.
    """

    def __init__(self, function: Callable, **grid: Collection):
        self.function, self.grid, self.known = function, grid, {}

    @property
    def settings(self) -> int:
        """How many settings the grid has."""
        return math.prod(len(values) for values in self.grid.values())

    def compute(self, step: Callable[[], None] = lambda: None) -> None:
        """Compute the whole grid.  step: called after every setting."""
        settings = list(product(*self.grid.values()))
        # one process a core: the many small products of one setting leave no work for a second thread
        tasks = (delayed(on_cpu)(self.function, **dict(zip(self.grid, setting))) for setting in settings)
        for setting, result in zip(settings, Parallel(n_jobs=-1, return_as="generator")(tasks)):
            self.known[setting] = result
            step()
        get_reusable_executor().shutdown(wait=True)

    def __call__(self, **arguments):
        setting = tuple(arguments[name] for name in self.grid)
        if setting not in self.known:
            self.known[setting] = self.function(**arguments)
        return self.known[setting]


def on_cpu(function: Callable, **arguments):
    """Call a function where there is no GPU, so that a book is made of the same numbers wherever it is built."""
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    return function(**arguments)
