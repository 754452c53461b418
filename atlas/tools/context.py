"""Select the source lines and neighbours of a node that fit a token budget, by priority."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from atlas.api import Atlas
from atlas.contracts import Store
from atlas.model import NodeRow
from atlas.search.freshness import StaleFile
from atlas.tools.answers import ContextAnswer, Evidence
from atlas.tools.assemble import allot
from atlas.tools.citations import path_of, symbol_of
from atlas.tools.envelope import Envelope, can_fit, fit, fit_or_none
from atlas.tools.structured_content import tokens_of
from atlas.tools.symbol_lines import neighbour_line
from atlas.tools.symbols import Lookup, Section, Source, Symbol

SHARES: Mapping[str, float] = {
    "source": 0.4,
    "notes": 0.06,
    "callers": 0.14,
    "callees": 0.1,
    "members": 0.1,
    "routes": 0.02,
    "events": 0.01,
    "handlers": 0.02,
    "docs": 0.05,
    "tests": 0.05,
    "bases": 0.02,
    "subclasses": 0.03,
    "overrides": 0.02,
    "overridden_by": 0.03,
}
"""Guaranteed fraction of the budget per section; the remainder is distributed in this order."""
CHARACTERS_PER_TOKEN = 5
"""Content with more characters per token of the budget does not fit: code and names have three to four."""
ROUNDS = 8
"""Limit of correction rounds.

Costs are summed by line, but tokens can span line ends, so exact counts correct the sum.
"""


@dataclass(frozen=True, slots=True)
class Context:
    """Everything available about a node, before the budget applies."""

    lookup: Lookup
    row: NodeRow
    parents: tuple[Symbol, ...]
    source: tuple[str, ...]
    """All lines of the node, from the indexed version of its file."""
    sections: tuple[Section, ...]
    stale: tuple[StaleFile, ...] | None
    remarks: tuple[str, ...]
    notes: tuple[tuple[str, ...], ...] = ()
    """The lines of each note about the node."""
    note_paths: tuple[str, ...] = ()
    """The file of each of these notes."""
    marks: str = ""
    """Of a node that is a note: status, author, age, and what makes it suspect."""


async def source_of(store: Store, project: str, row: NodeRow) -> tuple[str, ...]:
    """Return the node's lines from the indexed bytes of its file; () for nodes without a file or a span."""
    if not row.path or row.end_byte <= row.start_byte:
        return ()
    content = (await store.content(project, [row.path])).get(row.path, b"")
    return tuple(content[row.start_byte : row.end_byte].decode("utf-8", "replace").splitlines())


def no_context(lookup: Lookup, evidence: Evidence) -> ContextAnswer:
    """Return the answer for a name that does not identify exactly one node."""
    return ContextAnswer("get_context", lookup, None, "", (), None, (), evidence)


def fit_context(atlas: Atlas, envelope: Envelope, context: Context) -> ContextAnswer:
    """Return as much of the context as fits the budget, with its exact token count."""
    count = atlas.reader.counter.count
    everything = {"source": len(context.source), "notes": len(context.notes)}
    everything |= {each.kind: len(each.neighbours) for each in context.sections}
    if _characters(context) <= envelope.token_budget * CHARACTERS_PER_TOKEN:
        whole = fit_or_none(atlas, envelope.token_budget, lambda _: _build(envelope, context, everything), 0)
        if whole is not None:
            return whole
    nothing = dict.fromkeys(everything, 0)
    costs = {
        section.kind: [count(f"  {neighbour_line(each)}\n") for each in section.neighbours]
        for section in context.sections
    }
    worth_trying = can_fit((len(line) for line in context.source), envelope.token_budget)
    costs["source"] = [count(f"{line}\n") for line in context.source[:worth_trying]]
    costs["notes"] = [sum(count(f"  {line}\n") for line in lines) for lines in context.notes]
    for kind in ("notes", *(section.kind for section in context.sections)):
        if costs[kind]:
            costs[kind][0] += count(f"{kind} (10 of 100):\n")
    room = envelope.token_budget - tokens_of(atlas.reader.counter, _build(envelope, context, nothing))
    for _ in range(ROUNDS):
        if room <= 0:
            break
        kept = allot(costs, SHARES, room)
        answer = _build(envelope, context, kept)
        over = tokens_of(atlas.reader.counter, answer) - envelope.token_budget
        if over <= 0:
            return fit(atlas, envelope.token_budget, lambda _, answer=answer: answer, 0)
        room -= over
    return fit(atlas, envelope.token_budget, lambda _: _build(envelope, context, nothing), 0)


def _characters(context: Context) -> int:
    """Return a lower bound of the length of the complete answer, in characters."""
    lines = sum(len(line) + 1 for line in context.source)
    names = sum(len(each.uid) + len(each.at) for section in context.sections for each in section.neighbours)
    return lines + names + sum(len(line) for note in context.notes for line in note)


def _build(envelope: Envelope, context: Context, kept: Mapping[str, int]) -> ContextAnswer:
    """Return the answer with the first `kept` items of each section."""
    row = context.row
    lines = context.source[: kept["source"]]
    sections = tuple(
        replace(section, neighbours=section.neighbours[: kept[section.kind]])
        for section in context.sections
        if kept[section.kind]
    )
    cited = [path_of(each.at or each.place) for section in sections for each in section.neighbours]
    cited += context.note_paths[: kept["notes"]]
    return ContextAnswer(
        tool="get_context",
        lookup=context.lookup,
        symbol=replace(symbol_of(row), summary=""),
        docstring="" if lines else row.docstring.partition("\n\n")[0],
        parents=context.parents,
        source=Source("\n".join(lines), row.start_line, row.start_line + len(lines) - 1, row.end_line)
        if lines
        else None,
        sections=sections,
        notes=context.notes[: kept["notes"]],
        marks=context.marks,
        evidence=envelope.evidence(
            paths=[row.path, *cited],
            stale=context.stale,
            notes=context.remarks,
            withheld=_withheld(envelope, context, kept),
        ),
    )


def _withheld(envelope: Envelope, context: Context, kept: Mapping[str, int]) -> tuple[str, ...]:
    """Return the line that lists what the budget omitted; () if nothing was omitted."""
    cut = [
        f"{section.total - kept[section.kind]} of {section.total} {section.kind}"
        for section in context.sections
        if kept[section.kind] < section.total
    ]
    if kept["notes"] < len(context.notes):
        cut.append(f"{len(context.notes) - kept['notes']} of {len(context.notes)} notes")
    hint = f"by token_budget {envelope.token_budget} {envelope.encoding}; ask again with a larger one"
    source = ""
    if kept["source"] < len(context.source):
        first = context.row.start_line + kept["source"]
        source = f"source from line {first} to {context.row.end_line}"
    parts = ", ".join(part for part in (source, *cut) if part)
    return (f"{parts} {hint}",) if parts else ()
