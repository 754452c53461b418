"""The contract of HTTP requests for documentation: what is asked, what comes back, and who does it.

Which pages are fetched, and how often, is decided above it (`atlas.packs.documentation.sources.crawl`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

LOCAL_NAMES = frozenset(
    ("localhost", "local", "lan", "home", "internal", "intranet", "corp", "private", "test", "arpa")
)
"""Last labels of names that the public DNS does not have: only a machine or its network knows them."""


@dataclass(frozen=True, slots=True)
class FetchRequest:
    """One request. It follows no redirect: the answer has its target."""

    url: str
    max_bytes: int
    timeout: float
    allow_private: bool = False
    """Whether loopback and private addresses may be connected to."""
    etag: str = ""
    last_modified: str = ""


@dataclass(frozen=True, slots=True)
class FetchResponse:
    """The answer to a request."""

    url: str
    status: int
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    """Names in lower case."""
    body: bytes = b""
    cut: bool = False
    """There was more than the limit."""


class FetchFailed(Exception):
    """No answer: the message says why; `refused` if asking again is of no use."""

    def __init__(self, message: str, *, refused: bool = False) -> None:
        super().__init__(message)
        self.refused = refused


class Fetcher(Protocol):
    """Makes HTTP requests. Implemented by `atlas.adapters.web`."""

    async def fetch(self, request: FetchRequest) -> FetchResponse:
        """Return the response, whatever its status. Raises FetchFailed."""
        ...

    async def is_private(self, url: str) -> bool:
        """Return whether the host of an address is not on the public Internet; False if it cannot be resolved."""
        ...

    async def aclose(self) -> None:
        """Close the connections; idempotent."""
        ...
