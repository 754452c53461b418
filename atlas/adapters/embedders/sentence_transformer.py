"""A sentence transformer as the second embedder of code and documents: never waited for, and paused after a failure."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from time import monotonic

from atlas.core.contracts import Embedder
from atlas.core.errors import AtlasError, Unavailable
from atlas.core.model import QUALITY, Chunk, EmbeddingStats, ModelInfo

PAUSE_SECONDS = 10.0
"""After a failure, questions are answered without the model for this long: each would wait for it again."""


class QualityEmbedder:
    """`atlas.core.contracts.Embedder` of the space `QUALITY` over an embedder, which it closes."""

    def __init__(self, embedder: Embedder, query_seconds: float) -> None:
        """Give up a question after `query_seconds`."""
        self._embedder, self._seconds = embedder, query_seconds
        self._failed_at, self._failure = 0.0, ("", "")

    @property
    def place(self) -> str:
        """Where texts are sent."""
        return self._embedder.place

    @property
    def embedding_stats(self) -> EmbeddingStats:
        """How many texts were truncated or could not be embedded."""
        return self._embedder.embedding_stats

    async def info(self) -> ModelInfo:
        """Return the model of the vectors. Raises the errors of the embedder."""
        return replace(await self._embedder.info(), space=QUALITY)

    async def embed_chunks(self, chunks: Sequence[Chunk]) -> list[bytes]:
        """Return one vector per chunk. Raises the errors of the embedder."""
        return await self._embedder.embed_chunks(chunks)

    async def embed_query(self, text: str) -> bytes:
        """Return the vector of a query. Raises Unavailable when it is late, and at once soon after a failure."""
        if self._failure[0] and monotonic() - self._failed_at < PAUSE_SECONDS:
            raise Unavailable(*self._failure)
        try:
            async with asyncio.timeout(self._seconds):
                vector = await self._embedder.embed_query(text)
                await self._embedder.info()
        except TimeoutError as error:
            raise self._pause(f"no vector of the question within {self._seconds:g} s") from error
        except AtlasError as error:
            raise self._pause(error.message, error.hint) from error
        self._failure = ("", "")
        return vector

    async def aclose(self) -> None:
        """Close the embedder; idempotent."""
        await self._embedder.aclose()

    def _pause(self, failure: str, hint: str = "") -> Unavailable:
        self._failed_at, self._failure = monotonic(), (failure, hint)
        return Unavailable(failure, hint)
