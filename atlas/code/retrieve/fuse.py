"""Fusion of several rankings into one. Pure: scores in, scores out, ties by uid.

`fuse_rrf` is reciprocal rank fusion as published (Cormack, Clarke, Buettcher: Reciprocal Rank Fusion outperforms
Condorcet and individual Rank Learning Methods, SIGIR 2009). `weighted` adds normalised scores; adr/0008 compares the
two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from atlas.core.model import Scored

RRF_K = 60
"""The constant from the paper."""
WORDS_WEIGHT = 0.4
MEANING_WEIGHT = 0.6
"""The best of .3/.4/.5 for BM25 on held-out functions with this embedding model (adr/0008)."""
REPORT_WORDS_WEIGHT = 0.5
"""For reports and messages: the vector of a long text is the mean of much that is not asked for. Of 100 messages of
people the words alone find .46 of the definitions in ten hits, the vectors .22 (docs/measurements/search.md)."""
STATED_WORDS_WEIGHT = 0.3
"""For sentences of documentation, which seldom have the words of what they describe (docs/measurements/search.md)."""
QUALITY_WEIGHT = 0.3
"""Share of the sentence transformer in the score of a text, where it found any (docs/measurements/search.md)."""
PROSE_FLOOR, PROSE_CEILING = 0.2, 0.7
"""Cosines of unrelated and of clearly related prose. Of 1,214 headings of Django's documentation, 10 % have
more than .23 with a random section and 10 % more than .69 with their own."""


DOCUMENT_OFFSET = 0.1
"""Subtracted from the cosines of documents to compare them with those of code. Both models give the target of a
question a median of .54 to .64, but a section is nearer to a question about code than code to one about a section:
the best section has .54 for the first sentence of a docstring, the best code .62 for a heading
(docs/measurements/retrieval.md)."""


def on_one_scale(code: Sequence[Scored], documents: Sequence[Scored], offset: float) -> list[Scored]:
    """Return the hits of two spaces with positive scores in one order, the cosines of documents less `offset`."""
    lowered = (Scored(uid, score - offset) for uid, score in documents)
    return sorted((hit for hit in (*code, *lowered) if hit.score > 0), key=lambda hit: (-hit.score, hit.uid))


def fuse_rrf(
    rankings: Sequence[Sequence[Scored]], k: int = RRF_K, weights: Sequence[float] | None = None
) -> list[Scored]:
    """Return sum(weight / (k + rank)) per uid, rank from 1, best first, ties by uid; scores are ignored."""
    totals: dict[str, float] = {}
    for ranking, weight in zip(rankings, weights or [1.0] * len(rankings), strict=True):
        for rank, hit in enumerate(ranking, 1):
            totals[hit.uid] = totals.get(hit.uid, 0.0) + weight / (k + rank)
    return order(totals)


def text_scores(
    words: Sequence[Scored],
    meaning: Sequence[Scored],
    quality: Sequence[Scored] = (),
    words_weight: float = WORDS_WEIGHT,
) -> dict[str, float]:
    """Return words, meaning and the sentence transformer's as one score 0..1 per uid, the default fusion.

    BM25 scores are divided by their maximum. Cosines are scaled between the last and the best of the ranking, because
    the last of 100 neighbours is as near as unrelated code. If one channel is empty, the other keeps its full range, so
    that names keep their relative weight. Without a sentence transformer the scores are those of the others alone.
    """
    if quality:
        others = list(text_scores(words, meaning, (), words_weight).items())
        further = list(above_floor(quality).items())
        return weighted([others, further], [1 - QUALITY_WEIGHT, QUALITY_WEIGHT] if others else [0.0, 1.0])
    if not meaning:
        return weighted([words], [1.0])
    lifted = list(above_floor(meaning).items())
    if not words:
        return weighted([lifted], [1.0])
    return weighted([words, lifted], [words_weight, 1 - words_weight])


def prose_scores(hits: Sequence[Scored], words: Sequence[Scored]) -> dict[str, float]:
    """Return the meaning of notes as a share per uid: 0..`MEANING_WEIGHT`, or 0..1 if no word was found.

    The scale is absolute, unlike that of code: a project may have three notes, and the best of three is as a rule not
    about the question.
    """
    weight = MEANING_WEIGHT if words else 1.0
    return {uid: weight * share for uid, share in prose_shares(hits).items()}


def prose_shares(hits: Sequence[Scored]) -> dict[str, float]:
    """Return cosines of prose as 0..1 between `PROSE_FLOOR` and `PROSE_CEILING`; omits those below."""
    reach = PROSE_CEILING - PROSE_FLOOR
    return {uid: min(1.0, (score - PROSE_FLOOR) / reach) for uid, score in hits if score > PROSE_FLOOR}


def above_floor(meaning: Sequence[Scored]) -> dict[str, float]:
    """Return cosines as 0..1 between the last and the best of the ranking."""
    floor = min(score for _, score in meaning) if len(meaning) > 1 else 0.0
    return normalised([(uid, score - floor) for uid, score in meaning])


def weighted(rankings: Sequence[Sequence[tuple[str, float]]], weights: Sequence[float]) -> dict[str, float]:
    """Return sum(weight * normalised score) per uid; uids missing from a ranking count as 0 there."""
    totals: dict[str, float] = {}
    for ranking, weight in zip(rankings, weights, strict=True):
        for uid, score in normalised(ranking).items():
            totals[uid] = totals.get(uid, 0.0) + weight * score
    return totals


def normalised(ranking: Sequence[tuple[str, float]]) -> dict[str, float]:
    """Return scores divided by the best one, 0..1; negative scores become 0, as do all if the best is not positive."""
    best = max((score for _, score in ranking), default=0.0)
    return {uid: score / best if best > 0 and score > 0.0 else 0.0 for uid, score in ranking}


def order(scores: Mapping[str, float]) -> list[Scored]:
    """Return scores best first, ties by uid, so that equal input gives identical output."""
    # Two sorts avoid a key function in Python: the second sort is stable and keeps uid order among equals.
    uids = sorted(sorted(scores), key=scores.__getitem__, reverse=True)
    return [Scored(uid, scores[uid]) for uid in uids]
