"""Client configuration for a server over stdio or HTTP, as text.

This module writes no files and never prints a token: clients that can read it from the environment are told to, others
get a placeholder.
"""

from __future__ import annotations

import json as jsonlib
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

from atlas.cli import output
from atlas.cli.clients import toml_text
from atlas.cli.clients.recipes import (
    RECIPES,
    SERVER_NAME,
    Client,
    http_entry,
    moved_folders,
    nested,
    reads_environment,
    stdio_entry,
)


def print_stdio(client: Client, command: list[str], environment: Mapping[str, str], *, as_json: bool) -> None:
    """Print the configuration with which a client starts the server, with the user's folders."""
    options = [word for name, value in moved_folders(environment).items() for word in ("-e", f"{name}={value}")]
    line = shlex.join(["claude", "mcp", "add", SERVER_NAME, *options, "--", *command])
    _print(client, line, stdio_entry(client, command, environment), as_json=as_json)


def print_http(client: Client, url: str, token: Path | None, *, with_token: bool, as_json: bool) -> None:
    """Print the configuration with which a client reaches a server at `url`; `token` is the file of its token."""
    words = ["claude", "mcp", "add", "--transport", "http", SERVER_NAME, url]
    # in single quotes: the client replaces the variable when it connects; no file and no process list has the token
    words += ["--header", f"Authorization: Bearer {RECIPES[Client.CLAUDE_CODE].token}"] if with_token else []
    more: dict[str, object] = {}
    if with_token and client is Client.VSCODE:
        ask = {"type": "promptString", "id": "atlas-token", "description": "Token of Code Atlas", "password": True}
        more = {"inputs": [ask]}
    _print(client, shlex.join(words), http_entry(client, url, with_token=with_token), more, as_json=as_json)
    if token is not None:
        print(output.plain(f"Then: {token_step(client, token)}"), file=sys.stderr)


def export_line(token: Path) -> str:
    """Return the shell's line that puts the token of a file into the environment of clients."""
    return f'export ATLAS_MCP_TOKEN="$(cat {shlex.quote(str(token))})"'


def token_step(client: Client, token: Path) -> str:
    """Return how a client gets the token of a file."""
    if reads_environment(client):
        return f"{export_line(token)}, where {RECIPES[client].title} starts"
    if client is Client.VSCODE:
        return f"VS Code asks for the token: enter the content of {token}"
    return f"put the content of {token} for <token>, in your own file, not in one of the project"


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
