"""Retrieval of notes: text -> candidates (words, meaning) -> names, conversation, content -> one ranking.

It reads the index only. `python -m tests.bench.recall` measures what each step is worth.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from atlas.code.reader import Reader
from atlas.core.errors import NotFound
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Filter, Label, Match, Scored
from atlas.knowledge.notes.marks import read_marks
from atlas.knowledge.retrieval import scoring
from atlas.knowledge.retrieval.candidates import NoteCandidate, Pool, candidates, find_candidates
from atlas.knowledge.retrieval.contradiction import Clash, clash, statement
from atlas.knowledge.retrieval.conversation import continues, followers, with_conversation
from atlas.knowledge.retrieval.hits import NoteFilter, NoteHit
from atlas.knowledge.retrieval.mentions import Mentions, mentions
from atlas.knowledge.retrieval.similarity import (
    MAX_CHARACTERS,
    best_sentences,
    cosines_now,
    nearest,
    plain_text,
    question_vector,
    vector_of,
)
from atlas.parsing import stem_words

__all__ = ["NoteFilter", "NoteHit", "clashing_hits", "clashing_notes", "concept_notes", "find_notes", "similar_notes"]

SENTENCES_OF = 50
"""Best candidates whose sentences are compared."""
FOLLOWERS_OF = 30
"""Best candidates whose next observation is looked at."""
RANKED = 100
"""Best candidates that are ranked by names, content, confidence and age."""
CLASH_POOL = 40
"""Units whose words are compared with those of a text: of 306 texts that clash with one of 50,000 notes, 304 have it
among the first 20, one more among the first 30."""
ALWAYS_COMPARED = 20
"""Nearest candidates that are compared word by word; the others only if they share enough words, which is quick."""
SHARED = 0.34
"""Share of the words of the shorter text, a little below what a clash needs."""
MAX_PARTS, NOTES_OF_PART = 8, 10
"""Parts of a named entity whose notes are searched, and how many of each."""
_SHOWN = 20
"""Hits more than wanted that `similar_notes` reads: some have a status that hides them."""

_SOURCE_SHARE = 0.35
"""What the source of a claim may take from its cosine with an equal text."""

ANSWER_SHARE = 0.2
"""What a text with the right kind of answer gains. From .1 to .4 recall at 10 of "when" and "how many" rises by half a
point to a point on both sets of memories, and nothing falls (`python -m tests.bench.recall`)."""
_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_DAYS = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_ASKS_TIME = lazy_regex(
    r"\bwhen\b|\b(?:what|which) (?:date|day|week|month|year|time)\b|\bhow long ago\b", re.IGNORECASE
)
_TIME = lazy_regex(
    rf"\b(?:yesterday|today|tonight|tomorrow|ago|last|next|recently|since|until|{_MONTHS}|(?:{_DAYS})s?"
    r"|spring|summer|autumn|winter|morning|evening|weekend|weeks?|months?|years?|\d{4}|\d\d?(?::\d\d|st|nd|rd|th))\b",
    re.IGNORECASE,
)
_ASKS_NUMBER = lazy_regex(r"\bhow (?:many|much|old|long|far|tall|often|big|large|high|fast)\b", re.IGNORECASE)
_NUMBER = lazy_regex(
    r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty"
    r"|hundreds?|thousands?|millions?|half|dozens?|once|twice|quarters?)\b",
    re.IGNORECASE,
)


async def find_notes(reader: Reader, query: str, where: NoteFilter, limit: int) -> list[NoteHit]:
    """Return the best notes for a question, best first, ties by uid. Raises NotFound for an unknown entity.

    Without an embedder, or with vectors of another model, the ranking is that of words.
    """
    text = query[:MAX_CHARACTERS].strip()
    if not text or limit <= 0:
        return []
    path = await _path_of(reader, where.entity)
    named = await mentions(reader, text)
    vector = await question_vector(reader, text, named.words)
    pool = await find_candidates(reader, text, vector, where, limit, path)
    best = scoring.ordered(scoring.fused(pool.words, pool.meaning))[:SENTENCES_OF]
    by_sentence = await best_sentences(reader, vector, [pool.notes[uid].node for uid in best])
    pool = await _with_parts(reader, text, vector, where, named, pool)
    pool = replace(pool, meaning=scoring.with_sentences(pool.meaning, by_sentence))
    pool, following = await _with_followers(reader, vector, where, path, pool)
    notes, meaning, shares = pool.notes, pool.meaning, _shares(pool.notes, following)
    scores = with_conversation(scoring.fused(pool.words, meaning), following, shares)
    ranked = _rank(notes, scores, named, text, max(RANKED, limit))
    after = frozenset(following.values())
    return [
        NoteHit(
            notes[uid].node,
            score,
            scoring.reasons(notes[uid].node, pool.words, meaning, named, after),
            meaning.get(uid, 0.0),
        )
        for uid, score in ranked[:limit]
    ]


async def _with_parts(reader: Reader, text: str, vector: bytes, where: NoteFilter, named: Mentions, pool: Pool) -> Pool:
    """Add the best notes about what is part of a named entity, or is of its kind."""
    if where.entity:
        return pool
    for path in named.parts[:MAX_PARTS]:
        more = await find_candidates(reader, text, vector, where, NOTES_OF_PART, path, size=NOTES_OF_PART)
        pool = Pool({**more.notes, **pool.notes}, {**more.words, **pool.words}, {**more.meaning, **pool.meaning})
    return pool


async def _path_of(reader: Reader, entity: str) -> str:
    """Return the path of an entity's file, "" for no entity."""
    if not entity:
        return ""
    nodes = await reader.store.symbols([entity])
    if not nodes:
        raise NotFound(f"no entity {entity}", "list_entities names those that there are")
    return nodes[0].row.path


