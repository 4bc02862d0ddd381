"""A slow function, computed for a whole grid of its arguments at once, on all cores."""

import os
from collections.abc import Callable, Collection
from itertools import product

from joblib import Parallel, delayed
from joblib.externals.loky import get_reusable_executor
from tqdm import tqdm

__all__ = ["OnGrid"]


class OnGrid:
    """A function that remembers what it gave, and whose whole grid can be computed ahead, on all cores.

    The grid names every parameter with its values. A value that was not computed ahead, on the grid or between its
    values, is computed when it is asked for.
    """

    def __init__(self, function: Callable, **grid: Collection):
        self.function, self.grid, self.known = function, grid, {}

    def compute(self) -> None:
        """Compute the whole grid."""
        settings = list(product(*self.grid.values()))
        # one process a core: the many small products of one setting leave no work for a second thread
        tasks = (delayed(on_cpu)(self.function, **dict(zip(self.grid, setting))) for setting in settings)
        results = Parallel(n_jobs=-1, return_as="generator")(tasks)
        # disable=None: a bar on a terminal, silence in a page's output
        results = tqdm(results, self.function.__name__, total=len(settings), disable=None)
        self.known.update(zip(settings, results))
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
