"""`atlas mcp`: serve an agent over stdio, or print what to put into a client's configuration. Edits no one's files."""

from __future__ import annotations

import json as jsonlib
import shlex
import shutil
import sys
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from atlas.cli import output
from atlas.cli.options import DataDirOption, JsonOption, ProjectOption, settings_of
from atlas.errors import ConfigError

SERVER_NAME = "code-atlas"


class Client(StrEnum):
    """Agents whose configuration can be printed."""

    CLAUDE_CODE = "claude-code"
    CURSOR = "cursor"
    VSCODE = "vscode"
    WINDSURF = "windsurf"
    JETBRAINS = "jetbrains"


@dataclass(frozen=True, slots=True)
class Recipe:
    """Where a client keeps its servers and the key it keeps them under; `key` "" means a shell command."""

    place: str
    key: str


RECIPES = {
    Client.CLAUDE_CODE: Recipe("Run this in the project folder:", ""),
    Client.CURSOR: Recipe("Put this into .cursor/mcp.json of the project (or ~/.cursor/mcp.json):", "mcpServers"),
    Client.VSCODE: Recipe("Put this into .vscode/mcp.json of the project:", "servers"),
    Client.WINDSURF: Recipe("Put this into ~/.codeium/windsurf/mcp_config.json:", "mcpServers"),
    Client.JETBRAINS: Recipe(
        "Settings | Tools | AI Assistant | Model Context Protocol | Add | As JSON (Junie: .junie/mcp/mcp.json):",
        "mcpServers",
    ),
}


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("mcp")(mcp)


def mcp(
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
    transport: Annotated[str, typer.Option("--transport", metavar="stdio", help="How agents connect.")] = "stdio",
    print_config: Annotated[
        Client | None, typer.Option("--print-config", help="Print the lines for a client and exit.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Serve this project to a coding agent over MCP (stdin and stdout)."""
    settings = settings_of(project, data_dir)
    if print_config:
        arguments = ["mcp", "--project", str(settings.root)]
        if settings.origins.get("store.data_dir", "").startswith(("env ", "--")):
            arguments += ["--data-dir", str(settings.data_dir)]
        _print_config(print_config, [*launch_command(), *arguments], as_json=json)
        return
    if json:
        raise ConfigError("--json goes with --print-config", "The server always speaks JSON-RPC.")
    if transport != "stdio":
        raise ConfigError(f"transport {transport!r} is not available in this version", "Use --transport stdio.")
    from atlas.mcp_server import serve_stdio
    from atlas.session import Session

    serve_stdio(Session(settings), offer_index=settings.mcp.allow_index)


def launch_command() -> list[str]:
    """Return how to start this very installation: editors do not share the shell's PATH.

    `-P` keeps the current folder off the import path: agents start servers in projects, whose `json.py` is not ours.
    """
    started = Path(sys.argv[0])
    if started.name == "atlas":
        found = shutil.which(str(started))
        if found:
            return [str(Path(found).absolute())]
    return [sys.executable, "-P", "-m", "atlas"]


def _print_config(client: Client, command: list[str], *, as_json: bool) -> None:
    recipe = RECIPES[client]
    line = shlex.join(["claude", "mcp", "add", SERVER_NAME, "--", *command])
    entry: dict[str, object] = {"command": command[0], "args": command[1:]}
    if client is Client.VSCODE:
        entry = {"type": "stdio", **entry}
    document = {recipe.key or "mcpServers": {SERVER_NAME: entry}}
    if as_json:
        output.print_json(
            {"client": client.value, "place": recipe.place, "command": line if not recipe.key else "", **document}
        )
        return
    print(recipe.place, file=sys.stderr)
    print(jsonlib.dumps(document, indent=2) if recipe.key else line)
