"""The measurement of searches by phase: its phases exist, and nested ones count once."""

from __future__ import annotations

import time
from importlib import import_module
from operator import attrgetter

from tests.bench.search_latency import PHASES, Meter, make_questions

SAMPLES = [[f"p:app.f{number}", f"f{number}", f"Do thing {number}. And more."] for number in range(40)]


def test_every_function_of_a_phase_exists() -> None:
    for places in PHASES.values():
        for place in places:
            module, _, path = place.partition(":")
            assert callable(attrgetter(path)(import_module(module))), place


def test_a_phase_does_not_contain_those_inside() -> None:
    meter = Meter()

    def spend(seconds: float) -> None:
        end = time.thread_time() + seconds
        while time.thread_time() < end:
            pass

    inner = meter.measured("inner", lambda: spend(0.03))
    outer = meter.measured("outer", lambda: (spend(0.01), inner(), inner()))
    outer()
    assert meter.calls == {"inner": 2, "outer": 1}
    assert 0.06 <= meter.seconds["inner"] < 0.09 and 0.01 <= meter.seconds["outer"] < 0.03


def test_questions_are_mixed_and_the_same_each_time() -> None:
    asked = make_questions(SAMPLES, 30, ["where is it"], 1)
    assert asked == make_questions(SAMPLES, 30, ["where is it"], 1) and len(asked) == 30
    assert {kind for kind, _ in asked} >= {"name", "docstring", "question"}
