"""hybrid_search, text_search and vector_search: a page of ranked hits within a token budget.

What a page shows is chosen by value per token (`packing`): lines of hits by how likely each is meant, signature and
summary, statements of bodies, further hits of a file. A certain answer stays short; what is left out is listed with its
price.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from atlas.answers.answer import Answer
from atlas.answers.evidence import StaleFile
from atlas.answers.packing import AnswerPart, affordable
from atlas.answers.paging import Position, fingerprint, read_cursor, write_cursor
from atlas.answers.schema import check_range
from atlas.code.atlas import Atlas
from atlas.code.changes.package_history import is_of_former_package
from atlas.code.find import RERANK_LIMIT, Mode, SearchResult
from atlas.code.freshness import stale_files
from atlas.code.graph.subjects import spell_names
from atlas.code.lines.assigned.fields import asks_uses_of_field
from atlas.code.lines.packages.one_package import question_of_one_package
from atlas.code.notes.note_lines import marks_of
from atlas.code.question.behaviour import asks_for_thing, asks_how
from atlas.code.question.parse_question import route
from atlas.code.question.relation_kinds import RelationIntent
from atlas.code.question.requests.several import SeveralRequests, quote_pasted, read_requests
from atlas.code.question.requests.single import is_of_one_behaviour
from atlas.code.question.stated_relation import stated_question, stated_relation
from atlas.code.rank.grouping import Group
from atlas.code.rank.judgement import MISSING
from atlas.code.rank.likelihood import certainty_of, how_sure, likelihoods
from atlas.code.rank.relevance import RELEVANT
from atlas.code.retrieve.channels import POOL, ExactLine, path_matches
from atlas.code.retrieve.exact_text import texts_of
from atlas.code.retrieve.expand import around_hits
from atlas.code.tools.changes import answer_from_history
from atlas.code.tools.citations import path_of, short_title, symbol_of
from atlas.code.tools.envelope import Envelope, aside, fit_aside, inside, make_filter, open_envelope
from atlas.code.tools.packages import packages_answer
from atlas.code.tools.relation import relation_answer
from atlas.code.tools.relation_answer import RelationAnswer
from atlas.code.tools.reports import ReportAnswer, line_report_answer
from atlas.code.tools.search.card import card_lines, value_lines
from atlas.code.tools.search.exact import LineRequest, search_lines
from atlas.code.tools.search.further_lines import with_further_lines
from atlas.code.tools.search.line_answer import LineAnswer
from atlas.code.tools.search.page import FIRST_PAGE, MAX_VALUED, WITH_MORE, groups_of, page_extent, shows_bodies
from atlas.code.tools.search.parts import (
    NEAR,
    NEAR_MARKS,
    REQUIRED,
    Body,
    Key,
    PageHit,
    Pricing,
    assemble_hits,
    plan_page,
    undescribed,
)
from atlas.code.tools.search.rest import rest_of
from atlas.code.tools.search.search_answer import SearchAnswer
from atlas.code.tools.search.several import SeveralAnswers, answer_several
from atlas.code.tools.search.unranked import with_unranked
from atlas.code.tools.symbol.bodies import read_bodies
from atlas.code.tools.symbol.called_functions import helpers_called
from atlas.code.tools.symbol.constants import asks_for_value, constants_named, settings_read, values_of
from atlas.code.tools.symbol.neighbours import NearSymbol, relevant_neighbours
from atlas.code.tools.symbol.symbols import SourceLine, SymbolHit
from atlas.code.tools.symbol.window_lines import with_conditions
from atlas.core.errors import AtlasError, ConfigError
from atlas.core.invisible import escaped
from atlas.core.model import Filter, Label, NodeRow

MAX_LIMIT = 50
TOKEN_BUDGET = 900
"""Default of the searches. Answers to 500 docstrings contain the target as often as with 2,000."""
SLACK = 1.15
"""Estimates of prices are higher than the prices by up to this factor."""
WITH_NEIGHBOURS = 3
"""First hits whose callers and callees are read."""
WITH_VALUES = 3
"""Hits of which the constants that their best lines name are shown with their values."""
BEST_PIECES = 3
TWINS = 4
"""Places that are listed where several files define one name."""
_FEW = 1000
"""Up to this many paths, matching a glob takes less time than starting a thread."""


async def hybrid_search(
    atlas: Atlas,
    query: str,
    *,
    relation: str = "",
    of: str = "",
    to: str = "",
    scope: str = "",
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
) -> SearchAnswer | RelationAnswer | ReportAnswer | SeveralAnswers:
    """Find code and documentation by name, words, meaning and graph combined; answer questions about edges and changes.

    `relation`, `of`, `to` and `scope` say what the question means, where its words need not be read: a relation of the
    graph, the symbol or file, the end of a path, and the file, folder or class that the answer is limited to.
    `include_tests`: None ranks tests lower unless the query mentions them, False excludes them, True ranks them like
    other code. Without `limit`, hits that are not worth their tokens are left out. `brief` shows one line a hit,
    `snippets` more lines of source that match. A question for several things is answered part by part, unless
    `relation`, `limit` or `brief` say how. Raises ConfigError for invalid arguments and NotFound for an unknown
    project.
    """
    stated, query = stated_relation(relation, of, to, scope), quote_pasted(query)
    text = stated_question(stated, of, query)
    request = _Request(
        Mode.HYBRID, text, path, tuple(labels), tuple(languages), include_tests, limit, brief, snippets, cursor, stated
    )
    if not stated:
        query = await _spelled(atlas, query, project)
        request = replace(request, query=query)
    is_open = not (stated or cursor or limit or brief)
    if is_open and (found := await _of_one_package(atlas, request, project, token_budget)) is not None:
        return await with_further_lines(atlas, found, query, project, token_budget)
    if is_open and (several := _several(atlas, query)) is not None:

        async def ask(alone: Atlas, asked: str, tokens: int) -> Answer:
            return await _answer(alone, replace(request, query=asked), project, tokens)

        found = await answer_several(atlas, ask, several, project, token_budget)
        if found is not None:
            return await with_further_lines(atlas, found, query, project, token_budget)
    answer = await _answer(atlas, request, project, token_budget)
    if stated or cursor or limit or brief or path or labels or languages:
        return answer
    return await with_further_lines(atlas, answer, query, project, token_budget)


async def _of_one_package(atlas: Atlas, request: _Request, project: str, token_budget: int) -> ReportAnswer | None:
    """Return the answer to a question whose clauses all ask of one package; None for others."""
    if is_of_former_package(request.query):
        answer = await _answer(atlas, request, project, token_budget)
        return answer if isinstance(answer, ReportAnswer) and answer.report.kind == "changes" else None
    try:
        asked = await question_of_one_package(atlas.reader, request.query, project or atlas.reader.project)
    except AtlasError:
        return None  # the search says what the store cannot
    answer = await _answer(atlas, replace(request, query=asked), project, token_budget) if asked else None
    return answer if isinstance(answer, ReportAnswer) and answer.report.kind == "packages" else None


async def _spelled(atlas: Atlas, query: str, project: str) -> str:
    try:
        return await spell_names(atlas.reader, query, project or atlas.reader.project)
    except AtlasError:
        return query  # the search says what the store cannot


def _several(atlas: Atlas, query: str) -> SeveralRequests | None:
    """Return the requests of a question that has several; None for one, and for a text with a message."""
    several = read_requests(query)
    if several is None or asks_uses_of_field(query) or any(" " in each.text for each in texts_of(query)):
        return None
    read = partial(route, split_words=atlas.reader.split_words, languages=atlas.reader.languages)
    return None if read(query).phrases or is_of_one_behaviour(query, several, read) else several


async def _answer(
    atlas: Atlas, request: _Request, project: str, token_budget: int
) -> SearchAnswer | RelationAnswer | ReportAnswer:
    search = await _search(atlas, request, project, token_budget)
    if (lines := search.found.report) is not None:
        found, start = search.found, search.start
        return await line_report_answer(atlas, search.envelope, lines, found.notes, start, search.fingerprint)
    if search.found.packages is not None:
        return await packages_answer(atlas, search.envelope, search.found.packages, search.found.notes)
    if (report := await answer_from_history(atlas, search.envelope, search.found, request.query)) is not None:
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
    mode: str = "words",
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
) -> SearchAnswer | LineAnswer:
    """Find by words only, in BM25 order, definitions of a name that is the whole query first.

    Arguments and errors are those of `hybrid_search`; tests are never demoted. The modes `exact` and `regex` find lines
    of the files on disk; `brief` then counts them by file.
    """
    if mode != "words":
        lines = LineRequest(mode, query, path, tuple(labels), tuple(languages), include_tests, limit, brief, cursor)
        return await search_lines(atlas, lines, project, token_budget)
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
    stated: RelationIntent | None = None


@dataclass(frozen=True, slots=True)
class _Search:
    """A search that has run, and where its page starts."""

    envelope: Envelope
    found: SearchResult
    where: Filter
    start: Position
    fingerprint: str


@dataclass(frozen=True, slots=True)
class _Page:
    """Everything that a page can contain, before the budget applies."""

    mode: Mode
    found: SearchResult
    offset: int
    groups: Sequence[Group]
    """All hits, those of this page and others."""
    hits: Sequence[PageHit]
    parts: Sequence[AnswerPart[Key]]
    stale: Sequence[StaleFile] | None
    notes: tuple[str, ...]
    fingerprint: str
    card: tuple[str, ...] = ()


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
        stated=request.stated,
    )
    found = await with_unranked(atlas.reader, found)
    if not found.total:
        note = await _path_note(atlas, state.project, inside(request.path, state.root))
        found = replace(found, notes=tuple(filter(None, (note, *found.notes))))
    return _Search(envelope, found, where, start, own)


async def _hits(atlas: Atlas, request: _Request, search: _Search) -> SearchAnswer:
    envelope, found, start = search.envelope, search.found, search.start
    state = envelope.state
    groups = groups_of(found, request.mode, atlas.reader.ranking, is_brief=request.brief)
    limit = request.limit or (FIRST_PAGE if request.cursor else 0)
    extent = page_extent(found, groups, request.mode, limit=limit, is_brief=request.brief)
    page = groups[start.offset : start.offset + extent.most]
    firsts = [group.first for group in page]
    stale = await stale_files(atlas.reader, state.project, state.root, (each.node.row.path for each in firsts))
    moved = start.generation != state.generation
    notes = (
        *found.notes,
        "index changed since the previous page; results may have shifted" if moved else "",
    )
    hits = await _page_hits(atlas, request, search, page)
    pricing = Pricing(
        atlas.reader.counter.count, extent.required, requires_pieces=request.snippets or bool(found.windows)
    )
    parts = plan_page(hits, pricing)
    count = atlas.reader.counter.count
    card = () if request.cursor else (*found.absent, *value_lines(found.values), *card_lines(found.cards, count))
    shown = _Page(request.mode, found, start.offset, groups, hits, parts, stale, notes, search.fingerprint, card)
    upper = max(affordable(parts, envelope.token_budget * SLACK), min(len(parts), 1))
    return await fit_aside(
        atlas, envelope.token_budget, lambda n: _build(envelope, shown, n), upper, min(len(parts), 1)
    )


async def _page_hits(atlas: Atlas, request: _Request, search: _Search, page: Sequence[Group]) -> list[PageHit]:
    """Return the hits of a page with everything that an answer can show of them."""
    found, offset = search.found, search.start.offset
    marks = await marks_of(atlas.reader, [each.first.node for each in page])
    rows = [each.first.node.row for each in page]
    is_unlike = found.relevance < RELEVANT and not (found.windows and found.relevance > MISSING.relevance)
    is_brief = request.brief or is_unlike
    likely = likelihoods(found.ranked, found.query, found.relevance)
    chances = {each.node.row.uid: chance for each, chance in zip(found.ranked, likely, strict=True)}
    is_valued = request.mode == Mode.HYBRID and found.relevance >= RELEVANT
    bodies = [Body()] * len(page)
    if not is_brief and (request.snippets or shows_bodies(found)):
        bodies = await read_bodies(
            atlas, search.envelope.state.project, found, page, chances, is_asked=request.snippets
        )
    with_more = 0 if found.cards else WITH_MORE
    near = await _neighbours(atlas, request, found, rows[:WITH_NEIGHBOURS]) if with_more and not is_brief else {}
    hits: list[PageHit] = []
    told: set[str] = set()
    for number, (group, body) in enumerate(zip(page, bodies, strict=True), 1):
        uid, same_file = group.first.node.row.uid, group.same_file
        hit = _hit(atlas, found, group, offset + number, marks)
        if is_brief:
            hit, same_file = undescribed(hit), ()
        around = near.get(uid, ())
        if request.limit is None and number > with_more:
            same_file, hit = (), replace(hit, same_file=())
        sure = how_sure(chances[uid], certainty_of(found.ranked[0], found.query)) if is_valued else ""
        hit = replace(hit, near=tuple(each.text for each in around), sure=sure)
        further = tuple(chances[each.node.row.uid] for each in same_file)
        near_by = tuple(each.relevance for each in around)
        if found.windows and request.limit is None and number > MAX_VALUED:
            hit = replace(undescribed(hit), sure="")
        told_lines = found.lines.get(uid, ())
        has_lines = bool(body.pieces or told_lines)
        if is_valued and number <= WITH_VALUES and has_lines:
            said = await _values_said(atlas, search, body, told_lines, rows[:number], rows[number:WITH_VALUES])
            said = tuple(each for each in said if each not in told)
            told.update(said)
            hit = replace(hit, near=(*said, *hit.near))
            near_by = (*(_relevance(atlas, each, chances[uid]) for each in said), *near_by)
        row = group.first.node.row
        lines = range(row.start_line, row.end_line + 1)
        exact = await _exact_lines(atlas, search, row, told_lines)
        if exact:
            body = Body()
        hits.append(PageHit(hit, chances[uid], further, body, lines, near_by, exact))
    return hits


def _relevance(atlas: Atlas, said: str, likelihood: float) -> float:
    """Return the relevance of what is said below a hit: lines of a function are shown however unlikely the hit is."""
    needed = REQUIRED * (atlas.reader.counter.count(said) + NEAR_MARKS) / (NEAR * max(likelihood, 0.01))
    return max(1.0, needed) if "\n" in said else 1.0


async def _values_said(
    atlas: Atlas,
    search: _Search,
    body: Body,
    told: Sequence[ExactLine],
    rows: Sequence[NodeRow],
    following: Sequence[NodeRow],
) -> tuple[str, ...]:
    """Return the values of the constants and settings that the best lines of the last of some hits name.

    Below the first one also the short functions that its lines call, other than the following hits.
    """
    query, project = search.found.query, search.envelope.state.project
    best = sorted(zip(body.values, body.pieces, strict=False), key=lambda each: -each[0])[:BEST_PIECES]
    shown = [*(line.text for _, piece in best for line in piece), *(line.text for line in told)]
    known = {row.uid for row in rows}
    said: tuple[str, ...] = ()
    if asks_for_value(query.text):
        words = (*query.words, *query.variants)
        said = await values_of(atlas.reader, project, shown, known, words, rows[-1].path)
    if asks_how(query):
        every = [*(line.text for piece in body.pieces for line in piece), *(line.text for line in told)]
        said = (*said, *await settings_read(atlas.reader, project, every, known))
        if len(rows) == 1:
            said = (*said, *await constants_named(atlas.reader, project, every, known))
        if len(rows) == 1 and search.found.windows and not asks_for_thing(query.text):
            others = {row.uid for row in following}
            said = (*said, *await helpers_called(atlas.reader, project, rows[0], every, query, others))
    return tuple(dict.fromkeys(said))


async def _exact_lines(
    atlas: Atlas, search: _Search, row: NodeRow, told: Sequence[ExactLine]
) -> tuple[SourceLine, ...]:
    """Return the lines of a hit that have a text of the question; if it asks for behaviour, with their conditions."""
    exact = tuple(SourceLine(each.line, escaped(each.text)) for each in told)
    is_code = row.label in (Label.FUNCTION, Label.METHOD) and not row.is_test
    if not exact or not is_code or not asks_how(search.found.query):
        return exact
    contents = await atlas.reader.store.content(search.envelope.state.project, [row.path])
    return with_conditions(row, contents.get(row.path, b""), exact)


async def _neighbours(
    atlas: Atlas, request: _Request, found: SearchResult, rows: Sequence[NodeRow]
) -> dict[str, Sequence[NearSymbol]]:
    """Return callers and callees of the first hits of a sentence that have its words."""
    if request.mode != Mode.HYBRID or not shows_bodies(found):
        return {}
    edges = await around_hits(atlas.reader, [row.uid for row in rows])
    words, split = {*found.query.words, *found.query.variants}, atlas.reader.split_words
    known = {each.node.row.uid for each in found.ranked}
    return {uid: relevant_neighbours(own, words, known, split) for uid, own in edges.items()}


def _any_matches(paths: Sequence[str], path: str) -> bool:
    return any(path_matches(path, each) for each in paths)


async def _path_note(atlas: Atlas, project: str, path: str) -> str:
    """Return a note if no file is indexed or passes the path filter: then the words of the query are not the reason."""
    paths = await atlas.reader.store.paths(project)
    if not paths:
        return f"no file of {project} is indexed; `status` with skipped lists what is left out"
    if not path:
        return ""
    if await aside(len(paths) > _FEW, _any_matches, paths, path):
        return ""
    return f"no indexed file matches path `{path}`; `status` with skipped lists what is left out"


def _build(envelope: Envelope, page: _Page, count: int) -> SearchAnswer:
    """Return the answer with the first `count` parts."""
    shown = assemble_hits(page.hits, page.parts[:count])
    listed = page.offset + len(shown)
    is_capped = page.found.total >= (RERANK_LIMIT if page.mode == Mode.HYBRID else POOL)
    rest = rest_of(page.found, page.groups, page.hits, page.parts, count, listed)
    return SearchAnswer(
        tool=_TOOLS[page.mode],
        query=page.found.query.text,
        hits=shown,
        found=page.found.total,
        more=is_capped,
        card=page.card,
        nowhere=page.found.nowhere,
        evidence=envelope.evidence(
            paths=(path_of(hit.symbol.place) for hit in shown),
            stale=page.stale,
            notes=page.notes,
            withheld=(
                rest.by_budget_line(f"by token_budget {envelope.token_budget} {envelope.encoding}"),
                rest.weaker_line(),
                rest.body_line(page.offset + 1),
            ),
            cursor=write_cursor(Position(listed, envelope.state.generation), page.fingerprint) if rest.hits else "",
        ),
    )


def _hit(
    atlas: Atlas,
    found: SearchResult,
    group: Group,
    number: int,
    marks: Mapping[str, str],
) -> SymbolHit:
    """Return a hit with all that is known of it; which of it is shown is decided later."""
    candidate, row = group.first, group.first.node.row
    text = f"{row.name} {row.qualified_name} {row.signature} {row.docstring} {row.path}"
    seen = set(atlas.reader.split_words(text))
    return SymbolHit(
        rank=number,
        symbol=symbol_of(row),
        score=round(candidate.score, 4),
        channels=candidate.channels,
        words=tuple(word for word in found.query.words if word in seen),
        reasons=candidate.reasons,
        also=candidate.also,
        marks=", ".join(filter(None, (marks.get(row.uid, ""), _twins(group)))),
        same_file=tuple(f"{short_title(each.node.row.name)} {each.node.row.line}" for each in group.same_file),
    )


def _twins(group: Group) -> str:
    """Return `also defined at PATH:LINE, PATH:LINE +2`, or "" for a symbol with one definition."""
    places = [f"{each.node.row.path}:{each.node.row.line}" for each in group.twins]
    more = f" +{len(places) - TWINS}" if len(places) > TWINS else ""
    return f"also defined at {', '.join(places[:TWINS])}{more}" if places else ""


_TOOLS = {Mode.HYBRID: "hybrid_search", Mode.WORDS: "text_search", Mode.MEANING: "vector_search"}
