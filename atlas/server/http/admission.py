"""Admission control: limits how many requests start together and how many run; the others wait.

Requests that compute in one interpreter finish sooner a few at a time: together they only take turns, and each ends
late. A long request must not block the others, so after a while it no longer counts as starting.

Waiting requests start in order of arrival. While more than `IN_ORDER` wait, which a few honest clients do not cause,
the newest starts first and the oldest can be displaced, so a flood waits behind the requests that come after it.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

STARTING_SECONDS = 0.25
"""A short read takes 5 to 50 ms when two run at once, and several times that on a busy machine."""

IN_ORDER = 64


class Displaced(Exception):
    """The request was dropped from the queue in favour of newer ones."""


@dataclass(frozen=True, slots=True)
class _Waiter:
    client: str
    displaced: Callable[[], None]


class AdmissionControl:
    """At most `at_work` permits, of which `starting` are younger than `STARTING_SECONDS`. For one event loop."""

    def __init__(self, at_work: int, starting: int) -> None:
        self._at_work, self._starting = at_work, starting
        self._waiting: OrderedDict[asyncio.Future[Permit], _Waiter] = OrderedDict()
        """Oldest first."""

    @property
    def are_taken(self) -> bool:
        """Whether the next request has to wait."""
        return self._at_work <= 0 or self._starting <= 0

    def request(self, client: str = "", displaced: Callable[[], None] = lambda: None) -> asyncio.Future[Permit]:
        """Return a future permit; a caller that no longer needs it calls `cancel_request`.

        When the future ends with Displaced, `displaced` has already been called.
        """
        asked: asyncio.Future[Permit] = asyncio.get_running_loop().create_future()
        self._waiting[asked] = _Waiter(client, displaced)
        self._give()
        return asked

    def cancel_request(self, asked: asyncio.Future[Permit]) -> None:
        """Stop waiting for a permit, or return it if it was already granted."""
        self._waiting.pop(asked, None)
        if asked.cancelled() or not asked.done():
            asked.cancel()
        elif asked.exception() is None:
            asked.result().end()

    async def take(self) -> Permit:
        """Wait for a permit and return it; a cancelled caller gets none."""
        asked = self.request()
        try:
            return await asyncio.shield(asked)
        except asyncio.CancelledError:
            self.cancel_request(asked)
            raise

    def displace(self, client: str | None = None) -> bool:
        """Displace the oldest waiting request, of all or of one client; False while at most `IN_ORDER` wait."""
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
        """Release slots of a permit to waiting requests."""
        self._at_work += at_work
        self._starting += starting
        self._give()


class Permit:
    """Permission to run; the owner calls `end`."""

    def __init__(self, admission: AdmissionControl) -> None:
        self._admission = admission
        self._is_starting = self._is_at_work = True
        self._timer = asyncio.get_running_loop().call_later(STARTING_SECONDS, self._has_started)

    def end(self) -> None:
        """Release the permit, so that the next request can start; idempotent."""
        self._timer.cancel()
        starting, self._is_starting = int(self._is_starting), False
        at_work, self._is_at_work = int(self._is_at_work), False
        self._admission.give_back(at_work=at_work, starting=starting)

    def _has_started(self) -> None:
        if self._is_starting:
            self._is_starting = False
            self._admission.give_back(starting=1)