async def _with_followers(
    reader: Reader, vector: bytes, where: NoteFilter, path: str, pool: Pool
) -> tuple[Pool, dict[str, str]]:
    """Add the observations that follow the best ones in a conversation; return which follows which."""
    best = scoring.ordered(scoring.fused(pool.words, pool.meaning))[:FOLLOWERS_OF]
    following = await followers(reader, [pool.notes[uid].node for uid in best])
    missing = [Scored(uid, 0.0) for uid in following.values() if uid not in pool.notes]
    added = await candidates(reader, missing, where) if missing else {}
    added = {uid: note for uid, note in added.items() if not path or note.node.row.path == path}
    notes = {**pool.notes, **added}
    following = {
        uid: after
        for uid, after in following.items()
        if after in notes and continues(notes[uid].node, notes[after].node)
    }
    added = {uid: added[uid] for uid in following.values() if uid in added}
    cosines = await cosines_now(reader, vector, [note.node for note in added.values()])
    return replace(pool, notes={**pool.notes, **added}, meaning={**pool.meaning, **cosines}), following


def _shares(notes: Mapping[str, NoteCandidate], following: Mapping[str, str]) -> dict[str, float]:
    return {uid: scoring.forward_share(notes[uid].node.row.docstring) for uid in following}


def _rank(
    notes: Mapping[str, NoteCandidate], scores: Mapping[str, float], named: Mentions, text: str, most: int
) -> list[Scored]:
    """Apply content, names, confidence and age to the best candidates, best first."""
    asked = set(stem_words(text).split())
    is_name = bool(named.words) and asked <= set(stem_words(" ".join(named.words)).split())
    best = scoring.ordered(scores)[:most]
    newest = scoring.newest(notes[uid].properties.get("created", "") for uid in best)
    answer = answer_pattern(text)
    said = {uid: read_marks(notes[uid].node.row.docstring) for uid in best}
    final: dict[str, float] = {}
    for uid in best:
        note = notes[uid]
        row = note.node.row
        if row.label == Label.ENTITY and not row.docstring:
            # An entity without a text of its own answers only the question for itself.
            score = scoring.BARE_ENTITY if is_name and row.path in named.named else 0.0
        else:
            score = scores[uid] * scoring.content(said[uid].text) * answer_factor(answer, row.docstring)
            score += scoring.name_bonus(row.path, named)
            score *= scoring.importance_factor(said[uid].importance, note.properties.get("created", ""), newest)
        factor = scoring.confidence_factor(note.properties.get("confidence", 1.0))
        final[uid] = score * factor * scoring.age_factor(note.properties.get("created", ""), newest)
    return [Scored(uid, final[uid]) for uid in scoring.ordered(final) if final[uid] > 0]


