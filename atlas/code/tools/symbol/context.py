"""Select the statements and neighbours of a node that fit a token budget, by value per token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from atlas.answers.evidence import Evidence, StaleFile
from atlas.answers.packing import AnswerPart, affordable, order_parts, rounded
from atlas.code.atlas import Atlas
from atlas.code.tools.citations import path_of, symbol_of
from atlas.code.tools.envelope import Envelope, can_fit, fit, fit_or_none
from atlas.code.tools.symbol.symbol_answers import ContextAnswer
from atlas.code.tools.symbol.symbol_lines import neighbour_line
from atlas.code.tools.symbol.symbols import Lookup, NeighbourSection, SourceLines, Symbol
from atlas.core.contracts import Store
from atlas.core.model import NodeRow
from atlas.core.wording import counted

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
"""Weight of each section. Where all are long, each gets about this share of the budget; what short ones leave goes to
the others. Sections without a weight come last."""
OTHER_SHARE = 0.01
CHARACTERS_PER_TOKEN = 5
"""Content with more characters per token of the budget does not fit: code and names have three to four."""
SOURCE_CHARACTERS = 4.0
"""Characters per token of source with its indentation."""

Key = tuple[str, int]
"""Section, and number of the item in it; of `source`, the number of the piece."""


@dataclass(frozen=True, slots=True)
class NodeContext:
    """Everything available about a node, before the budget applies."""

    lookup: Lookup
    row: NodeRow
    parents: tuple[Symbol, ...]
    source: tuple[str, ...]
    """All lines of the node, from the indexed version of its file."""
    sections: tuple[NeighbourSection, ...]
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


def fit_context(atlas: Atlas, envelope: Envelope, context: NodeContext) -> ContextAnswer:
    """Return as much of the context as fits the budget, by value per token, with its exact token count."""
    everything = {"source": len(context.source), "notes": len(context.notes)}
    everything |= {each.kind: len(each.neighbours) for each in context.sections}
    prices = {kind: list[int]() for kind in everything}
    if _characters(context) <= envelope.token_budget * CHARACTERS_PER_TOKEN:
        whole = fit_or_none(atlas, envelope.token_budget, lambda _: _build(envelope, context, everything, prices), 0)
        if whole is not None:
            return whole
    count = atlas.reader.counter.count
    worth_trying = can_fit((len(line) for line in context.source), envelope.token_budget)
    cuts = [*_borders(atlas, context), len(context.source)]
    cuts = [line for line in cuts if line <= worth_trying]
    prices |= {
        section.kind: [count(f"  {neighbour_line(each)}\n") for each in section.neighbours]
        for section in context.sections
    }
    prices["source"] = [sum(count(f"{line}\n") for line in context.source[first:end]) for first, end in pairwise(cuts)]
    prices["notes"] = [sum(count(f"  {line}\n") for line in lines) for lines in context.notes]
    for kind in ("notes", *(section.kind for section in context.sections)):
        if prices[kind]:
            prices[kind][0] += count(f"{kind} (10 of 100):\n")
    parts = plan_context(prices, {each.kind: [n.confidence for n in each.neighbours] for each in context.sections})

    def build(shown: int) -> ContextAnswer:
        kept = dict.fromkeys(everything, 0)
        for part in parts[:shown]:
            kept[part.key[0]] += 1
        kept["source"] = _without_empty_end(context.source, cuts[kept["source"]] if cuts else 0)
        return _build(envelope, context, kept, prices)

    return fit(atlas, envelope.token_budget, build, affordable(parts, envelope.token_budget))


def plan_context(
    prices: Mapping[str, Sequence[int]], confidences: Mapping[str, Sequence[float]]
) -> list[AnswerPart[Key]]:
    """Return the items of all sections by value per token; items of one section keep their order.

    An item of a section with weight w is worth w per token, divided by the tokens of the section up to it, so that each
    further item is worth less; an uncertain edge is worth as much as its confidence.
    """
    parts: list[AnswerPart[Key]] = []
    for kind in (*SHARES, *(kind for kind in prices if kind not in SHARES)):
        spent, sure = 0, confidences.get(kind, ())
        for number, price in enumerate(prices.get(kind, ())):
            spent += price
            confidence = sure[number] if number < len(sure) else 1.0
            value = SHARES.get(kind, OTHER_SHARE) * price / max(spent, 1) * confidence
            parts.append(AnswerPart((kind, number), value, price, (kind, number - 1) if number else None))
    return order_parts(parts)


def _borders(atlas: Atlas, context: NodeContext) -> list[int]:
    """Return the lines before which the source can be cut."""
    return atlas.reader.excerpts.borders(context.row.language, context.source)


def _without_empty_end(source: Sequence[str], end: int) -> int:
    """Return `end` without the empty lines before it, unless nothing follows."""
    if end == len(source):
        return end
    while end and not source[end - 1].strip():
        end -= 1
    return end


def _characters(context: NodeContext) -> int:
    """Return a lower bound of the length of the complete answer, in characters."""
    lines = sum(len(line) + 1 for line in context.source)
    names = sum(len(each.uid) + len(each.at) for section in context.sections for each in section.neighbours)
    return lines + names + sum(len(line) for note in context.notes for line in note)


def _build(
    envelope: Envelope, context: NodeContext, kept: Mapping[str, int], prices: Mapping[str, Sequence[int]]
) -> ContextAnswer:
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
        source=SourceLines("\n".join(lines), row.start_line, row.start_line + len(lines) - 1, row.end_line)
        if lines
        else None,
        sections=sections,
        notes=context.notes[: kept["notes"]],
        marks=context.marks,
        evidence=envelope.evidence(
            paths=[row.path, *cited],
            stale=context.stale,
            notes=context.remarks,
            withheld=_withheld(envelope, context, kept, prices),
        ),
    )


def _withheld(
    envelope: Envelope, context: NodeContext, kept: Mapping[str, int], prices: Mapping[str, Sequence[int]]
) -> tuple[str, ...]:
    """Return the line that lists what the budget omitted, with its price; () if nothing was omitted."""
    cut = [
        f"{section.total - kept[section.kind]} of {section.total} {section.kind}"
        + _price(prices[section.kind], kept[section.kind], section.total)
        for section in context.sections
        if kept[section.kind] < section.total
    ]
    if kept["notes"] < len(context.notes):
        left = len(context.notes) - kept["notes"]
        price = _price(prices["notes"], kept["notes"], len(context.notes))
        cut.append(f"{left} of {counted(len(context.notes), 'note')}{price}")
    hint = f"by token_budget {envelope.token_budget} {envelope.encoding}; ask again with a larger one"
    source = ""
    if kept["source"] < len(context.source):
        first = context.row.start_line + kept["source"]
        characters = sum(map(len, context.source[kept["source"] :]))
        price = f" (~{rounded(characters / SOURCE_CHARACTERS)} tokens)"
        source = f"source from line {first} to {context.row.end_line}{price}"
    parts = ", ".join(part for part in (source, *cut) if part)
    return (f"{parts} {hint}",) if parts else ()


def _price(prices: Sequence[int], kept: int, total: int) -> str:
    """Return ` (~80 tokens)` for the items behind the first `kept`; those not read cost the mean."""
    if not prices:
        return ""
    left = sum(prices[kept:]) + (total - len(prices)) * sum(prices) / len(prices)
    return f" (~{rounded(left)} tokens)"
