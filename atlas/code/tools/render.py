"""Render answers as text for agents and as JSON values. The text is stable: equal answers give equal bytes.

The first line is the evidence (project, generation, time, freshness); then come the answer, stale files, notes,
omissions and the cursor. Token budgets apply to this text and to the structured content.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import cast

from atlas.answers.cells import cell
from atlas.answers.items import body_lines
from atlas.code.tools.answers import (
    Answer,
    Check,
    ContextAnswer,
    Evidence,
    HealthAnswer,
    KnowledgeAnswer,
    NodeAnswer,
    RelationAnswer,
    ReportAnswer,
    SchemaAnswer,
    SchemaEntry,
    SearchAnswer,
    StatusAnswer,
    TableAnswer,
    index_state,
)
from atlas.code.tools.citations import hit_name, parents_line, shown_name
from atlas.code.tools.reports import report_lines
from atlas.code.tools.state.report import status_lines
from atlas.code.tools.symbol.symbol_lines import (
    beside_line,
    candidate_line,
    node_degrees,
    node_traits,
    others_line,
    related_line,
    section_lines,
    source_lines,
    subject_lines,
    symbol_line,
)
from atlas.code.tools.symbol.symbols import Lookup, SymbolHit
from atlas.core.wording import counted

OTHER_PACKAGES = "other packages"
"""Stands for the path of symbols that the project only imports."""
_IMPLEMENTED = frozenset(("interface", "trait", "protocol"))
"""Kinds of types that others implement."""
_NO_PLURAL = frozenset(
    ("definition", "tested", "hierarchy", "overridden", "documented", "path", "impact", "unused", "untested")
)
"""Kinds of relations that no symbol "can have" in plain words."""


def render(answer: Answer, cursor_prefix: str = "cursor=") -> str:
    """Return the text of an answer, without a trailing newline; `cursor_prefix` is what a caller writes before it."""
    head = evidence_head(answer.evidence)
    if answer.evidence.below_floor:
        return "\n".join((head, *answer.evidence.withheld))
    match answer:
        case SearchAnswer():
            body = search_lines(answer)
        case RelationAnswer():
            body = relation_lines(answer)
        case ReportAnswer():
            body = report_lines(answer.report)
        case NodeAnswer():
            body = (*lookup_lines(answer.lookup, where(answer.evidence)), *node_lines(answer))
        case ContextAnswer():
            body = (*lookup_lines(answer.lookup, where(answer.evidence)), *context_lines(answer))
        case TableAnswer():
            body = table_lines(answer)
        case SchemaAnswer():
            body = schema_lines(answer)
        case StatusAnswer():
            body = status_lines(answer)
        case HealthAnswer():
            body = health_lines(answer)
        case KnowledgeAnswer():
            body = body_lines(answer.body)
    return "\n".join((head, *body, *evidence_tail(answer.evidence, cursor_prefix)))


def to_dict(value: object) -> object:
    """Return an answer as JSON values: dataclasses as mappings without empty values, tuples as lists."""
    if is_dataclass(value):
        pairs = ((field.name, to_dict(getattr(value, field.name))) for field in fields(value))
        return {name: item for name, item in pairs if item is not None and item != "" and item != []}
    if isinstance(value, Mapping):
        return {str(key): to_dict(item) for key, item in cast("Mapping[object, object]", value).items()}
    if isinstance(value, list | tuple):
        return [to_dict(item) for item in cast("Sequence[object]", value)]
    return value


def evidence_head(evidence: Evidence) -> str:
    """Return the first line: project, generation, time, freshness."""
    state = index_state(evidence.generation, evidence.indexed_at)
    freshness = f", {evidence.freshness}" if evidence.freshness else ""
    return f"[{evidence.project or 'no project'} @{evidence.generation}, {state}{freshness}]"


def evidence_tail(evidence: Evidence, cursor_prefix: str = "cursor=") -> Iterator[str]:
    """Yield the last lines: stale files, notes, omissions, and the cursor as the argument of the next call."""
    if evidence.stale:
        yield f"stale: {', '.join(f'{file.path} ({file.reason})' for file in evidence.stale)}"
    for note in evidence.notes:
        yield f"note: {note}"
    for item in evidence.withheld:
        yield f"withheld: {item}"
    if evidence.cursor:
        yield f"next: {cursor_prefix}{evidence.cursor}"


def where(evidence: Evidence) -> str:
    """Return what `none` is restricted to: files that are newer than the index may hold some."""
    return " in the index" if evidence.freshness == "stale" else ""


def search_lines(answer: SearchAnswer) -> Iterator[str]:
    """Yield the lines of all hits, or `no hits`."""
    if not answer.hits and not answer.evidence.withheld:
        yield f"no hits{where(answer.evidence)}"
    for hit in answer.hits:
        yield from hit_lines(hit)


def hit_lines(hit: SymbolHit) -> Iterator[str]:
    """Yield one hit: its headline, the summary and the matching lines."""
    marks = f", {hit.marks}" if hit.marks else ""
    yield f"{hit.rank}. {hit_name(hit.symbol)} {hit.symbol.place}".rstrip() + marks
    if hit.symbol.summary:
        yield f"   {hit.symbol.summary}"
    yield from (f"   {line}" for line in source_lines(hit.lines))
    if hit.same_file:
        yield f"   {beside_line(hit)}"
    if hit.others:
        yield f"   {others_line(hit)}"
    yield from (f"   {near}" for near in hit.near)


def relation_lines(answer: RelationAnswer) -> Iterator[str]:
    """Yield the subject and a count, then one line per related symbol, grouped by file."""
    yield from relation_head(answer)
    for group in answer.files:
        yield group.path or OTHER_PACKAGES
        for symbol in group.symbols:
            yield f"  {related_line(symbol)}"


def relation_head(answer: RelationAnswer) -> Iterator[str]:
    """Yield what was asked of which symbol, with the number of results; near names where there is no such symbol."""
    if answer.outcome == "not_found":
        having = "" if answer.kind in _NO_PLURAL else f" that can have {answer.kind}"
        yield f"no symbol `{answer.missing}`{having}{where(answer.evidence)}"
        for line in answer.diagnosis:
            yield f"- {line}"
        if answer.near:
            yield f"near names: {', '.join(f'{each.qualified_name} {each.place}' for each in answer.near)}"
        return
    if answer.title:
        yield answer.title
        yield from (f"- {subject}" for subject in subject_lines(answer))
        return
    kinds = {subject.kind for subject in answer.subjects}
    is_implemented = bool(kinds & _IMPLEMENTED) and kinds <= _IMPLEMENTED | {"struct"}
    kind = "implementations" if answer.kind == "subclasses" and is_implemented else answer.kind
    title = f"path to {answer.other} from" if kind == "path" else f"{kind} of"
    if answer.subject_count == 1:
        subject = answer.subjects[0]
        yield f"{' '.join(filter(None, (title, subject.kind, shown_name(subject), subject.place)))}: {_found(answer)}"
        return
    each = f"{title} each:" if answer.counts else f"{title} all: {_found(answer)}"
    yield f"{answer.subject_count} symbols are called `{answer.name}`; {each}"
    yield from (f"- {subject}" for subject in subject_lines(answer))


def _found(answer: RelationAnswer) -> str:
    """Return the number of related symbols, and of lines where some have several."""
    none = f"none{where(answer.evidence)}"
    return f"{answer.found or none}{f' in {answer.places} lines' if answer.places > answer.found else ''}"


def lookup_lines(lookup: Lookup, within: str = "") -> Iterator[str]:
    """Yield the result of a lookup that did not identify exactly one node; `within` names where it was looked for."""
    if lookup.outcome == "ambiguous":
        yield f"`{lookup.name}` is ambiguous; ask again with one of these places, or with path or label:"
        yield from (f"- {candidate_line(candidate)}" for candidate in lookup.candidates)
    if lookup.outcome == "not_found":
        yield f"`{lookup.name}` not found{within}"
        for line in lookup.diagnosis:
            yield f"- {line}"
        if lookup.near:
            yield "similar names:"
        yield from (f"- {candidate_line(symbol)}" for symbol in lookup.near)


def node_lines(answer: NodeAnswer) -> Iterator[str]:
    """Yield a node's details."""
    node = answer.node
    if node is None:
        return
    yield f"uid {node.symbol.uid}"
    if node.symbol.place:
        yield f"place {node.symbol.place}, digest {node.symbol.digest}"
    if node.symbol.signature:
        yield node.symbol.signature
    yield node_traits(node)
    if node.marks:
        yield node.marks
    if node.degrees:
        yield f"neighbours: {node_degrees(node)}"
    if node.docstring:
        yield node.docstring


