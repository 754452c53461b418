"""How rare a word is among files. Pure."""

from __future__ import annotations

from math import log


def idf(size: int, files: int) -> float:
    """Return the inverse document frequency of a word that some of `size` files have, as BM25 defines it."""
    return log(1 + (size - files + 0.5) / (files + 0.5))
