"""What can be shown of the bodies of hits: the statements that answer the question best, or single lines of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import exp

from atlas.code.atlas import Atlas
from atlas.code.find import SearchResult
from atlas.code.rank.grouping import Group
from atlas.code.rank.relevance import RELEVANT
from atlas.code.reader import Reader
from atlas.code.tools.citations import NOTE_KINDS, symbol_of
from atlas.code.tools.envelope import aside
from atlas.code.tools.search.parts import LEAST, Body
from atlas.code.tools.search.snippets import LINE_CHARACTERS, cut_line, matching_lines
from atlas.code.tools.symbol.symbols import SourceLine
from atlas.code.tools.symbol.window_lines import asks_amount, window_body
from atlas.core.errors import AtlasError
from atlas.core.invisible import quoted
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Label, NodeRow
from atlas.parsing.excerpts import HitSource, HitSpan, RatedBody

LINES_PER_HIT = 2
"""Lines of source of a hit where `snippets` asks for them."""
WITH_LINES = 3
"""Hits whose source is read where nothing asks for it."""
MOST_ADVISING = 4
_ASKS_FOR_ADVICE = lazy_regex(
    r"\b(?:recommend\w*|advi[sc]ed?|advises|suggest(?:s|ed)?|preferred|should (?:i|we|one)|best practice)\b",
    re.IGNORECASE,
)
_ADVISES = lazy_regex(
    r"\b(?:(?:we|is|are|strongly|highly) (?:\w+ly )?(?:recommend(?:ed)?|suggest(?:ed)?|advise[ds]?)|recommends"
    r"|prefer(?:red)?|(?:you|one) should|consider using)\b",
    re.IGNORECASE,
)
"""A sentence of a document that advises something."""
_BEGINS = lazy_regex(r"\s*(?:[-*+] |\d{1,3}\. |[A-Z])")
"""A line with which a sentence or an item may begin."""
MOST_BODIES = 10
"""Functions whose lines are shown for a question for behaviour."""
ALL_TOKENS, LEAST_TOKENS, MOST_TOKENS = 420, 20, 260
"""Of their bodies together, of one at least and at most (docs/measurements/search.md)."""
SHARPNESS = 10.0
"""How much more tokens a better score gets: one that is a tenth below the best has a third of them."""
INLINE_BYTES = 262_144
"""Sources up to this are rated at once; larger ones in a thread. Parsing takes a millisecond for each 16 KB."""


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
    of_windows = found.windows and found.relevance >= RELEVANT
    wanted = page if is_asked else page[:MOST_BODIES] if of_windows else page[:WITH_LINES]
    contents = await atlas.reader.store.content(
        project, sorted({path for each in wanted if (path := each.first.node.row.path)})
    )
    words = {*found.query.words, *found.query.variants}
    if is_asked:
        return [_lines(atlas, each.first.node.row, contents, words) for each in wanted]
    if found.windows:
        return [*_of_windows(atlas.reader, found, wanted, contents), *[Body()] * (len(page) - len(wanted))]
    sources = [_source(each, contents, likely) for each in wanted]
    is_long = sum(len(each.content) for each in sources) > INLINE_BYTES
    rated = await aside(is_long, _rate, atlas.reader, found.query.text, list(words), sources)
    bodies = [_body(each) for each in rated]
    if _ASKS_FOR_ADVICE.search(found.query.text):
        for number, row in enumerate(each.first.node.row for each in wanted):
            advised = _with_advice(bodies[number], row, contents.get(row.path, b""), atlas.reader.counter.count)
            if advised is not bodies[number]:
                bodies[number] = advised
                break
    return [*bodies, *[Body()] * (len(page) - len(wanted))]


def _with_advice(body: Body, row: NodeRow, content: bytes, count: Callable[[str], int]) -> Body:
    """Return what can be shown of a section with its last sentence that advises: it stands where the text comes to."""
    if row.label != Label.DOC_SECTION:
        return body
    lines = content.decode("utf-8", "replace").splitlines()[: row.end_line]
    advising = [at for at in range(row.start_line - 1, len(lines)) if _ADVISES.search(lines[at][:LINE_CHARACTERS])]
    if not advising:
        return body
    first, end = advising[-1], advising[-1] + 1
    while first > row.line and not _BEGINS.match(lines[first]) and lines[first - 1].strip():
        first -= 1
    while end < len(lines) and lines[end].strip() and not lines[end - 1].rstrip().endswith((".", "!", ":")):
        end += 1
    said = tuple(SourceLine(at + 1, cut_line(lines[at].strip())) for at in range(max(first, end - MOST_ADVISING), end))
    best = max(body.values, default=1.0)
    own = {line.line for line in said}
    known = zip(body.pieces, body.values, body.tokens, strict=True)
    kept = [each for each in known if own.isdisjoint(line.line for line in each[0])]
    pieces = sorted(
        [*kept, (said, best, count("\n".join(line.text for line in said)))], key=lambda each: each[0][0].line
    )
    return Body(
        tuple(piece for piece, _, _ in pieces),
        tuple(value for _, value, _ in pieces),
        tuple(tokens for _, _, tokens in pieces),
        body.characters,
    )


def _lines(atlas: Atlas, row: NodeRow, contents: Mapping[str, bytes], words: set[str]) -> Body:
    """Return the lines of a node that have most words of the question."""
    content, without = contents.get(row.path, b""), symbol_of(row).summary
    lines = matching_lines(row, content, words, atlas.reader.split_words, LINES_PER_HIT, without=without)
    shown = [_quoted(row, line) for line in lines]
    return Body(tuple((line,) for line in shown), characters=sum(len(line.text) for line in shown))


def _of_windows(
    reader: Reader, found: SearchResult, page: Sequence[Group], contents: Mapping[str, bytes]
) -> Iterator[Body]:
    """Yield the lines of each function that was compared with the question, each line of a file once."""
    shown: dict[str, set[int]] = {}
    amounts = asks_amount(found.query.text)
    for most, each in zip(_shared(page), page, strict=False):
        row = each.first.node.row
        windows, known = found.windows.get(row.uid, ()), shown.setdefault(row.path, set())
        body = window_body(
            row, contents.get(row.path, b""), windows, reader.counter.count, most, known, amounts=amounts
        )
        known.update(line.line for piece in body.pieces for line in piece)
        yield body


def _shared(page: Sequence[Group]) -> list[float]:
    """Return how many tokens the body of each hit gets: more, the nearer its score is to the best one."""
    best = page[0].first.score if page else 0.0
    weights = [exp(SHARPNESS * (each.first.score / best - 1)) if best > 0 else 1.0 for each in page[:MOST_BODIES]]
    every = sum(weights)
    return [min(max(ALL_TOKENS * weight / every, LEAST_TOKENS), MOST_TOKENS) for weight in weights]


def _source(group: Group, contents: Mapping[str, bytes], likely: Mapping[str, float]) -> HitSource:
    """Return a hit and the hits of its file with its content; b"" for a note, whose text is not divided."""
    first = group.first.node.row
    content = b"" if first.kind in NOTE_KINDS else contents.get(first.path, b"")
    said = symbol_of(first).summary.removesuffix("...")
    rows = (each.node.row for each in (group.first, *group.same_file))
    spans = [
        HitSpan(row.language, row.start_line, row.end_line, row.start_byte, row.end_byte, likely[row.uid])
        for row in rows
    ]
    return HitSource(first.path, content, first.line, said, spans)


def _rate(reader: Reader, question: str, words: list[str], sources: list[HitSource]) -> list[RatedBody]:
    """Return what can be shown of each hit, by meaning as well if the model of prose is here."""
    try:
        encoder = reader.prose_encoder()
    except AtlasError:
        encoder = None
    return reader.excerpts.rate(question, words, sources, LEAST, encoder)


def _body(rated: RatedBody) -> Body:
    pieces, characters = rated
    return Body(
        tuple(tuple(SourceLine(*line) for line in lines) for _, _, lines in pieces),
        tuple(value for value, _, _ in pieces),
        tuple(tokens for _, tokens, _ in pieces),
        characters,
    )


def _quoted(row: NodeRow, line: SourceLine) -> SourceLine:
    """Return a line of a note in quotes, another one as it is."""
    return SourceLine(line.line, quoted(line.text)) if row.kind in NOTE_KINDS else line
