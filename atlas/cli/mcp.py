"""`atlas mcp`: serve agents over stdio or HTTP, or print client configuration."""

from __future__ import annotations

import os
import shutil
import socket
import sys
from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Protocol, TypedDict

import typer

from atlas.cli.clients.recipes import Client, known_clients
from atlas.cli.examples import examples
from atlas.cli.options import DataDirOption, JsonOption, ProjectOption, settings_of
from atlas.errors import ConfigError
from atlas.tools.catalogue import offered_tools

if TYPE_CHECKING:
    from atlas.config.load import Settings
    from atlas.http.middleware import RequestLimits
    from atlas.mcp_server import HttpSite

ANYWHERE = ("0.0.0.0", "::", "")
"""Wildcard addresses: valid to listen on, not to connect to."""


TOGETHER = 2
"""Requests that start at once when answering is CPU work of this process: one interpreter gains nothing from more."""


class Offer(TypedDict):
    """Which tools a server offers."""

    offer_index: bool
    toolsets: tuple[str, ...]
    offer_writes: bool


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
        "--token-file", metavar="FILE", help="HTTP: file with the required bearer token. Default: ATLAS_MCP_TOKEN."
    ),
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


ToolsetsOption = Annotated[
    str,
    typer.Option(
        "--toolsets",
        metavar="NAMES",
        help="Toolsets to offer, e.g. code,claims,memory. Default: mcp.toolsets.",
    ),
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    shown = examples(
        "atlas mcp",
        "atlas mcp --print-config codex",
        "atlas mcp --transport http --port 8765",
        "atlas mcp --transport http --host 0.0.0.0 --token-file token.txt",
    )
    app.command("mcp", epilog=shown)(mcp)


def mcp(
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
    transport: TransportOption = Transport.STDIO,
    host: HostOption = "",
    port: PortOption = None,
    token_file: TokenOption = None,
    allow_host: NamesOption = None,
    tls_cert: CertificateOption = None,
    tls_key: KeyOption = None,
    workers: WorkersOption = None,
    toolsets: ToolsetsOption = "",
    print_config: Annotated[
        Client | None,
        typer.Option(
            "--print-config",
            metavar="CLIENT",
            help=f"Print the configuration for a client and exit: {known_clients()}. `atlas connect` writes it.",
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Serve this project to coding agents over MCP: one client on stdin and stdout, or many over HTTP."""
    settings = _with_toolsets(settings_of(project, data_dir), toolsets)
    if json and print_config is None:
        raise ConfigError("--json requires --print-config", "The server always speaks JSON-RPC.")
    if transport is Transport.HTTP:
        given = settings.mcp
        changed = replace(
            given,
            host=host or given.host,
            port=given.port if port is None else port,
            workers=given.workers if workers is None else workers,
        )
        settings = replace(settings, mcp=changed)
        if print_config:
            _print_http(print_config, settings, token_file, tls=tls_cert is not None, as_json=json)
        else:
            _serve_http(settings, token_file, tuple(allow_host or ()), tls_cert, tls_key)
        return
    if host or port is not None or token_file or allow_host or tls_cert or tls_key or workers is not None:
        raise ConfigError(
            "--host, --port, --token-file, --allow-host, --tls-* and --workers are for HTTP", "Add --transport http."
        )
    if print_config:
        arguments = ["mcp", "--project", str(settings.root)]
        if settings.origin("data_dir").startswith(("env ", "--")):
            arguments += ["--data-dir", str(settings.data_dir)]
        if toolsets:
            arguments += ["--toolsets", toolsets]
        from atlas.cli.clients.printing import print_stdio

        print_stdio(print_config, [*launch_command(), *arguments], os.environ, as_json=json)
        return
    from atlas.app.session import make_session
    from atlas.mcp_server import make_server, serve_stdio

    session = make_session(settings, serves_agents=True)
    serve_stdio(session, make_server(session, **_offer(settings)))


def _offer(settings: Settings) -> Offer:
    mcp = settings.mcp
    return {
        "offer_index": mcp.allow_index,
        "toolsets": mcp.toolsets,
        "offer_writes": settings.knowledge.allow_write,
    }


def _with_toolsets(settings: Settings, toolsets: str) -> Settings:
    """Return the settings with the toolsets of the command line. Raises ConfigError for an unknown one."""
    if toolsets:
        chosen = tuple(name.strip() for name in toolsets.split(",") if name.strip())
        settings = replace(settings, mcp=replace(settings.mcp, toolsets=chosen))
    offered_tools(settings.mcp.toolsets)
    return settings


def launch_command() -> list[str]:
    """Return the command that starts this installation: editors do not share the shell's PATH.

    `-P` keeps the current folder off the import path: agents start servers in project folders, whose `json.py` must not
    be imported.
    """
    started = Path(sys.argv[0])
    if started.name == "atlas":
        found = shutil.which(str(started))
        if found:
            return [str(Path(found).absolute())]
    return [sys.executable, "-P", "-m", "atlas"]


def _print_http(client: Client, settings: Settings, token_file: Path | None, *, tls: bool, as_json: bool) -> None:
    from atlas.cli.clients.printing import print_http
    from atlas.config.load import TOKEN_VARIABLE, is_loopback

    host, port = settings.mcp.host, settings.mcp.port
    if not port:
        raise ConfigError("a client's configuration needs a fixed port", "Give --port, or mcp.port in atlas.toml.")
    if host in ANYWHERE:
        host = socket.gethostname()
    place = f"[{host}]" if ":" in host else host
    with_token = token_file is not None or bool(os.environ.get(TOKEN_VARIABLE)) or not is_loopback(host)
    print_http(client, f"{'https' if tls else 'http'}://{place}:{port}/mcp", with_token=with_token, as_json=as_json)


def _serve_http(
    settings: Settings, token_file: Path | None, names: tuple[str, ...], certificate: Path | None, key: Path | None
) -> None:
    def serve(site: HttpSite, ready: Callable[[], None], *, with_token: bool) -> None:
        from atlas.app.session import make_session
        from atlas.mcp_server import make_server, serve_http, session_health

        # everybody who reaches the port would read them
        personal = settings.knowledge.personal and settings.knowledge.personal_over_http and with_token
        session = make_session(settings, serves_agents=True, personal=personal)
        server = make_server(session, **_offer(settings))
        serve_http(server, session, site, ready, lambda: session_health(session))

    serve_over_http(settings, settings.project_name, serve, token_file, names, certificate, key)


class ServeHttp(Protocol):
    """Serves at a site until a signal; calls `ready` once requests are accepted."""

    def __call__(self, site: HttpSite, ready: Callable[[], None], *, with_token: bool) -> None:
        """Serve."""
        ...


def serve_over_http(
    settings: Settings,
    title: str,
    serve_site: ServeHttp,
    token_file: Path | None,
    names: tuple[str, ...],
    certificate: Path | None,
    key: Path | None,
) -> None:
    """Listen as the settings say and serve in one process or several until a signal. Raises ConfigError."""
    from atlas.config.load import TOKEN_VARIABLE
    from atlas.http.auth import make_access, read_token
    from atlas.http.server import is_open, listen, make_tls, url_of
    from atlas.http.workers import serve_many
    from atlas.mcp_server import HTTP_PATH, HttpSite

    if key is not None and certificate is None:
        raise ConfigError("--tls-key needs --tls-cert", "Give both, in PEM form.")
    tls = make_tls(certificate, key) if certificate else None
    mcp = settings.mcp
    token, warning = read_token(token_file, os.environ.get(TOKEN_VARIABLE, ""))
    with listen(mcp.host, mcp.port) as listening:
        to_others = is_open(listening)
        own = (socket.gethostname(), socket.getfqdn()) if to_others and mcp.host in ANYWHERE else ()
        access = make_access(mcp.host, is_open=to_others, names=(*own, *names), token=token)
        if warning:
            _warn(warning)
        if to_others and tls is None:
            _warn("without TLS others on the network can read the token and the code; see --tls-cert, or use a proxy")
        where = url_of(listening, mcp.host, tls, HTTP_PATH)

        def ready() -> None:
            asks = "a token is required" if token else "no token is required"
            print(f"serving {title} at {where} ({asks}); press Ctrl-C to stop", file=sys.stderr, flush=True)

        def serve(listening: socket.socket, ready: Callable[[], None]) -> None:
            serve_site(HttpSite(listening, access, _limits(settings), tls), ready, with_token=bool(token))

        count = mcp.workers or os.cpu_count() or 1
        if count == 1:
            serve(listening, ready)
        else:
            serve_many(listening, count, serve, ready)


def _limits(settings: Settings) -> RequestLimits:
    from atlas.http.middleware import RequestLimits

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
