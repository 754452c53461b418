"""The values that layers hand to each other: graph rows, deltas, records of files, hits and tables.

No behaviour beyond construction. Everything is frozen; rows written in bulk are NamedTuples because the Rust extension
hands over plain tuples of the same shape.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

STRUCTURE_PATH = ""
"""The path of the one unit that is not a file: Project, Package and External* nodes and their CONTAINS edges."""


class Label(StrEnum):
    """Node labels that something writes."""

    PROJECT = "Project"
    PACKAGE = "Package"
    FILE = "File"
    MODULE = "Module"
    CLASS = "Class"
    FUNCTION = "Function"
    METHOD = "Method"
    VALUE = "Value"
    DOC_FILE = "DocFile"
    DOC_SECTION = "DocSection"
    ADR = "ADR"
    EXTERNAL_PACKAGE = "ExternalPackage"
    EXTERNAL_SYMBOL = "ExternalSymbol"


class EdgeType(StrEnum):
    """Relationship types that something writes."""

    CONTAINS = "CONTAINS"
    DEFINES = "DEFINES"
    DEFINES_METHOD = "DEFINES_METHOD"
    INHERITS = "INHERITS"
    CALLS = "CALLS"
    REFERENCES = "REFERENCES"
    IMPORTS = "IMPORTS"
    USES_TYPE = "USES_TYPE"
    DOCUMENTS = "DOCUMENTS"
    AFFECTS = "AFFECTS"
    TESTS = "TESTS"
    OVERRIDES = "OVERRIDES"


class NodeRow(NamedTuple):
    """One node as it is written and read. Digests are 16 hex digits, "" where there is none."""

    uid: str
    label: str
    kind: str
    """Finer than the label: class interface struct trait enum type_alias function method constructor property field
    constant module package namespace file docfile docsection adr project subproject external_package external_symbol.
    """
    name: str
    qualified_name: str
    path: str
    """Relative to the project root, "/"-separated; "" for structure nodes."""
    language: str
    line: int
    """1-based line of the name; 0 for nodes without a place."""
    start_line: int
    end_line: int
    start_byte: int
    end_byte: int
    signature: str
    docstring: str
    is_test: bool
    is_generated: bool
    exported: bool
    modifiers: str
    """Space-separated, sorted: abstract async classmethod declaration generator overload static."""
    signature_digest: str
    body_digest: str
    docstring_digest: str
    text_digest: str
    chunk_digest: str
    """Digest of (chunk name, chunk text): what the vector is made from; "" when the node is not embedded."""
    chunk_name: str
    """The embedder's name field: "Class function", or the path for modules, files and document sections."""


class SearchText(NamedTuple):
    """What word search sees of one node. Identifiers are pre-split: "getUserById" -> "getuserbyid get user by id"."""

    uid: str
    name: str
    qualified_name: str
    docstring: str
    source: str
    """Words of the node's own text: without the text of nested nodes."""
    path: str


class EdgeRow(NamedTuple):
    """One edge. It belongs to the unit (file or structure) of its source node."""

    source: str
    target: str
    type: str
    line: int
    """1-based line of the evidence in the source node's file; 0 for structure."""
    strategy: str
    """The rule that found it (`import`, `self`, `inherited`, `constructor`, `local-type`, `unique-name`, ...)."""
    confidence: float
    """0..1, calibrated: the share of edges of this strategy that are right."""


@dataclass(frozen=True, slots=True)
class FileRecord:
    """What the store knows of one file (or of the structure unit, path "")."""

    path: str
    language: str = ""
    digest: str = ""
    """32 hex digits: first 16 bytes of BLAKE3 of the content that was indexed. Of the structure unit: what made it."""
    size: int = 0
    mtime_ns: int = 0
    lines: int = 0
    unit_digest: str = ""
    """Digest over all node, edge and text rows of the unit: equal digests need no write."""
    unresolved: int = 0
    """References that no rule could resolve: counted, not guessed."""
    resolved: int = 0
    is_test: bool = False
    is_generated: bool = False
    problems: tuple[str, ...] = ()
    """`line: code: message` each."""
    stale: bool = False
    """The file is known to have changed on disk since `digest` was read; size and time are then the newer file's."""


class Decision(NamedTuple):
    """What the significance gate said about a symbol that changed: is a new vector wanted soon, and why."""

    uid: str
    through: bool
    reason: str
    """added, deleted, signature, docstring, body: through; layout, comment, small-body: stopped."""


@dataclass(frozen=True, slots=True)
class GraphDelta:
    """The new content of one unit; after `apply` the store's content of the unit equals it.

    `record` None deletes the unit. `nodes` None keeps nodes, edges and texts and replaces only the record.
    `content` is the file's bytes (None keeps what is stored).
    """

    project: str
    path: str
    record: FileRecord | None
    nodes: Sequence[NodeRow] | None = None
    edges: Sequence[EdgeRow] = ()
    texts: Sequence[SearchText] = ()
    content: bytes | None = None
    decisions: Sequence[Decision] = ()
    """Recorded per symbol, the last one counts; those of symbols that the unit does not hold are only counted.

    A delta whose record is the stored one brings no news: its decisions are neither kept nor counted.
    """


