"""The contract of short-term memory: entries that expire, kept outside of the graph and of the knowledge folder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

MAX_ENTRIES = 10_000
"""Entries that a memory keeps; a further one replaces the oldest."""


@dataclass(frozen=True, slots=True)
class ShortTermEntry:
    """One memory. Times are Unix seconds; vectors are little-endian float32, b"" where there is none."""

    id: str
    content: str
    created: float
    expires: float
    client: str = ""
    meaning: bytes = b""
    """By the model of prose, 256 values."""
    emotion: bytes = b""
    """By the model of emotions, 27 values; b"" if no emotion was found: such an entry has no emotional neighbours."""


class ShortTermMemory(Protocol):
    """Entries of one user. Several processes may share it. Raises `Unavailable` and `StoreError` as stores do."""

    async def put(self, entry: ShortTermEntry) -> None:
        """Keep an entry until it expires; one with the same id is replaced."""
        ...

    async def entries(self, limit: int = MAX_ENTRIES) -> list[ShortTermEntry]:
        """Return entries that have not expired, newest first."""
        ...

    async def delete(self, entry_id: str) -> bool:
        """Remove an entry; return whether it was there."""
        ...

    async def aclose(self) -> None:
        """Close; idempotent."""
        ...
