"""Texts that a server refuses: the request is halved until they are alone, shortened, and given up one by one.

A text is to blame only when the server takes another one; else the server or the settings are.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from atlas.embedders.endpoint import PROBE
from atlas.embedders.retry import RequestRejected, ServerCrashed
from atlas.errors import ConfigError

LEAST_CHARACTERS = 100
"""A text that is refused is halved down to this."""

Ask = Callable[[Sequence[str]], Awaitable[list[bytes]]]
"""Texts -> vectors, or RequestRejected, or ServerCrashed after all backoff."""


class Bisection:
    """One run over many requests; counts what it had to do."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._innocent = False
        self.shortened = 0
        self.given_up = 0
        self.last = ""
        """Why the last text was given up."""

    async def vectors(self, texts: Sequence[str]) -> list[bytes | None]:
        """Return a vector per text, None for one that the server takes in no form.

        Raises ConfigError when the server takes nothing at all, and whatever else `ask` raises.
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
        """Raise unless the server takes a harmless text; asked once in a run."""
        if self._innocent:
            return
        try:
            await self._ask([PROBE])
        except RequestRejected:
            hint = "The server refuses every text: check embedder.provider, embedder.model and embedder.dimensions."
            raise ConfigError(error.message, hint) from error
        self._innocent = True

    async def _alone(self, text: str, error: RequestRejected | ServerCrashed) -> bytes | None:
        while len(text) > LEAST_CHARACTERS:
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