class SymbolDigests(NamedTuple):
    """What the significance gate compares; see NodeRow."""

    signature: str
    body: str
    docstring: str
    text: str
    chunk: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that is not indexed, and why (`gitignore`, `scope`, `binary`, `too-large`, `secret`, ...)."""

    path: str
    reason: str
    size: int = 0
    mtime_ns: int = 0
    """Size and time of a file that was read and refused because of its content; 0 for the others."""


@dataclass(frozen=True, slots=True)
class Filter:
    """What reads are restricted to; empty means everything."""

    project: str = ""
    path: str = ""
    """Prefix of the path, or a glob if it holds `*` or `?`."""
    labels: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    include_tests: bool = True
    include_generated: bool = True


class Match(StrEnum):
    """How `find` compares names."""

    UID = "uid"
    EXACT = "exact"
    """Qualified name equal."""
    SUFFIX = "suffix"
    """Qualified name ends in the given dotted name (also the plain name), case-sensitive."""
    FOLDED = "folded"
    """As SUFFIX, without case."""
    PREFIX = "prefix"
    """Plain name starts with it, without case."""
    NEAR = "near"
    """Similar spelling, best first."""
    PATH = "path"
    """All nodes of one file (of the structure unit for ""), in source order."""


@dataclass(frozen=True, slots=True)
class Node:
    """A node as it is read: its row plus the project it belongs to."""

    project: str
    row: NodeRow


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge as it is read, with the far end's row (`node`), so that one read is enough to show it."""

    row: EdgeRow
    node: Node


class Direction(StrEnum):
    """Which end of an edge the given nodes are."""

    OUT = "out"
    IN = "in"


class Scored(NamedTuple):
    """A node by uid with a channel's own score; higher is better."""

    uid: str
    score: float


class Event(NamedTuple):
    """A hint on a stream: something about `key` in `project` may have changed."""

    project: str
    key: str
    """A path of a file or folder, or a uid; "" = anything in the project."""


class Delivery(NamedTuple):
    """An event as a consumer gets it."""

    id: str
    event: Event
    attempt: int
    """1 for the first delivery."""


@dataclass(frozen=True, slots=True)
class StreamState:
    """Where one group of a stream stands."""

    stream: str
    group: str
    length: int
    """Entries in the stream, pending ones included."""
    waiting: int
    """Entries that the group has not taken yet (lag)."""
    pending: int
    """Taken and not yet acknowledged."""
    dead: int
    """Dead letters of this group."""


class DeadLetter(NamedTuple):
    """An event that was given up."""

    id: str
    stream: str
    group: str
    event: Event
    attempts: int
    reason: str
    at: float
    """Unix time in seconds."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Text to embed: the first 3,000 characters of the node's text and its name field."""

    uid: str
    digest: str
    name: str
    text: str
    is_file: bool
    """True for modules, files and document sections, whose name field is the path (name weight 3 instead of 4)."""


@dataclass(frozen=True, slots=True)
class VectorRow:
    """One vector: `data` is little-endian float16, `digest` the chunk digest it was made from."""

    uid: str
    digest: str
    data: bytes


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What vectors were made with; a different value anywhere makes vectors stale."""

    provider: str
    model: str
    dimension: int
    fingerprint: str
    """sha256 of the weights, or what the provider offers instead."""


@dataclass(frozen=True, slots=True)
class EmbeddingStats:
    """Texts that an embedder could not take as they were, since it was made."""

    truncated: int = 0
    """Their ends were cut off, by estimate where the server does it."""
    given_up: int = 0
    """Taken in no form: their vector is zero, no question finds them by meaning."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of a Cypher query. Nodes and edges are mappings with `_label`/`_type`; `truncated`: the row cap cut it."""

    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class ProjectState:
    """Where a project lies and what state its index is in; cheap to read, for the evidence of every answer."""

    project: str
    root: str
    generation: int
    indexed_at: str
    """ISO 8601, UTC; "" when never indexed."""
    model: ModelInfo | None = None
    """What the store's vectors were last made with; None when it has none, or does not say."""
    host: str = field(default="", compare=False)
    """Of the process that writes it, where several hosts share a store."""


@dataclass(frozen=True, slots=True)
class ProjectStats:
    """Counts of one project in the store."""

    project: str
    root: str
    generation: int
    indexed_at: str
    """ISO 8601, UTC; "" when never indexed."""
    files: int
    nodes: Mapping[str, int]
    """By label."""
    edges: Mapping[str, int]
    """By type."""
    languages: Mapping[str, int]
    """Files by language."""
    resolved: int
    unresolved: int
    chunks: int
    vectors: int
    """Vectors that are up to date."""
    skipped: Mapping[str, int]
    """Files by reason."""
    problems: int
    """Files with problems."""
    bytes_on_disk: int
    model: ModelInfo | None = None
    strategies: Mapping[str, int] = field(default_factory=dict[str, int])
    """Edges by strategy."""
    stale_files: int = 0
    """Files that are known to have changed since they were read."""
    decisions: Mapping[str, int] = field(default_factory=dict[str, int])
    """What the significance gate said so far, by reason."""
