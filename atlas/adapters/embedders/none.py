"""The embedder of projects without vectors. It returns an error that explains how to enable vector search."""

from __future__ import annotations

from collections.abc import Sequence

from atlas.core.errors import Unavailable
from atlas.core.model import Chunk, EmbeddingStats, ModelInfo


class NoEmbedder:
    """`atlas.core.contracts.Embedder` that always raises; searches fall back to words, names and graph with a note."""

    @property
    def place(self) -> str:
        """Empty: no text is sent anywhere."""
        return ""

    @property
    def embedding_stats(self) -> EmbeddingStats:
        """Always empty."""
        return EmbeddingStats()

    async def info(self) -> ModelInfo:
        """Return a model that no stored vector uses."""
        return ModelInfo("none", "", 0, "")

    async def embed_chunks(self, chunks: Sequence[Chunk]) -> list[bytes]:
        """Raise Unavailable."""
        raise _switched_off()

    async def embed_query(self, text: str) -> bytes:
        """Raise Unavailable."""
        raise _switched_off()

    async def aclose(self) -> None:
        """Do nothing."""


def _switched_off() -> Unavailable:
    return Unavailable("vector search is switched off", 'Set embedder.provider = "static" and run: atlas index')