def context_lines(answer: ContextAnswer) -> Iterator[str]:
    """Yield a node's context."""
    if answer.symbol is None:
        return
    yield symbol_line(answer.symbol)
    if answer.marks:
        yield answer.marks
    if answer.parents:
        yield f"in {parents_line(answer.parents)}"
    if answer.source is None and answer.symbol.signature:
        yield answer.symbol.signature
    if answer.source is None and answer.docstring:
        yield answer.docstring
    if answer.source is not None:
        yield f"source, lines {answer.source.start_line}-{answer.source.end_line} of {answer.source.last_line}:"
        yield answer.source.text
    if answer.notes:
        yield "notes:"
        yield from (f"  {line}" for note in answer.notes for line in note)
    for section in answer.sections:
        yield from section_lines(section)


def table_lines(answer: TableAnswer) -> Iterator[str]:
    """Yield a header and one line per row, cells separated by ` | `."""
    yield " | ".join(answer.columns)
    for row in answer.rows:
        yield " | ".join(cell(value) for value in row)
    yield counted(len(answer.rows), "row") if answer.rows else "no rows"


def schema_lines(answer: SchemaAnswer) -> Iterator[str]:
    """Yield labels, edge types, properties, strategies, languages and examples."""
    for title, entries in schema_groups(answer):
        yield f"{title}:"
        for entry in entries:
            yield f"  {described(entry)}"


