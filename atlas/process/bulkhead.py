"""Bulkheads around the calls that may take long: few at work, some waiting, further ones are refused.

A server works on a limited number of requests at once. A query behind its bulkhead gives its place among them back, so
that any number of slow queries leaves all places to the short questions of others.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from atlas.errors import Unavailable

QUERIES_AT_WORK = 2
"""The embedded store runs as many Cypher queries at once, and their limits on memory are made for it."""
SERVER_QUERIES_AT_WORK = 4
"""So many when a server has the index and does the work."""
INDEX_AT_WORK = 4
"""Half of the requests that a server works on at once; a call waits for whoever writes already."""
WAITING = 32
"""Calls of one tool that wait; at ten seconds each the last one of two queues would wait for minutes."""

LARGE = "large answers"
"""The bulkhead of other calls with a large token budget: fitting one takes a processor up to half a second."""

leave_place: ContextVar[Callable[[], None] | None] = ContextVar("leave_place", default=None)
"""Gives back the place among all requests at work that the current call holds; may be called again."""


@dataclass(frozen=True, slots=True)
class BulkheadLimit:
    """How many calls of a tool are at work and how many may wait."""

    at_work: int
    waiting: int
    keeps_place: bool = False
    """Whether a call keeps its place among all requests."""


def widths(queries: int) -> Mapping[str, BulkheadLimit]:
    """Return the widths for the tools that have a bulkhead."""
    one = BulkheadLimit(1, WAITING)
    return {
        "cypher_query": BulkheadLimit(queries, WAITING),
        "health": one,
        LARGE: one,
        "index": BulkheadLimit(INDEX_AT_WORK, 0, keeps_place=True),
    }


class Bulkheads:
    """One bulkhead per tool; tools without one pass. Use from one event loop."""

    def __init__(self, widths: Mapping[str, BulkheadLimit]) -> None:
        self._widths = widths
        self._at_work = {tool: asyncio.Semaphore(width.at_work) for tool, width in widths.items()}
        self._inside = dict.fromkeys(widths, 0)

    @asynccontextmanager
    async def place(self, tool: str) -> AsyncGenerator[None]:
        """Hold a place while the block runs, waiting for it if need be. Raises Unavailable when too many wait."""
        width = self._widths.get(tool)
        if width is None:
            yield
            return
        if self._inside[tool] >= width.at_work + width.waiting:
            raise Unavailable(f"{self._inside[tool]} calls of {tool} are under way", "ask again in some seconds")
        leave = leave_place.get()
        if leave is not None and not width.keeps_place:
            leave()
        self._inside[tool] += 1
        try:
            async with self._at_work[tool]:
                yield
        finally:
            self._inside[tool] -= 1
