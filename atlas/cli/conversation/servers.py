"""Which servers a chat connects: the files that the user names, those of an installed client, and Code Atlas itself.

Files of a project are never read unasked: a repository must not choose which programs are started.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from atlas.chat.server_spec import ServerSpec, read_servers, unique
from atlas.cli.clients import config_file, jsonc
from atlas.cli.clients.edits import BrokenText
from atlas.cli.clients.recipes import SERVER_NAME, Client
from atlas.cli.clients.recipes import config_file as client_file
from atlas.cli.mcp import launch_command
from atlas.errors import ConfigError

if TYPE_CHECKING:
    from atlas.config.load import Settings

PASSED_PREFIXES = ("ATLAS_", "XDG_", "PYTHON")
"""Variables that our own server gets: MCP clients pass few of the user's variables."""


def chosen_servers(
    settings: Settings, files: Sequence[str], imported: Sequence[Client], *, own_server: bool = True
) -> tuple[tuple[ServerSpec, ...], tuple[str, ...]]:
    """Return the servers, our own first, and the problems of those that cannot be used.

    Raises ConfigError for a file that does not exist or cannot be read.
    """
    problems: list[str] = []
    groups: list[tuple[ServerSpec, ...]] = [(own_spec(settings),)] if own_server else []
    named = [*files, *([settings.chat.servers] if settings.chat.servers and not files else [])]
    paths = [Path(name).expanduser() for name in named] + [_file_of(client, settings.root) for client in imported]
    for path in paths:
        specs, bad = read_servers(_read(path), str(path), os.environ)
        groups.append(specs)
        problems += bad
    return unique(iter(groups)), tuple(problems)


def own_spec(settings: Settings) -> ServerSpec:
    """Return how Code Atlas itself is started for this project."""
    command, *arguments = launch_command()
    passed = {name: value for name, value in os.environ.items() if name.startswith(PASSED_PREFIXES)}
    given = ["mcp", "--project", str(settings.root), "--data-dir", str(settings.data_dir)]
    if settings.origin("data_dir") == "default":
        given = given[:3]
    return ServerSpec(SERVER_NAME, command, (*arguments, *given), environment=passed, origin="Code Atlas")


def _file_of(client: Client, root: Path) -> Path:
    """Return the file with the user's servers of a client, else that of the project. Raises ConfigError."""
    home = Path.home()
    found = [client_file(client, root, os.environ, home, user=user) for user in (True, False)]
    path = next((one for one in found if one is not None and one.exists()), None)
    if path is None:
        places = ", ".join(str(one) for one in found if one is not None)
        raise ConfigError(f"{client.value} has no configuration of servers", f"Looked for {places}.")
    return path


def _read(path: Path) -> Any:
    """Return a parsed JSON (comments allowed) or TOML file. Raises ConfigError."""
    file = config_file.read(path, jsonc.MAX_BYTES)
    if not file.exists:
        raise ConfigError(
            f"no such file: {path}", 'It holds {"mcpServers": {"NAME": {"command": ..., "args": [...]}}}.'
        )
    try:
        return tomllib.loads(file.text) if path.suffix == ".toml" else jsonc.load(file.text)
    except (BrokenText, tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(f"{path}: {error}", "It must be JSON with the key mcpServers.") from error
