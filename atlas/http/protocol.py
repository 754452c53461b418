"""One HTTP/1.1 connection: uvicorn's, which tells the table of connections what it waits for.

Differs from the original in what a client may cost: it is cut off when the table says so, a body in tiny chunks is
refused, and little is read ahead.
"""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from atlas.http.connections import Connections, Phase
from atlas.http.middleware import KNOWN, RETRY_SECONDS, TURNED_AWAY

READ_BYTES = 16_384
"""Read at once from a connection: asyncio's 256 KB add up, in memory and in time, when many clients send a lot."""

FREE_PIECES, PIECE_BYTES = 256, 128
"""A body may come in this many pieces of any size, and one more for so many bytes: each costs the same time."""


MAX_RESTS = 32
"""After a refusal "come again" nothing is read for as long as was said, twice as long after the next, up to this."""


class CountingConnection(h11.Connection):
    """Raises RemoteProtocolError for a body that comes in too many pieces."""

    pieces = 0
    body_bytes = 0

    def next_event(self) -> Any:
        """Return the next event, as the original does."""
        event = super().next_event()
        if isinstance(event, h11.Data):
            self.pieces += 1
            self.body_bytes += len(event.data)
            if self.pieces > FREE_PIECES + self.body_bytes // PIECE_BYTES:
                raise h11.RemoteProtocolError("the body comes in too many pieces")
        elif isinstance(event, h11.Request):
            self.pieces = self.body_bytes = 0
        return event


class BoundedProtocol(H11Protocol):
    """A connection in the table from the time when it is accepted until its socket is closed."""

    def __init__(
        self, config: Config, server_state: ServerState, app_state: dict[str, Any], table: Connections
    ) -> None:
        super().__init__(config=config, server_state=server_state, app_state=app_state)
        self.conn = CountingConnection(h11.SERVER)
        self.task: asyncio.Task[object] | None = None
        self._table = table
        self._is_known = False
        """Whether a request of this connection was allowed."""
        self._has_begun = False
        """Whether something has come since the last answer."""
        self._rests = 0
        """How long the last rest was; halved by every answer."""
        self._rest: asyncio.TimerHandle | None = None

    def abort(self) -> None:
        """Close at once, also while TLS is being negotiated."""
        if self.task is not None:
            self.task.cancel()
        if self.transport:
            self.transport.abort()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin."""
        super().connection_made(transport)
        if hasattr(transport, "max_size"):
            transport.max_size = READ_BYTES  # type: ignore[attr-defined]

    def connection_lost(self, exc: Exception | None) -> None:
        """Leave the table."""
        self._table.leave(self)
        if self._rest is not None:
            self._rest.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take in what has come."""
        self._has_begun = True
        super().data_received(data)
        self._note()

    def on_response_complete(self) -> None:
        """Go on with the next request."""
        self._is_known = self._is_known or KNOWN in self.scope.get("state", {})
        self._has_begun = False
        if self.conn.trailing_data[0].strip():
            # no client in use sends the next request before the answer, and one that does gets ahead of others
            self.transport.close()
        super().on_response_complete()
        self._rest_if_turned_away()
        self._note()

    def _rest_if_turned_away(self) -> None:
        if TURNED_AWAY not in self.scope.get("state", {}):
            self._rests = self._rests // 2
        elif not self.transport.is_closing():
            self._rests = min(2 * self._rests or 1, MAX_RESTS)
            self.transport.pause_reading()
            self._rest = self.loop.call_later(self._rests * RETRY_SECONDS, self.transport.resume_reading)

    def send_400_response(self, msg: str) -> None:
        """Say that a request is invalid, unless an answer has begun."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:
            self.transport.abort()

    def timeout_keep_alive_handler(self) -> None:
        """Close after a pause that was too long."""
        super().timeout_keep_alive_handler()
        self._note()

    def pause_writing(self) -> None:
        """Note that the client does not read."""
        super().pause_writing()
        self._note()

    def resume_writing(self) -> None:
        """Note that the client reads again."""
        super().resume_writing()
        self._note()

    def _note(self) -> None:
        self._table.move(self, self._phase())

    def _phase(self) -> Phase:
        if self.flow.write_paused:
            return Phase.STALLED
        if self.conn.their_state is h11.SEND_BODY:
            return Phase.BODY
        if self.cycle and not self.cycle.response_complete:
            return Phase.WORK
        is_idle = self._is_known and not self._has_begun and not self.transport.is_closing()
        # one that is closing waits for the client to read what was sent, for as long as for headers
        return Phase.IDLE if is_idle else Phase.OPENING
