"""Retrieval of notes: text -> channels (words, meaning, names, conversation) -> one ranking.

It reads the index only. Every number has its measurement beside it; `python -m tests.bench.recall` repeats them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from atlas.errors import NotFound
from atlas.model import Filter, Label, Match, Node, Scored
from atlas.parsing import stem_words
from atlas.search import Reader
from atlas.search.notes import scoring
from atlas.search.notes.contradiction import Clash, clash, statement
from atlas.search.notes.conversation import continues, followers, with_conversation
from atlas.search.notes.hits import NoteFilter, NoteHit, properties_of
from atlas.search.notes.mentions import Mentions, mentions
from atlas.search.notes.similarity import (
    MAX_CHARACTERS,
    best_sentences,
    cosines_now,
    nearest,
    question_vector,
    vector_of,
)

POOL = 150
"""Candidates per channel."""
NARROW_POOL = 1000
"""The same if the filter rejects some of them."""
SENTENCES_OF = 50
"""Best candidates whose sentences are compared."""
FOLLOWERS_OF = 30
"""Best candidates whose next observation is looked at."""
CLASH_POOL = 60


@dataclass(frozen=True, slots=True)
class _Pool:
    """Candidates with their scores in each channel, by uid."""

    nodes: Mapping[str, Node]
    words: Mapping[str, float]
    meaning: Mapping[str, float]


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
    pool = await _pool(reader, text, vector, where, path, max(POOL, 2 * limit))
    scores = scoring.fused(pool.words, pool.meaning)
    best = [pool.nodes[uid] for uid in scoring.ordered(scores)[:SENTENCES_OF]]
    by_sentence = await best_sentences(reader, vector, best)
    meaning = scoring.with_sentences(pool.meaning, by_sentence)
    scores = scoring.fused(pool.words, meaning)
    nodes, scores, following = await _with_followers(reader, vector, where, path, pool.nodes, scores)
    ranked = _rank(nodes, scores, named, reader, text)
    return [
        NoteHit(
            nodes[uid],
            score,
            scoring.reasons(uid, nodes[uid], pool.words, meaning, named, following),
            meaning.get(uid, 0.0),
        )
        for uid, score in ranked[:limit]
    ]


async def _path_of(reader: Reader, entity: str) -> str:
    """Return the path of an entity's file, "" for no entity."""
    if not entity:
        return ""
    nodes = await reader.store.symbols([entity])
    if not nodes:
        raise NotFound(f"no entity {entity}", "list_entities names those that there are")
    return nodes[0].row.path


async def _pool(reader: Reader, text: str, vector: bytes, where: NoteFilter, path: str, size: int) -> _Pool:
    """Return the candidates of words and meaning with the cosines of both."""
    size = NARROW_POOL if where.is_narrow else size
    stored = where.of_store(reader.project, path)
    words, meaning = await asyncio.gather(
        reader.store.search_text(stem_words(text).split(), stored, size), nearest(reader, vector, stored, size)
    )
    uids = list(dict.fromkeys(hit.uid for hit in (*words, *meaning)))
    nodes = {node.row.uid: node for node in await reader.store.symbols(uids) if where.keeps(node, properties_of(node))}
    cosines = {hit.uid: hit.score for hit in meaning if hit.uid in nodes}
    lacking = [nodes[hit.uid] for hit in words if hit.uid in nodes]
    cosines |= await cosines_now(reader, vector, lacking, set(cosines))
    return _Pool(nodes, {hit.uid: hit.score for hit in words if hit.uid in nodes}, cosines)


async def _with_followers(
    reader: Reader, vector: bytes, where: NoteFilter, path: str, nodes: Mapping[str, Node], scores: Mapping[str, float]
) -> tuple[dict[str, Node], dict[str, float], dict[str, str]]:
    """Add the observations that follow the best ones, and share scores among neighbours of a conversation."""
    best = [nodes[uid] for uid in scoring.ordered(scores)[:FOLLOWERS_OF]]
    following = await followers(reader, best)
    missing = [uid for uid in following.values() if uid not in nodes]
    added = {
        node.row.uid: node
        for node in await reader.store.symbols(missing)
        if where.keeps(node, properties_of(node)) and (not path or node.row.path == path)
    }
    known = {**nodes, **added}
    following = {
        uid: after for uid, after in following.items() if after in known and continues(known[uid], known[after])
    }
    shares = {uid: scoring.forward_share(known[uid].row.docstring) for uid in following}
    return known, with_conversation(scores, following, shares), following


