"""Which clients are installed, and which of their files start Code Atlas. Reads files, writes nothing."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from atlas.cli.clients.change import ConfigEntry, lookup, read_entry
from atlas.cli.clients.recipes import RECIPES, SERVER_NAME, Client, config_file, folders, skill_folder
from atlas.cli.clients.skill import SKILL_NAME
from atlas.core.errors import ConfigError


@dataclass(frozen=True, slots=True)
class FileState:
    """One file of a client. `state`: `connected`, `off` (switched off), `http`, `other command`, `broken` or ``."""

    file: str
    state: str
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ClientState:
    """One client; a file is None if the client has none of that scope."""

    client: str
    title: str
    installed: bool
    project: FileState | None
    user: FileState | None
    skill: bool
    """The skill is installed, in the project or for the user."""


def overview(root: Path, environment: Mapping[str, str], home: Path, command: list[str]) -> list[ClientState]:
    """Return the state of all clients, for a project and the command that starts its server."""
    return [_client(client, root, environment, home, command) for client in Client]


def servers_place(client: Client, path: Path, inside: Path | None) -> ConfigEntry:
    """Return the outermost table that holds the client's servers in a file."""
    return ConfigEntry(path, RECIPES[client].key[:1], inside, "toml" if client is Client.CODEX else "json")


def entry_key(client: Client, servers: object, name: str) -> tuple[str, ...]:
    """Return the path of keys of an entry, given the value at `servers_place`.

    A file of OpenCode 2 keeps servers one level deeper than one of OpenCode 1.
    """
    key = RECIPES[client].key
    if client is Client.OPENCODE:
        inner = lookup(servers, ("servers",))
        is_table = isinstance(inner, dict)
        if is_table and not {"type", "command", "enabled"} & _table(cast("object", inner)).keys():
            key = (*key, "servers")
    return (*key, name)


def matches(existing: object, entry: Mapping[str, object]) -> bool:
    """Return whether an entry has what ours has; clients and users add keys of their own, such as approvals."""
    found = _table(existing)
    return bool(found) and all(found.get(name) == value for name, value in entry.items())


def is_off(existing: object) -> bool:
    """Return whether an entry is switched off by one of the keys that clients have for it."""
    found = _table(existing)
    return found.get("disabled") is True or found.get("enabled") is False


def launches(existing: object, command: list[str]) -> bool:
    """Return whether an entry starts this installation's server, for any project."""
    found = _table(existing)
    first, more = found.get("command"), found.get("args")
    words = [*(_list(first) or [first]), *_list(more)]
    return words[: len(command)] == command and words[len(command) : len(command) + 1] == ["mcp"]


def _table(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, dict) else {}


def _list(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []


def _client(client: Client, root: Path, environment: Mapping[str, str], home: Path, command: list[str]) -> ClientState:
    recipe = RECIPES[client]
    installed = any(shutil.which(program) for program in recipe.programs)
    installed = installed or Path(recipe.home.format(**folders(environment, home))).is_dir()
    files = [
        _file(client, config_file(client, root, environment, home, user=user), None if user else root, command)
        for user in (False, True)
    ]
    skills = (skill_folder(client, root, environment, home, user=user) for user in (False, True))
    skill = any(folder is not None and (folder / SKILL_NAME / "SKILL.md").is_file() for folder in skills)
    return ClientState(client.value, recipe.title, installed, files[0], files[1], skill)


def _file(client: Client, path: Path | None, inside: Path | None, command: list[str]) -> FileState | None:
    if path is None:
        return None
    try:
        _, servers = read_entry(servers_place(client, path, inside))
        existing = lookup(servers, entry_key(client, servers, SERVER_NAME)[1:])
    except ConfigError as error:
        return FileState(str(path), "broken", error.message)
    if existing is None:
        return FileState(str(path), "")
    if RECIPES[client].url_key in _table(existing):
        return FileState(str(path), "off" if is_off(existing) else "http")
    state = "connected" if launches(existing, command) else "other command"
    return FileState(str(path), "off" if state == "connected" and is_off(existing) else state)
