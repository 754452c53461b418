"""Any provider that LiteLLM supports (extra `[litellm]`), imported with the first request."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import cast

from atlas.adapters.embedders.remote.endpoint import PROBE, EndpointInfo
from atlas.adapters.embedders.remote.http import MAX_MESSAGE_CHARACTERS, retry_after
from atlas.adapters.embedders.remote.openai import in_order
from atlas.adapters.embedders.remote.retry import RequestRejected, ServerBusy
from atlas.adapters.embedders.vector_codec import read_rows
from atlas.core.errors import ConfigError
from atlas.runtime.process.litellm_library import describe_error, load_litellm, request_options


class LiteLlmEndpoint:
    """`Endpoint` over `litellm.aembedding`; keys come from the environment variables that LiteLLM documents."""

    provider = "litellm"

    def __init__(self, model: str, url: str, key: str, dimensions: int, seconds: float, place: str) -> None:
        """`model` is LiteLLM's name with the provider prefix; empty `url` and `key` mean the provider's defaults."""
        self._model, self._key, self.place = model, key, place
        self._options = request_options(url, key, seconds)
        if dimensions:
            self._options["dimensions"] = dimensions

    async def describe(self, before: EndpointInfo | None) -> EndpointInfo:
        """Return `before`; on the first call, embed a probe to determine the dimension."""
        if before is not None:
            return before
        return EndpointInfo(self._model, "", len((await self.embed([PROBE]))[0]), server="LiteLLM")

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector per text. Raises ConfigError if LiteLLM is not installed."""
        library = await asyncio.to_thread(load_litellm)
        try:
            answer = await library.aembedding(
                model=self._model, input=list(texts), encoding_format="float", **self._options
            )
        except Exception as error:  # isolation: the code of a provider raises errors of any type; the status decides
            raise self._translated(error) from error
        try:
            return read_rows(in_order({"data": [_fields(item) for item in answer.data]}), len(texts))
        except ValueError as error:
            raise ServerBusy(f"{self.place} returned {error}") from error

    async def aclose(self) -> None:
        """Do nothing: LiteLLM keeps its connections for the life of the process."""

    def _translated(self, error: Exception) -> Exception:
        said = describe_error(error, self._key, MAX_MESSAGE_CHARACTERS)
        status = getattr(error, "status_code", 0)
        message = f"{self.place} failed ({type(error).__name__}): {said}"
        if status in (400, 413, 422) and type(error).__name__ != "NotFoundError":
            return RequestRejected(message)
        if not status or status in (408, 424, 425, 429) or status >= 500:
            return ServerBusy(message, after=_asked_for(error), lost=not status)
        hint = "Check embedder.model and the environment variable with LiteLLM's key for it."
        return ConfigError(message, hint)


def _fields(item: object) -> Mapping[str, object]:
    """Return one embedding of a response as a mapping; depending on the provider it is a mapping or an object."""
    if isinstance(item, dict):
        return cast("dict[str, object]", item)
    dump = cast("Callable[[], dict[str, object]]", getattr(item, "model_dump", dict))
    return dump()


def _asked_for(error: Exception) -> float:
    headers = getattr(getattr(error, "response", None), "headers", None)
    return retry_after(cast("Mapping[str, str]", headers)) if headers is not None else 0.0
