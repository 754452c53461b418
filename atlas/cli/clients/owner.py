"""Which entry of a client's file belongs to which project, and under which name a project's entry goes.

A client with one file for all projects holds one entry for each: the first is `code-atlas`, a further one
`code-atlas-FOLDER`. An entry belongs to the project that it names, or for which it was written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import cast

from atlas.cli.clients.recipes import SERVER_NAME
from atlas.cli.clients.record import ConfigEntry, recall

_MAX_FOLDER = 32
"""Characters of the folder's name: clients limit the length of a server's name with that of a tool."""


def table_of(value: object) -> Mapping[str, object]:
    """Return a value as a table, an empty one for any other value."""
    return cast("Mapping[str, object]", value) if isinstance(value, dict) else {}


def list_of(value: object) -> list[object]:
    """Return a value as a list, an empty one for any other value."""
    return cast("list[object]", value) if isinstance(value, list) else []


def words_of(entry: object) -> list[str]:
    """Return the command of an entry with its arguments, [] for one over HTTP."""
    found = table_of(entry)
    command = found.get("command")
    parts = [*(list_of(command) or [command]), *list_of(found.get("args"))]
    return [part for part in parts if isinstance(part, str)]


def is_server(entry: object) -> bool:
    """Return whether an entry starts the server of some installation of Code Atlas."""
    words = words_of(entry)
    at = words.index("mcp") if "mcp" in words else 0
    return at > 0 and Path(words[at - 1]).name == "atlas"


def owner_of(place: ConfigEntry, entry: object) -> str:
    """Return the folder of the project that an entry belongs to; "" for one that names none and for other servers'."""
    record = recall(place)
    if record is not None and record["written"] == entry and record.get("project"):
        return str(record["project"])
    words = words_of(entry)
    if not is_server(entry) or "--project" not in words[:-1]:
        return ""
    named = words[words.index("--project") + 1]
    return named if named.startswith("/") else ""


def entry_name(place: ConfigEntry, entries: object, root: Path) -> str:
    """Return the name of this project's entry: that of the one it has, else one that no other entry has.

    `place` is that of the table of servers, and `entries` is its value.
    """
    table = table_of(entries)
    owners = {
        name: owner_of(replace(place, key=(*place.key, name)), entry)
        for name, entry in table.items()
        if name == SERVER_NAME or name.startswith(f"{SERVER_NAME}-")
    }
    own = next((name for name, owner in owners.items() if owner == str(root)), "")
    if own or not owners.get(SERVER_NAME):
        return own or SERVER_NAME
    folder = re.sub(r"[^a-z0-9]+", "-", root.name.lower())[:_MAX_FOLDER].strip("-") or "project"
    wanted = name = f"{SERVER_NAME}-{folder}"
    number = 1
    while name in table:
        number += 1
        name = f"{wanted}-{number}"
    return name


def has_other_projects(place: ConfigEntry, entries: object, root: Path) -> bool:
    """Return whether the table of servers has an entry of Code Atlas for another project."""
    table = table_of(entries)
    owners = (owner_of(replace(place, key=(*place.key, name)), entry) for name, entry in table.items())
    return any(owner not in ("", str(root)) for owner in owners)
