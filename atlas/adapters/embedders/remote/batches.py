"""Texts to requests within the limits of a server: number of texts, estimated tokens and bytes. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from atlas.adapters.embedders.remote.endpoint import PAYLOAD_BYTES, EndpointLimits

BYTES_PER_TOKEN = 3
"""Code has 3 to 4 bytes per token; the lower value keeps requests below a limit."""

ENVELOPE_BYTES = 4096
"""Bytes reserved for the request body around the texts."""


def tokens_of(text: str) -> int:
    """Return a high estimate of the number of tokens, including the start and end tokens."""
    return len(text.encode("utf8", "replace")) // BYTES_PER_TOKEN + 2


def clean(text: str) -> str:
    """Return the text in a form that every server can read: lone surrogates are not UTF-8."""
    return text.encode("utf8", "replace").decode("utf8")


def split(texts: Sequence[str], most: int, limits: EndpointLimits) -> Iterator[list[int]]:
    """Yield the positions of the texts of each request, at most `most` and the server's limits; every text is included.

    Texts of similar length go together, because a model pads all texts to the longest.
    """
    count = min(most, limits.texts or most, limits.requests or most)
    batch: list[int] = []
    tokens = size = 0
    for position in sorted(range(len(texts)), key=lambda position: len(texts[position])):
        text = texts[position]
        text_tokens = min(tokens_of(text), limits.text_tokens or tokens_of(text))
        text_size = len(json.dumps(text, ensure_ascii=False).encode("utf8")) + 1
        too_many = limits.tokens and tokens + text_tokens > limits.tokens
        if batch and (len(batch) >= count or too_many or size + text_size > PAYLOAD_BYTES - ENVELOPE_BYTES):
            yield batch
            batch, tokens, size = [], 0, 0
        batch.append(position)
        tokens += text_tokens
        size += text_size
    if batch:
        yield batch
