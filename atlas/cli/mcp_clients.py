"""Client configuration for a server over stdio or HTTP, as text.

This module writes no files and never prints a token: clients that can read it from the environment are told to, others
get a placeholder.
"""

from __future__ import annotations

import json as jsonlib
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from atlas.cli import output

SERVER_NAME = "code-atlas"


class Client(StrEnum):
    """Clients with a known configuration format."""

    CLAUDE_CODE = "claude-code"
    CURSOR = "cursor"
    VSCODE = "vscode"
    WINDSURF = "windsurf"
    JETBRAINS = "jetbrains"


@dataclass(frozen=True, slots=True)
class Recipe:
    """Where a client keeps its servers and under which key; `key` "" means a shell command."""

    place: str
    key: str
    url_key: str = "url"
    token: str = "${env:ATLAS_MCP_TOKEN}"
    """Where the token goes."""


RECIPES = {
    Client.CLAUDE_CODE: Recipe("Run this in the project folder:", ""),
    Client.CURSOR: Recipe("Put this into .cursor/mcp.json of the project (or ~/.cursor/mcp.json):", "mcpServers"),
    Client.VSCODE: Recipe("Put this into .vscode/mcp.json of the project:", "servers", token="${input:atlas-token}"),
    Client.WINDSURF: Recipe("Put this into ~/.codeium/windsurf/mcp_config.json:", "mcpServers", url_key="serverUrl"),
    Client.JETBRAINS: Recipe(
        "Settings | Tools | AI Assistant | Model Context Protocol | Add | As JSON (Junie: .junie/mcp/mcp.json):",
        "mcpServers",
        token="<token>",
    ),
}


FOLDER_VARIABLES = ("XDG_CACHE_HOME", "XDG_CONFIG_HOME")
"""State index and key folders explicitly: clients start servers with few of the user's environment variables."""


def print_stdio(client: Client, command: list[str], environment: Mapping[str, str], *, as_json: bool) -> None:
    """Return the configuration with which a client starts the server, with the user's folders."""
    folders = {name: environment[name] for name in FOLDER_VARIABLES if environment.get(name)}
    options = [word for name, value in folders.items() for word in ("-e", f"{name}={value}")]
    line = shlex.join(["claude", "mcp", "add", SERVER_NAME, *options, "--", *command])
    entry: dict[str, object] = {"command": command[0], "args": command[1:]}
    if folders:
        entry["env"] = folders
    _print(client, line, _typed(client, "stdio", entry), as_json=as_json)


def print_http(client: Client, url: str, *, with_token: bool, as_json: bool) -> None:
    """Return the configuration with which a client reaches a server at `url`."""
    recipe = RECIPES[client]
    line = shlex.join(["claude", "mcp", "add", "--transport", "http", SERVER_NAME, url])
    entry: dict[str, object] = {recipe.url_key: url}
    if with_token:
        # In double quotes the shell inserts the token, so the line does not contain it.
        line += ' --header "Authorization: Bearer $ATLAS_MCP_TOKEN"'
        entry["headers"] = {"Authorization": f"Bearer {recipe.token}"}
    entry = _typed(client, "http", entry)
    more: dict[str, object] = {}
    if with_token and client is Client.VSCODE:
        ask = {"type": "promptString", "id": "atlas-token", "description": "Token of Code Atlas", "password": True}
        more = {"inputs": [ask]}
    _print(client, line, entry, more, as_json=as_json)


def _typed(client: Client, kind: str, entry: dict[str, object]) -> dict[str, object]:
    return {"type": kind, **entry} if client is Client.VSCODE else entry


def _print(
    client: Client, line: str, entry: dict[str, object], more: dict[str, object] | None = None, *, as_json: bool
) -> None:
    recipe = RECIPES[client]
    document = {recipe.key or "mcpServers": {SERVER_NAME: entry}, **(more or {})}
    if as_json:
        output.print_json(
            {"client": client.value, "place": recipe.place, "command": line if not recipe.key else "", **document}
        )
        return
    print(recipe.place, file=sys.stderr)
    print(jsonlib.dumps(document, indent=2) if recipe.key else output.plain(line))
