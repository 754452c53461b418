"""Any language model that LiteLLM reaches (extra `[litellm]`), imported with the first request."""

from __future__ import annotations

import asyncio
from typing import Any

from atlas.core.errors import AtlasError, ConfigError, Unavailable
from atlas.runtime.process.litellm_library import describe_error, load_litellm, request_options

MAX_MESSAGE = 300
MAX_ANSWER = 20_000
"""Characters of an answer that are read."""


class LiteLlmModel:
    """`atlas.core.language_model.LanguageModel` over `litellm.acompletion`."""

    def __init__(self, model: str, url: str, key: str, seconds: float) -> None:
        """`model` is LiteLLM's name with the provider prefix; empty `url` and `key` mean the provider's defaults."""
        self._model, self._key = model, key
        self._options = request_options(url, key, seconds)

    @property
    def name(self) -> str:
        """The model."""
        return self._model

    async def complete(self, instruction: str, text: str, most_tokens: int) -> str:
        """Return the answer. Raises ConfigError without LiteLLM or for rejected credentials, Unavailable otherwise."""
        library = await asyncio.to_thread(load_litellm)
        messages = [{"role": "system", "content": instruction}, {"role": "user", "content": text}]
        try:
            answer: Any = await library.acompletion(
                model=self._model, messages=messages, max_tokens=most_tokens, temperature=0, **self._options
            )
            return str(answer.choices[0].message.content or "")[:MAX_ANSWER]
        except Exception as error:  # isolation: the code of a provider raises errors of any type
            raise self._translated(error) from error

    def _translated(self, error: Exception) -> AtlasError:
        said = describe_error(error, self._key, MAX_MESSAGE)
        message = f"{self._model} failed ({type(error).__name__}): {said}"
        if getattr(error, "status_code", 0) in (400, 401, 403, 404):
            return ConfigError(message, "Check language_model.model and the key in the environment.")
        return Unavailable(message, "Try again; without language_model.model no model is asked.")
