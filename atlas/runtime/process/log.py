"""The daemon's log: JSON lines in a rotated file, and readable lines for a terminal; also reads the log back.

Each line has `time` (ISO 8601, UTC), `level`, `message` and `fields`.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from collections import deque
from collections.abc import Iterator
from datetime import UTC, datetime
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any

from atlas.core.errors import ConfigError, NotFound
from atlas.runtime.process.files import foreign_entry, make_private_folder, open_file

FOLDER = "logs"
FILE = "daemon.log"
OUTPUT = "daemon.out"
"""Output of the daemon process that does not go through the log."""

MAX_BYTES = 5_000_000
"""The file is rotated at this size."""
BACKUPS = 2
"""Older files that are kept."""

FOLLOW_SECONDS = 0.2

LOGGER = "atlas.daemon"


def log_folder(data_dir: Path) -> Path:
    """Return the folder of the logs."""
    return data_dir / FOLDER


def prepare_log_folder(data_dir: Path) -> Path:
    """Create the folder of the logs and return it. Raises ConfigError when something else is in its place."""
    folder = log_folder(data_dir)
    try:
        make_private_folder(folder)
        found = foreign_entry(folder)
    except OSError as error:
        raise ConfigError(f"cannot create the folder {folder}: {error.strerror}", "remove what is there") from error
    if found is not None:
        raise ConfigError(f"{found} is a link, a special file, or another user's", "remove it")
    return folder


class DaemonLog:
    """Writes the log, including warnings of libraries. Close with `close`."""

    def __init__(self, data_dir: Path | None, *, echo: bool) -> None:
        """Open the log: `data_dir` None means no file, `echo` prints readable lines on stderr. Raises ConfigError."""
        self._logger, self._root = logging.getLogger(LOGGER), logging.getLogger()
        self._handlers: list[logging.Handler] = [] if data_dir is None else [_file(data_dir)]
        if echo:
            self._handlers.append(logging.StreamHandler(sys.stderr))
            self._handlers[-1].setFormatter(_Readable())
        self._level = self._root.level
        self._logger.setLevel(logging.INFO)
        self._root.setLevel(logging.WARNING)
        for handler in self._handlers:
            self._root.addHandler(handler)
        logging.captureWarnings(True)

    def log(self, message: str, fields: dict[str, object]) -> None:
        """Log an event; an event with the field `error` is a warning."""
        level = logging.WARNING if fields.get("error") else logging.INFO
        self._logger.log(level, message, extra={"fields": fields})

    def crash(self, message: str) -> None:
        """Log the exception being handled, with its traceback."""
        self._logger.exception(message)

    def close(self) -> None:
        """Flush and close the log; idempotent."""
        logging.captureWarnings(False)
        for handler in self._handlers:
            self._root.removeHandler(handler)
            handler.close()
        self._root.setLevel(self._level)


def _file(data_dir: Path) -> logging.Handler:
    path = prepare_log_folder(data_dir) / FILE
    try:
        handler = _File(path, maxBytes=MAX_BYTES, backupCount=BACKUPS, encoding="utf8")
    except OSError as error:
        raise ConfigError(f"cannot write to {path}: {error.strerror}", "check its permissions") from error
    handler.setFormatter(_JsonLines())
    return handler


class _File(RotatingFileHandler):
    """A rotated file that only this user can read and that is not opened through a link."""

    def _open(self) -> TextIOWrapper:
        return open(self.baseFilename, "a", encoding="utf8", opener=_open)


def _open(path: str, flags: int) -> int:
    return open_file(Path(path), flags)


def _reading(path: Path) -> TextIOWrapper:
    return os.fdopen(open_file(path, os.O_RDONLY), encoding="utf8", errors="replace")


class _JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return json.dumps(_entry(record), ensure_ascii=False, default=str)


class _Readable(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return readable(_entry(record))


def _entry(record: logging.LogRecord) -> dict[str, object]:
    fields: dict[str, object] = dict(getattr(record, "fields", {}))
    if record.name != LOGGER:
        fields["logger"] = record.name
    if record.exc_info:
        fields["traceback"] = logging.Formatter().formatException(record.exc_info)
    moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
    level = record.levelname.lower()
    return {"time": moment, "level": level, "message": record.getMessage(), "fields": fields}


def readable(entry: dict[str, Any]) -> str:
    """Format a log entry for people."""
    fields = dict(entry.get("fields", {}))
    traceback = fields.pop("traceback", "")
    details = "".join(f" {name}={value}" for name, value in fields.items() if value != "")
    mark = "" if entry["level"] == "info" else f"{entry['level']}: "
    return f"{entry['time'][:19]} {mark}{entry['message']}{details}" + (f"\n{traceback}" if traceback else "")


def read_log(data_dir: Path, lines: int, *, follow: bool) -> Iterator[str]:
    """Yield the last `lines` lines of the log, across rotated files; with `follow`, then yield new lines forever.

    Raises NotFound when there is no log.
    """
    path = log_folder(data_dir) / FILE
    if not path.exists():
        raise NotFound(f"there is no log in {path.parent}", "The daemon writes it: atlas daemon start")
    last: deque[str] = deque(maxlen=lines)
    for number in range(BACKUPS, 0, -1):
        older = path.with_name(f"{FILE}.{number}")
        if older.exists():
            with _reading(older) as rotated:
                last.extend(rotated.read().splitlines())
    file = _reading(path)
    try:
        last.extend(file.read().splitlines())
        yield from last
        line = ""
        while follow:
            line += (more := file.readline())
            if line.endswith("\n"):
                yield line.rstrip("\n")
                line = ""
            elif more:
                continue
            elif _was_replaced(path, file.fileno()):
                file.close()
                file = _reading(path)
            else:
                time.sleep(FOLLOW_SECONDS)
    finally:
        file.close()


def _was_replaced(path: Path, descriptor: int) -> bool:
    try:
        return not os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False
