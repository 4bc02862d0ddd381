"""How far a computation is: said where somebody waits, in the page's language, and gone when it has ended."""

from types import SimpleNamespace

import pytest
from small_figures import figure, lines

from explorable import progress, set_language
from explorable.progress import is_watched, width


@pytest.mark.parametrize("language, words", [("en", "Computing made-up: value 2 of 6"), ("zh", "6 个值里的第 2 个")])
def test_a_long_computation_is_counted_and_then_leaves_nothing_to_read(monkeypatch, capsys, language, words):
    monkeypatch.setattr(progress, "is_watched", lambda: True)
    for name in ("PATIENCE", "INTERVAL"):
        monkeypatch.setattr(progress, name, 0)
    set_language(language)
    figure(lines(lambda n: [0, n]))  # 3 values of n, x, and the limits of two axes
    said = capsys.readouterr().err.split("\r")
    assert any(words in line for line in said)
    assert said[-2].strip() == said[-1] == "" and len(said[-2]) == width(said[-3])


def test_a_short_one_and_one_that_nobody_sees_say_nothing(monkeypatch, capsys):
    monkeypatch.setattr(progress, "is_watched", lambda: True)
    figure()
    monkeypatch.setattr(progress, "is_watched", lambda: False)
    monkeypatch.setattr(progress, "PATIENCE", -1)
    figure()
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("asks", [False, True])
def test_a_notebook_is_watched_where_it_may_ask_for_input(monkeypatch, asks):
    monkeypatch.setattr("IPython.get_ipython", lambda: SimpleNamespace(kernel=SimpleNamespace(_allow_stdin=asks)))
    assert is_watched() is asks
