"""Answer types of the tools: frozen dataclasses, each with its evidence. They hold values only.

Places are `path:line` relative to the project root, digests are 16 hex digits of the node's exact text, and scores and
confidences are rounded to 4 decimal places. Empty strings and tuples mean that a value is absent; the JSON form omits
them.
"""

from __future__ import annotations

from dataclasses import dataclass

from atlas.answers.items import NoteBody
from atlas.code.freshness import StaleFile
from atlas.code.tools.reports import Report
from atlas.code.tools.state.daemon import DaemonStatus
from atlas.code.tools.symbol.symbols import (
    FileGroup,
    Lookup,
    NeighbourSection,
    NodeDetail,
    SourceLines,
    Symbol,
    SymbolHit,
)


def index_state(generation: int, indexed_at: str) -> str:
    """Return `indexed TIME`, `first index not finished` or `not indexed yet`.

    A generation without a time belongs to an unfinished index.
    """
    if indexed_at:
        return f"indexed {indexed_at}"
    return "first index not finished" if generation else "not indexed yet"


@dataclass(frozen=True, slots=True)
class Evidence:
    """The state of the project behind an answer, the answer's token cost, and what it omits."""

    project: str
    generation: int
    indexed_at: str
    freshness: str
    """`fresh`: cited files match the index; `stale`: one of them or another file of the project is newer; `unknown`: no
    project root; "": no file is cited."""
    stale: tuple[StaleFile, ...]
    """Cited files that differ from the index, with the reason."""
    encoding: str
    tokens: int
    """Tokens of the text or of the structured content, whichever is larger: both fit the budget."""
    token_budget: int
    notes: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()
    """What the budget, the limit or a cap omitted, and how to get it."""
    cursor: str = ""
    """Argument that requests the next page."""
    below_floor: bool = False
    """The budget is below the shortest complete answer; the answer is the floor: one line that says so."""


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """One page of hits. `found` counts all ranked candidates; it is a lower bound if `more` is set."""

    tool: str
    query: str
    hits: tuple[SymbolHit, ...]
    found: int
    more: bool
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class RelationAnswer:
    """Answer of hybrid_search to a question about a relation, such as `callers of X`."""

    tool: str
    kind: str
    name: str
    """The name in the question."""
    outcome: str
    """`found`, `ambiguous` (several `subjects`) or `not_found` (see `near` and `diagnosis`)."""
    subjects: tuple[Symbol, ...]
    other: str
    """The end of a path."""
    files: tuple[FileGroup, ...]
    found: int
    subject_count: int
    counts: tuple[int, ...]
    """Edges of each subject, where these are too many for their edges to be listed."""
    near: tuple[Symbol, ...]
    diagnosis: tuple[str, ...]
    missing: str
    """The name that nothing has."""
    evidence: Evidence
    places: int = 0
    """Lines of evidence of all `found` symbols: the call sites of its callers."""
    title: str = ""
    """What was found, where the question names no symbol: `unused functions in Y: 3 candidates of 40`."""


@dataclass(frozen=True, slots=True)
class NodeAnswer:
    """Answer of get_node; `node` is None unless the name was found."""

    tool: str
    lookup: Lookup
    node: NodeDetail | None
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class ContextAnswer:
    """Answer of get_context: a node, its enclosing nodes, source and neighbours; `symbol` is None unless found."""

    tool: str
    lookup: Lookup
    symbol: Symbol | None
    docstring: str
    parents: tuple[Symbol, ...]
    source: SourceLines | None
    sections: tuple[NeighbourSection, ...]
    evidence: Evidence
    notes: tuple[tuple[str, ...], ...] = ()
    """Notes and decisions about the node, one or two lines each: quoted data, and what makes it suspect."""
    marks: str = ""
    """Of a node that is a note: status, author, age, and what makes it suspect."""


@dataclass(frozen=True, slots=True)
class TableAnswer:
    """Answer of cypher_query: rows of plain values."""

    tool: str
    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    truncated: bool
    """The store has more rows than it returned."""
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class SchemaEntry:
    """A label, edge type, property, language, strategy or example, with its count (-1: not counted)."""

    name: str
    description: str = ""
    count: int = -1


