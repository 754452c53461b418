"""Every error that Code Atlas raises on purpose: one tree, each with a message for a person and a hint.

`hint` is the next step for the reader; `exit_code` is what the CLI exits with. Adapters translate the exceptions of
their libraries into these at their own boundary.
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
    """Settings, arguments or project paths that cannot be used."""

    exit_code = 2


class NotFound(AtlasError):
    """A named thing does not exist; `near` are similar names, best first."""

    exit_code = 3

    def __init__(self, message: str, hint: str = "", near: Sequence[str] = ()) -> None:
        super().__init__(message, hint)
        self.near = tuple(near)


class QueryError(AtlasError):
    """A query that cannot be understood or is not allowed; `line` and `column` are 1-based, 0 if unknown."""

    exit_code = 4

    def __init__(self, message: str, hint: str = "", line: int = 0, column: int = 0) -> None:
        super().__init__(message, hint)
        self.line = line
        self.column = column


class StoreError(AtlasError):
    """The store failed for good: corrupted file, disk full, refused write."""

    exit_code = 5


class SchemaMismatch(StoreError):
    """The store was written by another version; the hint says how to re-index."""

    exit_code = 6


class LeaseLost(AtlasError):
    """Another process has become the writer of a project: nothing of this one is written to it any more."""

    exit_code = 7


class Unavailable(AtlasError):
    """A store, bus or embedder cannot be reached or is busy now; trying again may succeed."""

    exit_code = 7


class WriterBusy(Unavailable):
    """Another process writes to the index now; it will have finished at some time."""