async def similar_notes(
    reader: Reader, text: str, labels: Sequence[str], limit: int = 5, least: float = 0.85
) -> list[NoteHit]:
    """Return the notes whose texts have at least this cosine with a text, best first; the score is the cosine.

    The vectors of claims hold their sources, too, which make the same statement from two papers less near.
    """
    vector, where = await vector_of(reader, text), NoteFilter(tuple(labels))
    stored = Filter(project=reader.project, labels=where.labels)
    hits = await nearest(reader, vector, stored, limit + _SHOWN)
    found = await candidates(reader, [hit for hit in hits if hit.score >= least - _SOURCE_SHARE], where)
    scores = {uid: score for uid, score in hits if uid in found}
    cited = [note.node for note in found.values() if note.properties.get("source")]
    without = await cosines_now(reader, vector, [plain_text(node) for node in cited])
    scores = {uid: max(score, without.get(uid, 0.0)) for uid, score in scores.items()}
    shown = [(found[uid].node, scores[uid]) for uid in scoring.ordered(scores) if scores[uid] >= least][: max(limit, 0)]
    return [NoteHit(node, score, (f"meaning {score:.2f}",), score) for node, score in shown]


async def clashing_notes(
    reader: Reader, text: str, labels: Sequence[str], limit: int = 5, exclude: str = ""
) -> list[tuple[NoteHit, Clash]]:
    """Return notes about the same thing whose words contradict a text, the nearest first.

    `exclude` is the uid of the note that the text is from. Why: the kind of the contradiction.
    """
    vector, where = await vector_of(reader, text), NoteFilter(tuple(labels))
    pool = await find_candidates(reader, text[:MAX_CHARACTERS], vector, where, CLASH_POOL // 2, size=CLASH_POOL)
    scores = scoring.fused(pool.words, pool.meaning)
    hits = [
        NoteHit(pool.notes[uid].node, scores[uid], (), pool.meaning.get(uid, 0.0))
        for uid in scoring.ordered(scores)[:CLASH_POOL]
    ]
    return clashing_hits(text, hits, exclude)[: max(limit, 0)]


def clashing_hits(text: str, hits: Iterable[NoteHit], exclude: str = "") -> list[tuple[NoteHit, Clash]]:
    """Return those notes of a search, best first, whose words contradict a text. Why: the kind of the contradiction."""
    found: list[tuple[NoteHit, Clash]] = []
    asked, mine = set(stem_words(text).split()), statement(text)
    for at, hit in enumerate(hits):
        said = hit.node.row.docstring
        if hit.node.row.uid == exclude or (at >= ALWAYS_COMPARED and not _shares_words(asked, said)):
            continue
        if (clashing := clash(mine, statement(said))) is not None:
            found.append((replace(hit, why=(clashing.kind,)), clashing))
    return found


def _shares_words(asked: set[str], text: str) -> bool:
    found = set(stem_words(text).split())
    return len(asked & found) >= SHARED * min(len(asked), len(found))


async def concept_notes(reader: Reader, concept: str, limit: int) -> list[NoteHit]:
    """Return the claims and decisions that match a concept best: an id, a name, or a text.

    The score says how well, 0 to 1: 1 for an id or an equal text, else the mean of the share of its words and of the
    cosine.
    """
    text = concept[:MAX_CHARACTERS].strip()
    uid = text if text.startswith(f"{reader.project}:") else f"{reader.project}:{text}"
    where = NoteFilter((Label.CLAIM, Label.DECISION))
    exact = [node for node in await reader.store.symbols([uid]) if text] or await reader.store.find(
        text, Match.EXACT, where.of_store(reader.project), 1
    )
    if exact:
        return [NoteHit(exact[0], 1.0, ("id",))]
    pool = await find_candidates(reader, text, await vector_of(reader, text), where, limit, size=CLASH_POOL)
    asked = set(stem_words(text).split())
    hits: list[NoteHit] = []
    for at, note in pool.notes.items():
        row, cosine = note.node.row, pool.meaning.get(at, 0.0)
        if scoring.folded(text) in (scoring.folded(row.name), scoring.folded(row.docstring)):
            hits.append(NoteHit(note.node, 1.0, ("name",), cosine))
            continue
        share = scoring.shared_words(asked, set(stem_words(row.docstring).split()))
        why = (f"words {share:.2f}", f"meaning {cosine:.2f}")
        hits.append(NoteHit(note.node, scoring.match_quality(share, cosine), why, cosine))
    hits.sort(key=lambda hit: (-hit.score, hit.node.row.uid))
    return hits[: max(limit, 0)]


def answer_pattern(question: str) -> re.Pattern[str] | None:
    """Return what the answer to a question contains, None if that is not known."""
    if _ASKS_TIME.search(question):
        return _TIME
    return _NUMBER if _ASKS_NUMBER.search(question) else None


def answer_factor(pattern: re.Pattern[str] | None, text: str) -> float:
    """Return 1 + ANSWER_SHARE for a text with the kind of answer that the question asks for, else 1."""
    return 1 + ANSWER_SHARE if pattern is not None and pattern.search(text) else 1.0
