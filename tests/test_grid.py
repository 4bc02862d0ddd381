"""A slow function on a grid: each setting is computed once, ahead or alone, and found by its names."""

import itertools
from pathlib import Path
from uuid import uuid4

from explorable.grid import OnGrid


def slow(folder, a, b):
    """Stand for a slow function: its calls are counted by the files it leaves, for they happen in other processes."""
    Path(folder, uuid4().hex).touch()
    return 10 * a - b


def test_on_grid_computes_each_setting_once_and_gives_what_the_function_gives(tmp_path):
    looked_up = OnGrid(slow, folder=[tmp_path], a=[1, 2], b=[3, 4, 5])
    steps = []
    looked_up.compute(lambda: steps.append(1))
    assert len(steps) == looked_up.settings == 6
    for a, b in itertools.product([1, 2], [3, 4, 5]):
        assert looked_up(folder=tmp_path, b=b, a=a) == 10 * a - b
    assert len(list(tmp_path.iterdir())) == 6


def test_on_grid_computes_alone_what_was_not_computed_ahead(tmp_path):
    looked_up = OnGrid(slow, folder=[tmp_path], a=[1, 2], b=[3, 4, 5])
    for _ in range(2):
        assert looked_up(folder=tmp_path, a=7, b=0.5) == 69.5  # off the grid
        assert looked_up(folder=tmp_path, a=1, b=3) == 7  # on it
    assert len(list(tmp_path.iterdir())) == 2


def test_on_grid_goes_by_names_whatever_their_order(tmp_path):
    looked_up = OnGrid(slow, b=[3, 4], folder=[tmp_path], a=[1])
    looked_up.compute()
    assert looked_up(folder=tmp_path, a=1, b=4) == 6
