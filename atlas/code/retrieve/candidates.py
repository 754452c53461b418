"""Read what the channels found: nodes, their degrees, and the evidence about files that the graph has."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from atlas.code.question.parse_question import Query
from atlas.code.rank.rank import Candidate
from atlas.code.reader import Reader
from atlas.code.retrieve.channels import Ranking, by_any_meaning, by_words
from atlas.code.retrieve.file_evidence import FILE_MEANING, MENTIONS_EACH, mentioned_files, nearest_files
from atlas.code.retrieve.fuse import text_scores
from atlas.core.errors import AtlasError
from atlas.core.labels import DOCUMENT_LABELS
from atlas.core.model import Direction, Edge, EdgeType, Filter, Label, Scored

_FUNCTIONS = (Label.FUNCTION, Label.METHOD)
CENTRAL_TYPES = (EdgeType.CALLS, EdgeType.INHERITS, EdgeType.IMPORTS)


@dataclass(frozen=True, slots=True)
class Hydrated:
    """The candidates of a question in the order of their fused scores, and the evidence for their files."""

    candidates: list[Candidate]
    files: tuple[Ranking, ...] = ()
    """Rankings of paths: files by meaning, files that documents mention."""
    notes: tuple[str, ...] = ()


async def hydrate(
    reader: Reader, fused: Sequence[Scored], rankings: Sequence[Ranking], *, mentions: bool = False
) -> Hydrated:
    """Read nodes and degrees of the fused uids, and the mentions in documents if wanted.

    Nodes deleted in the meantime are omitted.
    """
    scores = dict(fused)
    near = _near_files(rankings)
    uids = list(scores)
    try:
        nodes, degrees, near_paths = await asyncio.gather(
            reader.store.symbols(uids),
            reader.store.degrees(uids, Direction.IN, CENTRAL_TYPES),
            _paths_of(reader, [hit.uid for hit in near if hit.uid not in scores]),
        )
        of_documents = [node.row.uid for node in nodes if node.row.label in DOCUMENT_LABELS]
        mentioned = await _mentions(reader, of_documents if mentions else [])
    except AtlasError as error:
        return Hydrated([], notes=(f"the store could not be read: {error.message}",))
    channels, reasons = _labels(rankings)
    found = [
        Candidate(
            node,
            scores[node.row.uid],
            tuple(channels.get(node.row.uid, ())),
            tuple(reasons.get(node.row.uid, ())),
            sum(degrees.get(node.row.uid, {}).values()),
        )
        for node in nodes
    ]
    paths = {**{node.row.uid: node.row.path for node in nodes}, **near_paths}
    return Hydrated(found, (nearest_files(near, paths), mentioned_files(found, mentioned)))


def _near_files(rankings: Sequence[Ranking]) -> Sequence[Scored]:
    """Return the files by meaning, unless the channel of meaning found nothing: vectors are then of another model."""
    hits = {ranking.channel: ranking.hits for ranking in rankings}
    return hits.get(FILE_MEANING, ()) if hits.get("meaning") else ()


async def _paths_of(reader: Reader, uids: Sequence[str]) -> dict[str, str]:
    """Return the paths of nodes of files, by uid; those of the reader's project are kept for a generation."""

    async def nothing() -> dict[str, str]:
        return {}

    kept, own = await reader.cache.get(reader.store, reader.project, "paths of files", nothing), f"{reader.project}:"
    missing = [uid for uid in uids if uid not in kept]
    read = {node.row.uid: node.row.path for node in await reader.store.symbols(missing)} if missing else {}
    kept.update((uid, path) for uid, path in read.items() if uid.startswith(own))
    return {uid: path for uid in uids if (path := read.get(uid, kept.get(uid))) is not None}


async def _mentions(reader: Reader, uids: Sequence[str]) -> Sequence[Edge]:
    if not uids:
        return ()
    return await reader.store.edges(uids, Direction.OUT, (EdgeType.DOCUMENTS,), each=MENTIONS_EACH)


def _labels(rankings: Sequence[Ranking]) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Return the channels and the reasons of each uid."""
    channels: dict[str, list[str]] = {}
    reasons: dict[str, list[str]] = {}
    for ranking in rankings:
        for uid, _ in ranking.hits if ranking.channel != FILE_MEANING else ():
            channels.setdefault(uid, []).append(ranking.channel)
        for uid, reason in ranking.reasons:
            reasons.setdefault(uid, []).append(reason)
    return channels, reasons


async def find_functions(
    reader: Reader, query: Query, where: Filter, known: Collection[str], limit: int
) -> tuple[list[Scored], list[Ranking]]:
    """Return the functions outside of tests that words and meaning find, best first, and what found them.

    Much documentation says everything in its pages first: of the hundred texts nearest to `how many redirects will the
    client follow`, two were functions of Django's code. Those of `known` uids are left out. Raises store errors.
    """
    code = replace(where, labels=_FUNCTIONS, include_tests=False)
    words, meaning = await asyncio.gather(by_words(reader, query, code), by_any_meaning(reader, query, code))
    found = sorted(text_scores(words.hits, meaning.hits).items(), key=lambda each: (-each[1], each[0]))
    return [Scored(uid, score) for uid, score in found if uid not in known][:limit], [words, meaning]
