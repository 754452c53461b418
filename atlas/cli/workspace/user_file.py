"""The list `workspace.members` in the user's settings file: read, changed, written. All else keeps its bytes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from atlas.cli.clients import config_file, toml_text
from atlas.cli.clients.edits import Edit, apply, newline_of
from atlas.core.errors import ConfigError
from atlas.runtime.config.file import MAX_FILE_BYTES
from atlas.runtime.config.load import user_file
from atlas.runtime.config.workspace import WorkspaceMember, members_of

SECTION, KEY = "workspace", "members"


def read_members() -> tuple[WorkspaceMember, ...]:
    """Return the members in the user's file. Raises ConfigError for a file that cannot be read."""
    return members_of(_entries(toml_text.load(config_file.read(user_file(), MAX_FILE_BYTES).text)))


def write_members(members: Sequence[WorkspaceMember]) -> Path:
    """Make the list that of the user's file and return the path of the file. Raises ConfigError."""
    path = user_file()
    file = config_file.read(path, MAX_FILE_BYTES)
    before = toml_text.load(file.text)
    written = [one.written for one in members]
    if toml_text.has_comment(toml_text.raw(file.text, (SECTION, KEY))):
        raise ConfigError(f"the list {SECTION}.{KEY} in {path} has comments", "Nothing was written. Edit it by hand.")
    text = apply(file.text, _edits(file.text, written))
    section = {**cast("dict[str, Any]", before.get(SECTION, {})), KEY: written}
    if toml_text.load(text) != {**before, SECTION: section}:
        raise ConfigError(f"[{SECTION}] in {path} has an unusual form", "Nothing was written. Edit it by hand.")
    config_file.write(file, text)
    return path


def _edits(text: str, written: list[str]) -> list[Edit]:
    newline = newline_of(text)
    # a table without its header: one statement
    line = toml_text.table((SECTION,), {KEY: written}, newline).partition(newline)[2]
    header = toml_text.raw(text, (SECTION,))
    if toml_text.raw(text, (SECTION, KEY)):
        return toml_text.put_raw(text, (SECTION, KEY), line)
    if not header:
        return toml_text.put(text, (SECTION,), {KEY: written})
    first = header.partition("\n")[0] + "\n"
    return toml_text.put_raw(text, (SECTION,), first + line + header[len(first) :])


def _entries(document: dict[str, Any]) -> list[str]:
    section = document.get(SECTION, {})
    entries: object = cast("dict[str, Any]", section).get(KEY, []) if isinstance(section, dict) else []
    if not isinstance(entries, list) or not all(isinstance(one, str) for one in cast("list[object]", entries)):
        raise ConfigError(f"{SECTION}.{KEY} in {user_file()} must be a list of strings", "See atlas.toml.example.")
    return cast("list[str]", entries)
