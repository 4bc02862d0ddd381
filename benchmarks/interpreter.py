"""The interpreter of traced functions: its size, and its time in Node and in torch, in interleaved rounds of one run.

Attention and its gradient at n = 64, and a recurrence and its gradient over 64 and 256 steps, H = d = 32, float32.
One warm-up; the fastest round counts; torch on one thread, with scan as a plain loop.

Run: python benchmarks/interpreter.py. It exits with status 1 where a target is missed.
"""

import gzip
import json
import math
import sys
from pathlib import Path

import torch
from fastest import fastest

from traced import SCRIPT, Length, Traced, scan

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from node import node  # noqa: E402
from traced_run import program  # noqa: E402

D, ROUNDS, LARGEST = 32, 5, 6  # LARGEST: kB, gzip
TIMES = """
const times = [];
for (const [bytes, [given]] of JOBS) {
  const compute = await traced(Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0)));
  for (let i = 0; i < 20; i++) compute(given); // until the engine has compiled it
  let least = Infinity;
  for (let i = 0; i < 20; i++) {
    const start = performance.now();
    compute(given);
    least = Math.min(least, performance.now() - start);
  }
  times.push(least);
}
console.log(JSON.stringify(times));
"""


def normal(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(shape[0]))


E, W_q, W_h, W_x = normal(256, D), normal(D, D) / math.sqrt(D), normal(D, D) / math.sqrt(D), normal(D, D) / math.sqrt(D)


def attention(n):
    x = E[torch.arange(n)].detach().requires_grad_()
    y = (x @ W_q @ x.T / math.sqrt(D)).softmax(-1) @ x
    return y, *torch.autograd.grad(y[-1].square().sum(), x)


def recurrence(n):
    x = E[torch.arange(n)].detach().requires_grad_()

    def step(state, rows, weights):
        h = torch.tanh(state[0] @ weights[0] + rows[0])
        return [h], [h]

    (h,), _ = scan(step, [x.new_zeros(D)], [x @ W_x], [W_h])
    return h, *torch.autograd.grad(h.square().sum(), x)


CASES = [(attention, 64, 10), (recurrence, 64, 2), (recurrence, 256, 2)]  # the largest ratio to torch
jobs = [(Traced(function, Length(2, 256)), [{"n": n}]) for function, n, _ in CASES]
source = program(jobs)
here = [math.inf] * len(CASES)
for _ in range(ROUNDS):
    here = list(map(min, here, json.loads(node(source + TIMES))))
size = len(gzip.compress(SCRIPT.encode(), 9)) / 1000
print(f"interpreter {size:.1f} kB gzip, at most {LARGEST}")
missed = [f"the interpreter has {size:.1f} kB"] if size > LARGEST else []
for (function, n, most), ms, (one, _) in zip(CASES, here, jobs):
    graph = len(one.to_bytes()) / 1000
    there = fastest({0: lambda function=function, n=n: function(n)}, ROUNDS)[0]
    ratio = ms / 1000 / there
    print(
        f"{function.__name__:10} n = {n:3}: {ms:5.1f} ms, {ratio:4.1f} times torch (at most {most}); bytes {graph:.1f} kB"
    )
    if ratio > most:
        missed.append(f"{function.__name__} at n = {n} takes {ratio:.1f} times as long as torch")
if missed:
    sys.exit(f"interpreter: {'; '.join(missed)}.")
