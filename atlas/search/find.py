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
from atlas.search.fuse import fuse_rrf, fuse_text, order
from atlas.search.rank import Candidate, rank
from atlas.search.route import Query, route

HYDRATED = 100
"""Candidates whose nodes are read and ranked, the same for every page so that paging is stable."""
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
class Found:
    """Everything a search found, best first; the tools show a page of it."""

    query: Query
    ranked: tuple[Candidate, ...]
    notes: tuple[str, ...]


async def search(
    reader: Reader,
    text: str,
    where: Filter,
    mode: Mode = Mode.HYBRID,
    fusion: Fusion = Fusion.WEIGHTED,
    *,
    demote_tests: bool = True,
) -> Found:
    """Find candidates for a question. Never raises for a channel that fails: its note says so instead."""
    query = route(text, reader.split_words)
    channels = {
        "name": by_name if mode == Mode.HYBRID else None,
        "words": by_words if mode != Mode.MEANING else None,
        "meaning": by_meaning if mode != Mode.WORDS else None,
        "graph": by_graph if mode == Mode.HYBRID else None,
    }
    rankings = await gather(*((name, run(reader, query, where)) for name, run in channels.items() if run))
    fused = fuse(rankings, query, fusion)
    fused, notes = _narrow(fused, rankings, query)
    candidates, problems = await _hydrate(reader, fused[:HYDRATED], rankings)
    if mode == Mode.HYBRID:
        candidates = rank(candidates, query, reader.split_words, demote_tests=demote_tests)
    return Found(query, tuple(candidates), (*query.notes, *(each.note for each in rankings), *notes, *problems))


def fuse(rankings: Sequence[Ranking], query: Query, fusion: Fusion = Fusion.WEIGHTED) -> list[Scored]:
    """Join the channels: words and meaning by `fusion` to 0..1, then names and relations on top by their own scores."""
    hits = {ranking.channel: ranking.hits for ranking in rankings}
    words, meaning = hits.get("words", ()), hits.get("meaning", ())
    if fusion == Fusion.RRF:
        text = fuse_rrf((words, meaning))
        text = [Scored(uid, score / text[0].score) for uid, score in text]
    else:
        text = fuse_text(words, meaning)
    totals = dict(text)
    name_weight = RELATION_NAME_WEIGHT if query.relation else NAME_WEIGHT * query.focus**FOCUS_POWER
    graph_weight = RELATION_WEIGHT if query.relation else NEIGHBOUR_WEIGHT
    for channel, weight in (("name", name_weight), ("graph", graph_weight)):
        for uid, score in hits.get(channel, ()):
            totals[uid] = totals.get(uid, 0.0) + weight * score
    return order(totals)


def _narrow(fused: list[Scored], rankings: Sequence[Ranking], query: Query) -> tuple[list[Scored], tuple[str, ...]]:
    """Keep what answers a question about edges; say so when a question's words are nowhere in the index."""
    found = {ranking.channel: {hit.uid for hit in ranking.hits} for ranking in rankings}
    if query.relation is not None and found.get("graph"):
        answers = found["graph"] | found.get("name", set())
        note = f"only {query.relation.kind} of `{query.relation.name}` and the symbol itself; text matches are left out"
        return [hit for hit in fused if hit.uid in answers], (note,)
    if fused and query.words and "words" in found and not found["words"]:
        return fused, ("no word of the query occurs in the index: these hits are near in meaning at best",)
    return fused, ()


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
            degrees.get(node.row.uid, 0),
        )
        for node in nodes
    ], ()
