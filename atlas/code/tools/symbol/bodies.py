"""What can be shown of the bodies of hits: the statements that answer the question best, or single lines of them."""

from __future__ import annotations

import asyncio
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice
from math import isfinite

from atlas.code.atlas import Atlas
from atlas.code.find import SearchResult
from atlas.code.rank.grouping import Group
from atlas.code.tools.citations import NOTE_KINDS, symbol_of
from atlas.code.tools.search.excerpts import dedented, has_words, indentation, pieces_of, with_conditions
from atlas.code.tools.search.line_evidence import scores, shares
from atlas.code.tools.search.snippets import cut_line, matching_lines
from atlas.code.tools.symbol.symbols import SourceLine
from atlas.core.english.stems import roots_of
from atlas.core.errors import AtlasError
from atlas.core.invisible import quoted
from atlas.core.model import Chunk, NodeRow
from atlas.parsing import VectorIndex

LINES_PER_HIT = 2
"""Lines of source of a hit where `snippets` asks for them."""
WITH_LINES = 3
"""Hits whose source is read where nothing asks for it."""
BESIDE = 12
"""Hits of the file of such a hit whose source counts as well."""
MAX_BODY_BYTES = 65_536
"""A larger file or body is not divided into statements: parsing takes a millisecond for each 16 KB."""
ELSEWHERE = 0.3
"""Chance that a line elsewhere in the file answers, in shares of the likelihoods of its hits."""
NOTHING = 0.0001
"""Least chance of a piece outside of the hit."""
MAX_LINES = 1 << 30

Pieces = tuple[tuple[SourceLine, ...], ...]


@dataclass(frozen=True, slots=True)
class Body:
    """What can be shown of a hit's source, and of the hits of its file: pieces in order, and what each is worth."""

    pieces: Pieces = ()
    values: tuple[float, ...] = ()
    """How likely each piece answers the question; () where all of them are shown."""


async def read_bodies(
    atlas: Atlas,
    project: str,
    found: SearchResult,
    page: Sequence[Group],
    likely: Mapping[str, float],
    *,
    is_asked: bool,
) -> list[Body]:
    """Return what can be shown of each hit of a page; nothing of those behind the first ones unless it is asked for.

    `likely`: how likely each candidate is meant, by uid.
    """
    wanted = page if is_asked else page[:WITH_LINES]
    contents = await atlas.reader.store.content(
        project, sorted({path for each in wanted if (path := each.first.node.row.path)})
    )
    words = {*found.query.words, *found.query.variants}
    if is_asked:
        return [_lines(atlas, each.first.node.row, contents, words) for each in wanted]
    sources = [_sources(atlas, each, contents, words) for each in wanted]
    texts = [(source.path, text) for of_hit in sources for source in of_hit for text in source.texts]
    rated = scores(
        found.query.text,
        [text for _, text in texts],
        await _cosines(atlas, found, texts),
        roots_of(words),
        atlas.reader.split_words,
    )
    left = iter(rated)
    bodies = [
        _body(each, [(source, list(islice(left, len(source.pieces)))) for source in of_hit], likely)
        for each, of_hit in zip(wanted, sources, strict=True)
    ]
    return bodies + [Body()] * (len(page) - len(bodies))


def _lines(atlas: Atlas, row: NodeRow, contents: Mapping[str, bytes], words: set[str]) -> Body:
    """Return the lines of a node that have most words of the question."""
    content, without = contents.get(row.path, b""), symbol_of(row).summary
    lines = matching_lines(row, content, words, atlas.reader.split_words, LINES_PER_HIT, without=without)
    return Body(tuple((_quoted(row, line),) for line in lines))


