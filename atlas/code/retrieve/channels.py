"""The search channels: by name, words, meaning, meaning by a sentence transformer, meaning of notes, graph.

They run concurrently and never raise. Each returns a `Ranking` with its own scores. If a channel fails or finds
nothing, its note says why and the answer shows it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

from atlas.code.question.parse_question import Query, is_bare_name
from atlas.code.reader import Reader
from atlas.code.retrieve.fuse import DOCUMENT_OFFSET, on_one_scale
from atlas.core.contracts import Embedder
from atlas.core.errors import AtlasError, StoreError
from atlas.core.labels import DOCUMENT_LABELS, EXTERNAL_LABELS
from atlas.core.model import (
    CODE,
    QUALITY,
    Direction,
    EdgeType,
    Filter,
    Label,
    Match,
    ModelInfo,
    Node,
    Scored,
    WordCounts,
)

POOL = 100
"""Candidates per channel: recall@100 of words and meaning together is .91; more candidates add little (adr/0008)."""
NAME_LIMIT = 40
SEEDS = 3
"""Maximum number of nodes of a name; the neighbours of a more ambiguous name are not added."""

NAME_GRADES = {
    "exact name": 1.0,
    "name": 0.9,
    "name without case": 0.75,
    "path": 0.7,
    "name from words": 0.7,
    "similar name": 0.6,
    "name prefix": 0.4,
}
"""Score of a name match by reason, relative to the best match of words and meaning (1.0)."""
EXTERNAL_SHARE = 0.5
"""Factor for symbols of other packages, which the project only mentions and which are rarely the target."""


@dataclass(frozen=True, slots=True)
class ExactLine:
    """A line on disk that has a text of the question, or builds it."""

    path: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Ranking:
    """The hits of one channel, best first."""

    channel: str
    """`name`, `place`, `exact`, `phrase`, `words`, `meaning`, `quality`, `prose` or `graph`."""
    hits: tuple[Scored, ...] = ()
    note: str = ""
    reasons: tuple[tuple[str, str], ...] = ()
    """(uid, reason) for hits with a more specific reason than the channel: `exact name`, `callers of X`."""
    lines: tuple[tuple[str, tuple[ExactLine, ...]], ...] = ()
    """(uid, lines) of hits that quote the text of the question."""
    nowhere: tuple[str, ...] = ()
    """Texts of the question that no file has."""


async def with_known_joined(reader: Reader, query: Query, where: Filter) -> Query:
    """Return a question of two to four plain words as words, unless the index has the identifier that they spell.

    What is written like a heading is left alone: it has one place, as a name has.
    """
    if not query.joined or query.text[:1].isupper():
        return query
    try:
        found = await asyncio.gather(*(reader.store.find(each, Match.FOLDED, where, 1) for each in query.joined))
    except AtlasError:
        return query
    if any(found):
        return query
    named = set(reader.split_words(" ".join((*query.names, *query.paths))))
    return replace(query, joined=(), focus=sum(word in named for word in query.words) / max(len(query.words), 1))


async def by_name(reader: Reader, query: Query, where: Filter) -> Ranking:
    """Find symbols whose name the question contains, graded by how exact the match is."""
    find = reader.store.find
    jobs: list[tuple[str, str, Awaitable[list[Node]]]] = []
    for name in query.names:
        last = name.rpartition(".")[2]
        jobs.append(("name", name, find(name, Match.SUFFIX, where, NAME_LIMIT)))
        jobs.append(("name without case", name, find(name, Match.FOLDED, where, NAME_LIMIT)))
        if len(query.names) == 1 and len(last) >= 3:
            jobs.append(("name prefix", name, find(last, Match.PREFIX, where, NAME_LIMIT)))
    jobs += [("name from words", name, find(name, Match.FOLDED, where, NAME_LIMIT)) for name in query.joined]
    jobs += [("path", path, _files(reader, path, where)) for path in query.paths]
    found = await asyncio.gather(*(job for _, _, job in jobs))
    graded = [(match, name, nodes) for (match, name, _), nodes in zip(jobs, found, strict=True)]
    if is_bare_name(query) and "near_names" not in reader.ranking.off and not any(map(_has_name, graded)):
        graded.append(("similar name", query.names[0], await find(query.names[0], Match.NEAR, where, NAME_LIMIT)))
    return _graded(graded)


def _has_name(found: tuple[str, str, Sequence[Node]]) -> bool:
    """Return whether a symbol of the project has the name that was looked up; similar names are not needed then."""
    match, _, nodes = found
    return match in ("name", "name without case") and any(node.row.label not in EXTERNAL_LABELS for node in nodes)


def _graded(found: Iterable[tuple[str, str, Sequence[Node]]]) -> Ranking:
    """Return the nodes of (match, name, nodes), each with its best match."""
    best: dict[str, tuple[float, str]] = {}
    for match, name, nodes in found:
        for node in nodes:
            reason = "exact name" if match == "name" and node.row.qualified_name == name else match
            grade = NAME_GRADES[reason] * (EXTERNAL_SHARE if node.row.label in EXTERNAL_LABELS else 1.0)
            if grade > best.get(node.row.uid, (0.0, ""))[0]:
                best[node.row.uid] = (grade, reason)
    ranked = sorted(best.items(), key=lambda item: (-item[1][0], item[0]))[:POOL]
    hits = tuple(Scored(uid, grade) for uid, (grade, _) in ranked)
    return Ranking("name", hits, reasons=tuple((uid, reason) for uid, (_, reason) in ranked))


async def by_words(reader: Reader, query: Query, where: Filter, limit: int = POOL) -> Ranking:
    """Find by BM25 over names, documentation, source and path."""
    if not query.words:
        return Ranking("words", note="the query has no word to search for: words of one letter are not indexed")
    return Ranking("words", tuple(await reader.store.search_text((*query.words, *query.variants), where, limit)))


async def by_meaning(reader: Reader, query: Query, where: Filter, limit: int = POOL) -> Ranking:
    """Find the nearest neighbours of the question's vectors among code and documents, on one scale."""
    documents = reader.documents_embedder if _admits_documents(where) else None
    jobs = (
        asyncio.create_task(nearest(reader, reader.embedder, query, where, limit)),
        asyncio.create_task(nearest(reader, documents, query, where, limit) if documents is not None else _nothing()),
        asyncio.create_task(_offset(reader)),
    )
    try:
        (code, note), (pages, other), offset = await asyncio.gather(*jobs)
    finally:
        await _end(jobs)
    hits = on_one_scale(code, pages, offset)[:limit]
    note = note or other
    if not hits and not note:
        note = await _why_no_vectors(reader, where)
    return Ranking("meaning", tuple(hits), note)


