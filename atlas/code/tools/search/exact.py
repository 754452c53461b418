"""text_search in the modes `exact` and `regex`: lines of the files as they are on disk, in place of grep.

All files are searched once for their counts, which order them: code, then documents, then tests, then what is not
indexed. Then the files of the page are searched again for their lines. So an answer needs no more memory than its page,
and pages do not depend on which thread was faster.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from atlas.answers.evidence import StaleFile
from atlas.answers.paging import Position, fingerprint, read_cursor, write_cursor
from atlas.answers.schema import check_range
from atlas.code.atlas import Atlas
from atlas.code.freshness import stale_files
from atlas.code.retrieve.exact_text import kind_rank, within
from atlas.code.retrieve.written_files import TOPS, innermost
from atlas.code.tools.citations import LISTED_CHARACTERS, NOTE_KINDS, local_name, short_title
from atlas.code.tools.envelope import Envelope, fit_aside, make_filter, open_envelope
from atlas.code.tools.search.line_answer import FileOfLines, FoundLine, LineAnswer
from atlas.core.errors import ConfigError
from atlas.core.invisible import escaped, quoted
from atlas.core.labels import DOCUMENT_LABELS
from atlas.core.model import FileRecord, Filter, Label, Match, Node, NodeRow
from atlas.core.wording import counted
from atlas.parsing.lines import MatchedFile, MatchedLines, TreeLines

EXACT, REGEX = "exact", "regex"
MAX_LIMIT = 50
PAGE = 60
"""Lines of a page without a limit, where the budget allows them."""
CHARACTERS_PER_TOKEN = 4
"""Lines beyond so many characters do not fit the budget; their definitions are not looked up."""
MAX_PATTERN = 4_000
NAMED_FILES = 10
"""Files behind the page that are named with their counts."""
MAX_COUNTED = 500
"""Files that a brief answer counts."""
_MAX_NODES = 10_000


@dataclass(frozen=True, slots=True)
class LineRequest:
    """The arguments of a search for lines."""

    mode: str
    query: str
    path: str
    labels: tuple[str, ...]
    languages: tuple[str, ...]
    include_tests: bool | None
    limit: int | None
    brief: bool
    cursor: str


@dataclass(frozen=True, slots=True)
class _LinePage:
    """Everything that a page can contain, before the budget applies."""

    request: LineRequest
    ordered: Sequence[MatchedFile]
    ends: Sequence[int]
    """Matching lines up to and with each of these files."""
    matched: MatchedLines
    lines: Sequence[tuple[str, FoundLine]]
    """Those of the page: path and line."""
    start: int
    scope: str
    stale: Sequence[StaleFile] | None
    notes: tuple[str, ...]
    fingerprint: str


async def search_lines(atlas: Atlas, request: LineRequest, project: str, token_budget: int) -> LineAnswer:
    """Return a page of matching lines. Raises ConfigError for invalid arguments, NotFound for an unknown project."""
    _check(request)
    envelope = await open_envelope(atlas, project, token_budget)
    state, tree = envelope.state, atlas.reader.lines
    if tree is None or state.project != atlas.reader.project or envelope.gone:
        raise ConfigError(
            f"mode {request.mode} reads the files of the project, which are not here", "use mode words, or run it there"
        )
    where = await make_filter(
        atlas, state.project, request.path, (), request.languages, request.include_tests, state.root
    )
    own = fingerprint(request.mode, request.query, where, request.brief)
    start = read_cursor(request.cursor, own).offset if request.cursor else 0
    files = await asyncio.to_thread(tree.files)
    matched, records = await _matched(atlas, tree, request, where, [each.path for each in within(files, where)])
    ordered = _ordered(atlas, matched.files, records)
    lines = (
        [] if request.brief else await _lines(atlas, tree, request, ordered, start, token_budget * CHARACTERS_PER_TOKEN)
    )
    stale = await stale_files(atlas.reader, state.project, state.root, (path for path, _ in lines))
    scope = _scope(request, where)
    notes: tuple[str, ...] = ()
    if scope and not matched.count:
        everywhere, _ = await _matched(atlas, tree, request, Filter(state.project), [each.path for each in files])
        notes = (f"elsewhere: {_total(everywhere)}",) if everywhere.count else ()
    page = _LinePage(
        request, ordered, [*accumulate(file.count for file in ordered)], matched, lines, start, scope, stale, notes, own
    )
    upper = min(len(ordered), MAX_COUNTED) if request.brief else len(lines)
    return await fit_aside(atlas, token_budget, lambda count: _build(envelope, page, count), upper)


def _check(request: LineRequest) -> None:
    if request.mode not in (EXACT, REGEX):
        raise ConfigError(f"unknown mode `{request.mode}`", "modes: words, exact, regex")
    if request.limit is not None:
        check_range("limit", request.limit, 1, MAX_LIMIT)
    if not request.query.strip():
        raise ConfigError("the query is empty", "give a text that stands in the files")
    if len(request.query) > MAX_PATTERN:
        raise ConfigError(f"the query has more than {MAX_PATTERN} characters", "give a part of it")
    if "\n" in request.query or "\r" in request.query:
        raise ConfigError("the query has several lines", "search for one line of it: lines are matched one by one")
    if request.labels:
        raise ConfigError(f"labels do not apply to mode {request.mode}", "omit them, or use mode words")


async def _matched(
    atlas: Atlas, tree: TreeLines, request: LineRequest, where: Filter, paths: Sequence[str]
) -> tuple[MatchedLines, dict[str, FileRecord]]:
    """Return the counts of the files that pass the filter, and the records of those that are indexed."""
    matched = await asyncio.to_thread(tree.matching, paths, [request.query], is_regex=request.mode == REGEX)
    records = await atlas.reader.store.records(where.project, [file.path for file in matched.files])
    if not where.include_tests:
        kept = (file for file in matched.files if file.path not in records or not records[file.path].is_test)
        matched = replace(matched, files=tuple(kept))
    return matched, records


def _ordered(atlas: Atlas, files: Iterable[MatchedFile], records: dict[str, FileRecord]) -> list[MatchedFile]:
    forms = atlas.reader.languages.forms
    return sorted(files, key=lambda file: kind_rank(records.get(file.path), forms))


async def _lines(
    atlas: Atlas, tree: TreeLines, request: LineRequest, ordered: Sequence[MatchedFile], start: int, most: int
) -> list[tuple[str, FoundLine]]:
    """Return the lines of a page of at most so many characters, each with its path and the definition around it."""
    end, before = start + (request.limit or PAGE), 0
    page: list[tuple[MatchedFile, int, int]] = []
    for file in ordered:
        first, last = max(start - before, 0), min(end - before, file.count)
        if first < last:
            page.append((file, first, last))
        before += file.count
        if before >= end:
            break
    paths, keep = [file.path for file, _, _ in page], max((last for _, _, last in page), default=0)
    read = await asyncio.to_thread(tree.matching, paths, [request.query], is_regex=request.mode == REGEX, keep=keep)
    own = {file.path: file.lines for file in read.files}
    lines = [(file.path, *each) for file, first, last in page for each in own.get(file.path, ())[first:last]]
    sizes = accumulate(len(text) for _, _, text in lines)
    lines = lines[: max(bisect_right([*sizes], most), 1)]
    paths = list(dict.fromkeys(path for path, _, _ in lines))
    find, project = atlas.reader.store.find, atlas.reader.project
    nodes = await asyncio.gather(*(find(path, Match.PATH, Filter(project), _MAX_NODES) for path in paths))
    around = dict(zip(paths, nodes, strict=True))
    return [(path, _found(number, text, around[path])) for path, number, text in lines]


def _found(number: int, text: str, nodes: Iterable[Node]) -> FoundLine:
    """Return a line with the name of the definition around it; the text of a note is quoted."""
    node, text = innermost(nodes, number), text.replace("\t", " ")
    if node is not None and node.row.kind in NOTE_KINDS:
        return FoundLine(number, quoted(text))
    is_named = node is not None and node.row.label not in (*TOPS, Label.CHUNK)
    return FoundLine(number, escaped(text), _around(node.row, number) if node is not None and is_named else "")


def _around(row: NodeRow, line: int) -> str:
    """Return the name of a definition as far as it tells where a line is: of its own line, the name of its parent."""
    if row.label in DOCUMENT_LABELS:
        return short_title(row.name)
    segments = local_name(row).split(".")
    segments = segments[:-1] if line == row.line else segments
    while len(segments) > 1 and sum(map(len, segments)) + len(segments) > LISTED_CHARACTERS:
        del segments[0]
    return short_title(".".join(segments))


def _scope(request: LineRequest, where: Filter) -> str:
    said = [where.path, *where.languages, "" if where.include_tests else "no tests"]
    said = [each for each in said if each]
    return f" in {', '.join(said)}" if said else ""


def _total(matched: MatchedLines) -> str:
    return f"{counted(matched.count, 'line')} in {counted(len(matched.files), 'file')}"


def _build(envelope: Envelope, page: _LinePage, count: int) -> LineAnswer:
    """Return the answer with the first `count` lines of the page."""
    lines, matched = page.lines[:count], page.matched
    grouped: dict[str, list[FoundLine]] = {}
    for path, line in lines:
        grouped.setdefault(path, []).append(line)
    listed = page.start + len(lines)
    # a file that is shown in part is the first one of the rest
    first, last = bisect_right(page.ends, page.start), bisect_left(page.ends, listed) + 1 if lines else 0
    counts = {file.path: file.count for file in page.ordered[first:last]}
    shown = tuple(FileOfLines(path, counts.get(path, 0), tuple(own)) for path, own in grouped.items())
    behind = page.ordered[last:]
    named = [
        FileOfLines(file.path, file.count)
        for file in behind[: count if page.request.brief else min(NAMED_FILES, count)]
    ]
    left = matched.count - listed
    is_more = left > 0 and bool(page.lines)
    by_budget = len(page.lines) - len(lines)
    query = page.request.query
    return LineAnswer(
        tool="text_search",
        query=f"/{escaped(query)}/" if page.request.mode == REGEX else f'"{escaped(query)}"',
        found=matched.count,
        file_count=len(matched.files),
        more=matched.unread > 0,
        shown=shown,
        others=tuple(named),
        unnamed=len(behind) - len(named),
        not_searched=", ".join(f"{number} {reason}" for reason, number in matched.skipped.items()),
        scope=page.scope,
        evidence=envelope.evidence(
            paths=(path for path, _ in lines),
            stale=page.stale,
            notes=(
                *page.notes,
                f"{counted(matched.unread, 'file')} not searched to the end: narrow the path or the pattern"
                if matched.unread
                else "",
            ),
            withheld=(
                f"{counted(left, 'line')}"
                + (f" ({by_budget} by token_budget {envelope.token_budget})" if by_budget else "")
                if is_more
                else "",
            ),
            cursor=write_cursor(Position(listed, envelope.state.generation), page.fingerprint) if is_more else "",
        ),
    )
