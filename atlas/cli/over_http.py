"""Serving over HTTP: the options of commands that do, who may connect, and the URL and token that clients need."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Protocol

import typer

from atlas.cli.output import plain
from atlas.core.errors import ConfigError

if TYPE_CHECKING:
    from atlas.runtime.config.load import Settings
    from atlas.server.http.auth import Access
    from atlas.server.http.middleware import RequestLimits
    from atlas.server.http.server import Tls
    from atlas.server.mcp import HttpSite

ANYWHERE = ("0.0.0.0", "::", "")
"""Wildcard addresses: valid to listen on, not to connect to."""

HTTP_OPTIONS = "--host, --port, --token-file, --no-token, --allow-host, --tls-cert and --tls-key"
"""What only a server over HTTP has."""

TOGETHER = 2
"""Requests that start at once when answering is CPU work of this process: one interpreter gains nothing from more."""


@dataclass(frozen=True, slots=True)
class HttpGuard:
    """What the options say about who may connect over HTTP."""

    token_file: Path | None = None
    no_token: bool = False
    names: tuple[str, ...] = ()
    """Further names of this host."""
    certificate: Path | None = None
    key: Path | None = None


class Transport(StrEnum):
    """Transports of MCP."""

    STDIO = "stdio"
    HTTP = "http"


TransportOption = Annotated[Transport, typer.Option("--transport", help="How agents connect.")]
HostOption = Annotated[
    str, typer.Option("--host", metavar="ADDRESS", help="HTTP: address to listen on. Default: mcp.host.")
]
PortOption = Annotated[
    int | None,
    typer.Option(
        "--port", metavar="N", min=0, max=65_535, help="HTTP: port, 0 = any. Default: mcp.port.", show_default=False
    ),
]
TokenOption = Annotated[
    Path | None,
    typer.Option(
        "--token-file",
        metavar="FILE",
        help="HTTP: file with the required bearer token. Default: ATLAS_MCP_TOKEN, else on this machine a file that is "
        "made for you.",
    ),
]
NoTokenOption = Annotated[
    bool,
    typer.Option("--no-token", help="HTTP: ask for no token: every user and program of this machine may call."),
]
NamesOption = Annotated[
    list[str] | None, typer.Option("--allow-host", metavar="NAME", help="HTTP: accept this host name, too; repeatable.")
]
WorkersOption = Annotated[
    int | None,
    typer.Option(
        "--workers",
        metavar="N",
        min=0,
        max=256,
        help="HTTP: number of processes, 0 = one per core. Default: mcp.workers.",
        show_default=False,
    ),
]
CertificateOption = Annotated[
    Path | None, typer.Option("--tls-cert", metavar="FILE", help="HTTP: TLS certificate (PEM).")
]
KeyOption = Annotated[
    Path | None, typer.Option("--tls-key", metavar="FILE", help="HTTP: private key of --tls-cert (PEM).")
]


class ServeHttp(Protocol):
    """Serves at a site until a signal; calls `ready` once requests are accepted."""

    def __call__(self, site: HttpSite, ready: Callable[[], None], *, with_token: bool) -> None:
        """Serve."""
        ...


def serve_over_http(settings: Settings, title: str, serve_site: ServeHttp, guard: HttpGuard) -> None:
    """Listen as the settings say and serve in one process or several until a signal. Raises ConfigError."""
    from atlas.cli.clients.printing import export_line
    from atlas.server.http.auth import make_access
    from atlas.server.http.server import is_open, listen, make_tls, url_of
    from atlas.server.http.workers import serve_many
    from atlas.server.mcp import HTTP_PATH, HttpSite

    if guard.key is not None and guard.certificate is None:
        raise ConfigError("--tls-key needs --tls-cert", "Give both, in PEM form.")
    tls = make_tls(guard.certificate, guard.key) if guard.certificate else None
    mcp = settings.mcp
    with listen(mcp.host, mcp.port) as listening:
        to_others = is_open(listening)
        token, place = _token(guard, to_others=to_others)
        own = (socket.gethostname(), socket.getfqdn()) if to_others and mcp.host in ANYWHERE else ()
        access = make_access(mcp.host, is_open=to_others, names=(*own, *guard.names), token=token)
        if to_others and tls is None:
            _warn("without TLS others on the network can read the token and the code; see --tls-cert, or use a proxy")
        where = url_of(listening, mcp.host, tls, HTTP_PATH)

        def ready() -> None:
            asks = "a token is required" if token else "no token is required"
            print(f"serving {title} at {where} ({asks}); press Ctrl-C to stop", file=sys.stderr)
            if place is not None:
                print(plain(f"next: {export_line(place)}, where clients start"), file=sys.stderr)
            sys.stderr.flush()

        def serve(listening: socket.socket, ready: Callable[[], None]) -> None:
            serve_site(HttpSite(listening, access, _limits(settings), tls), ready, with_token=bool(token))

        count = mcp.workers or os.cpu_count() or 1
        if count == 1:
            serve(listening, ready)
        else:
            serve_many(listening, count, serve, ready)


@dataclass(frozen=True, slots=True)
class OpenSite:
    """A socket that listens, which hosts may be addressed, and the URL for clients."""

    listening: socket.socket
    access: Access
    tls: Tls | None
    url: str


@contextmanager
def site_of(host: str, port: int, guard: HttpGuard) -> Generator[OpenSite]:
    """Listen for the block, for a server that checks tokens itself. Raises ConfigError and Unavailable."""
    from atlas.server.http.auth import LOOPBACK_NAMES, Access
    from atlas.server.http.server import is_open, listen, make_tls, url_of

    if guard.key is not None and guard.certificate is None:
        raise ConfigError("--tls-key needs --tls-cert", "Give both, in PEM form.")
    tls = make_tls(guard.certificate, guard.key) if guard.certificate else None
    with listen(host, port) as listening:
        to_others = is_open(listening)
        own = (socket.gethostname(), socket.getfqdn()) if to_others and host in ANYWHERE else ()
        names = {name.strip("[]").lower() for name in (host, *own, *guard.names)}
        if to_others and tls is None:
            _warn("without TLS others on the network can read the token and the code; see --tls-cert, or use a proxy")
        yield OpenSite(
            listening, Access(frozenset(names | LOOPBACK_NAMES), to_others), tls, url_of(listening, host, tls, "")
        )


def url_for_clients(settings: Settings, *, tls: bool) -> str:
    """Return the URL at which clients reach the server. Raises ConfigError without a fixed port."""
    host, port = settings.mcp.host, settings.mcp.port
    if not port:
        raise ConfigError("a client's configuration needs a fixed port", "Give --port, or mcp.port in atlas.toml.")
    if host in ANYWHERE:
        host = socket.gethostname()
    return f"{'https' if tls else 'http'}://{f'[{host}]' if ':' in host else host}:{port}/mcp"


def token_place(settings: Settings, file: Path | None) -> Path | None:
    """Return the file of the token that clients need; None if it is in their environment or not known yet.

    On this machine it is made if it is missing. Raises ConfigError if that is impossible.
    """
    from atlas.runtime.config.load import TOKEN_VARIABLE, is_loopback
    from atlas.server.http.auth import own_token

    if file is not None or os.environ.get(TOKEN_VARIABLE) or not is_loopback(settings.mcp.host):
        return file
    return own_token()[1]


def _token(guard: HttpGuard, *, to_others: bool) -> tuple[str, Path | None]:
    """Return the token, "" for none, and the file of one that was not given. Warns of what is open."""
    from atlas.runtime.config.load import TOKEN_VARIABLE
    from atlas.server.http.auth import own_token, read_token

    if guard.no_token:
        if guard.token_file is not None:
            raise ConfigError("both --token-file and --no-token are given", "Give one of them.")
        if not to_others:
            _warn(
                "without a token every user of this machine can call all tools: read the index, write notes if allowed"
            )
        return "", None
    token, warning = read_token(guard.token_file, os.environ.get(TOKEN_VARIABLE, ""))
    if warning:
        _warn(warning)
    return (token, None) if token or to_others else own_token()


def _limits(settings: Settings) -> RequestLimits:
    from atlas.server.http.middleware import RequestLimits

    mcp = settings.mcp
    return RequestLimits(
        mcp.max_body_bytes,
        mcp.request_seconds,
        mcp.max_concurrent,
        mcp.max_waiting,
        mcp.max_per_client,
        mcp.max_starting or (0 if settings.asks_servers else TOGETHER),
    )


def _warn(message: str) -> None:
    print(f"warning: {message}", file=sys.stderr, flush=True)