@dataclass(frozen=True, slots=True)
class SchemaAnswer:
    """Answer of schema_info: the vocabulary of Cypher queries and search filters."""

    tool: str
    labels: tuple[SchemaEntry, ...]
    edge_types: tuple[SchemaEntry, ...]
    node_properties: tuple[SchemaEntry, ...]
    edge_properties: tuple[SchemaEntry, ...]
    strategies: tuple[SchemaEntry, ...]
    languages: tuple[SchemaEntry, ...]
    examples: tuple[SchemaEntry, ...]
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class ProjectStatus:
    """The counts of one project."""

    project: str
    root: str
    generation: int
    indexed_at: str
    files: int
    nodes: int
    edges: int
    resolved: int
    unresolved: int
    """References that no rule could resolve. They stay unknown; no target is guessed."""
    chunks: int
    vectors: int
    model: str
    problems: int
    """Files that could only be read in part."""
    bytes_on_disk: int
    labels: tuple[SchemaEntry, ...]
    languages: tuple[SchemaEntry, ...]
    skipped: tuple[SchemaEntry, ...]
    """Skipped files by reason."""
    documents_model: str = ""
    """Model of the vectors of documents; "" if there are none."""
    prose_model: str = ""
    """Model of the vectors of notes; "" if there are none."""
    quality_model: str = ""
    """Sentence transformer of the second vectors; "" if there are none."""
    quality_chunks: int = 0
    """Texts that it embeds; 0 if there is no such vector yet."""
    quality_vectors: int = 0
    symbols: int = 0
    """Nodes that are definitions: classes, functions, methods, values."""
    stale_files: int = 0
    """Files that differ from the index: those of the next three counts, or those that the store knows of."""
    new_files: int = 0
    changed_files: int = 0
    deleted_files: int = 0
    stale_symbols: int = 0
    """Texts whose vector is missing or was computed from an older text."""
    decisions: tuple[SchemaEntry, ...] = ()
    """Changed symbols so far, by the reason of the significance gate's decision."""
    documents: int = 0
    """Files that are documents; the others are parsed, or indexed as windows of lines."""
    text_files: int = 0
    """Files without definitions, indexed as windows of lines."""


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file that is not indexed, and the reason."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class PartialFile:
    """An indexed file that could only be read in part."""

    path: str
    problem: str
    """The first problem, as `line: code: message`; if secrets are masked, the first of those, separated by `; `."""
    problems: int
    """Total number of problems."""
    shown: int = 1
    """Number of problems in `problem`."""


@dataclass(frozen=True, slots=True)
class StatusAnswer:
    """Answer of status."""

    tool: str
    projects: tuple[ProjectStatus, ...]
    skipped_files: tuple[SkippedFile, ...]
    evidence: Evidence
    daemon: DaemonStatus | None = None
    """None if the daemon's state was not requested."""
    partial_files: tuple[PartialFile, ...] = ()
    """Unlike `skipped_files` these are indexed, but both are listed together."""


@dataclass(frozen=True, slots=True)
class Check:
    """State of one component: `ok`, `warning` (works, but see `fix`), `missing` (the rest works) or `broken`."""

    name: str
    state: str
    detail: str = ""
    fix: str = ""


@dataclass(frozen=True, slots=True)
class HealthAnswer:
    """Answer of health; `state` is `ok`, `degraded` or `broken`."""

    tool: str
    state: str
    checks: tuple[Check, ...]
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class ReportAnswer:
    """Answer of impact, and of hybrid_search to a question about changes or their impact."""

    tool: str
    report: Report
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class KnowledgeAnswer:
    """Answer of the tools of claims and memory."""

    tool: str
    body: NoteBody
    evidence: Evidence


Answer = (
    SearchAnswer
    | RelationAnswer
    | ReportAnswer
    | NodeAnswer
    | ContextAnswer
    | TableAnswer
    | SchemaAnswer
    | StatusAnswer
    | HealthAnswer
    | KnowledgeAnswer
)
