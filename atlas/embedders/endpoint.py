"""What every kind of embedding server looks like to `RemoteEmbedder`: it says what it is, and embeds texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

PROBE = "def probe() -> None: ..."
"""Embedded to learn the dimension, and to tell a server that refuses everything from one that refuses a text."""

PAYLOAD_BYTES = 2_000_000
"""What TEI takes as a request's body; others take more."""


@dataclass(frozen=True, slots=True)
class EndpointLimits:
    """What a server takes; 0 = it does not say."""

    texts: int = 0
    """In a request."""
    tokens: int = 0
    """In a request."""
    text_tokens: int = 0
    """Of one text; what is beyond is cut off by the server."""
    requests: int = 0
    """Texts at work at the same time, over all requests."""


@dataclass(frozen=True, slots=True)
class EndpointInfo:
    """What a server said it is."""

    model: str
    fingerprint: str
    """Names the weights as well as the server can; "" when it cannot."""
    dimension: int
    limits: EndpointLimits = EndpointLimits()
    server: str = ""
    """Product and version, for people."""


class Endpoint(Protocol):
    """One server. Raises Busy, Refused and ConfigError; never tries again by itself."""

    provider: str
    place: str
    """Where texts are sent, for people; no secrets."""

    async def describe(self, before: EndpointInfo | None) -> EndpointInfo:
        """Return what is served now; `before` is what was served when it was last asked."""
        ...

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector per text, in order, as the server gave them."""
        ...

    async def aclose(self) -> None:
        """Close connections; idempotent."""
        ...
