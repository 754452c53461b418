"""Errors of embedding servers, and retries with exponential backoff and jitter.

Endpoints raise these errors; this module is independent of HTTP and of models.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from atlas.core.errors import AtlasError, Unavailable

CRASHES = 3
"""Failures in a row on the same texts after which the request is not retried."""

LONGEST_SECONDS = 10.0
"""Maximum delay between two attempts, unless the server asks for more."""

_T = TypeVar("_T")


class ServerBusy(Unavailable):
    """The server did not respond, or reported that it is temporarily unavailable."""

    def __init__(self, message: str, hint: str = "", after: float = 0.0, *, lost: bool = False) -> None:
        """`after`: seconds that the server asks to wait; `lost`: no response, so another server may answer next."""
        super().__init__(message, hint)
        self.after, self.lost = after, lost


class RequestRejected(AtlasError):
    """The server rejects these texts in every request because of one of them, their number or their size."""


class ServerCrashed(ServerBusy):
    """The model failed on these texts, for lack of memory or because of one of them."""


@dataclass(frozen=True, slots=True)
class Backoff:
    """Time limits of retries."""

    seconds: float
    """Seconds from the first attempt to the start of the last."""
    first: float
    """Seconds before the second attempt; doubled for each further attempt."""


async def retry_with_backoff(attempt: Callable[[], Awaitable[_T]], backoff: Backoff) -> _T:
    """Return the result of `attempt`; retry on ServerBusy within the time limit of the backoff, then raise it.

    If the server asks for a longer wait than the time limit allows, the error is raised without waiting.
    """
    started, delay, crashes = time.monotonic(), backoff.first, 0
    while True:
        try:
            return await attempt()
        except ServerBusy as busy:
            # Jitter of half the delay spreads the retries of requests that failed together.
            crashes = crashes + 1 if isinstance(busy, ServerCrashed) else 0
            wait = max(busy.after, delay * random.uniform(0.5, 1.0))
            if crashes == CRASHES or time.monotonic() - started + wait > backoff.seconds:
                raise
            await asyncio.sleep(wait)
            delay = min(2 * delay, LONGEST_SECONDS)
