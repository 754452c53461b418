"""Serves an ASGI application on a socket with `uvicorn` until a signal arrives.

The first signal lets running requests finish, up to a deadline; the second one stops at once. Logs go to stderr.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import signal
import socket
import ssl
from collections.abc import Callable, Generator
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

import uvicorn

from atlas.core.errors import ConfigError, Unavailable
from atlas.server.http.accept import Acceptor, connection_limit
from atlas.server.http.connections import Connections
from atlas.server.http.middleware import App
from atlas.server.http.protocol import BoundedProtocol

GRACE_SECONDS = 10
"""Requests that are running at the first signal may take this long."""

IDLE_SECONDS = 75
"""An idle connection is closed after this time, which is longer than the pauses of a working agent."""

CONNECTIONS = 512
"""Open connections; beyond it, each new one closes the one that has waited longest for its client."""
SPARE_CONNECTIONS = 256
"""Minimum number of connections in addition to those of running and waiting requests."""

BUFFER_BYTES = 262_144
"""Kernel buffer per direction of a connection; by default the kernel holds up to 10 MB for a client that is stuck."""

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True, slots=True)
class Tls:
    """PEM files; `key` None = the key is in the certificate's file."""

    certificate: Path
    key: Path | None = None


def make_tls(certificate: Path, key: Path | None) -> Tls:
    """Check that the files can be loaded, and return them. Raises ConfigError if not."""
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, "")
    except OSError as error:  # includes ssl.SSLError
        raise ConfigError(f"the TLS files cannot be used: {error}", "Give PEM files: --tls-cert, --tls-key.") from error
    return Tls(certificate, key)


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens on the first address of `host`.

    Raises ConfigError for an address that is foreign or not permitted, and Unavailable for a port in use.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except (OSError, UnicodeError) as error:
        raise ConfigError(f"cannot listen on {host!r}: {error}", "Give --host an address of this machine.") from error
    listening = socket.socket(family, kind, protocol)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        for buffer in (socket.SO_SNDBUF, socket.SO_RCVBUF):
            listening.setsockopt(socket.SOL_SOCKET, buffer, BUFFER_BYTES)  # inherited by connections
        listening.bind(address)
        listening.listen(512)
    except OSError as error:
        listening.close()
        if error.errno == errno.EADDRINUSE:
            hint = "Stop what listens there, or give another --port. If it is not yours, it may know the token."
            raise Unavailable(f"{host}:{port} is in use", hint) from error
        raise ConfigError(
            f"cannot listen on {host}:{port}: {error.strerror}", "Give another --host or --port."
        ) from error
    listening.setblocking(False)
    return listening


def is_open(listening: socket.socket) -> bool:
    """Return whether other machines can reach the socket."""
    return not ip_address(str(listening.getsockname()[0]).partition("%")[0]).is_loopback


def url_of(listening: socket.socket, host: str, tls: Tls | None, path: str) -> str:
    """Return the URL for clients, with the host name as configured."""
    place = f"[{host}]" if ":" in host else host
    return f"{'https' if tls else 'http'}://{place}:{listening.getsockname()[1]}{path}"


async def serve(
    app: App, listening: socket.socket, ready: Callable[[], None], tls: Tls | None = None, requests: int = 0
) -> None:
    """Serve until SIGINT or SIGTERM; `ready` is called once requests are accepted. Closes the socket.

    `requests` is the number of requests that the application runs or queues. Call from the main thread.
    """
    config = uvicorn.Config(
        app,
        lifespan="off",
        interface="asgi3",
        http="h11",
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS,
        ssl_certfile=tls.certificate if tls else None,
        ssl_keyfile=tls.key if tls else None,
    )
    table = Connections(connection_limit(max(CONNECTIONS, requests + SPARE_CONNECTIONS)))
    with listening:
        await _Server(config, listening, table, ready).serve(sockets=[])


class _Server(uvicorn.Server):
    """Accepts connections through an `Acceptor`, so `sockets` is empty."""

    def __init__(
        self, config: uvicorn.Config, listening: socket.socket, table: Connections, ready: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._listening, self._table, self._ready = listening, table, ready
        self._acceptor: Acceptor | None = None

    def _make(self) -> BoundedProtocol:
        return BoundedProtocol(self.config, self.server_state, self.lifespan.state, self._table)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._acceptor = Acceptor(self._listening, self._table, self._make, self.config.ssl)
        self._acceptor.start()
        self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self._acceptor is not None:
            self._acceptor.close()
        aborting = asyncio.create_task(self._abort_on_second_signal())
        try:
            await super().shutdown(sockets)
        finally:
            aborting.cancel()

    async def _abort_on_second_signal(self) -> None:
        """Abort all connections: since Python 3.12 a server does not close while one is open."""
        while not self.force_exit:  # noqa: ASYNC110 a signal handler sets it
            await asyncio.sleep(0.1)
        for connection in list(self.server_state.connections):
            connection.transport.abort()

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        """Stop gracefully on both signals; unlike uvicorn's version, do not raise them again afterwards."""

        def stop(number: int, frame: object) -> None:
            self.force_exit = self.should_exit
            self.should_exit = True

        ours = [kind for kind in SIGNALS if signal.getsignal(kind) is not signal.SIG_IGN]
        before = {kind: signal.signal(kind, stop) for kind in ours}
        try:
            yield
        finally:
            for kind, handler in before.items():
                signal.signal(kind, handler)
