"""What can be shown of the bodies of hits: statements around the words of the question, or single lines of them."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from atlas.code.atlas import Atlas
from atlas.code.find import SearchResult
from atlas.code.tools.citations import NOTE_KINDS, hit_name, symbol_of
from atlas.code.tools.search.excerpts import dedented, pieces_of
from atlas.code.tools.search.snippets import cut_line, matching_lines
from atlas.code.tools.symbol.symbols import SourceLine
from atlas.core.invisible import quoted
from atlas.core.model import Label, NodeRow

LINES_PER_HIT = 2
"""Lines of source of a hit where `snippets` asks for them."""
WHOLE_BODIES = 4
"""Hits whose bodies are divided into statements; parsing one takes a tenth of a millisecond."""
WITH_LINE = 5
"""Hits with a line of source where nothing asks for it."""
MAX_BODY_BYTES = 16_384
"""A larger body is searched for single lines only."""
MIN_UNSAID = 2
"""Least number of words of the query that such a line adds to its hit."""
MIN_SHARE = 0.4
"""It has at least this share of all words of the query."""

Pieces = tuple[tuple[SourceLine, ...], ...]

_CONTAINERS = frozenset((Label.MODULE, Label.PACKAGE, Label.FILE, Label.DOC_FILE))
"""They hold their definitions, which are hits of their own."""


async def read_bodies(
    atlas: Atlas, project: str, found: SearchResult, rows: Sequence[NodeRow], *, is_asked: bool
) -> list[Pieces]:
    """Return the bodies of hits in pieces, in order; () for those of which nothing is shown."""
    wanted = rows if is_asked else rows[:WITH_LINE]
    contents = await atlas.reader.store.content(project, sorted({row.path for row in wanted if row.path}))
    words = {*found.query.words, *found.query.variants}
    least = max(MIN_UNSAID, ceil(len(found.query.words) * MIN_SHARE))
    split = atlas.reader.split_words
    bodies: list[Pieces] = []
    for number, row in enumerate(wanted):
        content, symbol = contents.get(row.path, b""), symbol_of(row)
        if is_asked:
            lines = matching_lines(row, content, words, split, LINES_PER_HIT, without=symbol.summary)
        elif number < WHOLE_BODIES and _is_divided(row):
            bodies.append(_statements(atlas, row, content, words))
            continue
        else:
            unsaid = words.difference(split(f"{hit_name(symbol)} {symbol.summary} {row.path}"))
            lines = matching_lines(row, content, unsaid, split, 1, least)
        bodies.append(tuple((_quoted(row, line),) for line in lines))
    return bodies + [()] * (len(rows) - len(bodies))


def _is_divided(row: NodeRow) -> bool:
    size = row.end_byte - row.start_byte
    return 0 < size <= MAX_BODY_BYTES and row.kind not in NOTE_KINDS and row.label not in _CONTAINERS


def _statements(atlas: Atlas, row: NodeRow, content: bytes, words: set[str]) -> Pieces:
    """Return the statements of a body if any word of the question is in it."""
    data = content[row.start_byte : row.end_byte]
    text = data.decode("utf-8", "replace")
    folded = text.casefold()
    if not any(word in folded for word in words):
        return ()
    lines, find = text.splitlines(), atlas.reader.statements
    pieces = pieces_of(lines, find(row.language, data) if find is not None else (), max(row.line - row.start_line, 0))
    said = symbol_of(row).summary.removesuffix("...")
    pieces = [piece for piece in pieces if not _is_said(lines[piece.first : piece.last + 1], said)]
    shown = [cut_line(line) for line in dedented(lines)]
    return tuple(
        tuple(
            SourceLine(row.start_line + number, shown[number])
            for number in range(piece.first, piece.last + 1)
            if shown[number]
        )
        for piece in pieces
    )


def _is_said(lines: Sequence[str], summary: str) -> bool:
    """Return whether lines say only what the summary says: a documentation of one sentence."""
    plain = " ".join(" ".join(lines).split()).strip(" \"'/*#")
    return bool(plain) and plain in summary


def _quoted(row: NodeRow, line: SourceLine) -> SourceLine:
    """Return a line of a note in quotes, another one as it is."""
    return SourceLine(line.line, quoted(line.text)) if row.kind in NOTE_KINDS else line
