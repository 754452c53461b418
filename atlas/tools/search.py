"""hybrid_search, text_search and vector_search: a page of ranked hits within a token budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from atlas.api import Atlas
from atlas.errors import ConfigError
from atlas.search.channels import POOL, path_matches
from atlas.search.expand import BESIDE_HITS, around_hits
from atlas.search.find import RERANK_LIMIT, Mode, SearchResult
from atlas.search.freshness import StaleFile, stale_files
from atlas.search.rank import Candidate
from atlas.tools.answers import Hit, RelationAnswer, ReportAnswer, SearchAnswer
from atlas.tools.changes import answer_from_history
from atlas.tools.citations import path_of, sections_of, symbol_of
from atlas.tools.envelope import (
    INLINE_TOKENS,
    Envelope,
    aside,
    check_range,
    fit,
    fit_or_none,
    inside,
    make_filter,
    open_envelope,
)
from atlas.tools.paging import Position, fingerprint, read_cursor, write_cursor
from atlas.tools.relation import relation_answer

MAX_LIMIT = 50

_FEW = 1000
"""Up to this many paths, matching a glob takes less time than starting a thread."""


async def hybrid_search(
    atlas: Atlas,
    query: str,
    *,
    project: str = "",
    path: str = "",
    labels: Sequence[str] = (),
    languages: Sequence[str] = (),
    include_tests: bool | None = None,
    limit: int = 10,
    token_budget: int = 2000,
    cursor: str = "",
) -> SearchAnswer | RelationAnswer | ReportAnswer:
    """Find code and documentation by name, words, meaning and graph combined; answer questions about edges and changes.

    `include_tests`: None ranks tests lower unless the query mentions them, False excludes them, True ranks them like
    other code. Raises ConfigError for invalid arguments and NotFound for an unknown project.
    """
    request = _Request(Mode.HYBRID, query, path, tuple(labels), tuple(languages), include_tests, limit, cursor)
    search = await _search(atlas, request, project, token_budget)
    if (report := await answer_from_history(atlas, search.envelope, search.found, query)) is not None:
        return report
    if search.found.relation is not None:
        return await relation_answer(
            atlas, search.envelope, search.found, search.found.relation, search.start, search.fingerprint
        )
    return await _hits(atlas, request, search)


async def text_search(
    atlas: Atlas,
    query: str,
    *,
    project: str = "",
    path: str = "",
    labels: Sequence[str] = (),
    languages: Sequence[str] = (),
    include_tests: bool | None = None,
    limit: int = 10,
    token_budget: int = 2000,
    cursor: str = "",
) -> SearchAnswer:
    """Find by words only, in BM25 order. Arguments and errors are those of `hybrid_search`; tests are never demoted."""
    request = _Request(Mode.WORDS, query, path, tuple(labels), tuple(languages), include_tests, limit, cursor)
    return await _hits(atlas, request, await _search(atlas, request, project, token_budget))


async def vector_search(
    atlas: Atlas,
    query: str,
    *,
    project: str = "",
    path: str = "",
    labels: Sequence[str] = (),
    languages: Sequence[str] = (),
    include_tests: bool | None = None,
    limit: int = 10,
    token_budget: int = 2000,
    cursor: str = "",
) -> SearchAnswer:
    """Find by meaning only, in cosine order.

    Arguments and errors are those of `hybrid_search`; tests are never demoted.
    """
    request = _Request(Mode.MEANING, query, path, tuple(labels), tuple(languages), include_tests, limit, cursor)
    return await _hits(atlas, request, await _search(atlas, request, project, token_budget))


@dataclass(frozen=True, slots=True)
class _Request:
    """The arguments that determine the hits of a page."""

    mode: Mode
    query: str
    path: str
    labels: tuple[str, ...]
    languages: tuple[str, ...]
    include_tests: bool | None
    limit: int
    cursor: str


@dataclass(frozen=True, slots=True)
class _Search:
    """A search that has run, and where its page starts."""

    envelope: Envelope
    found: SearchResult
    start: Position
    fingerprint: str


@dataclass(frozen=True, slots=True)
class _Page:
    """Everything that a page can contain, before the budget applies."""

    mode: Mode
    found: SearchResult
    offset: int
    plain: tuple[Hit, ...]
    rich: tuple[Hit, ...]
    """The same hits with their neighbours."""
    stale: Sequence[StaleFile] | None
    notes: tuple[str, ...]
    fingerprint: str


async def _search(atlas: Atlas, request: _Request, project: str, token_budget: int) -> _Search:
    check_range("limit", request.limit, 1, MAX_LIMIT)
    if not request.query.strip():
        raise ConfigError("the query is empty", "give a name, some words or a question")
    envelope = await open_envelope(atlas, project, token_budget)
    state = envelope.state
    where = await make_filter(
        atlas, state.project, request.path, request.labels, request.languages, request.include_tests, state.root
    )
    own = fingerprint(request.mode.value, request.query, where, request.include_tests)
    start = read_cursor(request.cursor, own) if request.cursor else Position(0, state.generation)
    found = await atlas.search(
        request.query,
        where,
        request.mode,
        demote_tests=request.include_tests is None,
        wanted=start.offset + request.limit,
    )
    return _Search(envelope, found, start, own)


async def _hits(atlas: Atlas, request: _Request, search: _Search) -> SearchAnswer:
    envelope, found, start = search.envelope, search.found, search.start
    state, mode = envelope.state, request.mode
    page = found.ranked[start.offset : start.offset + request.limit]
    stale = await stale_files(atlas.reader, state.project, state.root, (each.node.row.path for each in page))
    moved = start.generation != state.generation
    notes = (
        "" if page else await _path_note(atlas, state.project, inside(request.path, state.root)),
        *found.notes,
        "index changed since the previous page; results may have shifted" if moved else "",
    )
    plain = tuple(_hit(atlas, found, each, start.offset + number) for number, each in enumerate(page, 1))
    rich = await _with_neighbours(atlas, page, plain) if mode == Mode.HYBRID else plain
    shown = _Page(mode, found, start.offset, plain, rich, stale, notes, search.fingerprint)
    return await aside(envelope.token_budget > INLINE_TOKENS, _assemble, atlas, envelope, shown)


def _any_matches(paths: Sequence[str], path: str) -> bool:
    return any(path_matches(path, each) for each in paths)


async def _path_note(atlas: Atlas, project: str, path: str) -> str:
    """Return a note if no indexed file passes the path filter: then the words of the query are not the reason."""
    if not path:
        return ""
    paths = tuple(await atlas.reader.store.manifest(project))
    if await aside(len(paths) > _FEW, _any_matches, paths, path):
        return ""
    return f"no indexed file matches path `{path}`; `status` with skipped lists what is left out"


def _assemble(atlas: Atlas, envelope: Envelope, page: _Page) -> SearchAnswer:
    """Return as many hits as fit the budget, with neighbours for as many of them, from the top, as still fit."""
    count = len(page.plain)
    whole = fit_or_none(atlas, envelope.token_budget, lambda _: _build(envelope, page, count, count), 0)
    if whole is not None:
        return whole
    bare = fit(atlas, envelope.token_budget, lambda n: _build(envelope, page, n, 0), count, min(count, 1))
    kept = len(bare.hits)
    if bare.evidence.below_floor or not any(hit.around for hit in page.rich[:kept]):
        return bare
    # The complete page, all hits with all neighbours, has already been measured as too long.
    most = kept - 1 if kept == count else kept
    return fit(
        atlas, envelope.token_budget, lambda n: _build(envelope, page, kept, n), most, at_lower=bare.evidence.tokens
    )


def _build(envelope: Envelope, page: _Page, hits: int, detailed: int) -> SearchAnswer:
    """Return the answer with the first `hits` hits, the first `detailed` of them with their neighbours."""
    shown = (*page.rich[:detailed], *page.plain[detailed:hits])
    by_budget = len(page.plain) - hits
    by_limit = page.found.total - page.offset - len(page.plain)
    bare = any(hit.around for hit in page.rich[detailed:hits])
    following = Position(page.offset + hits, envelope.state.generation)
    return SearchAnswer(
        tool=_TOOLS[page.mode],
        query=page.found.query.text,
        hits=shown,
        found=page.found.total,
        more=page.found.total >= (RERANK_LIMIT if page.mode == Mode.HYBRID else POOL),
        evidence=envelope.evidence(
            paths=(path_of(hit.symbol.place) for hit in shown),
            stale=page.stale,
            notes=page.notes,
            withheld=(
                f"{by_budget} hits by token_budget {envelope.token_budget} {envelope.encoding}" if by_budget else "",
                f"{by_limit} hits by limit" if by_limit > 0 else "",
                "neighbours of some hits by token_budget; get_context shows them" if bare else "",
            ),
            cursor=write_cursor(following, page.fingerprint) if by_budget + max(by_limit, 0) > 0 else "",
        ),
    )


def _hit(atlas: Atlas, found: SearchResult, candidate: Candidate, number: int) -> Hit:
    row = candidate.node.row
    text = f"{row.name} {row.qualified_name} {row.signature} {row.docstring} {row.path}"
    seen = set(atlas.reader.split_words(text))
    return Hit(
        rank=number,
        symbol=symbol_of(row),
        score=round(candidate.score, 4),
        channels=candidate.channels,
        words=tuple(word for word in found.query.words if word in seen),
        reasons=candidate.reasons,
        also=candidate.also,
    )


async def _with_neighbours(atlas: Atlas, page: Sequence[Candidate], hits: Sequence[Hit]) -> tuple[Hit, ...]:
    around = await around_hits(atlas.reader, [each.node.row.uid for each in page])
    return tuple(
        replace(hit, around=sections_of(around[row.uid], BESIDE_HITS, row.path)) if row.uid in around else hit
        for hit, row in zip(hits, (each.node.row for each in page), strict=True)
    )


_TOOLS = {Mode.HYBRID: "hybrid_search", Mode.WORDS: "text_search", Mode.MEANING: "vector_search"}
