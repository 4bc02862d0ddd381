"""BertViz's views in a live JupyterLab: they draw every time, and a notebook of someone else shows their words."""

import os

import nbformat
import pytest
from live_lab import live_lab
from test_bertviz_views import HEADS, LAYERS, TOKENS, random_maps, unfold, weights_of

from why_attention.pages.bertviz_views import head_view

VIEWS = f"""
import sys
sys.path.append({os.path.dirname(__file__)!r})
from test_bertviz_views import TOKENS, random_maps
from why_attention.pages.bertviz_views import head_view, model_view
from IPython.display import display
display(head_view(random_maps(), TOKENS), model_view(random_maps(), TOKENS))
"""
pytestmark = pytest.mark.routes
TIMES = 5  # what BertViz itself shows draws in some of them only, for its scripts race


@pytest.fixture(scope="module")
def lab(browser, tmp_path_factory):
    with live_lab(browser, tmp_path_factory) as lab:
        yield lab


def check(notebook):
    """Open both views and check that they draw the maps."""
    notebook.panel.locator("details.bertviz").nth(1).wait_for()
    head, model = unfold(notebook.panel)
    maps = random_maps()
    assert weights_of(head, ".headAttention line") == pytest.approx(maps[0].flatten().tolist(), abs=0.0005)
    assert weights_of(model, "line") == pytest.approx(maps.flatten().tolist(), abs=0.0005)
    assert model.locator("[role=button]").count() == LAYERS * HEADS
    assert head.locator("#left text").all_text_contents() == TOKENS


def test_both_views_draw_every_time_in_one_notebook(lab):
    notebook = lab.open("views.ipynb")
    for _ in range(TIMES):
        notebook.run(VIEWS)
        check(notebook)
    notebook.save()
    notebook.close()
    assert lab.visit.elsewhere == []
    again = lab.open("views.ipynb")  # before any cell has run
    check(again)
    again.close()


def test_both_views_draw_the_first_time_in_every_notebook(lab):
    for time in range(TIMES):
        notebook = lab.open(f"first-{time}.ipynb")
        notebook.run(VIEWS)
        check(notebook)
        notebook.close()
    assert lab.visit.elsewhere == []


def test_an_untrusted_notebook_shows_the_words_alone(lab):
    output = nbformat.v4.new_output("display_data", {"text/html": head_view(random_maps(), TOKENS)._repr_html_()})
    notebook = lab.open("untrusted.ipynb", nbformat.v4.new_code_cell("1", outputs=[output], execution_count=1))
    notebook.panel.locator("summary").click()
    assert "左边是查询，右边是键" in notebook.panel.locator("details").inner_text()
    assert notebook.panel.locator("iframe").count() == 0
    notebook.close()
