"""What the bodies of functions say about a question for behaviour: `where is the retry delay computed`.

The words of such a question seldom stand in a name or a documentation. They stand near each other in the statements
that decide, inside of functions whose vector is the mean of much else. So the bodies of the first functions are read
and divided into windows of a few lines; a function counts by its best window, and by how much it decides at all.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, islice
from math import log, log1p
from types import MappingProxyType

from atlas.code.question.parse_question import Query
from atlas.code.rank.rank import Candidate
from atlas.code.reader import Reader
from atlas.core.english.stems import base_forms, other_spellings, root_of
from atlas.core.english.stop_words import ASKING
from atlas.core.errors import AtlasError
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Label, NodeRow

FUNCTIONS = 40
"""Functions whose bodies are read: 25 find as much, 80 no more (docs/measurements/search.md)."""
LINES, STEP = 6, 3
"""Of a window, and between the starts of two."""
MAX_WINDOWS = 120
"""Of one function; what is behind them is not compared."""
MAX_PIECES = 1500
"""Windows of all functions; those of further functions are not compared."""
MAX_LINE, MAX_BYTES = 400, 65_536
"""Of a line that is compared, of a body that is read."""
WORDS_WEIGHT, MEANING_WEIGHT = 0.6, 0.8
"""Of the share of the question's words in a window, by rarity among all windows, and of its cosine by the model of
prose; the score before has 1. Both are scaled to the best window. Halves and doubles of them find as much."""
DECIDES_WEIGHT = 0.3
"""Of a function with `MANY` branches: it decides, where one without any declares, forwards or stores."""
MANY = 20
DENSITY_WEIGHT, FEW_LINES = 1.0, 3
"""Of the branches per line, `FEW_LINES` added to the lines: a function that does little but decide is named by that."""
FORWARDS_WEIGHT = 0.3
"""Less, for a function of at most `FEW_LINES` lines: it forwards or returns a value."""

TOLD_WEIGHT, MOST_TOLD = 0.2, 10
"""Of what commits tell about a function (`told_functions`), and functions that are read for it: 20 find no more."""

ASIDE_WEIGHT = 0.4
"""Less, for a function of an example, a benchmark or the pages, unless one is asked for: it uses what decides."""

_ASIDE = lazy_regex(r"(?:^|/)(?:examples?|samples?|demos?|benchmarks?|benches|playgrounds?|sandbox)/", re.IGNORECASE)
_PAGES = lazy_regex(r"^(?:docs?|website|documentation)/", re.IGNORECASE)
"""Where code is that of the pages; the pages themselves are no less worth for it."""
_ASKS_ASIDE = lazy_regex(
    r"\b(?:examples?|samples?|demos?|benchmarks?|playground|sandbox|web ?site|docs?|documentation|repl)\b",
    re.IGNORECASE,
)
BRANCH = lazy_regex(
    r"\b(?:if|elif|elsif|else|unless|when|case|switch|match|while|until|for|guard|throw|raise|rescue|catch|except|return)\b"
    r"|\s\?\s|&&|\|\|"
)
_DECIDING = frozenset((Label.FUNCTION, Label.METHOD))


@dataclass(frozen=True, slots=True)
class BodyWindow:
    """Lines of a body that are compared with a question, and how well they fit it beside others of their function."""

    first: int
    last: int
    value: float


@dataclass(frozen=True, slots=True)
class BodyEvidence:
    """The candidates in the order in which their bodies answer, and the windows of those that were read, by uid."""

    ranked: Sequence[Candidate]
    windows: Mapping[str, Sequence[BodyWindow]]


@dataclass(frozen=True, slots=True)
class _BodyPiece:
    """A window of the body of the candidate at `place`."""

    place: int
    start: int
    """Lines of the body before it."""
    text: str
    words: frozenset[int]
    """Numbers of the question's words in it."""


