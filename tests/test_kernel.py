"""A kernel behind a figure: what it answers between the grid's values, and what the browser makes of its answers."""

import json

import numpy as np
import pytest
from node import evaluate
from small_figures import GAIN, UNIT, N, figure, heatmap

from explorable import Lines, Sentence, Series, script
from explorable.frames import Frames, View


def ask(made, **message):
    """Return the answer of a figure to a message from its browser, and its block of frames, if it has one."""
    sent = []
    made.send = lambda content, buffers=None: sent.append((content, buffers))
    made._answer(made, {"view": "v", **message}, [])
    ((content, buffers),) = sent
    return content, buffers[0] if buffers else None


def test_a_greeting_is_answered_to_the_view_that_sent_it():
    assert ask(figure(), type="hello") == ({"type": "hello", "view": "v", "id": None}, None)


@pytest.mark.parametrize("n, gain", [(3, 0.77), (4, 0.5), (1, 0.77)])
def test_an_answer_holds_what_the_functions_give_off_the_grid(n, gain):
    panel = Lines("lines", UNIT, UNIT, [Series(lambda n, gain: [n, gain], lambda n: [0, n], "line")])
    made = figure(panel, controls=[N, GAIN], sentence=Sentence("{words}", words=lambda gain: f"gain {gain}"))
    y, x = (made._spec["panels"][0]["series"][0][axis] for axis in "yx")
    answer, block = ask(made, type="frames", id=7, values={"n": n, "gain": gain}, parts=[y, "words", x])
    view = View(Frames(block, {"n": 1, "gain": 1}), {"n": 0, "gain": 0})
    assert (answer["type"], answer["id"]) == ("frames", 7)
    np.testing.assert_allclose([view.array(0), view.array(1)], [[n, gain], [0, n]], atol=0.005)
    assert view.words("words") == f"gain {gain}"


@pytest.mark.parametrize(
    "values, error",
    [
        ({"n": 9}, "n = 9: it must be a whole number from 1 to 4"),
        ({"n": 2.5}, "n = 2.5: it must be a whole number from 1 to 4"),
        ({"n": 3}, "three is refused"),
        ({}, "'n'"),
    ],
)
def test_what_cannot_be_computed_is_answered_with_its_error(values, error):
    def refusing(n):
        if n == 3:
            raise ValueError("three is refused")
        return np.eye(n)

    answer, block = ask(figure(heatmap(refusing)), type="frames", id=1, values=values, parts=[1])
    assert (answer["type"], block) == ("failed", None)
    assert error in answer["error"]


# In the browser

KERNEL = f"""
import {{ kernelOf }} from {json.dumps((script.FOLDER / "js" / "kernel.js").as_uri())};
let patience = null; // what happens when it ends
globalThis.setTimeout = (end) => (patience = end);
globalThis.clearTimeout = () => (patience = null);
const [handlers, sent, heard] = [{{}}, [], []];
let dead = false;
const model = {{
  on: (name, handler) => (handlers[name] = handler),
  send(message) {{
    if (dead) throw new Error("the comm is closed");
    sent.push(message);
  }},
}};
const kernel = kernelOf(model, {{
  alive: () => heard.push("alive"),
  lost: (why) => heard.push(why),
  answered: (request, block, error) => heard.push(error),
}});
const ask = () => kernel.ask({{ values: new Map([["n", 3]]), parts: [0] }});
const receive = (message) => handlers["msg:custom"]({{ view: sent[0].view, ...message }}, []);
const failed = (id) => receive({{ type: "failed", id, error: `answer ${{id}}` }});
const hello = () => receive({{ type: "hello", id: null }});
"""


def heard(program):
    """Return what a figure hears of its kernel."""
    return evaluate(KERNEL + program, "heard")


def test_an_answered_greeting_does_not_end_the_patience_with_a_request():
    assert heard("ask(); hello(); patience();") == ["alive", "busy"]
    assert heard("ask(); hello(); failed(1); heard.push(patience);") == ["alive", "alive", "answer 1", None]


def test_a_late_message_of_a_dead_kernel_is_not_heard():
    dies = "ask(); dead = true; kernel.greet(); "
    assert heard(dies + "failed(1); hello();") == ["gone"]
    # what the next one says is heard, but for answers to what was asked of the one before
    revives = dies + 'dead = false; handlers["comm_live_update"](); hello(); failed(1); ask(); failed(2);'
    assert heard(revives) == ["gone", "alive", "alive", "alive", "answer 2"]
