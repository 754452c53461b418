"""JSON over HTTP with one server: connections are reused, every status maps to an error of `retry`.

This module knows the meaning of status codes but not of requests. Redirects are not followed, so that code is sent only
to the configured server.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

import httpx2

from atlas.adapters.embedders.remote.retry import RequestRejected, ServerBusy, ServerCrashed
from atlas.core.errors import ConfigError

CONNECT_SECONDS = 3.0

MAX_BYTES = 64 << 20
"""Maximum size of a response: 2,048 vectors of 1,536 numbers are 60 MB of JSON."""

MAX_MESSAGE_CHARACTERS = 200


class JsonClient:
    """A client for use from one event loop; it connects with the first request."""

    def __init__(self, url: str, key: str, seconds: float, connections: int, *, loopback: bool) -> None:
        """`url` has no trailing "/"; `seconds` limits a whole request; `loopback` servers bypass the proxy."""
        self.url, self._key, self._seconds, self._connections = url, key, seconds, connections
        self._loopback = loopback
        self._client: httpx2.AsyncClient | None = None

    async def get(self, path: str) -> object:
        """Return the JSON at a path. Raises ServerBusy, RequestRejected and ConfigError."""
        return await self._request("GET", path, None)

    async def post(self, path: str, body: Mapping[str, object]) -> object:
        """Post a body and return the JSON response. Raises ServerBusy, RequestRejected and ConfigError."""
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
            raise self._lost(f"did not respond within {self._seconds:g} s") from error
        except httpx2.ConnectError as error:
            raise self._lost(f"cannot be reached ({error})") from error
        except (httpx2.TransportError, httpx2.DecodingError) as error:
            raise self._lost(f"sent no complete response ({type(error).__name__})") from error

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
                    raise ServerBusy(f"the embedding server {self.url} returned more than {MAX_BYTES >> 20} MB")
        if response.status_code // 100 != 2:
            raise self._error(response.status_code, path, response.headers, bytes(data))
        try:
            return json.loads(data)
        except ValueError as error:
            raise ServerBusy(f"the embedding server {self.url} did not return JSON") from error

    def _connect(self) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(
            timeout=httpx2.Timeout(self._seconds, connect=min(CONNECT_SECONDS, self._seconds)),
            limits=httpx2.Limits(
                max_connections=self._connections, max_keepalive_connections=self._connections, keepalive_expiry=30
            ),
            trust_env=not self._loopback,
            # Loading certificates reads the disk, so skip it for plain HTTP.
            verify=self.url.startswith("https:"),
        )

    def _lost(self, what: str) -> ServerBusy:
        hint = "Start it (docker compose up -d tei), or correct embedder.url; atlas health checks the connection."
        return ServerBusy(f"the embedding server {self.url} {what}", hint, lost=True)

    def _error(self, status: int, path: str, headers: Mapping[str, str], data: bytes) -> Exception:
        said = error_message(data)
        if self._key:
            said = said.replace(self._key, "***")
        message = f"the embedding server {self.url} returned {status}{': ' if said else ''}{said}"
        if status in (400, 413, 422):
            return RequestRejected(message)
        if status == 424:
            return ServerCrashed(message, "See the log of the server.", retry_after(headers))
        if status in (408, 425, 429) or status >= 500:
            return ServerBusy(message, "See the log of the server or lower embedder.concurrency.", retry_after(headers))
        if status in (401, 403):
            return ConfigError(message, "Set the environment variable ATLAS_EMBEDDER_API_KEY to the server's key.")
        if status // 100 == 3:
            return ConfigError(
                message, f"The server redirects {path}; redirects are not followed. Set embedder.url to the target."
            )
        return ConfigError(message, f"Check embedder.url, which must serve {path}, and embedder.provider.")


def error_message(data: bytes) -> str:
    """Return the message in an error response, on one line of bounded length."""
    try:
        found: object = json.loads(data)
    except ValueError:
        found = data.decode("utf8", "replace")
    for key in ("error", "message"):
        if isinstance(found, dict):
            found = found.get(key, found)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    text = found if isinstance(found, str) else json.dumps(found)
    return " ".join(text.split())[:MAX_MESSAGE_CHARACTERS]


def retry_after(headers: Mapping[str, str]) -> float:
    """Return the seconds that a server asks to wait, from a number or a date; 0 if it does not ask."""
    value = headers.get("retry-after", "")
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return 0.0
