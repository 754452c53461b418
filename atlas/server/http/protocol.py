"""One HTTP/1.1 connection: uvicorn's protocol, extended to report its phase to the connection table.

It also limits what a client can cost: the table can abort it, a body in tiny chunks is rejected, and little is read
ahead.
"""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from atlas.server.http.connections import Connections, Phase
from atlas.server.http.middleware import KNOWN, RETRY_SECONDS, TURNED_AWAY

READ_BYTES = 16_384
"""Bytes per read: asyncio's 256 KB add up, in memory and time, when many clients send a lot."""

FREE_PIECES, PIECE_BYTES = 256, 128
"""A body may arrive in `FREE_PIECES` chunks of any size plus one for every `PIECE_BYTES`: each chunk costs the same."""

MAX_BACKOFF = 32
"""After a 429 or 503 nothing is read for the announced time, doubled after each further one up to this factor."""


class CountingConnection(h11.Connection):
    """Raises RemoteProtocolError for a body in too many chunks."""

    pieces = 0
    body_bytes = 0

    def next_event(self) -> Any:
        """Return the next event like `h11.Connection`."""
        event = super().next_event()
        if isinstance(event, h11.Data):
            self.pieces += 1
            self.body_bytes += len(event.data)
            if self.pieces > FREE_PIECES + self.body_bytes // PIECE_BYTES:
                raise h11.RemoteProtocolError("the body has too many chunks")
        elif isinstance(event, h11.Request):
            self.pieces = self.body_bytes = 0
        return event


class BoundedProtocol(H11Protocol):
    """A connection that is in the table from accepting it to closing its socket."""

    def __init__(
        self, config: Config, server_state: ServerState, app_state: dict[str, Any], table: Connections
    ) -> None:
        super().__init__(config=config, server_state=server_state, app_state=app_state)
        self.conn = CountingConnection(h11.SERVER)
        self.task: asyncio.Task[object] | None = None
        self._table = table
        self._is_known = False
        """Whether a request of this connection was accepted."""
        self._has_begun = False
        """Whether data has arrived since the last answer."""
        self._backoff = 0
        """Factor of the last pause in reading; halved by every answer."""
        self._pause: asyncio.TimerHandle | None = None

    def abort(self) -> None:
        """Close at once, even during the TLS handshake."""
        if self.task is not None:
            self.task.cancel()
        if self.transport:
            self.transport.abort()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Limit how much is read at once."""
        super().connection_made(transport)
        if hasattr(transport, "max_size"):
            transport.max_size = READ_BYTES  # type: ignore[attr-defined]

    def connection_lost(self, exc: Exception | None) -> None:
        """Leave the table."""
        self._table.leave(self)
        if self._pause is not None:
            self._pause.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Handle received data."""
        self._has_begun = True
        super().data_received(data)
        self._note()

    def on_response_complete(self) -> None:
        """Prepare for the next request."""
        self._is_known = self._is_known or KNOWN in self.scope.get("state", {})
        self._has_begun = False
        if self.conn.trailing_data[0].strip():
            # pipelining: no client in use does it, and a pipelined request would get ahead of others
            self.transport.close()
        super().on_response_complete()
        self._back_off_if_busy()
        self._note()

    def _back_off_if_busy(self) -> None:
        if TURNED_AWAY not in self.scope.get("state", {}):
            self._backoff = self._backoff // 2
        elif not self.transport.is_closing():
            self._backoff = min(2 * self._backoff or 1, MAX_BACKOFF)
            self.transport.pause_reading()
            self._pause = self.loop.call_later(self._backoff * RETRY_SECONDS, self.transport.resume_reading)

    def send_400_response(self, msg: str) -> None:
        """Answer an invalid request with 400 unless an answer has begun."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:
            self.transport.abort()

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection."""
        super().timeout_keep_alive_handler()
        self._note()

    def pause_writing(self) -> None:
        """Record that the client does not read."""
        super().pause_writing()
        self._note()

    def resume_writing(self) -> None:
        """Record that the client reads again."""
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
        # a closing connection waits for the client to read the answer, with the time limit of headers
        return Phase.IDLE if is_idle else Phase.OPENING