def _rank(
    nodes: Mapping[str, Node], scores: Mapping[str, float], named: Mentions, reader: Reader, text: str
) -> list[Scored]:
    """Apply names, confidence and age, best first."""
    only_names = bool(named.words) and set(stem_words(text).split()) <= set(stem_words(" ".join(named.words)).split())
    newest = max((properties_of(nodes[uid]).get("created", "") for uid in scores), default="")
    final: dict[str, float] = {}
    for uid, score in scores.items():
        node, properties = nodes[uid], properties_of(nodes[uid])
        if node.row.label == Label.ENTITY and not node.row.docstring:
            # An entity without a text of its own answers no question but the one for itself.
            score = scoring.BARE_ENTITY if only_names and node.row.path in named.named else 0.0
        else:
            score *= scoring.content(node.row.docstring)
        lifted = score + scoring.name_bonus(node.row.path, named)
        factor = scoring.confidence_factor(properties.get("confidence", 1.0))
        final[uid] = lifted * factor * scoring.age_factor(properties.get("created", ""), newest)
    return [Scored(uid, final[uid]) for uid in scoring.ordered(final) if final[uid] > 0]


async def similar_notes(
    reader: Reader, text: str, labels: Sequence[str], limit: int = 5, least: float = 0.85
) -> list[NoteHit]:
    """Return the notes whose vectors have at least this cosine with a text's, best first; the score is the cosine."""
    vector = await vector_of(reader, text)
    hits = await nearest(reader, vector, Filter(project=reader.project, labels=tuple(labels)), max(limit, 1) + 10)
    close = {hit.uid: hit.score for hit in hits if hit.score >= least}
    nodes = [
        node
        for node in await reader.store.symbols(list(close))
        if NoteFilter(tuple(labels)).keeps(node, properties_of(node))
    ]
    return [NoteHit(node, close[node.row.uid], (f"meaning {close[node.row.uid]:.2f}",)) for node in nodes][:limit]


async def clashing_notes(
    reader: Reader, text: str, labels: Sequence[str], limit: int = 5, exclude: str = ""
) -> list[tuple[NoteHit, Clash]]:
    """Return notes about the same thing whose words contradict a text, those that share most words with it first."""
    vector, where = await vector_of(reader, text), NoteFilter(tuple(labels))
    pool = await _pool(reader, text, vector, where, "", CLASH_POOL)
    scores, mine = scoring.fused(pool.words, pool.meaning), statement(text)
    found: list[tuple[NoteHit, Clash]] = []
    for uid in scoring.ordered(scores):
        clashing = clash(mine, statement(pool.nodes[uid].row.docstring)) if uid != exclude else None
        if clashing is not None:
            found.append((NoteHit(pool.nodes[uid], scores[uid], (clashing.kind,)), clashing))
    return found[:limit]


async def concept_notes(reader: Reader, concept: str, limit: int) -> list[NoteHit]:
    """Return the claims that match a concept best: an id, a name, or a text. The score says how well, 0..1."""
    uid = concept if concept.startswith(f"{reader.project}:") else f"{reader.project}:{concept}"
    exact = await reader.store.symbols([uid])
    if exact:
        return [NoteHit(exact[0], 1.0, ("id",))]
    where = Filter(project=reader.project, labels=(Label.CLAIM, Label.DECISION))
    by_name = await reader.store.find(concept, Match.EXACT, where, 1)
    vector = await vector_of(reader, concept)
    pool = await _pool(reader, concept, vector, NoteFilter(where.labels), "", CLASH_POOL)
    scores = scoring.fused(pool.words, pool.meaning)
    asked = set(stem_words(concept).split())
    hits = [NoteHit(node, 1.0, ("name",)) for node in by_name]
    for at in scoring.ordered(scores):
        node = pool.nodes[at]
        share = scoring.shared_words(asked, set(stem_words(node.row.docstring).split()))
        match = scoring.match_quality(share, pool.meaning.get(at, 0.0))
        if scoring.folded(node.row.name) == scoring.folded(concept) or scoring.folded(
            node.row.docstring
        ) == scoring.folded(concept):
            match = 1.0
        hits.append(NoteHit(node, match, (f"words {share:.2f}", f"meaning {pool.meaning.get(at, 0.0):.2f}")))
    hits.sort(key=lambda hit: (-hit.score, hit.node.row.uid))
    return hits[:limit]
