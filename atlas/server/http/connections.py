"""The table of open connections: limits their number and decides which one to close for a new one.

A new connection is never rejected while another one waits for its client: the one that has waited longest is closed.
Clients on one machine share an address, so nothing here depends on addresses. Knows no protocol.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from enum import Enum, auto
from typing import Protocol

HEAD_SECONDS = 10.0
"""Time limit for the headers, from the first byte or from connecting."""

BODY_SECONDS = 40.0
"""Time limit for a body at the connection level; `bodies.py` has shorter limits."""

STALL_SECONDS = 10.0
"""A client that does not read its answer is disconnected after this."""

MAX_STALLED = 64
"""Clients with an unread answer in memory; beyond it the oldest is disconnected."""

GRACE_SECONDS = 0.25
"""A connection is not closed for others before this: its request may have arrived without having been read."""


class Phase(Enum):
    """What a connection waits for; in all phases but `WORK`, for its client."""

    OPENING = auto()
    """The headers, or the first accepted request."""
    BODY = auto()
    """The rest of a body."""
    STALLED = auto()
    """The client to read its answer."""
    IDLE = auto()
    """The next request of a client that had one answered."""
    WORK = auto()
    """The answer to a complete request."""


SECONDS = {Phase.OPENING: HEAD_SECONDS, Phase.BODY: BODY_SECONDS, Phase.STALLED: STALL_SECONDS}
"""Time limit of each phase. Idle connections have a timer of their own, running requests a deadline."""

UNFINISHED = tuple(SECONDS)
"""Phases that are closed before idle connections: an honest client is in them for milliseconds only."""


class TcpEntry(Protocol):
    """An entry of the table."""

    def abort(self) -> None:
        """Close at once without waiting for the client. Must not call back into the table."""
        ...


class Connections:
    """At most `limit` connections, in the order in which they entered their phase."""

    def __init__(self, limit: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.limit = limit
        self._clock = clock
        self._since: dict[Phase, OrderedDict[TcpEntry, float]] = {phase: OrderedDict() for phase in Phase}
        self._phase_of: dict[TcpEntry, Phase] = {}

    def __len__(self) -> int:
        return len(self._phase_of)

    def enter(self, connection: TcpEntry, phase: Phase) -> None:
        """Add a connection or set its phase; re-entering the current phase keeps its age."""
        before = self._phase_of.get(connection)
        if before is phase:
            return
        if before is not None:
            del self._since[before][connection]
        self._phase_of[connection] = phase
        self._since[phase][connection] = self._clock()
        if phase is Phase.STALLED and len(self._since[phase]) > MAX_STALLED:
            self._close(next(iter(self._since[phase])))

    def move(self, connection: TcpEntry, phase: Phase) -> None:
        """Set the phase of a connection unless it has been closed."""
        if connection in self._phase_of:
            self.enter(connection, phase)

    def leave(self, connection: TcpEntry) -> None:
        """Remove a connection that has ended."""
        phase = self._phase_of.pop(connection, None)
        if phase is not None:
            del self._since[phase][connection]

    def make_room(self) -> bool:
        """Close connections until there is room for one more; False when all are working or new."""
        while len(self) >= self.limit:
            oldest = self._oldest()
            if oldest is None:
                return False
            self._close(oldest)
        return True

    def expire(self) -> None:
        """Close the connections that exceed the time limit of their phase."""
        now = self._clock()
        for phase, seconds in SECONDS.items():
            since = self._since[phase]
            while since and now - next(iter(since.values())) > seconds:
                self._close(next(iter(since)))

    def _oldest(self) -> TcpEntry | None:
        unfinished = [next(iter(self._since[phase].items())) for phase in UNFINISHED if self._since[phase]]
        oldest, since = min(unfinished, key=lambda entry: entry[1], default=(None, 0.0))
        if oldest is not None and self._clock() - since >= GRACE_SECONDS:
            return oldest
        return next(iter(self._since[Phase.IDLE]), None)

    def _close(self, connection: TcpEntry) -> None:
        self.leave(connection)
        connection.abort()
