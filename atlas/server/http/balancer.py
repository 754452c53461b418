"""Connection balancer: the parent process accepts connections and hands each to the worker with the fewest.

The kernel does not balance: of 64 connections on a shared listening socket one of two workers got up to 58 (ADR 0022),
and its clients wait longer. A connection travels over a socket pair as one byte with a file descriptor; the worker
answers with status bytes. Knows no protocol.
"""

from __future__ import annotations

import os
import signal
import socket
from collections import deque
from collections.abc import Iterable
from contextlib import suppress

READY, TOOK, ENDED, STOPPED = b"r", b"t", b"e", b"s"
"""Status bytes: the worker accepts connections, has taken the oldest one sent, has closed one, accepts no more."""

MAX_IN_FLIGHT = 64
"""Connections sent and not yet taken; a channel has room for about 270, and a full one would lose connections."""

_READ_BYTES = 4096


class Channel:
    """The parent's end of the socket pair to one worker."""

    def __init__(self, end: socket.socket) -> None:
        end.setblocking(False)
        self._end = end
        self._sent: deque[socket.socket] = deque()
        """Kept open until the worker has taken them: macOS may lose descriptors that the sender closes earlier."""
        self.is_ready = False
        self.open = 0
        """Connections that the worker has or will have."""

    @property
    def can_take(self) -> bool:
        """Whether the worker can be given a connection."""
        return self.is_ready and len(self._sent) < MAX_IN_FLIGHT

    def fileno(self) -> int:
        """Return the descriptor that becomes readable when there is something to poll."""
        return self._end.fileno()

    def give(self, connection: socket.socket) -> bool:
        """Hand over a connection, which the channel then owns; False when the channel is full."""
        try:
            socket.send_fds(self._end, [b"c"], [connection.fileno()])
        except OSError:
            return False
        self._sent.append(connection)
        self.open += 1
        return True

    def poll(self) -> bool:
        """Read status bytes; return False when the worker has gone."""
        try:
            status = self._end.recv(_READ_BYTES)
        except BlockingIOError:
            return True
        except OSError:
            return False
        self.is_ready = (self.is_ready or READY in status) and STOPPED not in status
        for _ in range(status.count(TOOK)):
            self._sent.popleft().close()
        self.open -= status.count(ENDED)
        return bool(status)

    def close(self) -> None:
        """Close the channel and the connections that were not taken."""
        self._end.close()
        while self._sent:
            self._sent.popleft().close()


def assign(connection: socket.socket, channels: Iterable[Channel]) -> None:
    """Hand a connection to the worker with the fewest connections; close it when no worker can take it."""
    ready = sorted((channel for channel in channels if channel.can_take), key=lambda channel: channel.open)
    if not any(channel.give(connection) for channel in ready):
        connection.close()


class HandoffSocket(socket.socket):
    """The worker's end of the socket pair, used like a listening socket.

    When the parent has gone, the worker sends itself one SIGTERM.
    """

    def __init__(self, end: socket.socket) -> None:
        self._status = end.dup()
        """Outlives this socket, because connections close after the last one was accepted."""
        super().__init__(end.family, end.type, end.proto, end.detach())
        self._status.setblocking(False)
        self._is_orphan = False

    def close(self) -> None:
        """Accept no more connections, and report that to the parent."""
        self.report(STOPPED)
        super().close()

    def listen(self, backlog: int = 0, /) -> None:
        """Do nothing: the parent listens."""

    def accept(self) -> tuple[socket.socket, object]:
        """Return a connection and its address. Raises BlockingIOError without one, like any listening socket."""
        data, descriptors, _, _ = socket.recv_fds(self, 1, 1)
        if not data and not self._is_orphan:
            self._is_orphan = True
            os.kill(os.getpid(), signal.SIGTERM)
        if data:
            self.report(TOOK)
        if not descriptors:
            # the process is out of file descriptors: the connection is lost and no longer counts
            self.report(ENDED if data else b"")
            raise BlockingIOError
        connection = _Connection(proto=socket.IPPROTO_TCP, fileno=descriptors[0])
        connection.status = self._status
        try:
            return connection, connection.getpeername()
        except OSError as error:  # the client has already closed it
            connection.close()
            raise ConnectionAbortedError from error

    def leave(self) -> None:
        """Close the status channel: for the parent, this worker is gone."""
        self._status.close()

    def report(self, status: bytes) -> None:
        """Send status bytes to the parent, if it still exists."""
        _report(self._status, status)


class _Connection(socket.socket):
    """Reports to the parent when it is closed."""

    status: socket.socket | None = None

    def close(self) -> None:
        super().close()
        channel, self.status = self.status, None
        if channel is not None:
            _report(channel, ENDED)


def _report(channel: socket.socket, status: bytes) -> None:
    with suppress(OSError):
        channel.send(status)
