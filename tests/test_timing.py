"""Timings by a clock that only the calls move."""

import platform
import time

import pytest
import torch

from why_attention.timing import Machine, Timing, forward_times, machine


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


def test_median_and_quartiles_without_the_warm_up(clock):
    calls = {
        "odd": clock.call("odd", [500, 5, 1, 4, 2, 3]),  # the first is the warm-up
        "same": clock.call("same", [500, 7, 7, 7, 7, 7]),
        "outlier": clock.call("outlier", [0, 1, 1, 9000, 1, 1]),
    }
    times = forward_times(calls, rounds=5)
    assert list(times) == ["odd", "same", "outlier"]
    assert times == {"odd": Timing(3, 2, 4), "same": Timing(7, 7, 7), "outlier": Timing(1, 1, 1)}


def test_quartiles_lie_between_two_rounds_where_they_must(clock):
    assert forward_times({"even": clock.call("even", [9, 4, 1, 3, 2])}, rounds=4) == {"even": Timing(2.5, 1.75, 3.25)}


def test_one_round_is_its_own_median_and_quartiles(clock):
    assert forward_times({"once": clock.call("once", [9, 4])}, rounds=1) == {"once": Timing(4, 4, 4)}


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


def test_a_real_clock_sees_who_sleeps_longer():
    times = forward_times({"short": lambda: time.sleep(0.002), "long": lambda: time.sleep(0.02)}, rounds=3)
    for name, seconds in (("short", 0.002), ("long", 0.02)):
        assert seconds <= times[name].low <= times[name].median <= times[name].high
    assert times["short"].median < times["long"].low


def test_machine_names_the_cpu_and_its_threads(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 3)
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    assert machine() == Machine("CPU riscv64", 3)


def test_machine_names_the_cuda_device(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "NVIDIA H200")
    assert machine() == Machine("NVIDIA H200", torch.get_num_threads())


def test_nothing_to_time_is_refused(clock):
    with pytest.raises(ValueError, match="^calls has 0 entries: name at least 1 call"):
        forward_times({}, rounds=3)
    for rounds in (0, -1):
        with pytest.raises(ValueError, match=f"^rounds={rounds}: there must be at least 1"):
            forward_times({"a": clock.call("a", [])}, rounds)
    assert not clock.called
