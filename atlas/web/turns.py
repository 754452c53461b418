"""Turns at work, given in the order in which they were asked for: few may begin together, more may be under way.

Work that computes in one interpreter is done sooner a little at a time: together its parts only take turns, and each
ends late. Work that takes long must not hold up the rest, so after a while it no longer counts among the beginners.
"""

from __future__ import annotations

import asyncio

STARTING_SECONDS = 0.25
"""A short read takes 5 to 50 ms when two are at work, several times that on a busy machine."""


class Turns:
    """At most `at_work` turns at once, of which `starting` are younger than `STARTING_SECONDS`. For one event loop."""

    def __init__(self, at_work: int, starting: int) -> None:
        self._at_work = asyncio.Semaphore(at_work)
        self._starting = asyncio.Semaphore(starting)

    @property
    def are_taken(self) -> bool:
        """Whether the next one has to wait."""
        return self._at_work.locked() or self._starting.locked()

    async def take(self) -> Turn:
        """Wait for a turn and begin it; who is cancelled while waiting has none."""
        await self._at_work.acquire()
        try:
            await self._starting.acquire()
        except BaseException:
            self._at_work.release()
            raise
        return Turn(self._at_work, self._starting)


class Turn:
    """One turn; the owner ends it once."""

    def __init__(self, at_work: asyncio.Semaphore, starting: asyncio.Semaphore) -> None:
        self._at_work, self._starting = at_work, starting
        self._is_starting = True
        self._timer = asyncio.get_running_loop().call_later(STARTING_SECONDS, self._has_started)

    def end(self) -> None:
        """Let the next one begin."""
        self._timer.cancel()
        self._has_started()
        self._at_work.release()

    def _has_started(self) -> None:
        if self._is_starting:
            self._is_starting = False
            self._starting.release()
