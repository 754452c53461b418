"""Which questions are asked of the bodies of functions."""

from __future__ import annotations

import pytest

from atlas.code.rank.bodies import asks_how
from tests.unit.test_route import taken_apart


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("where is the retry delay computed", True),
        ("What happens when I press Ctrl+C a second time?", True),
        ("When is a connection tested for being alive?", True),
        ("which requests are turned away", True),
        ("where's the bit that unzips the answer", True),
        ("how long does it wait before a retry", False),
        ("what is the default timeout of a request", False),
        ("how do I close the pool", False),
        ("Where to go from here", False),
        ("When the pool is full, wait for a connection", False),
        ("how is the pool tested", False),
        ("which page explains how retries work", False),
        ("how does Pool.acquire wait", False),
        ("wait for a free connection", False),
    ],
)
def test_questions_for_behaviour_in_plain_words(question: str, asks: bool) -> None:
    assert asks_how(taken_apart(question)) is asks
