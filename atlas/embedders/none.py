"""The embedder of projects that want no vectors: it makes none, and says so when a question needs them."""

from __future__ import annotations

from collections.abc import Sequence

from atlas.errors import Unavailable
from atlas.model import Chunk, EmbeddingStats, ModelInfo


class NoEmbedder:
    """`atlas.contracts.Embedder` that always refuses; searches degrade to words, names and graph with a note."""

    @property
    def place(self) -> str:
        """Nowhere."""
        return ""

    @property
    def embedding_stats(self) -> EmbeddingStats:
        """None."""
        return EmbeddingStats()

    async def info(self) -> ModelInfo:
        """Return a model that no vector was made with."""
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
