"""Requests to one server that the user named: with its token, and nowhere else.

Redirects are not followed, the environment names no proxy for this machine, answers are limited, and no compressed
answer is read: what arrives is as long as it says.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import cast

import httpx2

from atlas.core.errors import AtlasError, ConfigError, NotFound, StoreError, Unavailable

CONNECT_SECONDS = 5.0
ANSWER_SECONDS = 60.0
MAX_MESSAGE = 300


class NamedServer:
    """A server at a URL. For one thread at a time; close it with `close`."""

    def __init__(self, url: str, token: str, *, loopback: bool) -> None:
        self.url = url.rstrip("/")
        headers = {"Accept-Encoding": "identity", "Content-Type": "application/octet-stream"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        self._client = httpx2.Client(
            headers=headers,
            follow_redirects=False,
            trust_env=not loopback,
            timeout=httpx2.Timeout(ANSWER_SECONDS, connect=CONNECT_SECONDS),
        )

    def post(self, headers: Mapping[str, str], content: bytes, limit: int) -> bytes:
        """Return the answer of at most `limit` bytes. Raises ConfigError, NotFound, StoreError and Unavailable."""
        try:
            with self._client.stream("POST", self.url, content=content, headers=dict(headers)) as response:
                if response.headers.get("content-encoding", "identity") != "identity":
                    raise StoreError(f"{self.url} sent a compressed answer")
                data = bytearray()
                for part in response.iter_bytes():
                    data += part
                    if len(data) > limit:
                        raise StoreError(f"{self.url} sent more than {limit:,} bytes")
        except httpx2.TimeoutException as error:
            raise Unavailable(f"{self.url} did not answer in time", "try again later") from error
        except httpx2.ConnectError as error:
            raise Unavailable(f"{self.url} cannot be reached ({error})", "is it running?") from error
        except (httpx2.TransportError, httpx2.DecodingError) as error:
            raise Unavailable(f"{self.url} sent no complete answer ({type(error).__name__})") from error
        except (httpx2.InvalidURL, ValueError) as error:
            raise ConfigError(f"{self.url} is no address of a server: {error}") from error
        if response.status_code == 200:
            return bytes(data)
        raise self._error(response.status_code, bytes(data))

    def close(self) -> None:
        """Close the connection; idempotent."""
        self._client.close()

    def _error(self, status: int, data: bytes) -> AtlasError:
        said = _message(data)
        where = f"{self.url} answered {status}"
        if status // 100 == 3:
            return StoreError(f"{where}: it sends requests elsewhere, which is not followed", "name the other address")
        if status in (401, 403):
            return ConfigError(f"{where}: {said or 'no access'}", "check the token and its projects")
        if status == 404:
            return NotFound(f"{where}: {said or 'nothing is there'}")
        if status in (429, 502, 503, 504):
            return Unavailable(f"{where}: {said or 'it is busy'}", "try again later")
        return StoreError(f"{where}: {said or 'an error'}")


def _message(data: bytes) -> str:
    """Return what the server says about an error, as one short line of plain characters."""
    try:
        found: object = json.loads(data)
    except (ValueError, RecursionError):
        return ""
    error = cast("dict[str, object]", found).get("error") if isinstance(found, dict) else None
    message = cast("dict[str, object]", error).get("message") if isinstance(error, dict) else None
    return (
        "".join(one if one.isprintable() else " " for one in message)[:MAX_MESSAGE] if isinstance(message, str) else ""
    )
