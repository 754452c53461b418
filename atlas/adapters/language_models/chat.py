"""A chat model behind LiteLLM (extra `[litellm]`): streams text and tool calls, retries what may succeed.

Tool calls arrive in pieces that may interleave; they are yielded once they are complete. A connection that breaks in
the middle of an answer is asked again once, because half an answer cannot be continued.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any, cast

from atlas.core.errors import AtlasError, ConfigError, Unavailable
from atlas.core.language_model import Message, ModelEvent, Retrying, TextDelta, ToolRequest, Usage
from atlas.core.threads import in_daemon_thread
from atlas.runtime.process.litellm_library import describe_error, load_litellm, request_options

MAX_MESSAGE = 300
"""Characters of a provider's error that are shown."""

ATTEMPTS = 4
"""Requests per answer: rate limits and overloaded servers usually pass within some seconds."""

FIRST_DELAY, MAX_DELAY = 1.0, 30.0
"""Seconds before another attempt; doubled each time, unless the server says how long."""

MAX_TOOL_CALLS = 64
"""Tool calls of one answer that are read."""

REJECTED = (400, 401, 403, 404, 422)


class LiteLlmChatModel:
    """`atlas.core.language_model.ChatModel` over `litellm.acompletion`."""

    def __init__(self, model: str, url: str, key: str, seconds: float, delay: float = FIRST_DELAY) -> None:
        """`model` is LiteLLM's name with the provider prefix; empty `url` and `key` mean the provider's defaults."""
        self._model, self._key, self._delay = model, key, delay
        self._info: Mapping[str, Any] | None = None
        self._options = request_options(url, key, seconds)

    @property
    def name(self) -> str:
        """The model."""
        return self._model

    @property
    def context_tokens(self) -> int:
        """The most input tokens that LiteLLM's list names for the model; 0 if it does not know the model."""
        return int(self._listed().get("max_input_tokens") or 0)

    @property
    def reads_images(self) -> bool:
        """Whether LiteLLM's list says that the model reads images."""
        return bool(self._listed().get("supports_vision"))

    async def load(self) -> None:
        """Import LiteLLM. Raises ConfigError if it is not installed."""
        await in_daemon_thread(load_litellm)

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, object]]
    ) -> AsyncGenerator[ModelEvent]:
        """Yield the answer; see `ChatModel.stream`."""
        library = await in_daemon_thread(load_litellm)
        request: dict[str, Any] = {"model": self._model, "messages": list(messages), "stream": True, **self._options}
        request["stream_options"] = {"include_usage": True}
        if tools:
            request["tools"] = list(tools)
        for attempt in range(1, ATTEMPTS + 1):
            broken = False
            try:
                async for event in _events(library, await library.acompletion(**request)):
                    broken = broken or isinstance(event, TextDelta)
                    yield event
                return
            except Exception as error:  # isolation: the code of a provider raises errors of any type
                failure = self._translated(error)
                last = attempt == ATTEMPTS or (broken and attempt > 1)
                if not isinstance(failure, Unavailable) or last:
                    raise failure from error
                wait = _asked_delay(error) or min(MAX_DELAY, self._delay * 2 ** (attempt - 1))
                yield Retrying(failure.message, wait)
            await asyncio.sleep(wait)

    def _listed(self) -> Mapping[str, Any]:
        if self._info is None:
            try:
                self._info = cast("Mapping[str, Any]", load_litellm().get_model_info(self._model))
            except AtlasError:
                return {}
            except Exception:  # noqa: BLE001 isolation: LiteLLM raises plain exceptions for models that it does not list
                self._info = {}
        return self._info

    def _missing_keys(self) -> list[str]:
        """Return the variables of which one must hold the key: LiteLLM reports a missing key as a server's fault."""
        if self._key:
            return []
        try:
            found: list[str] = load_litellm().validate_environment(self._model)["missing_keys"]
        except Exception:  # noqa: BLE001 isolation: the code of a provider raises errors of any type
            return []
        # of other providers the credentials may come from elsewhere, such as files of a cloud's tools
        return found if all(name.endswith("_API_KEY") for name in found) else []

    def _translated(self, error: Exception) -> AtlasError:
        message = f"{self._model} failed ({type(error).__name__}): {describe_error(error, self._key, MAX_MESSAGE)}"
        status = getattr(error, "status_code", 0)
        if status in (401, 403):
            return ConfigError(message, "Set the provider's key in the environment, e.g. OPENAI_API_KEY.")
        missing = self._missing_keys()
        if missing:
            return ConfigError(message, f"Set {' or '.join(missing)} in the environment.")
        if status in REJECTED:
            return ConfigError(message, "Check --model and --api-base; `provider/model` are LiteLLM's names.")
        return Unavailable(message, "Try again, or name another model with /model.")


async def _events(library: Any, answer: Any) -> AsyncGenerator[ModelEvent]:
    """Yield the events of one streamed answer."""
    calls: dict[int, list[str]] = {}
    usage: Any = None
    finished = False
    async for part in answer:
        usage = getattr(part, "usage", None) or usage
        for choice in getattr(part, "choices", None) or ():
            finished = finished or bool(getattr(choice, "finish_reason", None))
            delta = getattr(choice, "delta", None)
            text = getattr(delta, "content", None)
            if text:
                yield TextDelta(str(text))
            for piece in getattr(delta, "tool_calls", None) or ():
                _collect(calls, piece)
    if not finished:
        raise ConnectionError("the answer ended before it was complete")
    for number in sorted(calls)[:MAX_TOOL_CALLS]:
        identity, name, arguments = calls[number]
        yield ToolRequest(identity or f"call_{number}", name, arguments)
    yield _usage(library, answer, usage)


def _collect(calls: dict[int, list[str]], piece: Any) -> None:
    """Add one piece of a tool call to those of its number."""
    known = calls.setdefault(int(getattr(piece, "index", 0) or 0), ["", "", ""])
    function = getattr(piece, "function", None)
    known[0] = known[0] or str(getattr(piece, "id", None) or "")
    known[1] += str(getattr(function, "name", None) or "")
    known[2] += str(getattr(function, "arguments", None) or "")


def _usage(library: Any, answer: Any, usage: Any) -> Usage:
    given = int(getattr(usage, "prompt_tokens", 0) or 0)
    made = int(getattr(usage, "completion_tokens", 0) or 0)
    try:
        prices: tuple[float, float] = library.cost_per_token(
            model=getattr(answer, "model", ""), prompt_tokens=given, completion_tokens=made
        )
        return Usage(given, made, float(sum(prices)))
    except Exception:  # noqa: BLE001 isolation: LiteLLM raises plain exceptions for models without a price
        return Usage(given, made)


def _asked_delay(error: Exception) -> float:
    """Return the seconds of a Retry-After header, at most `MAX_DELAY`; 0 without one."""
    headers: Any = getattr(getattr(error, "response", None), "headers", None) or {}
    try:
        return min(MAX_DELAY, max(0.0, float(headers.get("retry-after", 0))))
    except (TypeError, ValueError, AttributeError):
        return 0.0
