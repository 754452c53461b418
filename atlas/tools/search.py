"""hybrid_search, text_search and vector_search: a page of ranked hits within a token budget.

The first page ends where the hits fall far behind the first one, and only its best hits carry signature and summary: a
further hit costs its line, a further question costs a whole answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil

from atlas.api import Atlas
from atlas.errors import ConfigError
from atlas.model import NodeRow
from atlas.search.channels import POOL, path_matches
from atlas.search.find import RERANK_LIMIT, Mode, SearchResult
from atlas.search.freshness import StaleFile, stale_files
from atlas.search.grouping import Group
from atlas.search.rank import Candidate
from atlas.search.relevance import RELEVANT
from atlas.tools.answers import RelationAnswer, ReportAnswer, SearchAnswer
from atlas.tools.changes import answer_from_history
from atlas.tools.citations import NOTE_KINDS, hit_name, path_of, quoted, symbol_of
from atlas.tools.envelope import Envelope, aside, check_range, fit_aside, inside, make_filter, open_envelope
from atlas.tools.note_lines import marks_of
from atlas.tools.packages import packages_answer
from atlas.tools.paging import Position, fingerprint, read_cursor, write_cursor
from atlas.tools.relation import relation_answer
from atlas.tools.search_page import FIRST_PAGE, first_page, groups_of, weaker
from atlas.tools.snippets import matching_lines
from atlas.tools.symbols import Hit, SourceLine
from atlas.wording import counted

MAX_LIMIT = 50
TOKEN_BUDGET = 900
"""Default of the searches. Answers to 500 docstrings contain the target as often as with 2,000."""
DETAILED = 4
"""Hits with signature and summary; the others are one line each."""
LINES_PER_HIT = 2
"""Lines of source of a hit where `snippets` asks for them."""
WITH_LINE = FIRST_PAGE
"""Hits with a line of source where nothing asks for it."""
MIN_UNSAID = 2
"""Such a line has at least so many words of the query that its hit does not have otherwise."""
MIN_SHARE = 0.4
"""It has at least this share of all words of the query."""
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
    limit: int | None = None,
    brief: bool = False,
    snippets: bool = False,
    token_budget: int = TOKEN_BUDGET,
    cursor: str = "",
) -> SearchAnswer | RelationAnswer | ReportAnswer:
    """Find code and documentation by name, words, meaning and graph combined; answer questions about edges and changes.

    `include_tests`: None ranks tests lower unless the query mentions them, False excludes them, True ranks them like
    other code. Without `limit`, hits far behind the first are left out. `brief` shows one line a hit, `snippets` more
    lines of source that match. Raises ConfigError for invalid arguments and NotFound for an unknown project.
    """
    request = _Request(
        Mode.HYBRID, query, path, tuple(labels), tuple(languages), include_tests, limit, brief, snippets, cursor
    )
    search = await _search(atlas, request, project, token_budget)
    if search.found.packages is not None:
        return await packages_answer(atlas, search.envelope, search.found.packages, search.found.notes)
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
    limit: int | None = None,
    brief: bool = False,
    snippets: bool = False,
    token_budget: int = TOKEN_BUDGET,
    cursor: str = "",
) -> SearchAnswer:
    """Find by words only, in BM25 order, definitions of a name that is the whole query first.

    Arguments and errors are those of `hybrid_search`; tests are never demoted.
    """
    request = _Request(
        Mode.WORDS, query, path, tuple(labels), tuple(languages), include_tests, limit, brief, snippets, cursor
    )
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
    limit: int | None = None,
    brief: bool = False,
    snippets: bool = False,
    token_budget: int = TOKEN_BUDGET,
    cursor: str = "",
) -> SearchAnswer:
    """Find by meaning only, in cosine order.

    Arguments and errors are those of `hybrid_search`; tests are never demoted.
    """
    request = _Request(
        Mode.MEANING, query, path, tuple(labels), tuple(languages), include_tests, limit, brief, snippets, cursor
    )
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
    limit: int | None
    brief: bool
    snippets: bool
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
    further: int
    """Candidates behind this page."""
    hits: tuple[Hit, ...]
    stale: Sequence[StaleFile] | None
    notes: tuple[str, ...]
    fingerprint: str


async def _search(atlas: Atlas, request: _Request, project: str, token_budget: int) -> _Search:
    if request.limit is not None:
        check_range("limit", request.limit, 1, MAX_LIMIT)
    if not request.query.strip():
        raise ConfigError("the query is empty", "give a name, some words or a question")
    envelope = await open_envelope(atlas, project, token_budget)
    state = envelope.state
    where = await make_filter(
        atlas, state.project, request.path, request.labels, request.languages, request.include_tests, state.root
    )
    own = fingerprint(request.mode.value, request.query, where, request.include_tests, request.brief)
    start = read_cursor(request.cursor, own) if request.cursor else Position(0, state.generation)
    found = await atlas.search(
        request.query,
        where,
        request.mode,
        demote_tests=request.include_tests is None,
        wanted=start.offset + (request.limit or FIRST_PAGE),
    )
    return _Search(envelope, found, start, own)


async def _hits(atlas: Atlas, request: _Request, search: _Search) -> SearchAnswer:
    envelope, found, start = search.envelope, search.found, search.start
    state = envelope.state
    groups = groups_of(found, request.mode, atlas.reader.ranking, is_brief=request.brief)
    size = request.limit or (FIRST_PAGE if request.cursor else first_page(found, groups))
    page = groups[start.offset : start.offset + size]
    firsts = [group.first for group in page]
    stale = await stale_files(atlas.reader, state.project, state.root, (each.node.row.path for each in firsts))
    moved = start.generation != state.generation
    notes = (
        "" if page else await _path_note(atlas, state.project, inside(request.path, state.root)),
        *found.notes,
        "index changed since the previous page; results may have shifted" if moved else "",
    )
    marks = await marks_of(atlas.reader, [each.node for each in firsts])
    is_brief = request.brief or found.relevance < RELEVANT
    detailed = 0 if is_brief else DETAILED - start.offset
    hits = tuple(
        _hit(atlas, found, each, start.offset + number, marks, is_detailed=number <= detailed)
        for number, each in enumerate(page, 1)
    )
    if not is_brief:
        hits = await _with_lines(atlas, state.project, found, hits, firsts, is_asked=request.snippets)
    further = weaker(found, groups, start.offset + len(page))
    shown = _Page(request.mode, found, start.offset, further, hits, stale, notes, search.fingerprint)
    return await fit_aside(
        atlas, envelope.token_budget, lambda n: _build(envelope, shown, n), len(hits), min(len(hits), 1)
    )


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


def _build(envelope: Envelope, page: _Page, count: int) -> SearchAnswer:
    """Return the answer with the first `count` hits."""
    shown = page.hits[:count]
    by_budget = len(page.hits) - count
    hits = counted(by_budget, "hit")
    following = Position(page.offset + count, envelope.state.generation)
    is_capped = page.found.total >= (RERANK_LIMIT if page.mode == Mode.HYBRID else POOL)
    return SearchAnswer(
        tool=_TOOLS[page.mode],
        query=page.found.query.text,
        hits=shown,
        found=page.found.total,
        more=is_capped,
        evidence=envelope.evidence(
            paths=(path_of(hit.symbol.place) for hit in shown),
            stale=page.stale,
            notes=page.notes,
            withheld=(
                f"{hits} by token_budget {envelope.token_budget} {envelope.encoding}" if by_budget else "",
                counted(page.further, "weaker hit") if page.further > 0 else "",
            ),
            cursor=write_cursor(following, page.fingerprint) if by_budget + max(page.further, 0) > 0 else "",
        ),
    )


def _hit(
    atlas: Atlas,
    found: SearchResult,
    group: Group,
    number: int,
    marks: Mapping[str, str],
    *,
    is_detailed: bool,
) -> Hit:
    candidate, row = group.first, group.first.node.row
    text = f"{row.name} {row.qualified_name} {row.signature} {row.docstring} {row.path}"
    seen = set(atlas.reader.split_words(text))
    symbol = symbol_of(row)
    return Hit(
        rank=number,
        symbol=symbol if is_detailed else replace(symbol, signature="", summary=""),
        score=round(candidate.score, 4),
        channels=candidate.channels,
        words=tuple(word for word in found.query.words if word in seen),
        reasons=candidate.reasons,
        also=candidate.also,
        marks=marks.get(row.uid, ""),
        beside=tuple(f"{each.node.row.name} {each.node.row.line}" for each in group.beside),
    )


async def _with_lines(
    atlas: Atlas, project: str, found: SearchResult, hits: Sequence[Hit], page: Sequence[Candidate], *, is_asked: bool
) -> tuple[Hit, ...]:
    """Return the hits with the lines of their source that match the query best.

    Unless lines are asked for, only the first hits get one, and only where it says what name and summary do not.
    """
    rows = [each.node.row for each in page]
    wanted = len(rows) if is_asked else WITH_LINE
    contents = await atlas.reader.store.content(project, sorted({row.path for row in rows[:wanted] if row.path}))
    split = atlas.reader.split_words
    words = {*found.query.words, *found.query.variants}
    least = max(MIN_UNSAID, ceil(len(found.query.words) * MIN_SHARE))

    def lines_of(hit: Hit, row: NodeRow) -> tuple[SourceLine, ...]:
        content = contents.get(row.path, b"")
        if is_asked:
            return _quoted(row, matching_lines(row, content, words, split, LINES_PER_HIT, without=hit.symbol.summary))
        unsaid = words.difference(split(f"{hit_name(hit.symbol)} {hit.symbol.summary} {row.path}"))
        return _quoted(row, matching_lines(row, content, unsaid, split, 1, least))

    found_lines = (lines_of(hit, row) for hit, row in zip(hits[:wanted], rows, strict=False))
    return (*(replace(hit, lines=lines) for hit, lines in zip(hits, found_lines, strict=False)), *hits[wanted:])


def _quoted(row: NodeRow, lines: tuple[SourceLine, ...]) -> tuple[SourceLine, ...]:
    """Return the lines of a note in quotes, other lines as they are."""
    return tuple(replace(line, text=quoted(line.text)) for line in lines) if row.kind in NOTE_KINDS else lines


_TOOLS = {Mode.HYBRID: "hybrid_search", Mode.WORDS: "text_search", Mode.MEANING: "vector_search"}