async def _why_no_vectors(reader: Reader, where: Filter) -> str:
    """Return why no vector was found; "" while the first index is made, which every answer says anyway."""
    project = where.project or reader.project
    state = next((one for one in await reader.store.projects() if one.project == project), None)
    if state is None or not state.indexed_at:
        return ""
    if not state.models:
        return "no vectors match: the project has none yet"
    return "no vectors match: none passes the filter, or none is similar to the question"


async def _end(jobs: Iterable[asyncio.Task[Any]]) -> None:
    """Cancel what still runs after a failure, else it goes on asking a server after the answer, and after the close."""
    for job in jobs:
        job.cancel()
    await asyncio.gather(*jobs, return_exceptions=True)


async def _nothing() -> tuple[tuple[Scored, ...], str]:
    return (), ""


async def _offset(reader: Reader) -> float:
    """Return what to subtract from cosines of documents to compare them with code: 0 if one model embeds both."""
    if reader.documents_embedder is None:
        return 0.0
    code, documents = await reader.embedder.info(), await reader.documents_embedder.info()
    return 0.0 if documents == replace(code, space=documents.space) else DOCUMENT_OFFSET


def _admits_documents(where: Filter) -> bool:
    """Return whether a filter admits documents or windows of text."""
    return not where.labels or not DOCUMENT_LABELS.isdisjoint(where.labels) or Label.CHUNK in where.labels


async def by_prose(reader: Reader, query: Query, where: Filter, limit: int = POOL) -> Ranking:
    """Find the nearest neighbours of the question's vector among notes; most projects have none."""
    if reader.prose_embedder is None:
        return Ranking("prose")
    hits, note = await nearest(reader, reader.prose_embedder, query, where, limit)
    return Ranking("prose", hits, note)


async def by_any_meaning(reader: Reader, query: Query, where: Filter, limit: int = POOL) -> Ranking:
    """Find the nearest neighbours of the question's vectors in both spaces, merged by cosine."""
    jobs = (
        asyncio.create_task(by_meaning(reader, query, where, limit)),
        asyncio.create_task(by_prose(reader, query, where, limit)),
    )
    try:
        code, prose = await asyncio.gather(*jobs)
    finally:
        await _end(jobs)
    if not prose.hits:
        return code
    hits = sorted((*code.hits, *prose.hits), key=lambda hit: (-hit.score, hit.uid))[:limit]
    return Ranking("meaning", tuple(hits), code.note if code.hits else "")


async def nearest(
    reader: Reader, embedder: Embedder, query: Query, where: Filter, limit: int
) -> tuple[tuple[Scored, ...], str]:
    """Return the neighbours with a positive cosine in the embedder's space, and why it could not be searched, or ""."""
    vector = await embedder.embed_query(query.text)
    mine = await embedder.info()
    if not any(vector):
        return (), "" if mine.space != CODE else "no word of the query is known to the embedding model"
    changed, hits = await asyncio.gather(
        other_model(reader, mine),
        reader.store.search_vector(vector, where, limit, mine.space),
        return_exceptions=True,
    )
    if isinstance(changed, BaseException):
        raise changed
    if changed:
        # Scores against the vectors of another model are meaningless.
        return (), changed
    if isinstance(hits, BaseException):
        raise hits
    return tuple(hit for hit in hits if hit.score > 0), ""


