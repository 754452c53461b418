"""`atlas mcp`: serve agents over stdio or HTTP, or print client configuration."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from atlas.app.toolsets import offer_of, with_toolsets
from atlas.cli.clients.recipes import Client, known_clients
from atlas.cli.options import DataDirOption, JsonOption, ProjectOption, examples, settings_of
from atlas.cli.over_http import (
    HTTP_OPTIONS,
    CertificateOption,
    HostOption,
    HttpGuard,
    KeyOption,
    NamesOption,
    NoTokenOption,
    PortOption,
    TokenOption,
    Transport,
    TransportOption,
    WorkersOption,
    serve_over_http,
    token_place,
    url_for_clients,
)
from atlas.core.errors import ConfigError

if TYPE_CHECKING:
    from atlas.runtime.config.load import Settings
    from atlas.server.mcp import HttpSite


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
    no_token: NoTokenOption = False,
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
    """Serve this project to coding agents over MCP: one client on stdin and stdout, or many over HTTP.

    Over stdio without --project, the roots that the client offers choose the project.
    """
    settings = with_toolsets(settings_of(project, data_dir), toolsets)
    if json and print_config is None:
        raise ConfigError("--json requires --print-config", "The server always speaks JSON-RPC.")
    guard = HttpGuard(token_file, no_token, tuple(allow_host or ()), tls_cert, tls_key)
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
            _print_http(print_config, settings, guard, as_json=json)
        else:
            _serve_http(settings, guard)
        return
    if host or port is not None or guard != HttpGuard() or workers is not None:
        raise ConfigError(f"{HTTP_OPTIONS} and --workers are for HTTP", "Add --transport http.")
    if print_config:
        arguments = ["mcp", "--project", str(settings.root)]
        if settings.origin("data_dir").startswith(("env ", "--")):
            arguments += ["--data-dir", str(settings.data_dir)]
        if toolsets:
            arguments += ["--toolsets", toolsets]
        from atlas.cli.clients.printing import print_stdio

        print_stdio(print_config, [*launch_command(), *arguments], os.environ, as_json=json)
        return
    _serve_stdio(settings, data_dir, is_given=bool(project or os.environ.get("ATLAS_PROJECT")))


def _serve_stdio(settings: Settings, data_dir: str, *, is_given: bool) -> None:
    """Serve a project that is given, or that of the client's roots, in this process.

    `atlas.server.proxy` has tried the daemon before, and started it if the settings say so.
    """
    settings = replace(settings, mcp=replace(settings.mcp, start_daemon=False))
    from atlas.app.session import make_session
    from atlas.server.mcp import make_server, serve_stdio

    session = make_session(settings, serves_agents=True)
    if is_given:
        serve_stdio(session, make_server(session, **offer_of(settings)))
        return
    from atlas.runtime.config.load import load_settings
    from atlas.server.roots import RootSessions

    roots = RootSessions(
        session,
        partial(make_session, serves_agents=True),
        lambda root: load_settings(str(root), data_dir),
    )
    serve_stdio(roots, make_server(session, **offer_of(settings), roots=roots))


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


def _print_http(client: Client, settings: Settings, guard: HttpGuard, *, as_json: bool) -> None:
    from atlas.cli.clients.printing import print_http

    url = url_for_clients(settings, tls=guard.certificate is not None)
    place = None if guard.no_token else token_place(settings, guard.token_file)
    print_http(client, url, place, with_token=not guard.no_token, as_json=as_json)


def _serve_http(settings: Settings, guard: HttpGuard) -> None:
    def serve(site: HttpSite, ready: Callable[[], None], *, with_token: bool) -> None:
        from atlas.app.session import make_session
        from atlas.server.mcp import make_server, serve_http, session_health

        # everybody who reaches the port would read them
        personal = settings.knowledge.personal and settings.knowledge.personal_over_http and with_token
        session = make_session(settings, serves_agents=True, personal=personal)
        server = make_server(session, **offer_of(settings))
        serve_http(server, session, site, ready, lambda: session_health(session))

    serve_over_http(settings, settings.project_name, serve, guard)
