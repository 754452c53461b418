"""Short-term memories and notes in one ranking, and memories of a similar emotion. Pure.

The vectors of short-term memories are compared by the extension: 10,000 of them take about 5 ms
(`python -m tests.bench.notes`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from atlas.code.retrieve.fuse import PROSE_CEILING, PROSE_FLOOR
from atlas.core.lazy_regex import lazy_regex
from atlas.core.short_term import ShortTermEntry
from atlas.knowledge.retrieval.hits import NoteHit
from atlas.parsing import cosines

EMOTION_FLOOR = 0.8
"""Cosine from which an emotion counts as similar in `merge_short_term`."""
EMOTION_SHARE = 0.3
"""Score of an entry with exactly the emotion of the question and nothing else in common."""
FRESH_SPAN, FRESH_HALF_LIFE = 0.1, 86_400.0
"""An entry of this second gains this share of its score, one of this age in seconds half of it."""
WORDS_ONLY = 0.5
"""Score of the best note if it shares words or a name with the question, but its meaning is not near."""
_NOT_WORD = lazy_regex(r"\W+")


@dataclass(frozen=True, slots=True)
class ShortTermHit:
    """A short-term memory that was found."""

    entry: ShortTermEntry
    score: float
    why: tuple[str, ...] = ()
    """`meaning 0.71`, `emotion 0.93`."""


def merge_short_term(
    meaning: bytes,
    emotion: bytes,
    entries: Sequence[ShortTermEntry],
    hits: Sequence[NoteHit],
    limit: int,
    now: float,
) -> list[NoteHit | ShortTermHit]:
    """Return notes and entries in one ranking, best first, at most `limit`; of equal texts only the first, notes first.

    `meaning` and `emotion` are the vectors of the question, b"" or zeros where there is none; `now` is in Unix seconds.
    Entries that have expired by then are left out. Both kinds score by how near they are in meaning, on one scale.
    """
    alive = [entry for entry in entries if entry.expires > now]
    near = cosines(meaning, [entry.meaning for entry in alive])
    felt = cosines(emotion, [entry.emotion for entry in alive])
    scores = [_score(*each, now) for each in zip(alive, near, felt, strict=True)]
    order = sorted((at for at, score in enumerate(scores) if score > 0), key=lambda at: -scores[at])
    best, notes = iter(order), iter(_lifted(hits))
    seen, of_notes = set[str](), {normalised(_text(hit)) for hit in hits}
    merged: list[NoteHit | ShortTermHit] = []
    at, note = next(best, None), next(notes, None)
    while len(merged) < limit and (at is not None or note is not None):
        if at is None or (note is not None and note[0] >= scores[at]):
            assert note is not None
            hit, text = note[1], normalised(_text(note[1]))
            note = next(notes, None)
            is_new = text not in seen
        else:
            text = normalised(alive[at].content)
            hit = ShortTermHit(alive[at], scores[at], _why(near[at], felt[at]))
            at = next(best, None)
            is_new = text not in seen and text not in of_notes
        if is_new:
            merged.append(hit)
            seen.add(text)
    return merged


def emotional_neighbours(entries: Sequence[ShortTermEntry], emotion: bytes, limit: int) -> list[ShortTermHit]:
    """Return the entries of the most similar emotion, by cosine; a zero or empty vector has no neighbours."""
    values = cosines(emotion, [entry.emotion for entry in entries]) if emotion else []
    found = [
        ShortTermHit(entry, value, (f"emotion {value:.2f}",))
        for entry, value in zip(entries, values, strict=False)
        if value > 0
    ]
    found.sort(key=lambda hit: (-hit.score, -hit.entry.created, hit.entry.id))
    return found[: max(limit, 0)]


def normalised(text: str) -> str:
    """Return the words of a text in lower case with single spaces: equal for texts that say the same in print."""
    return _NOT_WORD.sub(" ", text.casefold()).strip()


def scaled(cosine: float) -> float:
    """Return a cosine of prose as 0..1 between unrelated and clearly related."""
    return min(max((cosine - PROSE_FLOOR) / (PROSE_CEILING - PROSE_FLOOR), 0.0), 1.0)


def _score(entry: ShortTermEntry, near: float, felt: float, now: float) -> float:
    score = max(scaled(near), EMOTION_SHARE * felt if felt >= EMOTION_FLOOR else 0.0)
    return score * (1 + FRESH_SPAN * 0.5 ** (max(now - entry.created, 0.0) / FRESH_HALF_LIFE)) if score else 0.0


def _why(near: float, felt: float) -> tuple[str, ...]:
    found = (f"meaning {near:.2f}" if scaled(near) else "", f"emotion {felt:.2f}" if felt >= EMOTION_FLOOR else "")
    return tuple(filter(None, found))


def _text(hit: NoteHit) -> str:
    return hit.node.row.docstring or hit.node.row.name


def _lifted(hits: Sequence[NoteHit]) -> list[tuple[float, NoteHit]]:
    """Return notes with scores on the scale of entries, in their own order: the best one has the best cosine's."""
    top = max((hit.score for hit in hits), default=0.0)
    best = max((scaled(hit.meaning) for hit in hits), default=0.0)
    floor = WORDS_ONLY if any("words" in hit.why or "name" in hit.why for hit in hits) else 0.0
    return [(max(best, floor) * hit.score / top if top > 0 else 0.0, hit) for hit in hits]