async def rank_by_bodies(
    reader: Reader, query: Query, ranked: Sequence[Candidate], told: Mapping[str, float] = MappingProxyType({})
) -> BodyEvidence:
    """Return the candidates with what their bodies say about the question. Raises store errors.

    `told`: what commits tell about functions, 0..1 by uid, most first; the first ones are read wherever they stand.
    """
    first = set(islice(told, MOST_TOLD))
    functions = [place for place, each in enumerate(ranked) if is_deciding(each.node.row)]
    read = [place for at, place in enumerate(functions) if at < FUNCTIONS or ranked[place].node.row.uid in first]
    contents = await _contents(reader, [ranked[place] for place in read])
    forms = forms_of(query)
    pieces: list[_BodyPiece] = []
    for place in read:
        if len(pieces) < MAX_PIECES:
            pieces += _divided(place, ranked[place].node.row, contents, forms, reader.split_words)
    if not pieces:
        return BodyEvidence(ranked, {})
    words = by_rarity([piece.words for piece in pieces], forms)
    files = [(ranked[place].node.row.path, [each.text for each in own]) for place, own in groupby(pieces, _place)]
    meaning = await scaled_cosines(reader, query.text, files)
    values = [WORDS_WEIGHT * own + MEANING_WEIGHT * near for own, near in zip(words, meaning, strict=True)]
    best: dict[int, float] = {}
    windows: dict[str, list[BodyWindow]] = {}
    for piece, value in zip(pieces, values, strict=True):
        best[piece.place] = max(value, best.get(piece.place, 0.0))
        row = ranked[piece.place].node.row
        first = max(row.line, row.start_line) + piece.start
        window = BodyWindow(first, first + piece.text.count("\n"), value)
        windows.setdefault(row.uid, []).append(window)
    decisions = _decisions(pieces)
    if _ASKS_ASIDE.search(query.text) is None:
        aside = [
            place
            for place, each in enumerate(ranked)
            if _ASIDE.search(each.node.row.path) or (is_deciding(each.node.row) and _PAGES.search(each.node.row.path))
        ]
        decisions = {**decisions, **{place: decisions.get(place, 0.0) - ASIDE_WEIGHT for place in aside}}
    for place, each in enumerate(ranked):
        best[place] = best.get(place, 0.0) + TOLD_WEIGHT * told.get(each.node.row.uid, 0.0)
    return BodyEvidence(_ordered(ranked, best, decisions), windows)


def is_deciding(row: NodeRow) -> bool:
    """Return whether a node is a function whose body may decide what a question asks for."""
    return row.label in _DECIDING and not (row.is_test or row.is_generated) and bool(row.path)


async def _contents(reader: Reader, candidates: Sequence[Candidate]) -> Mapping[str, bytes]:
    paths: dict[str, set[str]] = {}
    for each in candidates:
        paths.setdefault(each.node.project, set()).add(each.node.row.path)
    contents: dict[str, bytes] = {}
    for project, own in paths.items():
        contents |= await reader.store.content(project, sorted(own))
    return contents


def forms_of(query: Query) -> Mapping[str, int]:
    """Return the roots of the question's words and of their other spellings, each with the number of its word."""
    words = [word for word in query.words if word not in ASKING] or list(query.words)
    roots = dict.fromkeys(map(root_of, words))
    forms = {root: number for number, root in enumerate(roots)}
    for word in words:
        for form in (word, *base_forms(word)):
            for other in other_spellings(form):
                forms.setdefault(root_of(other), forms[root_of(word)])
    return forms


def _divided(
    place: int,
    row: NodeRow,
    contents: Mapping[str, bytes],
    forms: Mapping[str, int],
    split_words: Callable[[str], list[str]],
) -> list[_BodyPiece]:
    """Return the windows of a body."""
    lines = body_lines(row, contents.get(row.path, b""))[: (MAX_WINDOWS - 1) * STEP + LINES]
    body = [line[:MAX_LINE] for line in lines]
    of_lines = [words_of(line, forms, split_words) for line in body]
    starts = range(0, max(len(body) - STEP, 1), STEP) if body else ()
    return [
        _BodyPiece(
            place,
            start,
            "\n".join(body[start : start + LINES]),
            frozenset(word for line in of_lines[start : start + LINES] for word in line),
        )
        for start in starts
    ]


