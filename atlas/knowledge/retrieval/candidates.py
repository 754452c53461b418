"""Candidates of a search of notes: what words and meaning find, with the cosines of both."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

from atlas.code.reader import Reader
from atlas.core.contracts import Store
from atlas.core.model import Filter, Label, Node, Scored
from atlas.knowledge.retrieval.hits import NoteFilter, properties_of
from atlas.knowledge.retrieval.similarity import cosines_now, nearest
from atlas.parsing import stem_words

POOL = 100
"""Candidates per channel. 300 find no more (`tests.bench.recall`)."""
NARROW_POOL = 200
"""The same if the filter rejects some of them."""
WIDEST_POOL = 5000
"""The same if it rejects so many that fewer than wanted remain."""
FEW = 20
"""If a search without labels leaves fewer hits of the right labels, words are searched again with them."""
ANY_RECORD = "MATCH (n:ADR) RETURN n.uid LIMIT 1"
RECORD_SECONDS = 5.0
_KNOWN: WeakKeyDictionary[Store, tuple[str, int, bool]] = WeakKeyDictionary()
"""By store: project, generation, and whether it has a decision record."""


@dataclass(frozen=True, slots=True)
class NoteCandidate:
    """A note and its properties."""

    node: Node
    properties: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Pool:
    """Candidates, and the scores of words and meaning, by uid."""

    notes: Mapping[str, NoteCandidate]
    words: Mapping[str, float]
    meaning: Mapping[str, float]


async def find_candidates(
    reader: Reader, text: str, vector: bytes, where: NoteFilter, wanted: int, path: str = "", size: int = POOL
) -> Pool:
    """Return what words and meaning find, at least `wanted` notes if so many that pass the filter are found at all.

    `path` restricts the search to one file, that of an entity.
    """
    sizes = (NARROW_POOL, WIDEST_POOL) if where.is_narrow else (max(size, 2 * wanted),)
    pool = Pool({}, {}, {})
    for each in sizes:
        pool, is_all = await _pool(reader, text, vector, where, path, each)
        if is_all or len(pool.notes) >= wanted:
            break
    return pool


async def _pool(reader: Reader, text: str, vector: bytes, where: NoteFilter, path: str, size: int) -> tuple[Pool, bool]:
    """Return the candidates, and whether the index has no more of them."""
    stored = where.of_store(reader.project, path)
    stems = stem_words(text).split()
    words, meaning, records = await asyncio.gather(
        reader.store.search_text(stems, _widened(stored), size),
        nearest(reader, vector, stored, size),
        _records(reader, text, where, size),
    )
    notes = await candidates(reader, words, where) | await candidates(reader, (*meaning, *records), where)
    if stored.labels and len(words) >= size and sum(hit.uid in notes for hit in words) < min(FEW, size):
        words = await reader.store.search_text(stems, stored, size)
        notes |= await candidates(reader, words, where)
    best = max((hit.score for hit in words), default=math.inf)
    words = [*words, *(Scored(hit.uid, min(hit.score, best)) for hit in records)]
    cosines = {hit.uid: hit.score for hit in meaning if hit.uid in notes}
    lacking = [notes[hit.uid].node for hit in words if hit.uid in notes and hit.uid not in cosines]
    cosines |= await cosines_now(reader, vector, lacking)
    by_words = {hit.uid: hit.score for hit in words if hit.uid in notes}
    return Pool(notes, by_words, cosines), max(len(words), len(meaning)) < size


async def _records(reader: Reader, text: str, where: NoteFilter, size: int) -> list[Scored]:
    """Return decision records (label ADR) by words as written: they are documents, without stems."""
    if Label.ADR not in where.labels or where.entity:
        return []
    # words as written are in many texts: without a record, scoring these would be the slowest part of a question
    if not await _has_records(reader):
        return []
    stored = Filter(project=reader.project, labels=(Label.ADR,))
    return await reader.store.search_text(reader.split_words(text), stored, size)


async def _has_records(reader: Reader) -> bool:
    """Return whether the project has a decision record; asked once for each generation of its index."""
    states = {state.project: state.generation for state in await reader.store.projects()}
    now = reader.project, states.get(reader.project, 0)
    known = _KNOWN.get(reader.store)
    if known is None or known[:2] != now:
        first = await reader.store.cypher(ANY_RECORD, {}, 1, RECORD_SECONDS, reader.project)
        known = *now, bool(first.rows)
        _KNOWN[reader.store] = known
    return known[2]


def _widened(where: Filter) -> Filter:
    """Return a filter without labels, unless it restricts the path, too.

    Only notes have stems, so their labels restrict little, but checking the label of each of 8,000 rows that contain
    the words takes longer than scoring them.
    """
    return where if where.path else replace(where, labels=())


async def candidates(reader: Reader, hits: Sequence[Scored], where: NoteFilter) -> dict[str, NoteCandidate]:
    """Return the notes of the hits that pass the filter, by uid."""
    found: dict[str, NoteCandidate] = {}
    for node in await reader.store.symbols([hit.uid for hit in hits]):
        properties = properties_of(node)
        if where.keeps(node, properties):
            found[node.row.uid] = NoteCandidate(node, properties)
    return found