async def other_model(reader: Reader, mine: ModelInfo) -> str:
    """Return the note for a query model that differs from the model of the stored vectors, else ""."""
    found = (state.model(mine.space) for state in await reader.store.projects())
    stored = next((model for model in found if model is not None), None)
    if stored is None or stored == mine:
        return ""
    is_second = mine.space == QUALITY
    what, option = (
        ("answered without the sentence transformer", " --quality") if is_second else ("not searched by meaning", "")
    )
    return (
        f"{what}: vectors are from {stored.provider} {stored.model} ({stored.dimension} dimensions), "
        f"the embedder is {mine.provider} {mine.model} ({mine.dimension}); run: atlas index{option}"
    )


async def by_graph(reader: Reader, query: Query, where: Filter) -> Ranking:
    """Find the neighbours of the symbols that the question names, best edges first."""
    anywhere = Filter(project=where.project)
    names = query.names[:2]
    found = await asyncio.gather(*(reader.store.find(name, Match.SUFFIX, anywhere, SEEDS + 1) for name in names))
    return await _neighbours(reader, _seeds(*found), where)


def _seeds(*found: Sequence[Node]) -> list[Node]:
    """Return the project's own nodes of each name that is not ambiguous."""
    return [node for nodes in found if len(nodes) <= SEEDS for node in nodes if node.row.label not in EXTERNAL_LABELS]


async def count_words(reader: Reader, query: Query, where: Filter) -> WordCounts:
    """Count the words of a question by file; nothing is counted if the store cannot be read."""
    try:
        return await reader.store.count_words((*query.words, *query.variants), where)
    except AtlasError:
        return WordCounts({}, {})


async def gather(*channels: tuple[str, Awaitable[Ranking]]) -> list[Ranking]:
    """Run channels concurrently; a failed channel becomes an empty ranking with a note (invariant I8)."""
    results = await asyncio.gather(*(channel for _, channel in channels), return_exceptions=True)
    rankings: list[Ranking] = []
    for (name, _), result in zip(channels, results, strict=True):
        if isinstance(result, AtlasError):
            hint = f" ({result.hint})" if isinstance(result, StoreError) and result.hint else ""
            rankings.append(Ranking(name, note=f"search by {name} failed: {result.message}{hint}"))
        elif isinstance(result, BaseException):
            raise result
        else:
            rankings.append(result)
    return rankings


def keeps(where: Filter, node: Node) -> bool:
    """Return whether a node reached over an edge passes the filter."""
    row = node.row
    return (
        (not where.labels or row.label in where.labels)
        and (not where.languages or row.language in where.languages)
        and (where.include_tests or not row.is_test)
        and (where.include_generated or not row.is_generated)
        and path_matches(where.path, row.path)
    )


def path_matches(pattern: str, path: str) -> bool:
    """Return whether a path passes a filter's prefix or glob (`*` also matches "/", as the stores do)."""
    if not any(character in pattern for character in "*?"):
        return path.startswith(pattern)
    return fnmatchcase(path, pattern.replace("[", "[[]"))


async def _neighbours(reader: Reader, seeds: list[Node], where: Filter) -> Ranking:
    """Return callers, callees and documentation of named symbols as context, at most half an edge's confidence."""
    if not seeds:
        return Ranking("graph")
    uids = [seed.row.uid for seed in seeds]
    incoming, outgoing = await asyncio.gather(
        reader.store.edges(uids, Direction.IN, (EdgeType.CALLS, EdgeType.DOCUMENTS), each=5),
        reader.store.edges(uids, Direction.OUT, (EdgeType.CALLS,), each=5),
    )
    best: dict[str, float] = {}
    for edge in (*incoming, *outgoing):
        if keeps(where, edge.node) and edge.node.row.uid not in uids:
            best[edge.node.row.uid] = max(edge.row.confidence / 2, best.get(edge.node.row.uid, 0.0))
    ranked = sorted(best.items(), key=lambda item: (-item[1], item[0]))[:POOL]
    reasons = tuple((uid, "neighbour of the named symbol") for uid, _ in ranked)
    return Ranking("graph", tuple(Scored(uid, score) for uid, score in ranked), reasons=reasons)


async def _files(reader: Reader, path: str, where: Filter) -> list[Node]:
    """Return the file's top node, found by the whole path or by its last part."""
    whole = await reader.store.find(path, Match.PATH, where, 1)
    if whole:
        return whole
    name = path.rpartition("/")[2]
    narrowed = where if where.path else replace(where, path=f"*{path}")
    found = await asyncio.gather(
        *(reader.store.find(each, Match.SUFFIX, narrowed, 5) for each in dict.fromkeys((name.partition(".")[0], name)))
    )
    tops = (Label.MODULE, Label.PACKAGE, Label.FILE, Label.DOC_FILE, Label.ADR)
    return [node for nodes in found for node in nodes if node.row.label in tops and node.row.path.endswith(path)]