def body_lines(row: NodeRow, content: bytes) -> list[str]:
    """Return the lines of a function from that of its name on, without the comment above it."""
    end = min(row.end_byte, row.start_byte + MAX_BYTES)
    lines = content[row.start_byte : end].decode("utf-8", "replace").splitlines()
    return lines[max(row.line - row.start_line, 0) :]


def words_of(line: str, forms: Mapping[str, int], split_words: Callable[[str], list[str]]) -> Collection[int]:
    """Return the numbers of the question's words in a line; words begin with their roots, so most are not split."""
    folded = line.casefold()
    if not any(root in folded for root in forms):
        return ()
    return [forms[root] for word in split_words(line) if (root := root_of(word)) in forms]


def by_rarity(found: Sequence[frozenset[int]], forms: Mapping[str, int]) -> list[float]:
    """Return the share of the question's words in each text by their rarity among all, scaled to the best one."""
    frequent = [0] * (max(forms.values(), default=-1) + 1)
    for words in found:
        for word in words:
            frequent[word] += 1
    rarity = [log(1 + len(found) / (1 + each)) for each in frequent]
    sums = [sum(rarity[word] for word in sorted(words)) for words in found]
    best = max(sums, default=0.0)
    return [each / best for each in sums] if best > 0 else sums


async def scaled_cosines(reader: Reader, question: str, files: Sequence[tuple[str, Sequence[str]]]) -> Sequence[float]:
    """Return how near each text of some files is to a question by the model of prose, 0..1; 0 without that model."""
    nothing = [0.0] * sum(len(texts) for _, texts in files)
    try:
        encoder = reader.prose_encoder()
    except AtlasError:
        return nothing
    if encoder is None:
        return nothing
    known = await asyncio.to_thread(encoder.cosines, question, files)
    least, most = min(known, default=0.0), max(known, default=0.0)
    return [(each - least) / (most - least) for each in known] if most > least else nothing


def _place(piece: _BodyPiece) -> int:
    return piece.place


def _branches(text: str) -> int:
    return sum(1 for _ in BRANCH.finditer(text))


def _decisions(pieces: Sequence[_BodyPiece]) -> Mapping[int, float]:
    """Return by place how much a function decides, by the branches of windows that do not overlap."""
    branches: dict[int, int] = {}
    lines: dict[int, int] = {}
    for piece in pieces:
        lines[piece.place] = piece.start + piece.text.count("\n") + 1
        if piece.start % LINES == 0:
            branches[piece.place] = branches.get(piece.place, 0) + _branches(piece.text)
    return {place: decides(count, lines[place]) for place, count in branches.items()}


def decides(branches: int, lines: int) -> float:
    """Return how much a function with so many branches and lines decides, as a share of the score."""
    many = DECIDES_WEIGHT * min(log1p(branches) / log1p(MANY), 1.0)
    dense = DENSITY_WEIGHT * branches / (lines + FEW_LINES)
    return many + dense - (FORWARDS_WEIGHT if lines <= FEW_LINES else 0.0)


def _ordered(
    ranked: Sequence[Candidate], windows: Mapping[int, float], decisions: Mapping[int, float]
) -> list[Candidate]:
    """Return the candidates by their scores with the evidence of bodies, on the scale of the scores before."""
    best = max((each.score for each in ranked), default=0.0)
    if best <= 0:
        return list(ranked)
    totals = [
        each.score / best + windows.get(place, 0.0) + decisions.get(place, 0.0) for place, each in enumerate(ranked)
    ]
    most = max(totals)
    order = sorted(range(len(ranked)), key=lambda place: (-totals[place], place))
    return [replace(ranked[place], score=best * totals[place] / most) for place in order]
