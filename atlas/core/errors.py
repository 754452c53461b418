"""The errors that Code Atlas raises deliberately: one class hierarchy, each with a message and a hint.

`hint` is the next step for the reader and `exit_code` the exit code of the CLI. Adapters translate the exceptions of
their libraries into these errors.

    AtlasError
    ├── ConfigError          settings, arguments, paths of a project
    ├── NotFound             with similar names
    ├── QueryError           with line and column
    ├── StoreError
    │   └── SchemaMismatch   an index of another version
    │       └── OlderSchema  one that the next pass upgrades
    ├── LeaseLost            another process writes now
    ├── Unavailable          trying again may help
    │   └── WriterBusy
    └── HistoryError
"""

from __future__ import annotations

from collections.abc import Sequence


class AtlasError(Exception):
    """Base of all deliberate errors. `message` is one line, `hint` says what to do next (may be empty)."""

    exit_code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class ConfigError(AtlasError):
    """Invalid settings, arguments or project paths."""

    exit_code = 2


class NotFound(AtlasError):
    """A named item does not exist; `near` are similar names, best first."""

    exit_code = 3

    def __init__(self, message: str, hint: str = "", near: Sequence[str] = ()) -> None:
        super().__init__(message, hint)
        self.near = tuple(near)


class QueryError(AtlasError):
    """A query that is invalid or not allowed; `line` and `column` are 1-based, 0 if unknown."""

    exit_code = 4

    def __init__(self, message: str, hint: str = "", line: int = 0, column: int = 0) -> None:
        super().__init__(message, hint)
        self.line = line
        self.column = column


class StoreError(AtlasError):
    """A permanent failure of the store: corrupted file, disk full, rejected write."""

    exit_code = 5


class SchemaMismatch(StoreError):
    """The store was written by another version; the hint says how to re-index."""

    exit_code = 6


class OlderSchema(SchemaMismatch):
    """The store was written by an older version, and the next index pass upgrades it."""


class LeaseLost(AtlasError):
    """Another process has become the writer of a project; this process can no longer write it."""

    exit_code = 7


class Unavailable(AtlasError):
    """A store, bus or embedder is unreachable or busy; a retry may succeed."""

    exit_code = 7


class WriterBusy(Unavailable):
    """Another process is writing to the index; a retry succeeds once it has finished."""


class HistoryError(AtlasError):
    """A version history that cannot be read: damaged, too large, or laid out in a way that is not followed."""
