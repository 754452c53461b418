"""The embedding cache on a Valkey server that several hosts share: limited in number, evicts the least recently used.

Vectors are stored as base64 because the connection uses text. A sorted set holds the times of use.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence

from atlas.adapters.buses.valkey.connection import Connection, load_script

MAX_BATCH = 500
"""Vectors per script: about 350 KB and a few milliseconds of the server."""


class ValkeyCache:
    """`atlas.core.contracts.EmbeddingCache`; all keys lie in the slot of `prefix`."""

    def __init__(self, connection: Connection, prefix: str, most: int) -> None:
        """Keep up to `most` vectors."""
        self._connection, self._prefix, self._most = connection, f"{prefix}{{atlas:embeddings}}:", most

    async def get(self, keys: Sequence[str]) -> list[bytes | None]:
        """Return the vector of each key in order, None for a miss."""
        found: list[bytes | None] = []
        for start in range(0, len(keys), MAX_BATCH):
            texts = await self._run("cache_get", {"keys": list(keys[start : start + MAX_BATCH])})
            found += [base64.b64decode(text) if text else None for text in texts]
        return found

    async def put(self, vectors: Mapping[str, bytes]) -> None:
        """Store vectors by key; a full cache evicts the least recently used."""
        items = [[key, base64.b64encode(data).decode("ascii")] for key, data in vectors.items()]
        for start in range(0, len(items), MAX_BATCH):
            await self._run("cache_put", {"items": items[start : start + MAX_BATCH], "most": self._most})

    async def aclose(self) -> None:
        """Close the connections; idempotent."""
        await self._connection.aclose()

    async def _run(self, name: str, given: Mapping[str, object]) -> list[str]:
        """Run a script of `lua/`; both keys are in one slot."""
        return await self._connection.run(load_script(name), [f"{self._prefix}vectors", f"{self._prefix}used"], given)
