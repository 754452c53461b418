"""Judge whether the index answers a question, from its channels and its first hits."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from atlas.code.rank.rank import Candidate
from atlas.code.rank.relevance import (
    RELEVANT,
    WEAK,
    Signals,
    match_strength,
    read_signals,
    relevance,
    uncounted,
    with_coverage,
)
from atlas.code.reader import Reader
from atlas.code.retrieve.long_search import ChannelHits
from atlas.core.errors import AtlasError
from atlas.core.model import Filter

FIRST_HITS = 5
"""Hits whose words are compared with the question."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """How likely it is that the index answers a question; 1 if it cannot be told."""

    relevance: float = 1.0
    strength: float = 1.0
    """The same with what the first hits have of the question."""
    is_missing: bool = False
    """Whether nothing of the index has what the question names."""


MISSING = Judgement(0.0, 0.0, is_missing=True)


async def judge(reader: Reader, found: ChannelHits, ranked: Sequence[Candidate], where: Filter) -> Judgement:
    """Return the judgement of a question. Failures of the store leave it open."""
    is_placed = any(ranking.channel == "place" and ranking.hits for ranking in found.rankings)
    if is_placed or "relevance" in reader.ranking.off or not found.subject.words:
        return Judgement()
    try:
        signals = await read_all_signals(reader, found, ranked, where)
    except AtlasError:
        return Judgement()
    return Judgement(relevance(signals), match_strength(signals) if found.long is None else 1.0)


async def read_all_signals(reader: Reader, found: ChannelHits, ranked: Sequence[Candidate], where: Filter) -> Signals:
    """Read which uncounted words the index has, where that matters. Raises store errors."""
    hits = {ranking.channel: ranking.hits for ranking in found.rankings}
    signals = read_signals(found.subject, hits, found.counts)
    if relevance(signals) < RELEVANT:
        frequent = frozenset(uncounted(found.subject, found.counts)).difference(
            await unknown_words(reader, found, where)
        )
        signals = read_signals(found.subject, hits, found.counts, frequent)
    if signals.is_named:
        return signals
    rows = [each.node.row for each in ranked[:FIRST_HITS]]
    texts = [f"{row.name} {row.qualified_name} {row.signature} {row.docstring} {row.path}" for row in rows]
    shown = [(row.path, frozenset(reader.split_words(text))) for row, text in zip(rows, texts, strict=True)]
    return with_coverage(signals, found.subject, found.counts, shown)


async def unknown_words(reader: Reader, found: ChannelHits, where: Filter) -> tuple[str, ...]:
    """Return the words of a question that the word search does not have in any form. Raises store errors."""
    missing = uncounted(found.subject, found.counts)
    present = await asyncio.gather(*(reader.store.search_text([word], where, 1) for word in missing))
    return tuple(word for word, of_word in zip(missing, present, strict=True) if not of_word)


def remarks(found: ChannelHits, judgement: Judgement) -> tuple[str, ...]:
    """Return a note if the index has nothing about the question, little that fits it, or no word of it."""
    hits = {ranking.channel: ranking.hits for ranking in found.rankings}
    if not any(hits.values()):
        return ()
    if judgement.is_missing:
        return ("the hits are merely the nearest: the first line says what the question names and nothing has",)
    if judgement.relevance < RELEVANT:
        return (f"nothing relevant found (relevance {judgement.relevance:.2f}): the hits are merely the nearest",)
    if found.query.words and not hits.get("words"):
        return ("no word of the query occurs in the index: these hits are at best similar in meaning",)
    if judgement.strength < WEAK:
        return (f"weak match ({judgement.strength:.2f}): no hit has much of the question; it may not be answered here",)
    return ()
