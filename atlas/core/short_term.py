"""The contract of short-term memory: entries that expire, kept outside of the graph and of the knowledge folder."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from atlas.core.errors import Unavailable

MAX_ENTRIES = 10_000
"""Entries that a memory keeps; a further one replaces the oldest."""
ATTEMPTS = 3
FIRST_PAUSE = 1.0
LONGEST_PAUSE = 10.0
"""Attempts of a call to a server, and seconds between them."""

_Result = TypeVar("_Result")


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


class PatientMemory:
    """A memory on a server: transient failures are retried."""

    def __init__(self, memory: ShortTermMemory) -> None:
        self._memory = memory

    async def put(self, entry: ShortTermEntry) -> None:
        """Keep an entry until it expires."""
        await self._patiently(lambda: self._memory.put(entry))

    async def entries(self, limit: int = MAX_ENTRIES) -> list[ShortTermEntry]:
        """Return entries that have not expired, newest first."""
        return await self._patiently(lambda: self._memory.entries(limit))

    async def delete(self, entry_id: str) -> bool:
        """Remove an entry; return whether it was there."""
        return await self._patiently(lambda: self._memory.delete(entry_id))

    async def aclose(self) -> None:
        """Close; idempotent."""
        await self._memory.aclose()

    async def _patiently(self, work: Callable[[], Awaitable[_Result]]) -> _Result:
        for attempt in range(ATTEMPTS - 1):
            try:
                return await work()
            except Unavailable:
                await asyncio.sleep(min(FIRST_PAUSE * 2**attempt, LONGEST_PAUSE))
        return await work()
