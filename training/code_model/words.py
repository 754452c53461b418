"""Words of a text: those of the encoder in `rust-parser/src/encode/code.rs`."""

from __future__ import annotations

import re

WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")


def words_of(text: str) -> list[str]:
    """Return the parts of the identifiers and words of a text, in lower case."""
    return [word.lower() for word in WORD.findall(text)]
