"""How answers describe symbols: citations, hits, neighbours, related symbols, source and the result of a lookup.

All are frozen dataclasses of values. Places, digests, scores and absent values are written as in `answers`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Neighbour:
    """The node at the other end of an edge, with the edge's evidence."""

    uid: str
    kind: str
    place: str
    at: str
    """Place of the evidence: a line in the source node's file; "" for structural edges."""
    type: str
    strategy: str
    confidence: float
    digest: str = ""


@dataclass(frozen=True, slots=True)
class NeighbourSection:
    """Neighbours of one kind (`callers`, `callees`, `docs`, ...), best first; `total` includes those not listed."""

    kind: str
    total: int
    neighbours: tuple[Neighbour, ...]


@dataclass(frozen=True, slots=True)
class Symbol:
    """A short description of a node: enough to cite it and to request details."""

    uid: str
    kind: str
    name: str
    qualified_name: str
    place: str
    digest: str
    signature: str
    summary: str = ""
    """First sentence of the docstring."""


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A line of source: its number in the file, and its text without the indentation of all lines around it."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class SymbolHit:
    """A search result: the symbol, and why it matched. Of weaker hits only name and place are shown."""

    rank: int
    symbol: Symbol
    score: float
    """Comparable only within one answer."""
    channels: tuple[str, ...]
    words: tuple[str, ...]
    """Query words that occur in the name, signature, documentation or path."""
    reasons: tuple[str, ...]
    also: tuple[str, ...] = ()
    """UIDs of nodes for the same symbol that are merged into this hit: constructor, stub, declaration."""
    lines: tuple[SourceLine, ...] = ()
    """Lines of its source, in order: statements that match the query."""
    marks: str = ""
    """Of a note or decision record: status, author, age, and what makes it suspect."""
    same_file: tuple[str, ...] = ()
    """Weaker hits of the same file, as `name line`."""
    sure: str = ""
    """`sure`, `likely` or `guess`: how likely it is meant; "" where only one channel was asked."""
    near: tuple[str, ...] = ()
    """Callers and callees that have words of the question and are not hits, as `calls name path:line`."""


@dataclass(frozen=True, slots=True)
class RelatedLine:
    """A symbol that answers a question about a relation, with the lines of the evidence in its file."""

    name: str
    """Qualified name, without what the path of its file says."""
    kind: str
    lines: tuple[int, ...]
    strategy: str
    confidence: float
    depth: int
    """Number of edges from the subject; negative above it in a hierarchy."""
    through: str = ""
    """Qualified name of the symbol in between, for a depth of 2 or more."""
    detail: str = ""
    """Signature, where the question asks for definitions."""
    symbol: str = ""
    """Qualified name, of which `name` may lack what the path says; not shown."""


@dataclass(frozen=True, slots=True)
class FileGroup:
    """Related symbols with evidence in one file."""

    path: str
    symbols: tuple[RelatedLine, ...]


@dataclass(frozen=True, slots=True)
class Lookup:
    """Result of a name lookup.

    `outcome` is `found`, `ambiguous` (see `candidates`) or `not_found` (see the other fields).
    """

    name: str
    outcome: str
    how: str = ""
    """How the name matched: `uid`, `place`, `exact`, `suffix`, `folded` (ignoring case) or `path`."""
    candidates: tuple[Symbol, ...] = ()
    near: tuple[Symbol, ...] = ()
    diagnosis: tuple[str, ...] = ()
    """Possible reasons: a skipped file, parse problems, an unresolved mention, or no such name."""


@dataclass(frozen=True, slots=True)
class SourceLines:
    """Source lines of a node, from the indexed version of its file."""

    text: str
    start_line: int
    end_line: int
    """Last line shown."""
    last_line: int
    """Last line of the node."""


@dataclass(frozen=True, slots=True)
class NodeDetail:
    """A node with all of its indexed properties except source and edges."""

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
    """(kind of neighbour, count), as `get_context` would list them."""
    marks: str = ""
    """Of a note: status, author, age, and what makes it suspect."""