def schema_groups(answer: SchemaAnswer) -> Iterator[tuple[str, tuple[SchemaEntry, ...]]]:
    """Yield each group of the schema that has entries, with its title."""
    for title, entries in (
        ("labels", answer.labels),
        ("relationship types", answer.edge_types),
        ("node properties", answer.node_properties),
        ("relationship properties", answer.edge_properties),
        ("strategies", answer.strategies),
        ("languages", answer.languages),
        ("examples", answer.examples),
    ):
        if entries:
            yield title, entries


def described(entry: SchemaEntry) -> str:
    """Return `name count: description`."""
    count = f" {entry.count}" if entry.count >= 0 else ""
    description = f": {entry.description}" if entry.description else ""
    return f"{entry.name}{count}{description}"


def health_lines(answer: HealthAnswer) -> Iterator[str]:
    """Yield the overall state, one line per check, and the fix of the worst check as the next step."""
    yield f"health: {answer.state}"
    for check in answer.checks:
        state, _, rest = check_line(check).partition(":")
        yield f"{state} {check.name}{':' if rest else ''}{rest}"
    if answer.checks and answer.checks[0].state != "ok" and answer.checks[0].fix:
        yield f"next: {answer.checks[0].fix}"


def check_line(check: Check) -> str:
    """Return `state: detail -> fix`."""
    rest = " -> ".join(part for part in (check.detail, check.fix) if part)
    return f"{check.state}: {rest}" if rest else check.state
