"""Which clients are installed, and which of their files start Code Atlas. Reads files, writes nothing."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from atlas.cli.clients.change import lookup, read_entry
from atlas.cli.clients.hooks import HOOKS, has_hooks, place_of
from atlas.cli.clients.owner import entry_name, has_other_projects, is_server, table_of, words_of
from atlas.cli.clients.recipes import RECIPES, Client, config_file, folders, skill_folder
from atlas.cli.clients.record import ConfigEntry
from atlas.cli.clients.skill import SKILL_NAME
from atlas.core.errors import ConfigError


@dataclass(frozen=True, slots=True)
class FileState:
    """One file of a client, as far as it concerns this project.

    `state`: `connected`, `portable` (starts the `atlas` of PATH), `off` (switched off), `http`, `other command`,
    `other project` (only others are connected), `broken` or ``.
    """

    file: str
    state: str
    problem: str = ""
    name: str = ""
    """Of the entry."""
    entry: object = None


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
    hooks: bool
    """And so are the hooks."""


def overview(root: Path, environment: Mapping[str, str], home: Path, command: list[str]) -> list[ClientState]:
    """Return the state of all clients, for a project and the command that starts its server."""
    return [_client(client, root, environment, home, command) for client in Client]


def servers_place(client: Client, path: Path, inside: Path | None) -> ConfigEntry:
    """Return the outermost table that holds the client's servers in a file."""
    return ConfigEntry(path, RECIPES[client].key[:1], inside, "toml" if client is Client.CODEX else "json")


def table_place(client: Client, servers: ConfigEntry, value: object) -> tuple[ConfigEntry, object]:
    """Return the place of the table that holds the client's entries, and its value, given `servers_place` and its own.

    A file of OpenCode 2 keeps servers one level deeper than one of OpenCode 1.
    """
    key = RECIPES[client].key
    if client is Client.OPENCODE:
        inner = lookup(value, ("servers",))
        is_table = isinstance(inner, dict)
        if is_table and not {"type", "command", "enabled"} & table_of(cast("object", inner)).keys():
            key = (*key, "servers")
    return replace(servers, key=key), lookup(value, key[1:])


def matches(existing: object, entry: Mapping[str, object]) -> bool:
    """Return whether an entry has what ours has; clients and users add keys of their own, such as approvals."""
    found = table_of(existing)
    return bool(found) and all(found.get(name) == value for name, value in entry.items())


def is_off(existing: object) -> bool:
    """Return whether an entry is switched off by one of the keys that clients have for it."""
    found = table_of(existing)
    return found.get("disabled") is True or found.get("enabled") is False


def launches(existing: object, command: list[str]) -> bool:
    """Return whether an entry starts this installation's server, for any project."""
    words = words_of(existing)
    return words[: len(command)] == command and words[len(command) : len(command) + 1] == ["mcp"]


def is_portable(existing: object) -> bool:
    """Return whether an entry starts whichever `atlas` is on PATH."""
    return is_server(existing) and words_of(existing)[0] == "atlas"


def _client(client: Client, root: Path, environment: Mapping[str, str], home: Path, command: list[str]) -> ClientState:
    recipe = RECIPES[client]
    installed = any(shutil.which(program) for program in recipe.programs)
    installed = installed or Path(recipe.home.format(**folders(environment, home))).is_dir()
    files = [
        _file(client, config_file(client, root, environment, home, user=user), root, command, user=user)
        for user in (False, True)
    ]
    skills = (skill_folder(client, root, environment, home, user=user) for user in (False, True))
    skill = any(folder is not None and (folder / SKILL_NAME / "SKILL.md").is_file() for folder in skills)
    places = (
        place_of(client, root, environment, home, user=user, portable=portable)
        for user, portable in ((False, False), (False, True), (True, False))
        if client in HOOKS
    )
    hooks = any(map(has_hooks, places))
    return ClientState(client.value, recipe.title, installed, files[0], files[1], skill, hooks)


def _file(client: Client, path: Path | None, root: Path, command: list[str], *, user: bool) -> FileState | None:
    if path is None:
        return None
    try:
        servers = servers_place(client, path, None if user else root)
        place, entries = table_place(client, servers, read_entry(servers)[1])
    except ConfigError as error:
        return FileState(str(path), "broken", error.message)
    name = entry_name(place, entries, root)
    existing = lookup(entries, (name,))
    if existing is None:
        return FileState(str(path), "other project" if has_other_projects(place, entries, root) else "")
    if RECIPES[client].url_key in table_of(existing):
        state = "http"
    elif is_portable(existing):
        state = "portable"
    else:
        state = "connected" if launches(existing, command) else "other command"
    is_switched_off = is_off(existing) and state != "other command"
    return FileState(str(path), "off" if is_switched_off else state, name=name, entry=existing)
