"""A cross-encoder on a text-embeddings-inference server: how well each text answers a question."""

from __future__ import annotations

from typing import cast

from atlas.adapters.embedders.remote.http import JsonClient
from atlas.adapters.embedders.remote.retry import ServerBusy

BATCH = 32
"""Texts of one request; the server's default limit."""


class TeiReranker:
    """`atlas.packs.questions.values.Reranker` over the route `/rerank`. Close it with `aclose`."""

    def __init__(self, client: JsonClient) -> None:
        """Use the connections of a client."""
        self._client = client

    async def rerank(self, question: str, texts: list[str]) -> list[float]:
        """Return one score per text, in order; higher is better. Raises Unavailable for a server that fails."""
        scores: list[float] = []
        for start in range(0, len(texts), BATCH):
            part = texts[start : start + BATCH]
            body: dict[str, object] = {"query": question, "texts": part, "truncate": True}
            scores += _read(await self._client.post("/rerank", body), len(part), self._client.url)
        return scores

    async def aclose(self) -> None:
        """Close the connections; idempotent."""
        await self._client.aclose()


def _read(answer: object, count: int, url: str) -> list[float]:
    """Return the scores by index of their texts. Raises ServerBusy if one is missing or no number."""
    found: dict[int, float] = {}
    for row in cast("list[object]", answer) if isinstance(answer, list) else []:
        values = cast("dict[str, object]", row) if isinstance(row, dict) else {}
        index, score = values.get("index"), values.get("score")
        if isinstance(index, int) and isinstance(score, int | float) and score == score:
            found[index] = float(score)
    if sorted(found) != list(range(count)):
        raise ServerBusy(f"the reranking server {url} did not score every text")
    return [found[index] for index in range(count)]
