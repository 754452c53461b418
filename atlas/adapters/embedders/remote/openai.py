"""A server with OpenAI's `/v1/embeddings`: hosted services, and local llama.cpp, Ollama, vLLM, LM Studio and others.

The protocol does not identify weights, so a different model with the same name and dimension goes undetected.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from atlas.adapters.embedders.remote.endpoint import PROBE, EndpointInfo
from atlas.adapters.embedders.remote.http import JsonClient
from atlas.adapters.embedders.remote.retry import ServerBusy
from atlas.adapters.embedders.vector_codec import read_rows


class OpenAiEndpoint:
    """`Endpoint` over `/embeddings`."""

    provider = "openai"

    def __init__(self, client: JsonClient, place: str, model: str, dimensions: int) -> None:
        """`dimensions` 0 means the model's own."""
        self._client, self.place, self._model, self._dimensions = client, place, model, dimensions

    async def describe(self, before: EndpointInfo | None) -> EndpointInfo:
        """Return `before`; on the first call, embed a probe to determine the dimension and the served model."""
        if before is not None:
            return before
        vectors, served = await self._embed([PROBE])
        return EndpointInfo(self._model, served, len(vectors[0]))

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector per text, in the order of the texts, whatever the order of the response."""
        return (await self._embed(texts))[0]

    async def aclose(self) -> None:
        """Close the connections; idempotent."""
        await self._client.aclose()

    async def _embed(self, texts: Sequence[str]) -> tuple[list[list[float]], str]:
        body: dict[str, object] = {"model": self._model, "input": list(texts), "encoding_format": "float"}
        if self._dimensions:
            body["dimensions"] = self._dimensions
        found = await self._client.post("/embeddings", body)
        try:
            return read_rows(in_order(found), len(texts)), _served(found)
        except ValueError as error:
            raise ServerBusy(f"the embedding server {self._client.url} returned {error}") from error


def in_order(found: object) -> list[object]:
    """Return the embeddings in a response's `data`, ordered by `index`. Raises ValueError if some are missing."""
    data = cast("dict[str, object]", found).get("data") if isinstance(found, dict) else None
    if not isinstance(data, list):
        raise ValueError("no list of vectors")
    by_index: dict[object, object] = {}
    for position, item in enumerate(cast("list[object]", data)):
        if not isinstance(item, dict):
            raise ValueError("a vector that is not an object")
        fields = cast("dict[str, object]", item)
        by_index[fields.get("index", position)] = fields.get("embedding")
    if set(by_index) != set(range(len(cast("list[object]", data)))):
        raise ValueError("vectors in an unknown order")
    return [by_index[position] for position in range(len(by_index))]


def _served(found: object) -> str:
    served = cast("dict[str, object]", found).get("model") if isinstance(found, dict) else None
    return served if isinstance(served, str) else ""
