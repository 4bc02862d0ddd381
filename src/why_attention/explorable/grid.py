"""A slow function, computed for a whole grid of its arguments at once, on all cores."""

from collections.abc import Callable
from itertools import product

from joblib import Parallel, delayed
from joblib.externals.loky import get_reusable_executor
from tqdm import tqdm

__all__ = ["on_grid"]


def on_grid(function: Callable, **grid: list) -> Callable:
    """Return a function that gives what ``function`` gives, having computed the whole grid at its first call.

    The grid names every parameter with its values; a value between them is computed when it is asked for.
    """
    known = {}

    def looked_up(**arguments):
        if not known:
            settings = [dict(zip(grid, values)) for values in product(*grid.values())]
            # one process a core: the many small products of one setting leave no work for a second thread
            results = Parallel(n_jobs=-1, return_as="generator")(delayed(function)(**setting) for setting in settings)
            # disable=None: a bar on a terminal, silence in a page's output
            results = tqdm(results, function.__name__, total=len(settings), disable=None)
            known.update((tuple(setting.values()), result) for setting, result in zip(settings, results))
            get_reusable_executor().shutdown(wait=True)
        setting = tuple(arguments[name] for name in grid)
        return known[setting] if setting in known else function(**arguments)

    return looked_up