@dataclass(frozen=True, slots=True)
class _Source:
    """The file of a hit, or the bodies of a large file: the pieces of hits, and others with words of the question."""

    path: str
    pieces: Pieces
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a file that is divided into pieces."""

    language: str
    data: bytes
    before: int = 0
    """Lines above it."""
    after: int = 0
    """Lines of the file that other parts have."""


def _sources(atlas: Atlas, group: Group, contents: Mapping[str, bytes], words: Collection[str]) -> list[_Source]:
    """Return the file of a hit; if it is large, the bodies of the hit and of the hits of its file, each line once."""
    first = group.first.node.row
    content = contents.get(first.path, b"")
    if first.kind in NOTE_KINDS or not content:
        return []
    rows = [each.node.row for each in (group.first, *group.same_file[:BESIDE])]
    inside = {line for row in rows for line in range(row.start_line, row.end_line + 1)}
    parts: list[_Part] = []
    if len(content) <= MAX_BODY_BYTES:
        parts.append(_Part(first.language, content))
    else:
        rows = [row for row in rows if 0 < row.end_byte - row.start_byte <= MAX_BODY_BYTES]
        last = 0
        for row in sorted(rows, key=lambda row: (row.start_line, -row.end_line)):
            if row.end_line > last:
                body = content[row.start_byte : row.end_byte]
                parts.append(_Part(row.language, body, row.start_line - 1, last))
                last = row.end_line
    divided = ([*_divided(atlas, part, inside, words)] for part in parts)
    return [
        _Source(first.path, tuple(found), tuple("\n".join(line.text for line in piece) for piece in found))
        for found in divided
    ]


def _body(group: Group, rated: Sequence[tuple[_Source, list[float]]], likely: Mapping[str, float]) -> Body:
    """Return the pieces of a hit's file, each worth what it is worth in every hit that has it, and in the file."""
    first = group.first.node.row
    said = symbol_of(first).summary.removesuffix("...")
    scored = [
        (piece, value)
        for source, values in rated
        for piece, value in zip(source.pieces, values, strict=True)
        if piece[0].line != first.line and not (said and _is_said(piece, said))
    ]
    worth = [0.0] * len(scored)
    hits = [(each.node.row, likely[each.node.row.uid]) for each in (group.first, *group.same_file)]
    spans = [(row.start_line, row.end_line, chance) for row, chance in hits[: BESIDE + 1]]
    begins, ends = [piece[0].line for piece, _ in scored], [piece[-1].line for piece, _ in scored]
    for first_line, last_line, chance in (*spans, (0, MAX_LINES, ELSEWHERE * sum(chance for _, chance in hits))):
        own = range(bisect_left(begins, first_line), bisect_right(ends, last_line))  # pieces are in order
        for at, share in zip(own, shares([scored[at][1] for at in own]), strict=True):
            worth[at] += chance * share
    kept = [at for at, value in enumerate(worth) if value > NOTHING or first.start_line < begins[at] <= first.end_line]
    return Body(tuple(scored[at][0] for at in kept), tuple(worth[at] for at in kept))


async def _cosines(atlas: Atlas, found: SearchResult, texts: Sequence[tuple[str, str]]) -> Sequence[float]:
    """Return how similar each text of (path, text) is to the question by the model of prose; () without one here."""
    embedder = atlas.reader.documents_embedder
    if embedder is None or embedder.place or not texts:
        return ()
    try:
        vector, model = await asyncio.gather(embedder.embed_query(found.query.text), embedder.info())
        vectors = await embedder.embed_chunks([Chunk("", "", path, text, is_file=False) for path, text in texts])
    except AtlasError:
        return ()
    known = VectorIndex(model.dimension).cosines(vector, vectors) if any(vector) else []
    return [cosine if isfinite(cosine) else 0.0 for cosine in known]


def _divided(
    atlas: Atlas, part: _Part, inside: Collection[int], words: Collection[str]
) -> Iterator[tuple[SourceLine, ...]]:
    """Yield the statements of a part that begin in a hit or have a word of the question, without lines of mere marks.

    Most statements of a file are left out, so that lines are only prepared where that is known.
    """
    lines, find = part.data.decode("utf-8", "replace").splitlines(), atlas.reader.statements
    statements = find(part.language, part.data) if find is not None else ()
    common, told = indentation(lines), _told(lines, words)
    before = part.before + 1
    hit = {line - before for line in inside}
    for piece in with_conditions(lines, pieces_of(lines, statements, -1)):
        span = range(piece.first, piece.last + 1)
        said = told.intersection(span)
        if before + piece.first <= part.after or (not said and hit.isdisjoint(span)):
            continue
        shown = {at: cut_line(dedented(lines[at], common)) for at in span}
        found = tuple(SourceLine(before + at, text) for at, text in shown.items() if has_words(text))
        # a line that is cut may have lost the word
        if found and (found[0].line in inside or any(word in shown[at].casefold() for at in said for word in words)):
            yield found


def _told(lines: Sequence[str], words: Collection[str]) -> set[int]:
    """Return the numbers of the lines that have a word."""
    folded = [line.casefold() for line in lines]
    text, starts = "\n".join(folded), [0, *accumulate(len(line) + 1 for line in folded)]
    told: set[int] = set()
    for word in words:
        at = text.find(word)
        while 0 <= at < starts[-1]:
            number = bisect_right(starts, at) - 1
            told.add(number)
            at = text.find(word, starts[number + 1])
    return told


def _is_said(piece: Sequence[SourceLine], summary: str) -> bool:
    """Return whether lines say only what the summary says: a documentation of one sentence."""
    plain = " ".join(" ".join(line.text for line in piece).split()).strip(" \"'/*#")
    return bool(plain) and plain in summary


def _quoted(row: NodeRow, line: SourceLine) -> SourceLine:
    """Return a line of a note in quotes, another one as it is."""
    return SourceLine(line.line, quoted(line.text)) if row.kind in NOTE_KINDS else line
