"""The parts of a page: lines of hits, descriptions, statements of bodies, further hits of a file. Pure.

The unit of value is the chance that the reader sees what is asked for: a hit is worth its likelihood, what describes
it a share of that. Within one hit each further part is worth less than the one before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from atlas.answers.packing import AnswerPart, order_parts
from atlas.code.tools.citations import hit_name
from atlas.code.tools.symbol.symbols import SourceLine, SymbolHit

DESCRIBED = 0.15
"""Value of signature and summary of a hit that is meant: whether it is can be judged without another call."""
LINES = 1.0
"""Value of the piece that answers, in shares of a hit."""
_VALUES = frozenset(("constant", "field", "variable", "static", "property"))
"""Kinds of symbols whose signature may be the answer: it has the value."""
NAMED = 0.1
"""Value of the name of a further hit of the file, in shares of its likelihood."""
NEAR = 0.3
"""Value of a caller or callee whose name is the question, for a hit that is meant."""

LEAST = 0.00085
"""Value per token below which a part is left out even if the budget has room."""
REQUIRED = LEAST * 1.001
"""Value per token of what is shown in any case, above `LEAST` whatever is rounded."""
NEAR_MARKS = 3
"""Tokens of the marks around a caller, callee or value."""
ROW = 8
"""Tokens of the marks around a hit; a further hit or line of source costs two."""

HIT, DESCRIPTION, SAME_FILE, PIECE, NEIGHBOUR = "hit", "description", "same file", "piece", "neighbour"
Key = tuple[str, int, int]
"""Kind of the part, number of the hit on the page, number among the hit's parts of that kind."""


@dataclass(frozen=True, slots=True)
class Body:
    """What can be shown of a hit's source, and of the hits of its file: pieces in order, and what each is worth."""

    pieces: tuple[tuple[SourceLine, ...], ...] = ()
    values: tuple[float, ...] = ()
    """How likely each piece answers the question; () where all of them are shown."""
    tokens: tuple[int, ...] = ()
    """Of the text of each piece; () where they are not counted."""
    characters: int = 0
    """Of the hit's own lines, also those in pieces that are not worth to be shown."""


@dataclass(frozen=True, slots=True)
class PageHit:
    """A hit with everything that an answer can show of it."""

    hit: SymbolHit
    """With signature, summary, and all further hits of its file."""
    likelihood: float
    same_file: tuple[float, ...] = ()
    """Likelihoods of the further hits."""
    body: Body = Body()
    lines: range = range(0)
    """Those of its own body in its file."""
    near: tuple[float, ...] = ()
    """Relevance of each neighbour in `hit.near`."""
    exact: tuple[SourceLine, ...] = ()
    """Lines that have or build a text of the question: shown with the hit."""


@dataclass(frozen=True, slots=True)
class Pricing:
    """How a page is valued: the counter, and what is shown in any case."""

    count: Callable[[str], int]
    required: int = 0
    """Leading hits that are listed with the further hits of their files, whatever they are worth."""
    requires_pieces: bool = False
    """Whether the same holds for all pieces of bodies."""


def plan_page(page: Sequence[PageHit], pricing: Pricing) -> list[AnswerPart[Key]]:
    """Return the parts of a page by value per token; hits keep their order among themselves."""
    parts: list[AnswerPart[Key]] = []
    for number, each in enumerate(page):
        parts += _parts_of(number, each, pricing)
    return order_parts(parts, LEAST)


def _parts_of(number: int, each: PageHit, pricing: Pricing) -> list[AnswerPart[Key]]:
    count, hit = pricing.count, each.hit
    least = REQUIRED if number < pricing.required else 0.0
    name, full = hit_name(replace(hit.symbol, signature="", summary="")), hit_name(hit.symbol)
    own: Key = (HIT, number, 0)
    price = count(f"{name} {hit.symbol.place} {hit.marks}") + ROW
    price += sum(count(line.text) + 2 for line in each.exact)
    above: Key | None = (HIT, number - 1, 0) if number else None
    parts: list[AnswerPart[Key]] = [AnswerPart(own, max(each.likelihood, least * price), price, above)]
    price = count(full) - count(name) + count(hit.symbol.summary)
    if price > 0:
        share = 1.0 if hit.symbol.kind in _VALUES else DESCRIBED
        parts.append(AnswerPart((DESCRIPTION, number, 0), share * each.likelihood, price, own))
    for index, (text, likelihood) in enumerate(zip(hit.same_file, each.same_file, strict=True)):
        before: Key = (SAME_FILE, number, index - 1) if index else own
        price = count(text) + 2
        parts.append(AnswerPart((SAME_FILE, number, index), max(NAMED * likelihood, least * price), price, before))
    for index, (text, relevance) in enumerate(zip(hit.near, each.near, strict=True)):
        parts.append(
            AnswerPart((NEIGHBOUR, number, index), NEAR * each.likelihood * relevance, count(text) + NEAR_MARKS, own)
        )
    return parts + _pieces_of(number, each, pricing)


def _pieces_of(number: int, each: PageHit, pricing: Pricing) -> list[AnswerPart[Key]]:
    least, body = REQUIRED if pricing.requires_pieces else 0.0, each.body
    values = body.values or [each.likelihood] * len(body.pieces)
    parts: list[AnswerPart[Key]] = []
    for index, (value, piece) in enumerate(zip(values, body.pieces, strict=True)):
        marks = 2 * len(piece)
        if not least and LINES * value < LEAST * marks:
            continue  # it is left out whatever its text costs
        price = marks + (body.tokens[index] if body.tokens else pricing.count("\n".join(line.text for line in piece)))
        parts.append(AnswerPart((PIECE, number, index), max(LINES * value, least * price), price, (HIT, number, 0)))
    return parts


def undescribed(hit: SymbolHit) -> SymbolHit:
    """Return a hit of which only name and place are known."""
    return replace(hit, symbol=replace(hit.symbol, signature="", summary=""), lines=(), same_file=(), near=())


def assemble_hits(page: Sequence[PageHit], parts: Sequence[AnswerPart[Key]]) -> tuple[SymbolHit, ...]:
    """Return the hits with the parts that are shown, in order of rank."""
    shown = {part.key for part in parts}
    hits: list[SymbolHit] = []
    for number, each in enumerate(page):
        if (HIT, number, 0) not in shown:
            break
        hit = each.hit if (DESCRIPTION, number, 0) in shown else undescribed(each.hit)
        pieces = (piece for index, piece in enumerate(each.body.pieces) if (PIECE, number, index) in shown)
        count = sum((SAME_FILE, number, index) in shown for index in range(len(each.same_file)))
        lines = (*each.exact, *(line for piece in pieces for line in piece))
        near = tuple(text for index, text in enumerate(each.hit.near) if (NEIGHBOUR, number, index) in shown)
        hits.append(replace(hit, lines=lines, same_file=each.hit.same_file[:count], near=near))
    return tuple(hits)
