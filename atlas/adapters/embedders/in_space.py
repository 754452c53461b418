"""A model of a server that embeds a further vector space: the texts go to the same place, the vectors stay apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from atlas.core.contracts import Embedder
from atlas.core.model import Chunk, EmbeddingStats, ModelInfo


class InSpace:
    """`atlas.core.contracts.Embedder` of a space over an embedder of another one, which its owner closes."""

    def __init__(self, embedder: Embedder, space: str) -> None:
        self._embedder, self._space = embedder, space

    @property
    def place(self) -> str:
        """Where texts are sent."""
        return self._embedder.place

    @property
    def embedding_stats(self) -> EmbeddingStats:
        """Always empty: the embedder underneath counts for both."""
        return EmbeddingStats()

    async def info(self) -> ModelInfo:
        """Return the model of the vectors. Raises the errors of the embedder."""
        return replace(await self._embedder.info(), space=self._space)

    async def embed_chunks(self, chunks: Sequence[Chunk]) -> list[bytes]:
        """Return one vector per chunk. Raises the errors of the embedder."""
        return await self._embedder.embed_chunks(chunks)

    async def embed_query(self, text: str) -> bytes:
        """Return the vector of a query. Raises the errors of the embedder."""
        return await self._embedder.embed_query(text)

    async def aclose(self) -> None:
        """Do nothing: the embedder underneath has an owner."""
