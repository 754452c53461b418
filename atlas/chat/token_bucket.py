"""How fast something may happen: a token bucket on the monotonic clock."""

from __future__ import annotations

import asyncio
import time

MESSAGES, BURST = 500.0, 2000.0
"""Messages a second of one server, and at once."""

COUNTED = 1 << 16
"""Bytes that count as one more message."""


class TokenBucket:
    """At most `burst` at once and `rate` a second in the long run. Use from one event loop."""

    def __init__(self, rate: float, burst: float) -> None:
        self._rate, self._burst = rate, burst
        self._left, self._at = burst, time.monotonic()

    def allows(self) -> bool:
        """Return whether one more may happen now, and count it."""
        self._fill()
        if self._left < 1:
            return False
        self._left -= 1
        return True

    async def wait(self, cost: float = 1) -> None:
        """Count `cost`, and return once that many may have happened."""
        self._fill()
        self._left -= cost
        if self._left < 0:
            await asyncio.sleep(-self._left / self._rate)

    def _fill(self) -> None:
        now = time.monotonic()
        self._left = min(self._burst, self._left + (now - self._at) * self._rate)
        self._at = now
