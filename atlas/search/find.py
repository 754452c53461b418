"""One search from text to ranked candidates: route, run the channels, fuse, rank. The whole read path on one screen."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from atlas.errors import AtlasError
from atlas.model import Direction, EdgeType, Filter, Scored
from atlas.search import Reader
from atlas.search.channels import Ranking, by_graph, by_meaning, by_name, by_words, gather
from atlas.search.fuse import fuse_rrf, order, text_scores
from atlas.search.rank import Candidate, rank
from atlas.search.route import Query, route

RERANK_LIMIT = 60
"""Candidates whose nodes are read and ranked, the same for every page so that paging is stable; 100 find no more."""
NAME_WEIGHT = 1.0
"""In a question that is nothing but a name it counts as much as the best text match: the symbol comes first."""
FOCUS_POWER = 2
"""A name among other words counts by the square of its share of the words (adr/0008)."""
RELATION_WEIGHT = 3.0
"""Asked for callers, the callers come first, whatever their text says."""
NEIGHBOUR_WEIGHT = 0.15
"""Neighbours of a named symbol are context; they should break ties, not displace matches."""
RELATION_NAME_WEIGHT = 0.5
"""In a question about its edges the named symbol itself is context."""
CENTRAL_TYPES = (EdgeType.CALLS, EdgeType.INHERITS, EdgeType.IMPORTS)


class Mode(StrEnum):
    """Which channels run."""

    HYBRID = "hybrid"
    WORDS = "words"
    MEANING = "meaning"


class Fusion(StrEnum):
    """How words and meaning are joined; `weighted` is the default (adr/0008)."""

    WEIGHTED = "weighted"
    RRF = "rrf"


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search found, best first; the tools show a page of it."""

    query: Query
    ranked: tuple[Candidate, ...]
    total: int
    """Candidates found; only so many of them as were wanted are in `ranked`."""
    notes: tuple[str, ...]


async def search(
    reader: Reader,
    text: str,
    where: Filter,
    mode: Mode = Mode.HYBRID,
    fusion: Fusion = Fusion.WEIGHTED,
    *,
    demote_tests: bool = True,
    wanted: int = RERANK_LIMIT,
) -> SearchResult:
    """Find candidates for a question. Never raises for a channel that fails: its note says so instead.

    A single channel keeps its own order and reads only the first `wanted` nodes; the hybrid ranks all it may show.
    """
    query = route(text, reader.split_words, reader.languages)
    if mode == Mode.HYBRID:
        rankings = await _channels(reader, query, where)
        notes = _remarks(rankings, query)
        candidates, problems = await _hydrate(reader, fuse(rankings, query, fusion)[:RERANK_LIMIT], rankings)
        ranked = rank(candidates, query, reader.split_words, reader.languages, demote_tests=demote_tests)
        total = len(ranked)
    else:
        run = by_words if mode == Mode.WORDS else by_meaning
        rankings, notes = await gather((mode.value, run(reader, query, where))), ()
        ranked, problems = await _hydrate(reader, rankings[0].hits[:wanted], rankings)
        total = len(rankings[0].hits)
    return SearchResult(
        query, tuple(ranked), total, (*query.notes, *(each.note for each in rankings), *notes, *problems)
    )


async def _channels(reader: Reader, query: Query, where: Filter) -> list[Ranking]:
    """Run the channels concurrently; for a question about edges that has an answer, the text is not searched at all."""
    exact = (("name", by_name(reader, query, where)), ("graph", by_graph(reader, query, where)))
    if query.relation is None:
        return await gather(
            *exact, ("words", by_words(reader, query, where)), ("meaning", by_meaning(reader, query, where))
        )
    rankings = await gather(*exact)
    if rankings[1].hits:
        return rankings
    return rankings + await gather(
        ("words", by_words(reader, query, where)), ("meaning", by_meaning(reader, query, where))
    )


def fuse(rankings: Sequence[Ranking], query: Query, fusion: Fusion = Fusion.WEIGHTED) -> list[Scored]:
    """Join the channels: words and meaning by `fusion` to 0..1, then names and relations on top by their own scores."""
    hits = {ranking.channel: ranking.hits for ranking in rankings}
    words, meaning = hits.get("words", ()), hits.get("meaning", ())
    if fusion == Fusion.RRF:
        text = fuse_rrf((words, meaning))
        totals = {uid: score / text[0].score for uid, score in text}
    else:
        totals = text_scores(words, meaning)
    name_weight = RELATION_NAME_WEIGHT if query.relation else NAME_WEIGHT * query.focus**FOCUS_POWER
    graph_weight = RELATION_WEIGHT if query.relation else NEIGHBOUR_WEIGHT
    for channel, weight in (("name", name_weight), ("graph", graph_weight)):
        for uid, score in hits.get(channel, ()):
            totals[uid] = totals.get(uid, 0.0) + weight * score
    return order(totals)


def _remarks(rankings: Sequence[Ranking], query: Query) -> tuple[str, ...]:
    """Say what a question about edges left out, and when a question's words are nowhere in the index."""
    found = {ranking.channel: ranking.hits for ranking in rankings}
    if query.relation is not None and found["graph"]:
        return (f"only {query.relation.kind} of `{query.relation.name}` and the symbol itself; text was not searched",)
    if query.words and not found.get("words") and any(found.values()):
        return ("no word of the query occurs in the index: these hits are near in meaning at best",)
    return ()


async def _hydrate(
    reader: Reader, fused: Sequence[Scored], rankings: Sequence[Ranking]
) -> tuple[list[Candidate], tuple[str, ...]]:
    """Read nodes and degrees of the fused uids; a node that vanished meanwhile is left out."""
    uids = [hit.uid for hit in fused]
    scores = dict(fused)
    channels: dict[str, list[str]] = {}
    reasons: dict[str, list[str]] = {}
    for ranking in rankings:
        for uid, _ in ranking.hits:
            channels.setdefault(uid, []).append(ranking.channel)
        for uid, reason in ranking.reasons:
            reasons.setdefault(uid, []).append(reason)
    try:
        nodes, degrees = await asyncio.gather(
            reader.store.symbols(uids), reader.store.degrees(uids, Direction.IN, CENTRAL_TYPES)
        )
    except AtlasError as error:
        return [], (f"the store could not be read: {error.message}",)
    return [
        Candidate(
            node,
            scores[node.row.uid],
            tuple(channels.get(node.row.uid, ())),
            tuple(reasons.get(node.row.uid, ())),
            sum(degrees.get(node.row.uid, {}).values()),
        )
        for node in nodes
    ], ()
