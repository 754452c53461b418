"""The files of the daemon's own Valkey server in the data folder, and its configuration. Starts nothing."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import tempfile
from dataclasses import dataclass
from pathlib import Path
from sys import platform
from typing import Self

from atlas.core.errors import ConfigError
from atlas.runtime.process.files import (
    foreign_entry,
    is_own_folder,
    make_private_folder,
    open_file,
    read_file,
    write_file,
)

LONGEST_LOG = 1_000_000
"""A longer log is truncated at the next start; bytes."""
LONGEST_SOCKET_PATH = 103 if platform == "darwin" else 107
"""Bytes: the operating system's `sun_path` without its final zero."""
_SOCKET = "valkey.sock"
REFUSED_COMMANDS = (
    "REPLICAOF", "SLAVEOF", "PSYNC", "SYNC", "REPLCONF", "MIGRATE", "RESTORE", "MODULE", "DEBUG", "CONFIG", "CLUSTER",
    "FAILOVER", "ACL", "FUNCTION", "FCALL",
)  # fmt: skip
"""Commands that are disabled for clients and in the server's own log: the bus needs none of them."""


@dataclass(frozen=True, slots=True)
class ServerPaths:
    """The files of one server."""

    folder: Path
    socket: Path

    @classmethod
    def of(cls, data_dir: Path) -> Self:
        """Return the paths of the data folder's server.

        A socket's path must be short; for a deep data folder it is in a private folder in the temporary folder.
        """
        folder = Path(os.path.realpath(data_dir)) / "valkey"
        if len(os.fsencode(folder / _SOCKET)) <= LONGEST_SOCKET_PATH:
            return cls(folder, folder / _SOCKET)
        name = f"atlas-{os.getuid()}-{hashlib.blake2b(os.fsencode(folder), digest_size=8).hexdigest()}"
        short = _short_folder(folder / "valkey.conf", name) / _SOCKET
        if len(os.fsencode(short)) > LONGEST_SOCKET_PATH:
            raise ConfigError(
                f"no path for the bus's socket is short enough, not even {short}", "set TMPDIR to a shorter path"
            )
        return cls(folder, short)

    @property
    def settings(self) -> Path:
        """The configuration file."""
        return self.folder / "valkey.conf"

    @property
    def log(self) -> Path:
        """The log file."""
        return self.folder / "valkey.log"

    @property
    def pid(self) -> Path:
        """The pid file."""
        return self.folder / "valkey.pid"

    @property
    def entries(self) -> Path:
        """The folder of the append-only log."""
        return self.folder / "appendonlydir"

    @property
    def damaged(self) -> Path:
        """Where an unreadable append-only log is moved; one is kept."""
        return self.folder / "appendonlydir.damaged"

    def remove_short(self) -> None:
        """Remove the private folder of a short socket path if it is empty."""
        if self.socket.parent != self.folder:
            with contextlib.suppress(OSError):
                self.socket.parent.rmdir()


def prepare(paths: ServerPaths) -> None:
    """Create the folders for this user only. Raises `ConfigError` if another user owns them or they are links."""
    for folder in {paths.folder, paths.socket.parent}:
        try:
            make_private_folder(folder)
            folder.chmod(0o700)
            found = foreign_entry(folder)
        except OSError as error:
            raise ConfigError(f"the bus's folder {folder} cannot be used: {error}", "check its permissions") from error
        if found is not None:  # the server would read or write through a link
            raise ConfigError(f"the bus's folder holds a link, a special file, or another user's: {found}", "remove it")


def write_settings(paths: ServerPaths, memory_mb: int) -> None:
    """Write the server's configuration file."""
    lines = [
        "port 0",
        f"unixsocket {_quoted(paths.socket)}",
        "unixsocketperm 700",
        f"dir {_quoted(paths.folder)}",
        f"pidfile {_quoted(paths.pid)}",
        "daemonize no",
        "set-proc-title no",  # the command line identifies the server's folder
        "appendonly yes",
        "appendfsync everysec",
        "aof-load-truncated yes",
        "auto-aof-rewrite-min-size 16mb",
        'save ""',
        f"maxmemory {memory_mb}mb",
        "maxmemory-policy noeviction",
        "maxclients 500",
        "tcp-backlog 64",
        "loglevel warning",
        'logfile ""',
        # a manipulated log must not make the server connect elsewhere, load code, or change its settings
        *(f'rename-command {command} ""' for command in REFUSED_COMMANDS),
    ]
    write_file(paths.settings, os.fsencode("\n".join(lines) + "\n"))


def open_log(paths: ServerPaths) -> int:
    """Return a descriptor that appends to the log; truncates a log that is too long."""
    log = open_file(paths.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    if os.fstat(log).st_size > LONGEST_LOG:
        os.ftruncate(log, 0)
    return log


def log_end(paths: ServerPaths, start: int) -> str:
    """Return the log behind `start`, at most its last 10,000 bytes."""
    with os.fdopen(open_file(paths.log, os.O_RDONLY), "rb") as log:
        log.seek(max(start, os.fstat(log.fileno()).st_size - 10_000))
        return log.read(10_000).decode("utf8", "replace")


def _short_folder(settings: Path, name: str) -> Path:
    """Return the folder of the socket with which the server was started, else one whose name nobody has taken.

    Everybody can compute the name, and another user can make a folder of it.
    """
    usual = Path(tempfile.gettempdir()) / name
    for folder in (_written_folder(settings, name), usual):
        if folder is not None and (not os.path.lexists(folder) or is_own_folder(folder)):
            return folder
    return usual.with_name(f"{name}-{secrets.token_hex(4)}")


def _written_folder(settings: Path, name: str) -> Path | None:
    """Return the short folder that the server was started with: TMPDIR may differ between terminals."""
    try:
        text = os.fsdecode(read_file(settings))
    except OSError:
        return None
    for line in text.splitlines():
        word, _, value = line.partition(" ")
        path = Path(value.strip('"'))
        is_short = path.is_absolute() and path.name == _SOCKET and path.parent.name.startswith(name)
        if word == "unixsocket" and is_short:
            return path.parent
    return None


def _quoted(path: Path) -> str:
    text = str(path).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{text}"'
