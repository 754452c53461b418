"""The interface between `RemoteEmbedder` and an embedding server: describe the server, embed texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

PROBE = "def probe() -> None: ..."
"""Embedded to determine the dimension, and to detect a server that rejects everything, not just a certain text."""

PAYLOAD_BYTES = 2_000_000
"""Maximum request body of TEI; other servers accept more."""


@dataclass(frozen=True, slots=True)
class EndpointLimits:
    """Limits of a server; 0 means that the server does not report one."""

    texts: int = 0
    """Per request."""
    tokens: int = 0
    """Per request."""
    text_tokens: int = 0
    """Per text; the server cuts off the rest."""
    requests: int = 0
    """Texts in progress at the same time, over all requests."""


@dataclass(frozen=True, slots=True)
class EndpointInfo:
    """What a server reports about itself."""

    model: str
    fingerprint: str
    """Identifies the weights as precisely as the server allows; "" if it does not."""
    dimension: int
    limits: EndpointLimits = EndpointLimits()
    server: str = ""
    """Product and version, for display."""


class Endpoint(Protocol):
    """One server. Raises ServerBusy, RequestRejected and ConfigError; never retries."""

    provider: str
    place: str
    """Where texts are sent, for display; contains no secrets."""

    async def describe(self, before: EndpointInfo | None) -> EndpointInfo:
        """Return what the server serves now; `before` is the previous result."""
        ...

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector per text, in order, as the server returned it."""
        ...

    async def aclose(self) -> None:
        """Close connections; idempotent."""
        ...
