"""Which questions are asked of the bodies of functions."""

from __future__ import annotations

import pytest

from atlas.code.question.behaviour import asks_how
from tests.unit.test_route import taken_apart


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("where is the retry delay computed", True),
        ("What happens when I press Ctrl+C a second time?", True),
        ("When is a connection tested for being alive?", True),
        ("which requests are turned away", True),
        ("where's the bit that unzips the answer", True),
        ("what counts as a yes before something dangerous is run", True),
        ("What is stored when a job fails?", True),
        ("A page redirects to another host. What stops my cookie from being sent there?", True),
        ("headers with an underscore silently disappear, where is that decided?", True),
        ("a value changes in another tab; how does this tab learn about it", True),
        ("Snapshots on disk: what keeps a half-written one from being picked up, and when are old ones deleted?", True),
        ("messages are held back until something serious happens. which place decides to release?", True),
        ("by how much does the file grow when it runs out of room", True),
        ("when is the data of a bucket kept inside of its parent's page", True),
        ("when does the compiled code of a loop leave out the `count` variable", True),
        ("our server ran into its limit. what does pool::serve do when accept fails?", True),
        ("a client uses 1 wrong method on a path that exists, where does the header come from?", True),
        ("in the pool, where connections wait for a task, there is a limit", False),
        ("the header, which is sent first, has no name", False),
        ("the pool is full. how do I close it", False),
        ("what page describes how retries work", False),
        ("where is the manual about pages", False),
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
