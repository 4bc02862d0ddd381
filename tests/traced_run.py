"""Runs traced functions where pages run them, in JavaScript, and compares what they give with torch."""

import base64
import json
import math
from collections.abc import Sequence

import torch
from node import node
from torch import Tensor
from torch.utils._pytree import tree_flatten

from traced import SCRIPT, Traced

PROGRAM = """
const word = (x) => (Number.isFinite(x) ? x : String(x)); // for JSON
const results = [];
for (const [bytes, calls] of JOBS) {
  const compute = await traced(Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0)));
  for (const given of calls) {
    try {
      results.push(compute(given).map(({ shape, data }) => ({ shape, data: Array.from(data, word) })));
    } catch (error) {
      results.push({ refused: error instanceof RangeError, error: String(error) });
    }
  }
}
"""


def program(jobs: Sequence[tuple[Traced, list[dict]]]) -> str:
    """Return a program that leaves in `results` what traced functions give, or why not, call by call."""
    encoded = [[base64.b64encode(one.to_bytes()).decode(), [plain(call) for call in calls]] for one, calls in jobs]
    return f"{SCRIPT}\nconst JOBS = {json.dumps(encoded)};\n{PROGRAM}"


def plain(call: dict) -> dict:
    """Return what a function is given as JSON has it."""
    return {name: json.loads(json.dumps(value, default=lambda x: x.tolist())) for name, value in call.items()}


def in_node(jobs: Sequence[tuple[Traced, list[dict]]]) -> list:
    """Return for every call the outputs of its function, or {refused, error}."""
    return decoded(json.loads(node(f"{program(jobs)}\nconsole.log(JSON.stringify(results));")))


def decoded(results: list) -> list:
    return [one if isinstance(one, dict) else [tensor(output) for output in one] for one in results]


def tensor(output: dict) -> Tensor:
    numbers = [float(str(x).replace("Infinity", "inf")) for x in output["data"]]
    return torch.tensor(numbers, dtype=torch.float64).reshape(output["shape"])


def wanted(one: Traced, call: dict) -> list[Tensor]:
    """Return what torch gives."""
    results, _ = tree_flatten(one(**call))
    return [torch.as_tensor(result).detach() for result in results]


def farthest(made: list[Tensor], right: list[Tensor]) -> float:
    """Return the largest difference of any number, relative to the largest of its tensor; infinities must be the same."""
    assert [tuple(x.shape) for x in made] == [tuple(x.shape) for x in right]
    worst = 0.0
    for a, b in zip(made, right):
        b = b.double()
        finite = b.isfinite()
        assert torch.equal(a[~finite].nan_to_num(7), b[~finite].nan_to_num(7))
        if finite.any():
            difference = (a[finite] - b[finite]).abs().max().item()
            assert not math.isnan(difference)
            worst = max(worst, difference / max(b[finite].abs().max().item(), 1e-300))
    return worst
