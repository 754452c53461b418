"""A text-embeddings-inference server: it reports its model and limits; the dimension is determined from a vector."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

from atlas.adapters.embedders.remote.endpoint import PROBE, EndpointInfo, EndpointLimits
from atlas.adapters.embedders.remote.http import JsonClient
from atlas.adapters.embedders.remote.retry import ServerBusy
from atlas.adapters.embedders.vector_codec import read_rows
from atlas.core.errors import ConfigError


class TeiEndpoint:
    """`Endpoint` over TEI's native routes."""

    provider = "tei"

    def __init__(self, client: JsonClient, place: str, model: str, dimensions: int) -> None:
        """Accept any served model if `model` is empty; `dimensions` 0 means the model's own."""
        self._client, self.place, self._model, self._dimensions = client, place, model, dimensions

    async def describe(self, before: EndpointInfo | None) -> EndpointInfo:
        """Query `/info`, and embed a probe if the served model changed. Raises ConfigError for a reranker."""
        info = await self._client.get("/info")
        if not isinstance(info, dict):
            raise ServerBusy(f"the embedding server {self._client.url} does not describe itself at /info")
        served = self._read(cast("dict[str, object]", info))
        if before is not None and replace(served, dimension=before.dimension) == before:
            return before
        return replace(served, dimension=len((await self.embed([PROBE]))[0]))

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector per text; the server truncates texts beyond its maximum length."""
        body: dict[str, object] = {"inputs": list(texts), "truncate": True, "normalize": True}
        if self._dimensions:
            body["dimensions"] = self._dimensions
        found = await self._client.post("/embed", body)
        try:
            return read_rows(found, len(texts))
        except ValueError as error:
            raise ServerBusy(f"the embedding server {self._client.url} returned {error}") from error

    async def aclose(self) -> None:
        """Close the connections; idempotent."""
        await self._client.aclose()

    def _read(self, info: Mapping[str, object]) -> EndpointInfo:
        model = str(info.get("model_id") or "")
        names = (model, str(info.get("served_model_name") or ""))
        if self._model and self._model not in names:
            raise ConfigError(
                f"the embedding server {self._client.url} serves {model}, embedder.model is {self._model}",
                "Start the server with that model or change embedder.model.",
            )
        kind = info.get("model_type")
        kinds: dict[str, object] = cast("dict[str, object]", kind) if isinstance(kind, dict) else {}
        if kinds and "embedding" not in kinds:
            raise ConfigError(
                f"{model} at {self._client.url} is not an embedding model but a {next(iter(kinds))}",
                "Start the server with an embedding model.",
            )
        pooling = kinds.get("embedding")
        pooled = str(cast("dict[str, object]", pooling).get("pooling", "")) if isinstance(pooling, dict) else ""
        limits = EndpointLimits(
            texts=_number(info, "max_client_batch_size"),
            tokens=_number(info, "max_batch_tokens"),
            text_tokens=_number(info, "max_input_length"),
            requests=_number(info, "max_concurrent_requests"),
        )
        fingerprint = ":".join(part for part in (str(info.get("model_sha") or ""), pooled) if part)
        return EndpointInfo(model, fingerprint, 0, limits, f"TEI {info.get('version', '')}".strip())


def _number(info: Mapping[str, object], name: str) -> int:
    value = info.get(name)
    return value if isinstance(value, int) and value > 0 else 0
