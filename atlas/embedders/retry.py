"""What embedding servers answer instead of vectors, and how long they are asked again: growing waits with jitter.

Endpoints raise these errors; nothing here knows of HTTP or of models.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from atlas.errors import AtlasError, Unavailable

CRASHES = 3
"""A model that failed so often on the same texts in a row is not asked for them again."""

LONGEST_SECONDS = 10.0
"""Between two attempts, unless the server asks for more."""

_T = TypeVar("_T")


class ServerBusy(Unavailable):
    """The server did not answer, or said that it cannot now."""

    def __init__(self, message: str, hint: str = "", after: float = 0.0, *, lost: bool = False) -> None:
        """`after`: seconds that the server asks for; `lost`: no answer came, so another server may be there next."""
        super().__init__(message, hint)
        self.after, self.lost = after, lost


class RequestRejected(AtlasError):
    """The server takes these texts in no request: one of them, or their number or size, is to blame."""


class ServerCrashed(ServerBusy):
    """The model failed on these texts: for lack of memory, or because of one of them."""


@dataclass(frozen=True, slots=True)
class Backoff:
    """How long something is tried again."""

    seconds: float
    """From the first attempt to the start of the last."""
    first: float
    """Seconds before the second attempt; doubled from then on."""


async def retry_with_backoff(attempt: Callable[[], Awaitable[_T]], backoff: Backoff) -> _T:
    """Return what the attempt returns; retry on ServerBusy while the backoff lasts, then raise it.

    A server that asks for a longer wait than the backoff is not waited for.
    """
    started, delay, crashes = time.monotonic(), backoff.first, 0
    while True:
        try:
            return await attempt()
        except ServerBusy as busy:
            # a jitter of half the delay: the requests of a batch that failed together do not come back together
            crashes = crashes + 1 if isinstance(busy, ServerCrashed) else 0
            wait = max(busy.after, delay * random.uniform(0.5, 1.0))
            if crashes == CRASHES or time.monotonic() - started + wait > backoff.seconds:
                raise
            await asyncio.sleep(wait)
            delay = min(2 * delay, LONGEST_SECONDS)
