"""The answer to a question about a relation: the edges that were asked for, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from atlas.answers.evidence import StaleFile
from atlas.answers.paging import Position, write_cursor
from atlas.code.atlas import Atlas
from atlas.code.find import SearchResult
from atlas.code.freshness import stale_files
from atlas.code.graph.relation import EdgeAnswer, RelatedSymbol
from atlas.code.graph.targets import Targets
from atlas.code.notes.note_lines import described_note, marks_of
from atlas.code.question.relation_kinds import Kind
from atlas.code.tools.citations import local_name, place_of, symbol_of
from atlas.code.tools.envelope import Envelope, fit_aside
from atlas.code.tools.relation_answer import CONTRACTS, RelationAnswer
from atlas.code.tools.symbol.name_lines import name_lines
from atlas.code.tools.symbol.symbols import FileGroup, RelatedLine
from atlas.core.model import PROSE_LABELS, Direction, Label, NodeRow

_CANDIDATES = 8
MOST_FURTHER = 10
"""Symbols that are shown of the further relations of one question."""


async def relation_answer(
    atlas: Atlas, envelope: Envelope, found: SearchResult, relation: EdgeAnswer, start: Position, fingerprint: str
) -> RelationAnswer:
    """Return as many edges from `start` on as the budget holds, grouped by file."""
    state = envelope.state
    related = _ordered(relation)
    page = related[start.offset :]
    cited = {each.path for each in page} | {target.node.row.path for target in relation.targets.targets}
    stale = await stale_files(atlas.reader, state.project, state.root, cited)
    marks = await marks_of(atlas.reader, [each.node for each in page])
    moved = start.offset and start.generation != state.generation
    notes = (*found.notes, "the index changed since the previous page; results may have shifted" if moved else "")

    further = tuple(_further_lines(envelope, relation)) if not start.offset else ()
    notes = (*notes, *(note for each in relation.further for note in each.notes))

    def build(count: int) -> RelationAnswer:
        return _build(envelope, relation, page[:count], marks, start, len(related), stale, notes, fingerprint, further)

    return await fit_aside(atlas, envelope.token_budget, build, len(page))


def _ordered(relation: EdgeAnswer) -> Sequence[RelatedSymbol]:
    """Return the nearest first, code before tests and other packages, by file; paths and hierarchies stay in order."""
    if relation.intent.kind in (Kind.PATH, Kind.HIERARCHY):
        return relation.related
    return sorted(
        relation.related,
        key=lambda each: (
            each.depth,
            each.node.row.is_test,
            not each.path,
            each.path,
            each.lines or (each.node.row.line,),
            each.node.row.qualified_name,
        ),
    )


def _build(
    envelope: Envelope,
    relation: EdgeAnswer,
    shown: Sequence[RelatedSymbol],
    marks: Mapping[str, str],
    start: Position,
    total: int,
    stale: Sequence[StaleFile] | None,
    notes: Sequence[str],
    fingerprint: str,
    further: Sequence[str] = (),
) -> RelationAnswer:
    left = total - start.offset - len(shown)
    missing = _missing(relation)
    derived = tuple(each.node.row.kind for each in relation.related if _is_derived(relation, each))
    named = relation.targets.targets[:_CANDIDATES]
    subjects = tuple(
        replace(symbol_of(each.node.row), summary="", place=f"{place_of(each.node.row)}{each.further}")
        for each in named
    )
    return RelationAnswer(
        tool="hybrid_search",
        kind=relation.intent.kind.value,
        name=relation.intent.name,
        outcome=relation.outcome,
        subjects=subjects,
        other=relation.intent.other,
        files=_grouped(relation, shown, marks),
        found=total,
        subject_count=relation.targets.total,
        counts=relation.counts[:_CANDIDATES],
        near=tuple(replace(symbol_of(node.row), summary="", signature="") for node in missing.near[:5])
        if missing
        else (),
        diagnosis=missing.reasons if missing else (),
        missing=missing.name if missing else "",
        scope=relation.scope,
        text=(*name_lines(relation.intent.name, relation.text, is_symbol=True), *further),
        unscoped=relation.unscoped,
        is_unknown=relation.is_unknown,
        instead_of=relation.targets.name if relation.targets.is_near else "",
        ignored=relation.ignored,
        title=relation.title,
        routes=relation.routes,
        places=sum(len(each.lines) for each in relation.related if not _is_derived(relation, each)),
        derived=derived,
        evidence=envelope.evidence(
            paths=[*(each.path for each in shown), *(target.node.row.path for target in named)],
            stale=stale,
            notes=notes,
            withheld=(f"{left} of {total} by token_budget {envelope.token_budget}",) if left else (),
            cursor=write_cursor(Position(start.offset + len(shown), envelope.state.generation), fingerprint)
            if left
            else "",
        ),
    )


def _further_lines(envelope: Envelope, relation: EdgeAnswer) -> Iterator[str]:
    """Yield the answers to the other parts of a question, each with its first `MOST_FURTHER` symbols."""
    for each in relation.further:
        related = _ordered(each)
        shown = related[: MOST_FURTHER // len(relation.further)]
        start = Position(0, envelope.state.generation)
        yield from _build(envelope, each, shown, {}, start, len(related), None, (), "").lines()
        if len(related) > len(shown):
            call = f"relation={each.intent.kind.value}, of={each.intent.name}"
            yield f"  and {len(related) - len(shown)} more: {call}"


def _is_derived(relation: EdgeAnswer, each: RelatedSymbol) -> bool:
    """Return whether a contract derives from a contract: a trait that needs another one does not implement it."""
    if relation.intent.kind != Kind.SUBTYPES or each.node.row.kind not in CONTRACTS:
        return False
    return any(target.node.row.kind in CONTRACTS for target in relation.targets.targets)


def _missing(relation: EdgeAnswer) -> Targets | None:
    """Return the name of the question that nothing has; None when all are found."""
    if relation.title:
        return None
    ends = (relation.targets, relation.others)
    return next((end for end in ends if end is not None and not end.targets), None)


def _grouped(relation: EdgeAnswer, shown: Sequence[RelatedSymbol], marks: Mapping[str, str]) -> tuple[FileGroup, ...]:
    """Return the symbols by file, in the order in which files first occur at one depth."""
    groups: list[tuple[str, list[RelatedLine]]] = []
    for each in shown:
        if not groups or groups[-1][0] != each.path:
            groups.append((each.path, []))
        groups[-1][1].append(_line(relation, each, marks.get(each.node.row.uid, "")))
    return tuple(FileGroup(path, tuple(lines)) for path, lines in groups)


def _line(relation: EdgeAnswer, each: RelatedSymbol, marks: str) -> RelatedLine:
    row = each.node.row
    if row.label in PROSE_LABELS or (row.label == Label.ADR and relation.intent.kind == Kind.NOTES):
        name = row.qualified_name if row.label in PROSE_LABELS else row.kind
        return RelatedLine(name, row.kind, each.lines, "", 1.0, each.depth, detail=described_note(row, marks))
    outward = relation.intent.direction == Direction.OUT and relation.intent.kind != Kind.PATH
    outward = outward and not relation.is_in_order
    lines = (row.line or row.start_line,) if (outward or not each.lines) and row.path else each.lines
    return RelatedLine(
        name=_name(row),
        kind=row.kind,
        lines=lines,
        strategy="" if each.strategy == "structure" else each.strategy,
        confidence=round(each.confidence, 2),
        depth=each.depth,
        through=each.through,
        detail=place_of(row) if relation.is_in_order and row.path else _detail(relation, each),
        symbol=row.qualified_name,
    )


def _name(row: NodeRow) -> str:
    if row.label == Label.ROUTE:
        return row.name
    return local_name(row) if row.path else row.qualified_name


def _detail(relation: EdgeAnswer, each: RelatedSymbol) -> str:
    """Return a signature, the handler of a route, or which of two symbols an edge belongs to."""
    kind = relation.intent.kind
    if _is_derived(relation, each):
        return " | ".join((f"{each.node.row.kind} that derives from it", *each.quoted))
    if kind == Kind.MEMBERS and each.node.row.label == Label.VALUE and each.node.row.signature.endswith("}"):
        return each.node.row.signature.partition(" {")[0]  # a constant of an enum with a body
    if kind in (Kind.DEFINITION, Kind.MEMBERS):
        return each.node.row.signature
    if kind == Kind.ROUTES:
        return each.of
    also = tuple(f"also {place_of(part.row)}" for part in each.parts)
    if each.quoted or also:
        return " | ".join((*each.quoted, *also))
    return f"of {each.of}" if each.of else ""
