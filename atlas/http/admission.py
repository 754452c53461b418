"""Admission control: few may begin together, more may be under way, the rest wait.

Work that computes in one interpreter is done sooner a little at a time: together its parts only take turns, and each
ends late. Work that takes long must not hold up the rest, so after a while it no longer counts among the beginners.

Those who wait begin in the order in which they asked. While more than `IN_ORDER` wait, which a few honest clients do
not cause, the newest begins first, and the oldest can be displaced: a flood then waits behind those who come after it.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

STARTING_SECONDS = 0.25
"""A short read takes 5 to 50 ms when two are at work, several times that on a busy machine."""

IN_ORDER = 64


class Displaced(Exception):
    """Others came while too many were waiting."""


@dataclass(frozen=True, slots=True)
class _Waiter:
    client: str
    displaced: Callable[[], None]


class AdmissionControl:
    """At most `at_work` turns at once, of which `starting` are younger than `STARTING_SECONDS`. For one event loop."""

    def __init__(self, at_work: int, starting: int) -> None:
        self._at_work, self._starting = at_work, starting
        self._waiting: OrderedDict[asyncio.Future[Permit], _Waiter] = OrderedDict()
        """Oldest first."""

    @property
    def are_taken(self) -> bool:
        """Whether the next one has to wait."""
        return self._at_work <= 0 or self._starting <= 0

    def request(self, client: str = "", displaced: Callable[[], None] = lambda: None) -> asyncio.Future[Permit]:
        """Return what will be a turn; who no longer wants it calls `forgo`.

        When it ends with Displaced, `displaced` has been called already.
        """
        asked: asyncio.Future[Permit] = asyncio.get_running_loop().create_future()
        self._waiting[asked] = _Waiter(client, displaced)
        self._give()
        return asked

    def cancel_request(self, asked: asyncio.Future[Permit]) -> None:
        """Stop waiting for a turn, or end it when it has come."""
        self._waiting.pop(asked, None)
        if asked.cancelled() or not asked.done():
            asked.cancel()
        elif asked.exception() is None:
            asked.result().end()

    async def take(self) -> Permit:
        """Wait for a turn and begin it; who is cancelled while waiting has none."""
        asked = self.request()
        try:
            return await asyncio.shield(asked)
        except asyncio.CancelledError:
            self.cancel_request(asked)
            raise

    def displace(self, client: str | None = None) -> bool:
        """Send away who has waited longest, of all or of one client; False while so few wait that order is kept."""
        if len(self._waiting) <= IN_ORDER:
            return False
        oldest = next((asked for asked, asker in self._waiting.items() if client in (None, asker.client)), None)
        if oldest is None:
            return False
        self._waiting.pop(oldest).displaced()
        if not oldest.done():
            oldest.set_exception(Displaced())
        return True

    def _give(self) -> None:
        while self._waiting and not self.are_taken:
            asked, _ = self._waiting.popitem(last=len(self._waiting) > IN_ORDER)
            if not asked.done():
                self._at_work -= 1
                self._starting -= 1
                asked.set_result(Permit(self))

    def give_back(self, *, at_work: int = 0, starting: int = 0) -> None:
        """Let others have what a turn held."""
        self._at_work += at_work
        self._starting += starting
        self._give()


class Permit:
    """One turn; the owner ends it, which may be done again."""

    def __init__(self, turns: AdmissionControl) -> None:
        self._admission = turns
        self._is_starting = self._is_at_work = True
        self._timer = asyncio.get_running_loop().call_later(STARTING_SECONDS, self._has_started)

    def end(self) -> None:
        """Let the next one begin. Does nothing when that was done before."""
        self._timer.cancel()
        starting, self._is_starting = int(self._is_starting), False
        at_work, self._is_at_work = int(self._is_at_work), False
        self._admission.give_back(at_work=at_work, starting=starting)

    def _has_started(self) -> None:
        if self._is_starting:
            self._is_starting = False
            self._admission.give_back(starting=1)
