"""Timings by a clock that only the calls move."""

import platform
import time

import pytest
import torch

from why_attention import cost, timing
from why_attention import peak_memory as module_of_peaks
from why_attention.peak_memory import peak_memory
from why_attention.timing import LAYERS, LayerTimes, Machine, Timing, forward_times, layer_call, layer_times, machine


class Clock:
    """Stands still but while a call runs, which takes the next of its durations; keeps the order of the calls."""

    def __init__(self, monkeypatch):
        self.now, self.called = 1000.0, []
        monkeypatch.setattr(time, "perf_counter", lambda: self.now)

    def call(self, name, durations):
        durations = iter(durations)

        def run():
            self.called.append(name)
            self.now += next(durations)

        return run


@pytest.fixture
def clock(monkeypatch):
    return Clock(monkeypatch)


@pytest.mark.parametrize(
    "durations, timing",  # the first is the warm-up
    [
        ([500, 5, 1, 4, 2, 3], Timing(3, 2, 4)),
        ([0, 1, 1, 9000, 1, 1], Timing(1, 1, 1)),
        ([9, 4, 1, 3, 2], Timing(2.5, 1.75, 3.25)),  # between two rounds
        ([9, 4], Timing(4, 4, 4)),
    ],
)
def test_median_and_quartiles_without_the_warm_up(clock, durations, timing):
    assert forward_times({"call": clock.call("call", durations)}, rounds=len(durations) - 1) == {"call": timing}


def test_calls_take_turns_after_one_warm_up_each(clock):
    forward_times({name: clock.call(name, [1] * 4) for name in "abc"}, rounds=3)
    assert clock.called == list("abc") * 4


def test_no_gradient_is_recorded_and_the_mode_is_given_back():
    modes = []
    forward_times({"mode": lambda: modes.append(torch.is_grad_enabled())}, rounds=2)
    assert modes == [False] * 3 and torch.is_grad_enabled()


def test_cuda_has_finished_before_the_clock_is_read(monkeypatch):
    events = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: events.append("wait"))
    monkeypatch.setattr(time, "perf_counter", lambda: float(len(events) + (events.append("clock") or 0)))
    forward_times({"call": lambda: events.append("call")}, rounds=2)
    assert events == ["call"] + ["wait", "clock", "call", "wait", "clock"] * 2


@pytest.mark.parametrize("cuda, device", [(True, "NVIDIA H200"), (False, "CPU riscv64")])
def test_machine_names_the_device_that_is_picked_and_the_threads(monkeypatch, cuda, device):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "NVIDIA H200")
    monkeypatch.setattr(torch, "get_num_threads", lambda: 3)
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    assert machine() == Machine(device, 3)


def test_nothing_to_time_is_refused(clock):
    with pytest.raises(ValueError, match="^calls has 0 entries: name at least 1 call"):
        forward_times({}, rounds=3)
    for rounds in (0, -1):
        with pytest.raises(ValueError, match=f"^rounds={rounds}: it must be one whole number, at least 1"):
            forward_times({"a": clock.call("a", [])}, rounds)
    assert not clock.called


# Layers


@pytest.mark.parametrize("name", [*LAYERS, "naive attention core"])
@pytest.mark.parametrize("n, d, heads, k", [(5, 8, 2, 3), (12, 4, 1, 5)])
def test_the_layer_that_is_timed_takes_the_flops_of_its_formula(name, n, d, heads, k):
    row = cost.costs(n, d, k, heads)[name.removeprefix("naive ")]
    assert cost.counted_flops(layer_call(name, n, d, heads, k)) == row.flops
    assert cost.counted_flops(layer_call(name, n, d, heads, k, batch=3)) == 3 * row.flops


def test_only_the_naive_core_returns_weights():
    output, weights = layer_call("naive attention core", 6, 8, 2, 3)()
    assert (output.shape, weights.shape) == ((1, 2, 6, 4), (1, 2, 6, 6))
    assert torch.allclose(layer_call("attention core", 6, 8, 2, 3)(), output, atol=1e-6)


def test_an_unknown_layer_is_refused():
    with pytest.raises(ValueError, match="^layer 'S4' is none of "):
        layer_call("S4", 4, 4, 1, 3)


def test_every_layer_is_timed_at_every_length(monkeypatch):
    rounds_of = {}

    def fake(calls, rounds):
        (n,) = {call.args[0].shape[-2] for call in calls.values()}
        rounds_of[n] = rounds
        return {name: Timing(n, n, n) for name in calls}

    monkeypatch.setattr(timing, "forward_times", fake)
    times = layer_times([4, 512, 8192], 8, 2, 3)
    assert list(times.layers) == LAYERS and times.lengths == [4, 512, 8192]
    assert all(timings == [Timing(n, n, n) for n in (4, 512, 8192)] for timings in times.layers.values())
    assert rounds_of == {4: 20, 512: 8, 8192: 4}
    assert (times.machine, times.torch) == (machine(), torch.__version__)
    assert (times.d, times.heads, times.k, times.batch) == (8, 2, 3, 1)


def test_threads_are_named_and_given_back(monkeypatch):
    seen, before = [], torch.get_num_threads()
    monkeypatch.setattr(timing, "forward_times", lambda calls, rounds: seen.append(torch.get_num_threads()) or {})
    for threads in (1, before + 1, None):
        assert layer_times([4], 8, 2, 3, threads=threads).machine.threads == seen[-1] == (threads or before)
        assert torch.get_num_threads() == before
    monkeypatch.setattr(timing, "forward_times", lambda calls, rounds: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        layer_times([4], 8, 2, 3, threads=before + 1)
    assert torch.get_num_threads() == before


@pytest.mark.parametrize(
    "slower, faster, start",
    [
        ([1, 2, 5, 9], [3, 3, 3, 3], 30),
        ([4, 2, 5, 9], [3, 3, 3, 3], 30),  # one slow run at the start decides nothing
        ([4, 4, 5, 9], [3, 3, 3, 3], 10),
        ([4, 4, 5, 3], [3, 3, 3, 3], None),  # equal at the end
    ],
)
def test_slower_from_is_where_it_stays_slower(slower, faster, start):
    layers = {name: [Timing(t, 0, 100) for t in times] for name, times in (("a", slower), ("b", faster))}
    assert LayerTimes(machine(), "", 1, 1, 1, 1, [10, 20, 30, 40], layers).slower_from("a", "b") == start


# Peak memory


@pytest.mark.skipif(platform.system() != "Linux", reason="Linux alone tells")
def test_the_peak_of_naive_attention_is_its_scores_and_weights_and_fused_has_none():
    n, d, heads = 2048, 64, 4
    naive = peak_memory(layer_call, "naive attention core", n, d, heads, 3)
    fused = peak_memory(layer_call, "attention core", n, d, heads, 3)
    assert naive == pytest.approx(4 * cost.attention_core(n, d, heads).memory, rel=0.15)  # float32: 4 bytes a number
    assert fused < naive / 5


def test_elsewhere_than_on_linux_the_error_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr(module_of_peaks, "PROCESS", tmp_path)
    with pytest.raises(RuntimeError, match="clear_refs is not there: peak memory can be measured on Linux alone"):
        peak_memory(layer_call, "RNN", 4, 4, 1, 3)
    with pytest.raises(RuntimeError, match="Linux alone"):
        module_of_peaks.peak_of(lambda: None)
