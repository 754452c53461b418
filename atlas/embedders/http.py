"""JSON over HTTP with one server: connections are kept, every status becomes one of the errors of `retry`.

Knows what servers mean by their codes, not what is asked of them. Redirects are not followed: code goes where it was
sent, or nowhere.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

import httpx2

from atlas.embedders.retry import RequestRejected, ServerBusy, ServerCrashed
from atlas.errors import ConfigError

CONNECT_SECONDS = 3.0

MAX_BYTES = 64 << 20
"""An answer beyond this is not read on: 2,048 vectors of 1,536 numbers are 60 MB of JSON."""

SAID_CHARACTERS = 200


class JsonClient:
    """Use from one event loop; connections are made with the first request."""

    def __init__(self, url: str, key: str, seconds: float, connections: int, *, loopback: bool) -> None:
        """`url` without "/" at its end; `seconds` bounds a request as a whole; `loopback` servers need no proxy."""
        self.url, self._key, self._seconds, self._connections = url, key, seconds, connections
        self._loopback = loopback
        self._client: httpx2.AsyncClient | None = None

    async def get(self, path: str) -> object:
        """Return the JSON at a path. Raises ServerBusy, RequestRejected and ConfigError."""
        return await self._request("GET", path, None)

    async def post(self, path: str, body: Mapping[str, object]) -> object:
        """Return the JSON that the server answers to a body. Raises ServerBusy, RequestRejected and ConfigError."""
        return await self._request("POST", path, json.dumps(body, ensure_ascii=False).encode("utf8"))

    async def aclose(self) -> None:
        """Close the connections; idempotent."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def _request(self, method: str, path: str, content: bytes | None) -> object:
        try:
            async with asyncio.timeout(self._seconds):
                return await self._send(method, path, content)
        except (TimeoutError, httpx2.TimeoutException) as error:
            raise self._lost(f"did not answer within {self._seconds:g} s") from error
        except httpx2.ConnectError as error:
            raise self._lost(f"cannot be reached ({error})") from error
        except (httpx2.TransportError, httpx2.DecodingError) as error:
            raise self._lost(f"broke off ({type(error).__name__})") from error

    async def _send(self, method: str, path: str, content: bytes | None) -> object:
        if self._client is None:
            self._client = self._connect()
        headers = {"Content-Type": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        async with self._client.stream(method, f"{self.url}{path}", content=content, headers=headers) as response:
            data = bytearray()
            async for part in response.aiter_bytes():
                data += part
                if len(data) > MAX_BYTES:
                    raise ServerBusy(f"the embedding server {self.url} answered more than {MAX_BYTES >> 20} MB")
        if response.status_code // 100 != 2:
            raise self._error(response.status_code, path, response.headers, bytes(data))
        try:
            return json.loads(data)
        except ValueError as error:
            raise ServerBusy(f"the embedding server {self.url} did not answer in JSON") from error

    def _connect(self) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(
            timeout=httpx2.Timeout(self._seconds, connect=min(CONNECT_SECONDS, self._seconds)),
            limits=httpx2.Limits(
                max_connections=self._connections, max_keepalive_connections=self._connections, keepalive_expiry=30
            ),
            trust_env=not self._loopback,
            # certificates are read from disk: not for a connection that has none
            verify=self.url.startswith("https:"),
        )

    def _lost(self, what: str) -> ServerBusy:
        hint = "Start it (docker compose up -d tei), or correct embedder.url; atlas health tells whether it works."
        return ServerBusy(f"the embedding server {self.url} {what}", hint, lost=True)

    def _error(self, status: int, path: str, headers: Mapping[str, str], data: bytes) -> Exception:
        said = said_by(data)
        if self._key:
            said = said.replace(self._key, "***")
        message = f"the embedding server {self.url} answered {status}{': ' if said else ''}{said}"
        if status in (400, 413, 422):
            return RequestRejected(message)
        if status == 424:
            return ServerCrashed(message, "See the log of the server.", retry_after(headers))
        if status in (408, 425, 429) or status >= 500:
            return ServerBusy(
                message, "See the log of the server, or lower embedder.concurrency.", retry_after(headers)
            )
        if status in (401, 403):
            return ConfigError(message, "Set the environment variable ATLAS_EMBEDDER_API_KEY to the server's key.")
        if status // 100 == 3:
            return ConfigError(message, f"It redirects {path}, which is not followed: set embedder.url to where it is.")
        return ConfigError(message, f"Is there {path} at embedder.url, and is embedder.provider the right one?")


def said_by(data: bytes) -> str:
    """Return what an error's body says, on one line of bounded length."""
    try:
        found: object = json.loads(data)
    except ValueError:
        found = data.decode("utf8", "replace")
    for key in ("error", "message"):
        if isinstance(found, dict):
            found = found.get(key, found)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    text = found if isinstance(found, str) else json.dumps(found)
    return " ".join(text.split())[:SAID_CHARACTERS]


def retry_after(headers: Mapping[str, str]) -> float:
    """Return the seconds that a server asks to wait, from a number or a date; 0 when it does not."""
    value = headers.get("retry-after", "")
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return 0.0
