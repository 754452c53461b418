"""Texts -> requests that a server takes: by number, by estimated tokens and by bytes. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from atlas.embedders.endpoint import PAYLOAD_BYTES, EndpointLimits

BYTES_PER_TOKEN = 3
"""Code has 3 to 4 bytes in a token; the lower number keeps requests below a limit."""

ENVELOPE_BYTES = 4096
"""Room for what is around the texts in a body."""


def tokens_of(text: str) -> int:
    """Return an estimate of the model's tokens, rather too many; the two at the ends are counted."""
    return len(text.encode("utf8", "replace")) // BYTES_PER_TOKEN + 2


def clean(text: str) -> str:
    """Return the text as every server can read it: lone surrogates are no UTF-8."""
    return text.encode("utf8", "replace").decode("utf8")


def split(texts: Sequence[str], most: int, limits: EndpointLimits) -> Iterator[list[int]]:
    """Yield the positions of the texts of each request, at most `most` and what the server allows; no text is left out.

    Texts of similar length go together: a model pads all to the longest.
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
