"""What a note may contain: limits of size and number, no secrets, values in range. Each error says what to change."""

from __future__ import annotations

import re

from atlas._parser import find_secrets
from atlas.code.notes.note import STATUSES
from atlas.core.errors import ConfigError
from atlas.core.invisible import normal_form

MAX_TEXT = 100_000
"""Characters of one text that a tool writes; a file written by hand may have up to `MAX_FILE`."""
MAX_FILE = 1 << 20
"""Bytes of a note's file."""
MAX_NAME = 200
"""Characters of a name, type, alias or relation."""
MAX_OBSERVATIONS = 10_000
MAX_RELATIONS = 1_000


def check_text(what: str, text: str, most: int = MAX_TEXT) -> str:
    """Return a text that is to be written, as `check_question` does. Raises ConfigError also for a secret in it."""
    clean = check_question(what, text, most)
    try:
        found = find_secrets(clean.encode())
    except ValueError as error:
        raise ConfigError(f"{what} cannot be checked for secrets: {error}", "Shorten it.") from error
    if found:
        _, _, rule, line = found[0]
        raise ConfigError(
            f"{what} contains a secret ({rule}, line {line}): nothing was written",
            "Remove it, and refer to it by name.",
        )
    return clean


def check_question(what: str, text: str, most: int = MAX_TEXT) -> str:
    """Return a text in NFC without surrounding space. Raises ConfigError: empty, too long, NUL, no valid Unicode."""
    clean = normal_form(text).strip()
    if not clean:
        raise ConfigError(f"{what} is empty", f"Give a text for {what}.")
    if len(clean) > most:
        raise ConfigError(f"{what} has {len(clean)} characters, at most {most} are allowed", "Shorten it, or split it.")
    if "\x00" in clean:
        raise ConfigError(f"{what} contains a NUL character", "Remove it.")
    try:
        clean.encode()
    except UnicodeEncodeError as error:
        raise ConfigError(f"{what} is not valid Unicode", "Remove unpaired surrogates.") from error
    return clean


def check_line(what: str, text: str, most: int = MAX_NAME) -> str:
    """Return a text on one line; runs of white space become one space. Raises ConfigError as `check_text`."""
    return " ".join(check_text(what, text, most).split())


def check_share(what: str, value: object) -> float:
    """Return a number from 0 to 1. Raises ConfigError for any other value."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ConfigError(f"{what} is {value!r}, it must be a number from 0 to 1", f"Give {what} as 0.8, for example.")
    return float(value)


def check_status(value: str) -> str:
    """Return a status. Raises ConfigError for an unknown one."""
    if value not in STATUSES:
        raise ConfigError(f"unknown status {value!r}", f"Use one of: {', '.join(STATUSES)}.")
    return value


def client_name(name: str, version: str) -> str:
    """Return `name/version` of a client as notes record it, without characters that could end its field."""
    parts = (re.sub(r"[^\w.+ -]+", "-", part)[:60].strip() for part in (name, version))
    return "/".join(filter(None, parts))
