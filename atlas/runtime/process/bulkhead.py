"""Bulkheads for calls that may take long: a few run, some wait, further calls are rejected.

A server works on a limited number of requests at once. A call that enters a bulkhead gives up its place among them, so
any number of slow calls leaves all places to short ones.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from atlas.core.errors import Unavailable
from atlas.core.wording import counted

QUERIES_AT_WORK = 2
"""Concurrent Cypher queries on the embedded store; their memory limits assume this number."""
SERVER_QUERIES_AT_WORK = 4
"""Concurrent Cypher queries when a server holds the index and does the work."""
INDEX_AT_WORK = 4
"""Half of the requests that a server works on at once; an `index` call waits for the current writer."""
WAITING = 32
"""Waiting calls of one tool; at ten seconds a call, the last one waits for minutes."""

SHARED_WAITING = 4096
"""The same where the sessions of many clients share a bulkhead: each has one of its own before it."""

LARGE = "large answers"
"""The bulkhead of other calls with a large token budget: fitting an answer takes up to half a second of CPU."""

leave_place: ContextVar[Callable[[], None] | None] = ContextVar("leave_place", default=None)
"""Gives up the current call's place among all running requests; idempotent."""


@dataclass(frozen=True, slots=True)
class BulkheadLimit:
    """How many calls of a tool may run and how many may wait."""

    at_work: int
    waiting: int
    keeps_place: bool = False
    """Whether a call keeps its place among all running requests."""


def widths(efforts: Mapping[str, str], queries: int, *, are_shared: bool = False) -> Mapping[str, BulkheadLimit]:
    """Return the limits of the tools that have a bulkhead, and of large answers; `are_shared`: by many clients.

    `efforts`: what each tool takes, see `atlas.answers.tool.Effort`; `queries`: number of concurrent Cypher queries.
    """
    waiting = SHARED_WAITING if are_shared else WAITING
    one = BulkheadLimit(1, waiting)
    limits = {
        "query": BulkheadLimit(queries, waiting),
        "single": one,
        "index pass": BulkheadLimit(INDEX_AT_WORK, waiting if are_shared else 0, keeps_place=not are_shared),
    }
    return {**{tool: limits[effort] for tool, effort in efforts.items() if effort in limits}, LARGE: one}


class Bulkheads:
    """One bulkhead per tool; tools without one are not limited. Use from one event loop."""

    def __init__(self, widths: Mapping[str, BulkheadLimit]) -> None:
        self._widths = widths
        self._at_work = {tool: asyncio.Semaphore(width.at_work) for tool, width in widths.items()}
        self._inside = dict.fromkeys(widths, 0)

    @asynccontextmanager
    async def place(self, tool: str) -> AsyncGenerator[None]:
        """Hold a place in the tool's bulkhead while the block runs; waits for one. Raises Unavailable when full."""
        width = self._widths.get(tool)
        if width is None:
            yield
            return
        if self._inside[tool] >= width.at_work + width.waiting:
            raise Unavailable(f"{counted(self._inside[tool], 'call')} of {tool} in progress", "retry in a few seconds")
        leave = leave_place.get()
        if leave is not None and not width.keeps_place:
            leave()
        self._inside[tool] += 1
        try:
            async with self._at_work[tool]:
                yield
        finally:
            self._inside[tool] -= 1
