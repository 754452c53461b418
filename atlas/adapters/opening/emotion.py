"""The encoder of emotions in short-term memories, loaded once."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from atlas.adapters.embedders.emotion import EmotionEncoder


@cache
def _encoder() -> EmotionEncoder:
    from atlas.adapters.embedders.emotion import EmotionEncoder

    return EmotionEncoder()


def encode_emotion(text: str) -> bytes:
    """Return the emotions of a text as a vector in bytes."""
    return _encoder().encode(text)
