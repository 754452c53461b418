"""Connections dealt out: a parent takes them and gives each to the process that has fewest open, over a channel.

The kernel's own ways leave it to chance: of 64 connections over two sockets of one port one process gets 38, and its
clients wait for longer. A connection is a message of one byte with a descriptor; bytes come back. Knows no protocol.
"""

from __future__ import annotations

import os
import signal
import socket
from collections import deque
from collections.abc import Iterable
from contextlib import suppress

READY, TOOK, ENDED, STOPPED = b"r", b"t", b"e", b"s"
"""What a process says: it takes connections, has taken the one sent first, one of its own is closed, it takes none."""

MAX_IN_FLIGHT = 64
"""Connections on their way to a process; a channel holds some 270, and one that is full would lose more."""

_MOST_SAID = 4096


class Channel:
    """The parent's end: a process with the connections that it was given."""

    def __init__(self, end: socket.socket) -> None:
        end.setblocking(False)
        self._end = end
        self._sent: deque[socket.socket] = deque()
        """Kept until the process has them: macOS may lose what its sender closes before."""
        self.is_ready = False
        self.open = 0
        """Connections that the process has, or will have."""

    @property
    def can_take(self) -> bool:
        """Whether a connection may be given."""
        return self.is_ready and len(self._sent) < MAX_IN_FLIGHT

    def fileno(self) -> int:
        """Return what to wait for until there is something to hear."""
        return self._end.fileno()

    def give(self, connection: socket.socket) -> bool:
        """Send a connection, which belongs to the channel then; False when the process cannot take more now."""
        try:
            socket.send_fds(self._end, [b"c"], [connection.fileno()])
        except OSError:
            return False
        self._sent.append(connection)
        self.open += 1
        return True

    def poll(self) -> bool:
        """Take in what the process has said; False when it has gone."""
        try:
            said = self._end.recv(_MOST_SAID)
        except BlockingIOError:
            return True
        except OSError:
            return False
        self.is_ready = (self.is_ready or READY in said) and STOPPED not in said
        for _ in range(said.count(TOOK)):
            self._sent.popleft().close()
        self.open -= said.count(ENDED)
        return bool(said)

    def close(self) -> None:
        """Close the end, and with it what was sent and not taken."""
        self._end.close()
        while self._sent:
            self._sent.popleft().close()


def assign(connection: socket.socket, channels: Iterable[Channel]) -> None:
    """Give a connection to the process with fewest; close it when none can take it."""
    ready = sorted((channel for channel in channels if channel.can_take), key=lambda channel: channel.open)
    if not any(channel.give(connection) for channel in ready):
        connection.close()


class HandoffSocket(socket.socket):
    """The end of a process, which takes connections from it as from a socket that listens. The parent's end wakes it.

    When the parent has gone the process gets a SIGTERM, once.
    """

    def __init__(self, end: socket.socket) -> None:
        self._told = end.dup()
        """Outlives this socket: connections end after the last one was taken."""
        super().__init__(end.family, end.type, end.proto, end.detach())
        self._told.setblocking(False)
        self._is_orphan = False

    def close(self) -> None:
        """Take no more; it is said to the parent."""
        self.tell(STOPPED)
        super().close()

    def listen(self, backlog: int = 0, /) -> None:
        """Do nothing: the parent does."""

    def accept(self) -> tuple[socket.socket, object]:
        """Return a connection and its address. Raises BlockingIOError when there is none, as the original does."""
        said, descriptors, _, _ = socket.recv_fds(self, 1, 1)
        if not said and not self._is_orphan:
            self._is_orphan = True
            os.kill(os.getpid(), signal.SIGTERM)
        if said:
            self.tell(TOOK)
        if not descriptors:
            # as many files are open as may be: the connection is lost, and counted no longer
            self.tell(ENDED if said else b"")
            raise BlockingIOError
        connection = _Connection(proto=socket.IPPROTO_TCP, fileno=descriptors[0])
        connection.told = self._told
        try:
            return connection, connection.getpeername()
        except OSError as error:  # it was closed by the other side already
            connection.close()
            raise ConnectionAbortedError from error

    def leave(self) -> None:
        """Say nothing any more: to the parent this process has gone."""
        self._told.close()

    def tell(self, what: bytes) -> None:
        """Say something to the parent, if it is still there."""
        _tell(self._told, what)


class _Connection(socket.socket):
    """Says so when it is closed."""

    told: socket.socket | None = None

    def close(self) -> None:
        super().close()
        told, self.told = self.told, None
        if told is not None:
            _tell(told, ENDED)


def _tell(told: socket.socket, what: bytes) -> None:
    with suppress(OSError):
        told.send(what)
