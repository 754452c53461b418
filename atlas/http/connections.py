"""The open connections of a process: how many there may be, and which one is closed to make room for another.

A new connection is never refused while another one waits for its client: the one that has waited longest is closed.
Clients of one machine share an address, so nothing here depends on addresses. Knows no protocol.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from enum import Enum, auto
from typing import Protocol

HEAD_SECONDS = 10.0
"""A client has this long from its first byte (or from connecting) to the end of the headers."""

BODY_SECONDS = 40.0
"""A body that is still incomplete after this ends the connection; requests that are read have shorter limits."""

STALL_SECONDS = 10.0
"""A client that does not read its answer is cut off after this."""

MOST_STALLED = 64
"""Clients with an unread answer in the memory of this process; beyond it the oldest is cut off."""


GRACE_SECONDS = 0.25
"""A client is not closed for others before this: its request may be here already and only not be read."""


class Phase(Enum):
    """What a connection waits for. All but `WORK` wait for the client."""

    OPENING = auto()
    """Headers, or the first request that is allowed."""
    BODY = auto()
    """The rest of a body."""
    STALLED = auto()
    """The client to read its answer."""
    IDLE = auto()
    """The next request of a client that had one answered."""
    WORK = auto()
    """The answer to a complete request."""


SECONDS = {Phase.OPENING: HEAD_SECONDS, Phase.BODY: BODY_SECONDS, Phase.STALLED: STALL_SECONDS}
"""How long a connection may stay in a phase. Idle ones have a timer of their own, work has its deadline."""

UNFINISHED = tuple(SECONDS)
"""Closed before idle ones: an honest client is in these phases for milliseconds."""


class Connection(Protocol):
    """What the table holds."""

    def abort(self) -> None:
        """Close at once, without waiting for the client. Must not call back into the table."""
        ...


class Connections:
    """At most `limit` connections, in the order in which they entered their phase."""

    def __init__(self, limit: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.limit = limit
        self._clock = clock
        self._since: dict[Phase, OrderedDict[Connection, float]] = {phase: OrderedDict() for phase in Phase}
        self._phase_of: dict[Connection, Phase] = {}

    def __len__(self) -> int:
        return len(self._phase_of)

    def enter(self, connection: Connection, phase: Phase) -> None:
        """Add a connection, or note its phase; in the phase that it is in already it stays as old as it was."""
        before = self._phase_of.get(connection)
        if before is phase:
            return
        if before is not None:
            del self._since[before][connection]
        self._phase_of[connection] = phase
        self._since[phase][connection] = self._clock()
        if phase is Phase.STALLED and len(self._since[phase]) > MOST_STALLED:
            self._close(next(iter(self._since[phase])))

    def move(self, connection: Connection, phase: Phase) -> None:
        """Note the phase of a connection, unless it has been closed."""
        if connection in self._phase_of:
            self.enter(connection, phase)

    def leave(self, connection: Connection) -> None:
        """Forget a connection that has ended."""
        phase = self._phase_of.pop(connection, None)
        if phase is not None:
            del self._since[phase][connection]

    def make_room(self) -> bool:
        """Close connections until one more may be opened; False when all are at work or new."""
        while len(self) >= self.limit:
            oldest = self._oldest()
            if oldest is None:
                return False
            self._close(oldest)
        return True

    def expire(self) -> None:
        """Close the connections that have been too long in their phase."""
        now = self._clock()
        for phase, seconds in SECONDS.items():
            since = self._since[phase]
            while since and now - next(iter(since.values())) > seconds:
                self._close(next(iter(since)))

    def _oldest(self) -> Connection | None:
        unfinished = [next(iter(self._since[phase].items())) for phase in UNFINISHED if self._since[phase]]
        oldest, since = min(unfinished, key=lambda entry: entry[1], default=(None, 0.0))
        if oldest is not None and self._clock() - since >= GRACE_SECONDS:
            return oldest
        return next(iter(self._since[Phase.IDLE]), None)

    def _close(self, connection: Connection) -> None:
        self.leave(connection)
        connection.abort()
