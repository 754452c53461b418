"""Accepts connections from a listening socket, within the limits of the connection table and of open files.

asyncio's own server accepts every waiting connection until the process runs out of file descriptors, and then pauses
for a second.
"""

from __future__ import annotations

import asyncio
import logging
import resource
import socket
import ssl
from collections.abc import Callable

from atlas.server.http.connections import HEAD_SECONDS, Connections, Phase
from atlas.server.http.protocol import BoundedProtocol

logger = logging.getLogger("atlas.http")

ACCEPT_BATCH = 16
"""Connections accepted before other tasks get a turn of the event loop."""

PAUSE_SECONDS = 0.05
"""While no connection can be closed to make room, new ones wait in the kernel's queue; retried after this."""

ERROR_PAUSE_SECONDS = 1.0

SWEEP_SECONDS = 1.0

RESERVED_FILES = 96
"""File descriptors for everything else: the index, its readers, models, logs, and connections being closed."""


def connection_limit(wanted: int) -> int:
    """Return how many connections this process can have, at most `wanted`, and raise its limit of open files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + RESERVED_FILES
    if soft != resource.RLIM_INFINITY and soft < needed:
        allowed = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
            soft = allowed
        except (OSError, ValueError):
            logger.debug("the limit of open files stays at %d", soft)
    else:
        soft = needed
    return max(min(wanted, soft - RESERVED_FILES), 16)


class Acceptor:
    """Accepts connections until it is closed. For one event loop."""

    def __init__(
        self,
        listening: socket.socket,
        connections: Connections,
        make: Callable[[], BoundedProtocol],
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._listening, self._connections, self._make, self._tls = listening, connections, make, tls
        self._loop = asyncio.get_running_loop()
        self._sweeper: asyncio.TimerHandle | None = None
        self._pause: asyncio.TimerHandle | None = None
        self._is_closed = False

    def start(self) -> None:
        """Start accepting."""
        self._listening.setblocking(False)
        self._loop.add_reader(self._listening.fileno(), self._accept)
        self._sweep()

    def close(self) -> None:
        """Stop accepting and close the listening socket."""
        if self._is_closed:
            return
        self._is_closed = True
        for timer in (self._sweeper, self._pause):
            if timer is not None:
                timer.cancel()
        self._loop.remove_reader(self._listening.fileno())
        self._listening.close()

    def _sweep(self) -> None:
        self._connections.expire()
        self._sweeper = self._loop.call_later(SWEEP_SECONDS, self._sweep)

    def _accept(self) -> None:
        for _ in range(ACCEPT_BATCH):
            if not self._connections.make_room():
                self._wait(PAUSE_SECONDS)
                return
            try:
                accepted, _ = self._listening.accept()
            except (BlockingIOError, InterruptedError):
                return
            except ConnectionAbortedError:
                continue
            except OSError as error:
                logger.error("a connection could not be accepted: %s", error.strerror)
                self._wait(ERROR_PAUSE_SECONDS)
                return
            self._begin(accepted)

    def _begin(self, accepted: socket.socket) -> None:
        protocol = self._make()
        self._connections.enter(protocol, Phase.OPENING)
        task = self._loop.create_task(self._connect(accepted, protocol))
        protocol.task = task

    async def _connect(self, accepted: socket.socket, protocol: BoundedProtocol) -> None:
        handshake = HEAD_SECONDS if self._tls else None
        try:
            await self._loop.connect_accepted_socket(
                lambda: protocol, accepted, ssl=self._tls, ssl_handshake_timeout=handshake
            )
        except OSError as error:  # includes a TLS handshake that fails or takes too long
            logger.debug("a connection was not established: %s", error)
            self._connections.leave(protocol)
        finally:
            protocol.task = None

    def _wait(self, seconds: float) -> None:
        self._loop.remove_reader(self._listening.fileno())
        self._pause = self._loop.call_later(seconds, self._resume)

    def _resume(self) -> None:
        self._loop.add_reader(self._listening.fileno(), self._accept)
