"""What was found once stays mended, and a few hundred changed inputs are tried on every run (more: `make fuzz`)."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.mutate import mutated
from tests.fuzz.run import TARGETS
from tests.fuzz.target import Target

EXAMPLES = {"messages": 60, "imports": 60, "packs": 60}
OTHERS = 150


@pytest.fixture(scope="module", params=TARGETS, ids=lambda kind: kind.name)
def target(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    opened = request.param(tmp_path_factory.mktemp(request.param.name))
    yield opened
    opened.close()


def test_valid_inputs_and_what_failed_once(target: Target) -> None:
    seeds = target.seeds()
    assert len(seeds) >= 10
    for data in [*seeds[:60], *(path.read_bytes() for path in target.corpus())]:
        assert target.check(data)


def test_changed_inputs(target: Target) -> None:
    seeds: list[bytes] = [*target.seeds(), *(Path(path).read_bytes() for path in target.corpus())]

    @settings(
        max_examples=EXAMPLES.get(target.name, OTHERS),
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.randoms(use_true_random=False))
    def passes(chance: random.Random) -> None:
        assert target.check(mutated(chance, seeds, target.words))

    passes()
