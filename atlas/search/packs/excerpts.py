"""Sentences and blocks of a passage. Pure."""

from __future__ import annotations

from atlas.docs.sentences import sentences


def sentences_of(text: str) -> list[str]:
    """Return the sentences of a passage, code blocks among them."""
    return [sentence for sentence in sentences(text) if len(sentence) > 2]
