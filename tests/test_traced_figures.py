"""Every traced function of the book, where a page runs it, against torch at random settings inside its ranges."""

import importlib
import json
import pkgutil
import random

import pytest
import torch
from chromium import Visit
from traced_run import decoded, farthest, in_node, program, wanted

from traced import Choices, Length, Number, Traced
from why_attention import figures

SETTINGS = 50
LIMITS = {False: 1e-5, True: 1e-12}  # by whether it computes in float64


def traced_functions() -> dict[str, Traced]:
    """Return the traced functions of all figures, by module and name."""
    names = [module.name for module in pkgutil.iter_modules(figures.__path__) if module.name != "__main__"]
    modules = {name: importlib.import_module(f"why_attention.figures.{name}") for name in names}
    return {
        f"{name}.{attribute}": value
        for name, module in modules.items()
        for attribute, value in vars(module).items()
        if isinstance(value, Traced)
    }


FUNCTIONS = traced_functions()


def setting(one: Traced, draw: random.Random) -> dict:
    """Return values in all ranges; now and then an end."""
    values = {}
    for name, example in zip(one.parameters, one.examples):
        if isinstance(example, Choices):
            values[name] = draw.choice(example.values)
        elif draw.random() < 0.1:
            values[name] = draw.choice([example.low, example.high])
        elif isinstance(example, Length):
            values[name] = draw.randint(example.low, example.high)
        elif isinstance(example, Number):
            values[name] = draw.uniform(example.low, example.high)
    return values


@pytest.fixture(scope="module", params=FUNCTIONS)
def asked(request):
    one, draw = FUNCTIONS[request.param], random.Random(0)
    return one, [setting(one, draw) for _ in range(SETTINGS)]


def check(one, calls, results):
    assert len(results) == len(calls)
    for call, made in zip(calls, results):
        assert not isinstance(made, dict), (call, made)
        assert farthest(made, wanted(one, call)) <= LIMITS[one.is_double], call


def test_there_are_traced_functions():
    assert "attention_map.measures" in FUNCTIONS


def test_in_node_it_gives_what_torch_gives(asked):
    one, calls = asked
    check(one, calls, in_node([(one, calls)]))


def test_in_chromium_it_gives_what_torch_gives(asked, browser):
    one, calls = asked
    visit = Visit(browser)
    source = f"(async () => {{ {program([(one, calls)])} return JSON.stringify(results); }})()"
    visit.page.goto("about:blank")
    results = decoded(json.loads(visit.page.evaluate(source)))
    visit.close()
    check(one, calls, results)


def test_beyond_its_ranges_it_refuses(asked):
    one, calls = asked
    for name, example in zip(one.parameters, one.examples):
        if isinstance(example, Number | Length):
            beyond = [{**calls[0], name: example.high + 1}, {**calls[0], name: example.low - 1}]
            assert all(made["refused"] for made in in_node([(one, beyond)]))


def test_a_wrong_weight_would_be_seen(asked):
    """The comparison can come out the other way."""
    one, calls = asked
    made = in_node([(one, calls[:1])])[0]
    right = wanted(one, calls[0])
    assert farthest([made[0] + 1e-9, *made[1:]], right) > LIMITS[True]
    assert torch.is_tensor(right[0])
