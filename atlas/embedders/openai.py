"""A server with OpenAI's `/v1/embeddings`: hosted ones, and llama.cpp, Ollama, vLLM, LM Studio and others at home.

It names no weights: another model under the same name and dimension is not noticed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from atlas.embedders.endpoint import PROBE, EndpointInfo
from atlas.embedders.http import JsonClient
from atlas.embedders.retry import ServerBusy
from atlas.embedders.vector_codec import read_rows


class OpenAiEndpoint:
    """`Endpoint` over `/embeddings`."""

    provider = "openai"

    def __init__(self, exchange: JsonClient, place: str, model: str, dimensions: int) -> None:
        """`dimensions` 0 takes the model's own."""
        self._exchange, self.place, self._model, self._dimensions = exchange, place, model, dimensions

    async def describe(self, before: EndpointInfo | None) -> EndpointInfo:
        """Return what was found before; the first time, embed something and see which model answers."""
        if before is not None:
            return before
        vectors, served = await self._embed([PROBE])
        return EndpointInfo(self._model, served, len(vectors[0]))

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector per text, in the texts' order whatever the answer's."""
        return (await self._embed(texts))[0]

    async def aclose(self) -> None:
        """Close the connections; idempotent."""
        await self._exchange.aclose()

    async def _embed(self, texts: Sequence[str]) -> tuple[list[list[float]], str]:
        body: dict[str, object] = {"model": self._model, "input": list(texts), "encoding_format": "float"}
        if self._dimensions:
            body["dimensions"] = self._dimensions
        found = await self._exchange.post("/embeddings", body)
        try:
            return read_rows(in_order(found), len(texts)), _served(found)
        except ValueError as error:
            raise ServerBusy(f"the embedding server {self._exchange.url} answered {error}") from error


def in_order(found: object) -> list[object]:
    """Return the embeddings of an answer's `data` by their `index`. Raises ValueError when they are not all there."""
    data = cast("dict[str, object]", found).get("data") if isinstance(found, dict) else None
    if not isinstance(data, list):
        raise ValueError("no list of vectors")
    by_index: dict[object, object] = {}
    for position, item in enumerate(cast("list[object]", data)):
        if not isinstance(item, dict):
            raise ValueError("a vector that is no object")
        fields = cast("dict[str, object]", item)
        by_index[fields.get("index", position)] = fields.get("embedding")
    if set(by_index) != set(range(len(cast("list[object]", data)))):
        raise ValueError("vectors whose order is not known")
    return [by_index[position] for position in range(len(by_index))]


def _served(found: object) -> str:
    served = cast("dict[str, object]", found).get("model") if isinstance(found, dict) else None
    return served if isinstance(served, str) else ""
