"""How likely each piece of a body answers a question, by words, meaning and shape. Pure.

The words of a question count by how rare they are among the pieces compared, in all their forms; meaning is the cosine
of the model of prose, if there is one. A question for a default, a limit or a condition is answered by lines of that
shape. The constants were chosen on comments of nine packages that were taken out of the code: each asks for the
statement below it (docs/measurements/search.md).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from math import exp, log

from atlas.core.english.stems import Split, roots_of

MEANING = 1.0
"""Weight of the cosines, scaled from the least to the most similar piece; the words have 1."""
NEXT_TO = 0.3
"""Share of the better neighbour that a piece gains: a condition stands above what it decides."""
SHAPE = 0.25
"""For a piece of the shape that is asked for."""
SPREAD = 0.2
"""Difference of scores that makes a piece e times as likely."""
_SHAPES = (
    (
        re.compile(
            r"\bdefaults?\b|\bhow (?:many|much|long|often|big|deep|large|far)\b|\b(?:limits?|max\w*|min\w*|timeout"
            r"|interval|threshold|value of)\b",
            re.IGNORECASE,
        ),
        re.compile(
            r"[:=]\s*(?:[-+]?\d|[\"'`]|true\b|false\b|none\b|null\b|nil\b|[A-Z][A-Z_]{3,})|default|#\s*define\b|\?\?|\|\|",
            re.IGNORECASE,
        ),
    ),
    (
        re.compile(
            r"\b(?:when|if|unless|whether|only|conditions?|decide[sd]?|refuse[sd]?|reject(?:s|ed)?|allow(?:s|ed)?"
            r"|accept(?:s|ed)?|check(?:s|ed)?)\b",
            re.IGNORECASE,
        ),
        re.compile(r"^\s*(?:\}\s*)?(?:el(?:se )?)?(?:if|unless|when|case|match|while|guard|assert)\b|\belse\b|\s\?\s"),
    ),
)
"""What a question asks for, and the shape of a piece that says it: a value that is given, a condition."""


def scores(
    text: str, pieces: Sequence[str], cosines: Sequence[float], asked: Collection[str], split: Split
) -> list[float]:
    """Return how well each piece matches a question; `asked`: roots of its words; `cosines` may be empty."""
    found = [_asked_in(piece, asked, split) for piece in pieces]
    frequent = Counter(root for each in found for root in each)
    rarity = {root: log(1 + len(pieces) / (1 + frequent[root])) for root in sorted(asked)}
    total = sum(rarity.values()) or 1.0
    shapes = [shape for question, shape in _SHAPES if question.search(text)]
    low, high = min(cosines, default=0.0), max(cosines, default=0.0)
    meaning = [(each - low) / (high - low) for each in cosines] if high > low else [0.0] * len(pieces)
    return [
        sum(rarity[root] for root in sorted(own)) / total
        + MEANING * cosine
        + SHAPE * sum(shape.search(piece) is not None for shape in shapes)
        for own, cosine, piece in zip(found, meaning, pieces, strict=True)
    ]


def _asked_in(piece: str, asked: Collection[str], split: Split) -> frozenset[str]:
    """Return the asked roots that a piece has. A word begins with its root, so most pieces need not be split."""
    if piece.isascii():
        lowered = piece.lower()
        if not any(root in lowered for root in asked):
            return frozenset()
    return roots_of(split(piece)).intersection(asked)


def shares(values: Sequence[float]) -> list[float]:
    """Return for the pieces of one body, in order, how likely each one is that which answers; together 1."""
    if not values:
        return []
    beside = [0.0, *values, 0.0]
    smooth = [own + NEXT_TO * max(beside[at], beside[at + 2]) for at, own in enumerate(values)]
    best = max(smooth)
    weights = [exp((each - best) / SPREAD) for each in smooth]
    total = sum(weights)
    return [weight / total for weight in weights]
