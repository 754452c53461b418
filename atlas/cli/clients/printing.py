"""Client configuration for a server over stdio or HTTP, as text.

This module writes no files and never prints a token: clients that can read it from the environment are told to, others
get a placeholder.
"""

from __future__ import annotations

import json as jsonlib
import shlex
import sys
from collections.abc import Mapping

from atlas.cli import output
from atlas.cli.clients import toml_text
from atlas.cli.clients.recipes import (
    RECIPES,
    SERVER_NAME,
    Client,
    http_entry,
    moved_folders,
    nested,
    stdio_entry,
)


def print_stdio(client: Client, command: list[str], environment: Mapping[str, str], *, as_json: bool) -> None:
    """Print the configuration with which a client starts the server, with the user's folders."""
    options = [word for name, value in moved_folders(environment).items() for word in ("-e", f"{name}={value}")]
    line = shlex.join(["claude", "mcp", "add", SERVER_NAME, *options, "--", *command])
    _print(client, line, stdio_entry(client, command, environment), as_json=as_json)


def print_http(client: Client, url: str, *, with_token: bool, as_json: bool) -> None:
    """Print the configuration with which a client reaches a server at `url`."""
    line = shlex.join(["claude", "mcp", "add", "--transport", "http", SERVER_NAME, url])
    if with_token:
        # In double quotes the shell inserts the token, so the line does not contain it.
        line += ' --header "Authorization: Bearer $ATLAS_MCP_TOKEN"'
    more: dict[str, object] = {}
    if with_token and client is Client.VSCODE:
        ask = {"type": "promptString", "id": "atlas-token", "description": "Token of Code Atlas", "password": True}
        more = {"inputs": [ask]}
    _print(client, line, http_entry(client, url, with_token=with_token), more, as_json=as_json)


def place_of(client: Client) -> str:
    """Return where a user puts the printed lines."""
    recipe = RECIPES[client]
    if client is Client.CLAUDE_CODE:
        return "Run this in the project folder:"
    if client is Client.JETBRAINS:
        return "Settings | Tools | AI Assistant | Model Context Protocol | Add | As JSON (Junie: .junie/mcp/mcp.json):"
    names = {"home": "~", "config": "~/.config", "codex": "~/.codex", "copilot": "~/.copilot"}
    user = recipe.user[0].format(vscode="<user profile>", claude="", claude_file="", **names)
    where = f"{recipe.project[0]} of the project (or {user})" if recipe.project else user
    return f"Put this into {where}:"


def _print(
    client: Client, line: str, entry: dict[str, object], more: dict[str, object] | None = None, *, as_json: bool
) -> None:
    recipe, place = RECIPES[client], place_of(client)
    document = {**nested(recipe.key, entry), **(more or {})}
    by_command = client is Client.CLAUDE_CODE
    if as_json:
        command = line if by_command else ""
        output.print_json({"client": client.value, "place": place, "command": command, **document})
        return
    print(place, file=sys.stderr)
    if by_command:
        print(output.plain(line))
    elif client is Client.CODEX:
        print(toml_text.table((*recipe.key, SERVER_NAME), entry), end="")
    else:
        print(jsonlib.dumps(document, indent=2))
