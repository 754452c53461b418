"""Short-term memory on a Valkey server: a hash per entry, which the server itself expires.

Vectors are stored as base64 because the connection uses text.
"""

from __future__ import annotations

import base64
import time
from collections.abc import Mapping
from typing import cast

from atlas.adapters.buses.valkey.connection import Connection, load_script
from atlas.core.short_term import MAX_ENTRIES, ShortTermEntry


class ValkeyMemory:
    """`atlas.core.short_term.ShortTermMemory`; all keys lie in the slot of `prefix`."""

    def __init__(self, connection: Connection, prefix: str) -> None:
        self._connection = connection
        self._ids, self._entry = f"{prefix}{{atlas:memory}}:ids", f"{prefix}{{atlas:memory}}:entry:"

    async def put(self, entry: ShortTermEntry) -> None:
        """Keep an entry until it expires."""
        fields = {
            "content": entry.content,
            "created": repr(entry.created),
            "expires": repr(entry.expires),
            "client": entry.client,
            "meaning": base64.b64encode(entry.meaning).decode("ascii"),
            "emotion": base64.b64encode(entry.emotion).decode("ascii"),
        }
        left = round((entry.expires - time.time()) * 1000)
        if left <= 0:
            await self.delete(entry.id)
            return
        await self._run(
            "memory_put",
            [self._ids, self._entry + entry.id],
            {
                "id": entry.id,
                "created": repr(entry.created),
                "ttl_ms": left,
                "fields": [part for pair in fields.items() for part in pair],
                "most": MAX_ENTRIES,
                "prefix": self._entry,
            },
        )

    async def entries(self, limit: int = MAX_ENTRIES) -> list[ShortTermEntry]:
        """Return entries that have not expired, newest first."""
        rows = await self._run("memory_entries", [self._ids], {"limit": limit, "prefix": self._entry})
        return [_entry(*cast("list[str]", row)) for row in rows]

    async def delete(self, entry_id: str) -> bool:
        """Remove an entry; return whether it was there."""
        return bool(await self._run("memory_delete", [self._ids, self._entry + entry_id], {"id": entry_id}))

    async def aclose(self) -> None:
        """Close the connections; idempotent."""
        await self._connection.aclose()

    async def _run(self, name: str, keys: list[str], given: Mapping[str, object]) -> list[object]:
        return cast("list[object]", await self._connection.run(load_script(name), keys, given))


def _entry(
    entry_id: str, content: str, created: str, expires: str, client: str, meaning: str, emotion: str
) -> ShortTermEntry:
    vectors = base64.b64decode(meaning), base64.b64decode(emotion)
    return ShortTermEntry(entry_id, content, float(created), float(expires), client, *vectors)
