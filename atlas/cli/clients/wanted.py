"""The change to a client's file that the options of `atlas connect` ask for."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from atlas.cli.clients import hooks
from atlas.cli.clients.change import ClientChange, lookup, plan, plan_undo, read_entry
from atlas.cli.clients.overview import is_portable, launches, matches, servers_place, table_place
from atlas.cli.clients.owner import entry_name, owner_of, words_of
from atlas.cli.clients.recipes import (
    RECIPES,
    SERVER_NAME,
    Client,
    config_file,
    http_entry,
    reads_environment,
    stdio_entry,
)
from atlas.cli.clients.record import ConfigEntry
from atlas.cli.clients.skill import skill_place
from atlas.cli.over_http import url_for_clients
from atlas.core.errors import ConfigError

if TYPE_CHECKING:
    from atlas.runtime.config.load import Settings


@dataclass(frozen=True, slots=True)
class ConnectRequest:
    """What is to be connected, and how. `what` is `entry`, `skill` or `hooks`."""

    command: Sequence[str]
    """The command of this installation."""
    what: str = "entry"
    name: str = ""
    """Of the server in the file; "" = that of this project."""
    file: str = ""
    user: bool = False
    portable: bool = False
    over_http: bool = False
    undo: bool = False


def planned(settings: Settings, client: Client, wanted: ConnectRequest) -> tuple[ClientChange, str]:
    """Return the change that is wanted, and what the user must know about it. Raises ConfigError."""
    home, root = Path.home(), settings.root
    if wanted.what != "entry" and (wanted.file or wanted.name):
        raise ConfigError(f"--{wanted.what} has its own place", "Leave out --file and --name.")
    if wanted.what == "skill":
        place, page = skill_place(client, root, os.environ, home, user=wanted.user)
        return (plan_undo(place, lambda found: found == page), "") if wanted.undo else (plan(place, page), "")
    if wanted.what == "hooks":
        place = hooks.place_of(client, root, os.environ, home, user=wanted.user, portable=wanted.portable)
        if wanted.undo:
            return hooks.plan_removal(client, place), ""
        return hooks.plan_hooks(client, place, wanted.command, portable=wanted.portable), hooks.note_of(client)
    place, in_user_file = _entry_place(settings, client, wanted)
    existing = read_entry(place)[1]
    if wanted.undo:
        return plan_undo(place, lambda found: launches(found, list(wanted.command)) or is_portable(found)), ""
    in_user_file = in_user_file and not wanted.file
    if wanted.over_http:
        entry = http_entry(client, _url(settings, client), with_token=True)
    else:
        command = _command(settings, client, wanted, user=in_user_file)
        entry = stdio_entry(client, command, {} if wanted.portable else os.environ)
    serves_one = wanted.over_http or str(root) in words_of(entry)
    note = "" if in_user_file or wanted.file else RECIPES[client].note
    return plan(place, entry, same=matches(existing, entry), project=str(root) if serves_one else ""), note


def _url(settings: Settings, client: Client) -> str:
    """Return the URL of an entry over HTTP. Raises ConfigError for a client whose entry would hold the token itself."""
    if not reads_environment(client):
        raise ConfigError(
            f"{RECIPES[client].title} does not read the token from its environment, and files get no token",
            f"Leave out --transport, or follow: atlas mcp --transport http --print-config {client.value}",
        )
    return url_for_clients(settings, tls=False)


def _entry_place(settings: Settings, client: Client, wanted: ConnectRequest) -> tuple[ConfigEntry, bool]:
    """Return where the client's entry belongs, and whether that is a file of the user."""
    if wanted.file and wanted.user:
        raise ConfigError("both --file and --user are given", "Give one of them.")
    in_user_file = wanted.user or not RECIPES[client].project
    if wanted.portable and in_user_file and not wanted.file:
        raise ConfigError(
            f"--portable is for a file of the project, and this entry of {RECIPES[client].title} is in your own file",
            "Leave out --portable.",
        )
    inside = None
    if wanted.file:
        path = Path(wanted.file).expanduser().absolute()
    else:
        found = config_file(client, settings.root, os.environ, Path.home(), user=in_user_file)
        assert found is not None, "every client has a file of the user"
        path = found
        inside = None if in_user_file else settings.root
    servers = servers_place(client, path, inside)
    place, entries = table_place(client, servers, read_entry(servers)[1])
    is_general = in_user_file and not wanted.file and _serves_all(client) and not wanted.over_http
    name = wanted.name or (SERVER_NAME if is_general else entry_name(place, entries, settings.root))
    place = replace(place, key=(*place.key, name))
    owner = owner_of(place, lookup(entries, (name,)))
    if owner not in ("", str(settings.root)):
        raise ConfigError(
            f"{name} in {path} is the entry of another project: {owner}",
            f"Nothing was written. Give another --name, or --project {owner}.",
        )
    return place, in_user_file


def _serves_all(client: Client) -> bool:
    """Return whether one entry can serve every project, because the client says which one it is."""
    return RECIPES[client].starts_in_project or bool(RECIPES[client].folder_variable)


def _command(settings: Settings, client: Client, wanted: ConnectRequest, *, user: bool) -> list[str]:
    """Return the command of an entry. One in a file of the user serves all projects if the client allows it."""
    recipe = RECIPES[client]
    is_general = user or wanted.portable
    if wanted.portable and not _serves_all(client):
        raise ConfigError(
            f"{recipe.title} does not say in which folder it starts servers, so an entry must name the project's",
            "Leave out --portable, and do not commit the file.",
        )
    words = ["atlas", "mcp"] if wanted.portable else [*wanted.command, "mcp"]
    if not is_general or not _serves_all(client):
        words += ["--project", str(settings.root)]
    elif recipe.folder_variable:
        words += ["--project", recipe.folder_variable]
    origin = settings.origin("data_dir")
    if wanted.portable and origin.startswith("--"):
        raise ConfigError("--data-dir is a path of this machine, which a portable entry cannot have", "Leave it out.")
    if not wanted.portable and origin.startswith(("env ", "--")):
        words += ["--data-dir", str(settings.data_dir)]
    return words
