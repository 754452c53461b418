"""The bus of one process: `atlas index` and tests. Keys go in, batches come out; nothing outlives the process."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence


class MemoryBus:
    """Implements `contracts.Bus` with ordered dicts; memory is bounded by the number of different keys."""

    def __init__(self) -> None:
        self._waiting: dict[str, dict[str, None]] = {}
        self._pending: dict[str, dict[str, None]] = {}
        self._published = asyncio.Event()

    async def publish(self, stream: str, keys: Sequence[str]) -> None:
        """Add keys to a stream; a key that is already waiting there is not added again."""
        self._waiting.setdefault(stream, {}).update(dict.fromkeys(keys))
        self._published.set()

    async def take(self, stream: str, limit: int) -> list[str]:
        """Return up to `limit` waiting keys in order of arrival; they stay pending until acknowledged."""
        waiting = self._waiting.setdefault(stream, {})
        keys = list(waiting)[:limit]
        for key in keys:
            del waiting[key]
        self._pending.setdefault(stream, {}).update(dict.fromkeys(keys))
        return keys

    async def acknowledge(self, stream: str, keys: Sequence[str]) -> None:
        """Forget pending keys: their effect is in the store."""
        pending = self._pending.setdefault(stream, {})
        for key in keys:
            pending.pop(key, None)

    async def changed(self) -> None:
        """Return when something was published since the last call."""
        await self._published.wait()
        self._published.clear()
