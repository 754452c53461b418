"""A fetcher over `httpx2`: no redirects, no cookies, no credentials, no proxy of the environment, limited bodies.

The connection goes to an address that `destinations` has checked; the name stays in the Host header and in TLS. Names
with one address share nothing: no connection is kept, since TLS has shown the certificate of one of them only.
"""

from __future__ import annotations

import asyncio
import ssl
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx2

from atlas.adapters.web.destinations import is_private, is_this_machine, may_be_this_machine, resolve
from atlas.core.fetching import FetchFailed, FetchRequest, FetchResponse

if TYPE_CHECKING:
    from atlas.adapters.web.destinations import Address

AGENT = "code-atlas (documentation reader)"
ACCEPT = "text/html,application/xhtml+xml,text/markdown,text/plain;q=0.8,application/pdf;q=0.5,*/*;q=0.1"
CONNECT_SECONDS = 10.0
KEPT_HEADERS = frozenset((
    "content-type", "content-language", "etag", "last-modified", "location", "retry-after", "x-robots-tag", "link",
    "content-length",
))  # fmt: skip
MAX_HEADER = 4_000
MAX_CONNECTIONS = 8
ENCODINGS = frozenset(("", "identity", "gzip", "deflate"))
"""Content encodings that are read, one at a time: of several, the inner ones unpack without end and give nothing."""


class WebFetcher:
    """A client for use from one event loop."""

    def __init__(self) -> None:
        self._client = httpx2.AsyncClient(
            trust_env=False,
            follow_redirects=False,
            limits=httpx2.Limits(max_connections=MAX_CONNECTIONS, max_keepalive_connections=0),
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
            headers={"User-Agent": AGENT, "Accept": ACCEPT, "Accept-Encoding": "gzip, deflate"},
        )

    async def fetch(self, request: FetchRequest) -> FetchResponse:
        """Return the response, whatever its status. Raises FetchFailed."""
        try:
            async with asyncio.timeout(request.timeout):
                return await self._fetch(request)
        except (TimeoutError, httpx2.TimeoutException) as error:
            raise FetchFailed(f"no complete answer within {request.timeout:g} s") from error
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ssl.SSLError, ValueError) as error:
            raise FetchFailed(f"{type(error).__name__}: {error}".rstrip(": ")) from error

    async def is_private(self, url: str) -> bool:
        """Return whether the host of an address is not on the public Internet; False if it cannot be resolved."""
        try:
            host, port = _host_and_port(url)
            addresses = await resolve(host, port)
        except (OSError, ValueError, FetchFailed):
            return False
        return any(map(is_private, addresses))

    async def aclose(self) -> None:
        """Close the connections; idempotent."""
        await self._client.aclose()

    async def _fetch(self, request: FetchRequest) -> FetchResponse:
        host, port = _host_and_port(request.url)
        addresses = await resolve(host, port)
        allowed = request.allow_private and (may_be_this_machine(host) or not any(map(is_this_machine, addresses)))
        if not allowed and any(map(is_private, addresses)):
            raise FetchFailed(f"{host} is an address of this machine or its network", refused=True)
        for number, address in enumerate(addresses):
            try:
                return await self._ask(request, host, address)
            except httpx2.ConnectError:
                if number == len(addresses) - 1:
                    raise
        raise FetchFailed(f"{host} has no address")

    async def _ask(self, request: FetchRequest, host: str, address: Address) -> FetchResponse:
        url = httpx2.URL(request.url)
        headers = {"Host": url.netloc.decode("ascii")}
        if request.etag:
            headers["If-None-Match"] = request.etag
        if request.last_modified:
            headers["If-Modified-Since"] = request.last_modified
        timeout = httpx2.Timeout(request.timeout, connect=min(CONNECT_SECONDS, request.timeout))
        sent = self._client.build_request(
            "GET",
            url.copy_with(host=str(address)),
            headers=headers,
            timeout=timeout,
            extensions={"sni_hostname": host},
        )
        response = await self._client.send(sent, stream=True)
        try:
            body, cut = await _body(response, request.max_bytes)
        finally:
            await response.aclose()
        kept = {
            name.lower(): value[:MAX_HEADER] for name, value in response.headers.items() if name.lower() in KEPT_HEADERS
        }
        return FetchResponse(request.url, response.status_code, kept, body, cut)


async def _body(response: httpx2.Response, limit: int) -> tuple[bytes, bool]:
    """Return the body up to the limit, and whether there was more."""
    if response.status_code // 100 != 2:
        return b"", False
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding not in ENCODINGS:
        raise FetchFailed(f"its content encoding is {encoding[:40]}", refused=True)
    data = bytearray()
    async for part in response.aiter_bytes(1 << 16):
        data += part
        if len(data) > limit:
            return bytes(data[:limit]), True
    return bytes(data), False


def _host_and_port(url: str) -> tuple[str, int]:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise FetchFailed(f"{url} is not an http or https address", refused=True)
    return parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)
