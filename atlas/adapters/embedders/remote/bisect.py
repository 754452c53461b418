"""Handling of texts that a server rejects: bisect the request to single texts, shorten those, and skip them at last.

A text is at fault only if the server accepts another one; otherwise the server or the settings are at fault.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from atlas.adapters.embedders.remote.endpoint import PROBE
from atlas.adapters.embedders.remote.retry import RequestRejected, ServerCrashed
from atlas.core.errors import ConfigError

MIN_CHARACTERS = 100
"""Length in characters at which a rejected text is no longer halved."""

Ask = Callable[[Sequence[str]], Awaitable[list[bytes]]]
"""Texts -> vectors, or RequestRejected, or ServerCrashed after all retries."""


class Bisection:
    """One run over many requests; counts shortened and skipped texts."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._server_checked = False
        self.shortened = 0
        self.given_up = 0
        self.last = ""
        """The reason why the last text was skipped."""

    async def vectors(self, texts: Sequence[str]) -> list[bytes | None]:
        """Return a vector per text, None for a text that the server rejects in any length.

        Raises ConfigError if the server rejects everything, and all other errors of `ask`.
        """
        try:
            return list(await self._ask(texts))
        except (RequestRejected, ServerCrashed) as error:
            await self._check_server(error)
            if len(texts) == 1:
                return [await self._alone(texts[0], error)]
        half = len(texts) // 2
        return [*await self.vectors(texts[:half]), *await self.vectors(texts[half:])]

    async def _check_server(self, error: RequestRejected | ServerCrashed) -> None:
        """Raise unless the server accepts a harmless text; checked once per run."""
        if self._server_checked:
            return
        try:
            await self._ask([PROBE])
        except RequestRejected:
            hint = "The server rejects every text: check embedder.provider, embedder.model and embedder.dimensions."
            raise ConfigError(error.message, hint) from error
        self._server_checked = True

    async def _alone(self, text: str, error: RequestRejected | ServerCrashed) -> bytes | None:
        while len(text) > MIN_CHARACTERS:
            text = text[: len(text) // 2]
            try:
                (vector,) = await self._ask([text])
            except (RequestRejected, ServerCrashed) as refusal:
                error = refusal
                continue
            self.shortened += 1
            return vector
        self.given_up += 1
        self.last = error.message
        return None
