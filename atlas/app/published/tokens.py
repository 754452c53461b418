"""Who may read and publish which projects on a server: tokens in a file of the server's user, as digests only.

The file is TOML, a table for each token: `sha256`, `projects` (names, or "*" for all) and `rights` ("read", "publish").
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from atlas.app.published.manifest import is_digest, is_project
from atlas.core.errors import ConfigError
from atlas.core.lazy_regex import lazy_regex
from atlas.runtime.process.files import make_private_folder, read_file, write_file

READING, PUBLISHING = "read", "publish"
RIGHTS = (READING, PUBLISHING)
EVERY = "*"
_NAME = lazy_regex(r"[A-Za-z0-9_-]{1,64}")
_KEYS = {"sha256", "projects", "rights"}


@dataclass(frozen=True, slots=True)
class Holder:
    """The holder of a token."""

    name: str
    digest: bytes
    """SHA-256 of the token."""
    projects: frozenset[str]
    rights: frozenset[str]

    def may(self, right: str, project: str) -> bool:
        """Return whether the holder has a right on a project."""
        return right in self.rights and (project in self.projects or EVERY in self.projects)


class Holders:
    """The holders in a file, read again when it changes: a token that is taken out ends at once."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read_at: tuple[int, int, int] | None = None
        self._known: Sequence[Holder] = ()
        self.current()

    def current(self) -> Sequence[Holder]:
        """Return the holders. Raises ConfigError for a file that cannot be read, or that others can."""
        try:
            status = self._path.stat()
            stamp = status.st_ino, status.st_mtime_ns, status.st_size
        except OSError as error:
            hint = "make a token: atlas published token NAME --tokens FILE --project PROJECT"
            raise ConfigError(f"cannot read {self._path}: {error.strerror}", hint) from error
        if stamp != self._read_at:
            self._known, self._read_at = read_holders(self._path), stamp
        return self._known

    def of(self, authorization: str) -> Holder | None:
        """Return the holder of the token in a header; the time says nothing about how much of it was right."""
        scheme, _, given = authorization.partition(" ")
        digest = hashlib.sha256(given.strip().encode("utf-8", "replace")).digest()
        found = None
        for holder in self.current():
            if hmac.compare_digest(holder.digest, digest):
                found = holder
        return found if scheme.lower() == "bearer" else None


def read_holders(path: Path) -> list[Holder]:
    """Return the holders that a file names. Raises ConfigError."""
    try:
        if path.stat().st_mode & 0o077:
            raise ConfigError(f"other users can read or change {path}", f"chmod 600 {path}")
        tables = tomllib.loads(read_file(path.resolve()).decode())
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror or error}") from error
    except ValueError as error:
        raise ConfigError(f"{path} is no TOML: {error}") from error
    return [_holder(path, name, table) for name, table in tables.items()]


def add_holder(path: Path, name: str, projects: Sequence[str], *, publish: bool) -> str:
    """Add a holder to the file, which is made if it is missing; return the token, which is stored nowhere."""
    if not _NAME.fullmatch(name):
        raise ConfigError(f"{name[:100]!r} is not a name of a token", "use letters, digits, _ and -")
    if any(one != EVERY and not is_project(one) for one in projects) or not projects:
        raise ConfigError("a token needs the projects that it is for", 'give --project NAME, or --project "*"')
    known = read_holders(path) if os.path.lexists(path) else []
    if any(holder.name == name for holder in known):
        raise ConfigError(f"there is a token {name} in {path}", "take its table out of the file first")
    token = secrets.token_urlsafe(32)
    rights = RIGHTS if publish else (READING,)
    lines = (
        f"[{name}]",
        f'sha256 = "{hashlib.sha256(token.encode()).hexdigest()}"',
        f"projects = {json.dumps(list(projects))}",
        f"rights = {json.dumps(list(rights))}\n",
    )
    try:
        before = read_file(path) + b"\n" if known else b""
        make_private_folder(path.parent) if not path.parent.exists() else None
        write_file(path, before + "\n".join(lines).encode())
    except OSError as error:
        raise ConfigError(f"cannot write {path}: {error.strerror or error}") from error
    return token


def _holder(path: Path, name: str, table: object) -> Holder:
    values = cast("dict[str, object]", table) if isinstance(table, dict) else {}
    digest, projects, rights = (values.get(key) for key in ("sha256", "projects", "rights"))
    if set(values) != _KEYS or not isinstance(digest, str) or not is_digest(digest):
        raise ConfigError(f"{path}: the token {name} needs sha256, projects and rights, and nothing else")
    if not _are_texts(projects) or not _are_texts(rights) or not set(cast("list[str]", rights)) <= set(RIGHTS):
        raise ConfigError(f"{path}: the token {name} has projects or rights that are none", f"rights: {list(RIGHTS)}")
    return Holder(
        name, bytes.fromhex(digest), frozenset(cast("list[str]", projects)), frozenset(cast("list[str]", rights))
    )


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in cast("list[object]", value))
