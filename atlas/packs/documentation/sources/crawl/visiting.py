"""Requests of a crawl: politeness per host, robots.txt, retries with growing delays, and which hosts may be private."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from atlas.core.fetching import FetchFailed, FetchRequest
from atlas.packs.documentation.sources.crawl import robots
from atlas.packs.documentation.sources.crawl.robots import Robots

if TYPE_CHECKING:
    from collections.abc import Mapping

    from atlas.core.fetching import Fetcher, FetchResponse
    from atlas.packs.documentation.sources.crawl.state import CrawlState
    from atlas.packs.documentation.sources.values import CollectOptions

MAX_WAIT = 120.0
"""Longest Retry-After that is obeyed; a page that asks for more fails."""

MAX_REDIRECTS = 5
"""Of robots.txt and sitemaps; redirects of pages are pages of their own."""

RETRIED = frozenset((408, 425, 429, 500, 502, 503, 504))


@dataclass(slots=True)
class _Turn:
    """When a host may be asked again."""

    lock: asyncio.Lock
    at: float = 0.0
    delay: float = 0.0


class Visitor:
    """Makes the requests of one crawl."""

    def __init__(self, fetcher: Fetcher, options: CollectOptions, state: CrawlState) -> None:
        self._fetcher, self._options, self._state = fetcher, options, state
        self._turns: dict[str, _Turn] = {}
        self._robots: dict[str, asyncio.Task[Robots]] = {}
        self._private: dict[str, bool] = {}

    async def name_start(self, url: str) -> None:
        """Allow a private address for the host of a start address if it is there already."""
        self._private[urlsplit(url).netloc] = await self._fetcher.is_private(url)

    async def robots(self, url: str) -> Robots:
        """Return the rules of the host of an address."""
        parts = urlsplit(url)
        origin = f"{parts.scheme}://{parts.netloc}"
        if origin not in self._robots:
            self._robots[origin] = asyncio.ensure_future(self._read_robots(origin))
        return await asyncio.shield(self._robots[origin])

    async def allowed(self, url: str) -> bool:
        """Return whether robots.txt allows a page."""
        return self._options.ignore_robots or (await self.robots(url)).allows(url)

    async def fetch(
        self, url: str, earlier: Mapping[str, str] | None = None, max_bytes: int | None = None
    ) -> FetchResponse:
        """Fetch a page in turn, again after failures that may pass. Raises FetchFailed.

        `earlier`: headers of an earlier answer, for a conditional request. `max_bytes`: of the unpacked body.
        """
        earlier = earlier or {}
        request = FetchRequest(
            url,
            self._options.max_page_bytes if max_bytes is None else max_bytes,
            self._options.timeout,
            self._private.get(urlsplit(url).netloc, False),
            earlier.get("etag", ""),
            earlier.get("last-modified", ""),
        )
        for attempt in range(self._options.retries + 1):
            is_last = attempt == self._options.retries
            wait = min(self._options.backoff * 2**attempt, 30.0)
            await self._take_turn(url)
            try:
                response = await self._fetcher.fetch(request)
            except FetchFailed as error:
                if is_last or error.refused:
                    raise
            else:
                if response.status not in RETRIED or is_last:
                    return response
                asked = retry_after(response.headers)
                if asked > MAX_WAIT:
                    return response
                wait = max(wait, asked)
            await asyncio.sleep(wait)
        raise FetchFailed("no attempt was made")

    async def fetch_through(self, url: str, max_bytes: int | None = None) -> FetchResponse:
        """Fetch and follow redirects on the same host. Raises FetchFailed."""
        start = urlsplit(url).netloc
        for _ in range(MAX_REDIRECTS + 1):
            response = await self.fetch(url, max_bytes=max_bytes)
            target = response.headers.get("location", "")
            if response.status // 100 != 3 or not target:
                return response
            url = urljoin(url, target)
            if urlsplit(url).netloc != start:
                raise FetchFailed(f"redirects to another host: {url}", refused=True)
        raise FetchFailed("redirects too often", refused=True)

    async def _take_turn(self, url: str) -> None:
        host = urlsplit(url).netloc
        turn = self._turns.setdefault(host, _Turn(asyncio.Lock(), delay=self._options.delay))
        async with turn.lock:
            wait = turn.at - time.monotonic()
            if wait > 0:
                await asyncio.sleep(wait)
            turn.at = time.monotonic() + turn.delay

    async def _read_robots(self, origin: str) -> Robots:
        """Read robots.txt once for a crawl, however often it is interrupted."""
        name = f"robots {origin}"
        text = self._state.fact(name)
        if not text:
            try:
                response = await self.fetch_through(f"{origin}/robots.txt", robots.MAX_BYTES)
                text = robots.text_of(response.status, response.body)
            except FetchFailed:
                # the pages themselves will say that the host cannot be reached
                text = ""
            self._state.set_fact(name, text or "# none")
        rules = Robots(text)
        if not self._options.ignore_robots:
            host = urlsplit(origin).netloc
            turn = self._turns.setdefault(host, _Turn(asyncio.Lock(), delay=self._options.delay))
            turn.delay = min(max(rules.delay(), self._options.delay), max(self._options.max_delay, self._options.delay))
        return rules


def retry_after(headers: Mapping[str, str]) -> float:
    """Return the seconds that a response asks to wait, 0 if it does not."""
    text = headers.get("retry-after", "").strip()
    if text.isdecimal():
        return float(text[:9])
    try:
        return max(parsedate_to_datetime(text).timestamp() - time.time(), 0.0)
    except (TypeError, ValueError, OverflowError):
        return 0.0
