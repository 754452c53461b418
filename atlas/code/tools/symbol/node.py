"""get_node and get_context: one symbol by name, with its details or its context, within a token budget."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from atlas.answers.assemble import INLINE_TOKENS, AnswerT
from atlas.answers.evidence import Evidence, StaleFile
from atlas.code.atlas import Atlas
from atlas.code.freshness import stale_files
from atlas.code.notes.about import notes_about
from atlas.code.notes.note_lines import lines_about, marks_of, quoted_lines
from atlas.code.question.relation_kinds import Kind
from atlas.code.retrieve.expand import KINDS, around_node, counts_around
from atlas.code.retrieve.resolve import Resolution, further_definitions, written
from atlas.code.tools.citations import path_of, sections_of, symbol_of
from atlas.code.tools.envelope import Envelope, finish, fit_aside, make_filter, open_envelope
from atlas.code.tools.symbol.context import NodeContext, fit_context, no_context, source_of
from atlas.code.tools.symbol.symbol_answers import ContextAnswer, NodeAnswer
from atlas.code.tools.symbol.symbols import Lookup, NodeDetail, Symbol
from atlas.core.errors import ConfigError
from atlas.core.ids import make_uid
from atlas.core.model import Filter, Label, Node, NodeRow
from atlas.core.wording import counted

CALLABLE = frozenset({Label.FUNCTION, Label.METHOD, Label.CLASS})
TOKENS_PER_NEIGHBOUR = 40
"""Estimated cost of a neighbour: a section lists at most the budget divided by this."""


async def get_node(
    atlas: Atlas, name: str, *, project: str = "", path: str = "", label: str = "", token_budget: int = 1000
) -> NodeAnswer:
    """Return one node by uid, qualified name or its suffix, or `path:line`; otherwise candidates or similar names.

    A name that is not found is an answer, not an error. Raises ConfigError for invalid arguments and NotFound for an
    unknown project.
    """
    name = written(name)
    envelope, where = await _open(atlas, name, project, path, label, token_budget)
    resolution = await atlas.resolve(name, where)
    if len(resolution.nodes) != 1:
        return await _fit_lookup(atlas, envelope, name, where, resolution, _no_node)
    row = resolution.nodes[0].row
    package, further, counts, stale, marks = await asyncio.gather(
        _lines_of_package(atlas, resolution.nodes[0]),
        further_definitions(atlas.reader, resolution.nodes[0], resolution.declarations),
        counts_around(atlas.reader, row.uid),
        stale_files(atlas.reader, envelope.state.project, envelope.state.root, [row.path]),
        marks_of(atlas.reader, resolution.nodes),
    )
    detail = _detail(row, counts, marks.get(row.uid, ""))
    lines = [*detail.docstring.splitlines(), *package]
    notes = (*_notes(resolution), *((further,) if further else ()))

    def build(kept: int) -> NodeAnswer:
        cut = len(lines) - kept
        withheld = (
            (f"{cut} of {counted(len(lines), 'line' if package else 'docstring line')} by token_budget {token_budget}",)
            if cut
            else ()
        )
        return NodeAnswer(
            "get_node",
            Lookup(name, "found", resolution.how),
            replace(detail, docstring="\n".join(lines[:kept])),
            envelope.evidence(paths=[row.path], stale=stale, notes=notes, withheld=withheld),
        )

    return await fit_aside(atlas, token_budget, build, len(lines))


async def get_context(
    atlas: Atlas, name: str, *, project: str = "", path: str = "", label: str = "", token_budget: int = 2000
) -> ContextAnswer:
    """Return a node with source, enclosing nodes and neighbours; each edge has line, strategy and confidence.

    Lookup and errors are those of `get_node`. Source and edges are chosen by value per token; what is left out is
    listed with its price.
    """
    name = written(name)
    envelope, where = await _open(atlas, name, project, path, label, token_budget)
    resolution = await atlas.resolve(name, where)
    if len(resolution.nodes) != 1:
        return await _fit_lookup(atlas, envelope, name, where, resolution, no_context)
    node, state = resolution.nodes[0], envelope.state
    row = node.row
    each = max(5, min(400, token_budget // TOKENS_PER_NEIGHBOUR))
    around, further, source, about, marks = await asyncio.gather(
        around_node(atlas.reader, node, each),
        further_definitions(atlas.reader, node, resolution.declarations),
        source_of(atlas.reader.store, state.project, row),
        notes_about(atlas.reader, _and_its_file(node)),
        marks_of(atlas.reader, [node]),
    )
    sections = sections_of(around, KINDS, row.path)
    silent = row.label in CALLABLE and not any(section.kind == "callers" for section in sections)
    cited = {path_of(each.at or each.place) for section in sections for each in section.neighbours}
    note_paths = tuple(path_of(each.at) for each in about)
    stale, note = await asyncio.gather(
        stale_files(atlas.reader, state.project, state.root, {row.path, *cited, *note_paths}),
        _why_no_callers(atlas, node) if silent else _nothing(),
    )
    parents = tuple(symbol_of(parent.row) for parent in around.parents)
    lookup = Lookup(name, "found", resolution.how)
    remarks = (*_notes(resolution), further, note)
    context = NodeContext(
        lookup, row, parents, quoted_lines(row, source), sections, stale, remarks,
        tuple(map(lines_about, about)), note_paths, marks.get(row.uid, ""),
    )  # fmt: skip
    return await finish(atlas, token_budget > INLINE_TOKENS, fit_context, atlas, envelope, context)


async def _lines_of_package(atlas: Atlas, node: Node) -> tuple[str, ...]:
    if node.row.label != Label.EXTERNAL_PACKAGE:
        return ()
    from atlas.code.tools.packages import lines_about_package  # the questions' grammar, as above

    return await lines_about_package(atlas, node)


def _and_its_file(node: Node) -> tuple[str, ...]:
    """Return the uid of a node and, for a module, that of its file: a note may be about either."""
    row = node.row
    is_module = row.label == Label.MODULE or (row.label == Label.PACKAGE and bool(row.path))
    return (row.uid, make_uid(node.project, row.path)) if is_module else (row.uid,)


async def _open(
    atlas: Atlas, name: str, project: str, path: str, label: str, token_budget: int
) -> tuple[Envelope, Filter]:
    if not name:
        raise ConfigError("the name is empty", "give a uid, a qualified name or its suffix, or path:line")
    envelope = await open_envelope(atlas, project, token_budget)
    labels = (label,) if label else ()
    return envelope, await make_filter(atlas, envelope.state.project, path, labels, root=envelope.state.root)


def _no_node(lookup: Lookup, evidence: Evidence) -> NodeAnswer:
    return NodeAnswer("get_node", lookup, None, evidence)


async def _fit_lookup(
    atlas: Atlas,
    envelope: Envelope,
    name: str,
    where: Filter,
    resolution: Resolution,
    answer: Callable[[Lookup, Evidence], AnswerT],
) -> AnswerT:
    """Return the answer for a name that does not identify exactly one node, cut to the token budget."""
    lookup, stale = await _lookup(atlas, envelope, name, where, resolution)

    def build(count: int) -> AnswerT:
        return answer(_first(lookup, count), _lookup_evidence(envelope, lookup, count, stale))

    return await fit_aside(atlas, envelope.token_budget, build, _length(lookup))


async def _lookup(
    atlas: Atlas, envelope: Envelope, name: str, where: Filter, resolution: Resolution
) -> tuple[Lookup, tuple[StaleFile, ...] | None]:
    """Return the lookup of a name that does not identify exactly one node, and the stale files among those cited."""
    shown = [node.row for node in (*resolution.nodes, *resolution.near)]
    stale = await stale_files(atlas.reader, envelope.state.project, envelope.state.root, (row.path for row in shown))
    if resolution.nodes:
        candidates = tuple(symbol_of(node.row) for node in resolution.nodes)
        return Lookup(name, "ambiguous", resolution.how, candidates), stale
    from atlas.code.graph.absence.not_found import why_missing  # the questions' grammar, a sixth of the command's start

    diagnosis = await why_missing(atlas.reader, name, where)
    near = tuple(symbol_of(node.row) for node in resolution.near)
    return Lookup(name, "not_found", "", (), near, diagnosis), stale


def _length(lookup: Lookup) -> int:
    return len(lookup.diagnosis) + len(lookup.candidates) + len(lookup.near)


def _first(lookup: Lookup, count: int) -> Lookup:
    """Return the lookup with its first `count` lines: diagnosis, then candidates, then similar names."""
    diagnosis = lookup.diagnosis[:count]
    candidates = lookup.candidates[: max(0, count - len(lookup.diagnosis))]
    near = lookup.near[: max(0, count - len(lookup.diagnosis) - len(lookup.candidates))]
    return replace(lookup, diagnosis=diagnosis, candidates=candidates, near=near)


def _lookup_evidence(envelope: Envelope, lookup: Lookup, count: int, stale: Sequence[StaleFile] | None) -> Evidence:
    shown = _first(lookup, count)
    cut = _length(lookup) - count
    lines = counted(cut, "line")
    return envelope.evidence(
        paths=_paths((*shown.candidates, *shown.near)),
        stale=stale,
        withheld=(f"{lines} by token_budget {envelope.token_budget}; narrow by path or label",) if cut else (),
    )


def _paths(symbols: Iterable[Symbol]) -> list[str]:
    return [path_of(symbol.place) for symbol in symbols]


def _notes(resolution: Resolution) -> tuple[str, ...]:
    places = ", ".join(f"{node.row.path}:{node.row.line}" for node in resolution.declarations)
    return (*resolution.notes, *((f"also declared at {places}",) if places else ()))


def _detail(row: NodeRow, counts: tuple[tuple[str, int], ...], marks: str) -> NodeDetail:
    return NodeDetail(
        symbol=replace(symbol_of(row), summary=""),
        label=row.label,
        language=row.language,
        start_line=row.start_line,
        end_line=row.end_line,
        modifiers=tuple(row.modifiers.split()),
        exported=row.exported,
        is_test=row.is_test,
        is_generated=row.is_generated,
        docstring="\n".join(quoted_lines(row, row.docstring.splitlines())),
        signature_digest=row.signature_digest,
        body_digest=row.body_digest,
        degrees=counts,
        marks=marks,
    )


async def _why_no_callers(atlas: Atlas, node: Node) -> str:
    from atlas.code.graph.absence.proof import prove_none  # the questions' grammar, as above

    return (await prove_none(atlas.reader, [node], Kind.CALLERS)).sentence


async def _nothing() -> str:
    return ""
