"""An embedder with a content-addressed cache: equal text is embedded once across projects and branches.

The embedder and the cache are interchangeable. A cache failure costs only time.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Sequence

from atlas.core.contracts import Embedder, EmbeddingCache
from atlas.core.errors import StoreError, Unavailable
from atlas.core.model import Chunk, EmbeddingStats, ModelInfo


class CachedEmbedder:
    """`atlas.core.contracts.Embedder` that wraps another one."""

    def __init__(self, embedder: Embedder, cache: EmbeddingCache) -> None:
        self._embedder, self._cache = embedder, cache

    @property
    def place(self) -> str:
        """Where texts missing from the cache are sent."""
        return self._embedder.place

    @property
    def embedding_stats(self) -> EmbeddingStats:
        """Statistics of texts that the embedder shortened or skipped."""
        return self._embedder.embedding_stats

    async def info(self) -> ModelInfo:
        """Return the model of the vectors."""
        return await self._embedder.info()

    async def embed_chunks(self, chunks: Sequence[Chunk]) -> list[bytes]:
        """Return one vector per chunk, in order; only texts missing from the cache are embedded, each once."""
        info = await self.info()
        keys = [_key(info, chunk) for chunk in chunks]
        vectors = await self._known(list(dict.fromkeys(keys)), 2 * info.dimension)
        missing = {key: chunk for key, chunk in zip(keys, chunks, strict=True) if key not in vectors}
        if missing:
            made = await self._embedder.embed_chunks(list(missing.values()))
            if await self.info() != info:
                raise Unavailable("the embedding model changed during the run", "Run: atlas index")
            fresh = dict(zip(missing, made, strict=True))
            vectors |= fresh
            await self._keep(fresh)
        return [vectors[key] for key in keys]

    async def embed_query(self, text: str) -> bytes:
        """Return the vector of a query; queries are not cached."""
        return await self._embedder.embed_query(text)

    async def aclose(self) -> None:
        """Close the embedder and the cache; idempotent."""
        await self._embedder.aclose()
        await self._cache.aclose()

    async def _known(self, keys: Sequence[str], size: int) -> dict[str, bytes]:
        try:
            found = await self._cache.get(keys)
        except (Unavailable, StoreError):
            return {}
        # Ignore vectors of another length: they do not come from this model.
        return {key: data for key, data in zip(keys, found, strict=True) if data is not None and len(data) == size}

    async def _keep(self, vectors: dict[str, bytes]) -> None:
        with contextlib.suppress(Unavailable, StoreError):
            await self._cache.put(vectors)


def _key(info: ModelInfo, chunk: Chunk) -> str:
    """Return 32 hex digits over all inputs of the vector: the model, the text, the name and its weight."""
    made_of = "\0".join((info.provider, info.model, str(info.dimension), info.fingerprint))
    text = "\0".join((made_of, str(int(chunk.is_file)), chunk.name, chunk.text))
    return hashlib.blake2b(text.encode("utf8", "surrogatepass"), digest_size=16).hexdigest()
