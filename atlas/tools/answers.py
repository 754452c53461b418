"""What tools answer: frozen dataclasses with an evidence envelope each. Values only; no rendering, no reading.

Places are `path:line` relative to the project's root, digests 16 hex digits of the node's exact text, scores and
confidences rounded to 4 digits. Empty strings and tuples mean "nothing to say" and are left out of the JSON form.
"""

from __future__ import annotations

from dataclasses import dataclass

from atlas.search.freshness import StaleFile
from atlas.tools.status.daemon import DaemonStatus


def index_state(generation: int, indexed_at: str) -> str:
    """Return when a project was indexed, in words: a first index that is under way or was stopped is no index yet."""
    if indexed_at:
        return f"indexed {indexed_at}"
    return "first index not finished" if generation else "never indexed"


@dataclass(frozen=True, slots=True)
class Evidence:
    """What an answer rests on, what it cost, and what it leaves out."""

    project: str
    generation: int
    indexed_at: str
    freshness: str
    """`fresh`: cited files equal the index; `stale`: some changed; `unknown`: no root; "" if none is cited."""
    stale: tuple[StaleFile, ...]
    """Cited files that are not as they were indexed, with the reason."""
    encoding: str
    tokens: int
    """Tokens of the text or of the structured form, whichever is more: either fits the budget."""
    token_budget: int
    notes: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()
    """What the budget, the limit or a cap left out, and how to get it."""
    cursor: str = ""
    """Argument for the next page."""
    below_floor: bool = False
    """The budget is below the shortest full answer; what is given is the floor: one line that says so."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """The far end of an edge, with the edge's evidence."""

    uid: str
    kind: str
    place: str
    at: str
    """Where the edge is written down: a line in the source node's file; "" for structure."""
    type: str
    strategy: str
    confidence: float
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """Neighbours of one kind (`callers`, `callees`, `docs`, ...), best first; `total` counts the unlisted too."""

    kind: str
    total: int
    neighbours: tuple[Neighbour, ...]


@dataclass(frozen=True, slots=True)
class Symbol:
    """A node, briefly: enough to cite it and to ask for more."""

    uid: str
    kind: str
    name: str
    qualified_name: str
    place: str
    digest: str
    signature: str
    summary: str = ""
    """First sentence of its documentation."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A search result: the symbol, why it matched, and its nearest neighbours if the budget allows."""

    rank: int
    symbol: Symbol
    score: float
    """Comparable within one answer only."""
    channels: tuple[str, ...]
    words: tuple[str, ...]
    """Words of the query found in name, signature, documentation or path."""
    reasons: tuple[str, ...]
    also: tuple[str, ...] = ()
    """Uids of the same symbol, collapsed into this hit: constructor, stub, declaration."""
    around: tuple[Section, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """Hits of one page. `found` counts all ranked candidates; it is a lower bound when `more` is set."""

    tool: str
    query: str
    hits: tuple[Hit, ...]
    found: int
    more: bool
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Lookup:
    """What a name stood for; `outcome` is `found`, `ambiguous` (see `candidates`) or `not_found` (see the rest)."""

    name: str
    outcome: str
    how: str = ""
    """`uid`, `place`, `exact`, `suffix`, `folded` (without case) or `path`."""
    candidates: tuple[Symbol, ...] = ()
    near: tuple[Symbol, ...] = ()
    diagnosis: tuple[str, ...] = ()
    """Why it may be missing: skipped file, problems in a file, mentioned but unresolved, or simply not there."""


@dataclass(frozen=True, slots=True)
class Source:
    """Lines of a node as they were indexed."""

    text: str
    start_line: int
    end_line: int
    """Last line shown."""
    last_line: int
    """Last line of the node."""


@dataclass(frozen=True, slots=True)
class NodeDetail:
    """A node with everything the index stores of it but its source and edges."""

    symbol: Symbol
    label: str
    language: str
    start_line: int
    end_line: int
    modifiers: tuple[str, ...]
    exported: bool
    is_test: bool
    is_generated: bool
    docstring: str
    signature_digest: str
    body_digest: str
    degrees: tuple[tuple[str, int], ...]
    """(kind of neighbour, number): what `get_context` would list."""


@dataclass(frozen=True, slots=True)
class NodeAnswer:
    """Answer of get_node; `node` is None unless found."""

    tool: str
    lookup: Lookup
    node: NodeDetail | None
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class ContextAnswer:
    """Answer of get_context: a node, what holds it, its source and its neighbours; `symbol` is None unless found."""

    tool: str
    lookup: Lookup
    symbol: Symbol | None
    docstring: str
    parents: tuple[Symbol, ...]
    source: Source | None
    sections: tuple[Section, ...]
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class TableAnswer:
    """Answer of cypher_query: rows of plain values."""

    tool: str
    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    truncated: bool
    """More rows exist than were read."""
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Described:
    """A label, edge type, property, language, strategy or example, and how many there are (-1: not counted)."""

    name: str
    description: str = ""
    count: int = -1


@dataclass(frozen=True, slots=True)
class SchemaAnswer:
    """Answer of schema_info: what can be asked for in Cypher and in filters."""

    tool: str
    labels: tuple[Described, ...]
    edge_types: tuple[Described, ...]
    node_properties: tuple[Described, ...]
    edge_properties: tuple[Described, ...]
    strategies: tuple[Described, ...]
    languages: tuple[Described, ...]
    examples: tuple[Described, ...]
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class ProjectStatus:
    """One project's counts."""

    project: str
    root: str
    generation: int
    indexed_at: str
    files: int
    nodes: int
    edges: int
    resolved: int
    unresolved: int
    """References that no rule could resolve: kept as unknown, not guessed."""
    chunks: int
    vectors: int
    model: str
    problems: int
    """Files that could only be read in part."""
    bytes_on_disk: int
    labels: tuple[Described, ...]
    languages: tuple[Described, ...]
    skipped: tuple[Described, ...]
    """By reason."""
    symbols: int = 0
    """Nodes that are definitions: classes, functions, methods, values."""
    stale_files: int = 0
    """Files known to have changed since they were read."""
    stale_symbols: int = 0
    """Texts whose vector is missing or made from an older text."""
    decisions: tuple[Described, ...] = ()
    """What the significance gate said of changed symbols so far, by reason."""


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file that is not indexed, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class PartialFile:
    """A file that is indexed, but could be read only in part."""

    path: str
    problem: str
    """The first one, as `line: code: message`; where secrets are masked, the first of these, separated by `; `."""
    problems: int
    """How many there are."""
    shown: int = 1
    """How many of them `problem` names."""


@dataclass(frozen=True, slots=True)
class StatusAnswer:
    """Answer of status."""

    tool: str
    projects: tuple[ProjectStatus, ...]
    skipped_files: tuple[SkippedFile, ...]
    evidence: Evidence
    daemon: DaemonStatus | None = None
    """None when nobody looked for one."""
    partial_files: tuple[PartialFile, ...] = ()
    """They are indexed, unlike `skipped_files`, and listed with them."""


@dataclass(frozen=True, slots=True)
class Check:
    """The state of one part: `ok`, `warning` (works, but see `fix`), `missing` (the rest works) or `broken`."""

    name: str
    state: str
    detail: str = ""
    fix: str = ""


@dataclass(frozen=True, slots=True)
class HealthAnswer:
    """Answer of health; `state` is the worst of the checks."""

    tool: str
    state: str
    checks: tuple[Check, ...]
    evidence: Evidence


Answer = SearchAnswer | NodeAnswer | ContextAnswer | TableAnswer | SchemaAnswer | StatusAnswer | HealthAnswer
