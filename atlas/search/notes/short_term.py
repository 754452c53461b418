"""Short-term memories beside notes: one ranking of both, and memories of a similar emotion. Pure.

The vectors of short-term memories are compared by the extension: 10,000 of them take about 5 ms
(`python -m tests.bench.notes`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from atlas.parsing import cosines
from atlas.search.fuse import PROSE_CEILING, PROSE_FLOOR
from atlas.search.notes.hits import NoteHit
from atlas.short_term import ShortTermEntry

EMOTION_FLOOR = 0.8
"""Cosine from which an emotion counts as similar in `merge_short_term`."""
EMOTION_SHARE = 0.3
"""Score of an entry with exactly the emotion of the question and nothing else in common."""
FRESH_SPAN, FRESH_HALF_LIFE = 0.1, 86_400.0
"""An entry of this second gains this share of its score, one of this age in seconds half of it."""
WORDS_ONLY = 0.5
"""Score of the best note if it shares words or a name with the question, but its meaning is not near."""
_NOT_WORD = re.compile(r"\W+")


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
    found = [*_short_term(meaning, emotion, entries, now), *_lifted(hits)]
    order = sorted(range(len(found)), key=lambda at: (-found[at][0], isinstance(found[at][1], ShortTermHit), at))
    notes = {normalised(hit.node.row.docstring or hit.node.row.name) for hit in hits}
    seen: set[str] = set()
    merged: list[NoteHit | ShortTermHit] = []
    for at in order:
        hit = found[at][1]
        is_note = isinstance(hit, NoteHit)
        text = normalised((hit.node.row.docstring or hit.node.row.name) if is_note else hit.entry.content)
        if text not in seen and (is_note or text not in notes):
            merged.append(hit)
            seen.add(text)
    return merged[: max(limit, 0)]


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


def _short_term(
    meaning: bytes, emotion: bytes, entries: Sequence[ShortTermEntry], now: float
) -> list[tuple[float, ShortTermHit]]:
    """Return the entries with something in common with the question, with their scores, newest first."""
    alive = [entry for entry in entries if entry.expires > now]
    by_meaning = cosines(meaning, [entry.meaning for entry in alive])
    by_emotion = cosines(emotion, [entry.emotion for entry in alive])
    found: list[tuple[float, ShortTermHit]] = []
    for entry, near, felt in zip(alive, by_meaning, by_emotion, strict=True):
        score = max(scaled(near), EMOTION_SHARE * felt if felt >= EMOTION_FLOOR else 0.0)
        score *= 1 + FRESH_SPAN * 0.5 ** (max(now - entry.created, 0.0) / FRESH_HALF_LIFE)
        if score > 0:
            why = [f"meaning {near:.2f}"] if scaled(near) > 0 else []
            why += [f"emotion {felt:.2f}"] if felt >= EMOTION_FLOOR else []
            found.append((score, ShortTermHit(entry, score, tuple(why))))
    found.sort(key=lambda each: (-each[1].entry.created, each[1].entry.id))
    return found


def _lifted(hits: Sequence[NoteHit]) -> list[tuple[float, NoteHit]]:
    """Return notes with scores on the scale of entries, in their own order: the best one has the best cosine's."""
    top = max((hit.score for hit in hits), default=0.0)
    best = max((scaled(hit.meaning) for hit in hits), default=0.0)
    floor = WORDS_ONLY if any("words" in hit.why or "name" in hit.why for hit in hits) else 0.0
    return [(max(best, floor) * hit.score / top if top > 0 else 0.0, hit) for hit in hits]
