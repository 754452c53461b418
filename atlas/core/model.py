"""The values of the graph that layers exchange: rows, deltas, records of files, matches, vectors. All are frozen.

Rows written in bulk are NamedTuples because the Rust extension returns plain tuples of the same shape.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from atlas.core.labels import CODE as CODE
from atlas.core.labels import DOCUMENTS as DOCUMENTS
from atlas.core.labels import PASSAGE as PASSAGE
from atlas.core.labels import PROSE as PROSE
from atlas.core.labels import PROSE_LABELS as PROSE_LABELS
from atlas.core.labels import QUALITY as QUALITY
from atlas.core.labels import TEXT as TEXT
from atlas.core.labels import EdgeType as EdgeType
from atlas.core.labels import Label as Label
from atlas.core.labels import is_in_space as is_in_space
from atlas.core.labels import is_prose as is_prose
from atlas.core.labels import space_of as space_of

STRUCTURE_PATH = ""
"""Path of the only unit that is not a file: Project, Package and External* nodes with CONTAINS and DEPENDS_ON edges."""


class NodeRow(NamedTuple):
    """One node as stored. Digests have 16 hex digits; "" if there is none."""

    uid: str
    label: str
    kind: str
    """Finer than the label: class interface struct trait enum type_alias function method constructor property field
    constant module package namespace file docfile docsection adr code config markup text passage claim decision entity
    observation project subproject external_package external_symbol route event signal task message dom_event command
    article section category paper. Entities of packs: symbol, term or what their signature says. Facts: definition
    default deprecated removed added changed limit error.
    """
    name: str
    qualified_name: str
    path: str
    """Relative to the project root, "/"-separated; "" for structure nodes."""
    language: str = ""
    line: int = 0
    """1-based line of the name; 0 for nodes without a source position."""
    start_line: int = 0
    end_line: int = 0
    start_byte: int = 0
    end_byte: int = 0
    signature: str = ""
    docstring: str = ""
    is_test: bool = False
    is_generated: bool = False
    exported: bool = True
    modifiers: str = ""
    """Space-separated, sorted: abstract async classmethod declaration generator overload static."""
    signature_digest: str = ""
    body_digest: str = ""
    docstring_digest: str = ""
    text_digest: str = ""
    chunk_digest: str = ""
    """Digest of (chunk name, chunk text), which the vector is computed from; "" if the node is not embedded."""
    chunk_name: str = ""
    """The embedder's name field: "Class function"; the path of modules, files and sections."""
    properties: str = ""
    """A JSON object (sorted keys, compact). Of routes: framework, method, path. Of symbols with calls of the project's
    names that no rule resolves: `unresolved`, as `{name: [[shape, reason, line, ...], ...]}`
    (`atlas.code.graph.absence.unresolved`); with calls by URL that fit no route: `requests`, as `[[methods, path,
    line], ...]`. Of projects: `provides`, as `[[ecosystem, name, version, manifest], ...]`. Of notes: status,
    confidence, source, created, updated, client, agent, type and aliases as far as they are known. Of external
    packages: ecosystem, import_name if it differs from the name, and standard, the languages whose standard library it
    is. Of packs' nodes: see `atlas.packs.documentation.rows`. "" for others."""


class SearchText(NamedTuple):
    """The text of one node for word search, pre-split: "getUserById" -> "getuserbyid get user by id"."""

    uid: str
    name: str
    qualified_name: str
    docstring: str
    source: str
    """Words of the node's own text, without the text of nested nodes."""
    path: str


class EdgeRow(NamedTuple):
    """One edge. It belongs to the unit (file or structure) of its source node."""

    source: str
    target: str
    type: str
    line: int
    """1-based first line of the evidence in the source node's file; 0 for structural edges."""
    strategy: str
    """The rule that resolved it (`import`, `self`, `inherited`, `constructor`, `local-type`, `unique-name`, ...)."""
    confidence: float
    """0..1, calibrated: the share of correct edges of this strategy. Of a relation between notes: the stated one."""
    further_lines: tuple[int, ...] = ()
    """The lines of the evidence after `line`, ascending. The linker keeps the first 199."""
    properties: str = ""
    """Of TESTS through fixtures and helpers: depth. Of edges with the strategies `stated` and `anchor`: a JSON object
    (sorted keys, compact). Relations have reasoning, created, type and types, ABOUT has signature, body, docstring,
    path, line and commit; "" if none is known. Of DEPENDS_ON: kind, ecosystem, package, group, range, marker,
    locked, lock (its place in a lock file), path (the manifest that has `line`) and also (further declarations)."""

    @property
    def lines(self) -> tuple[int, ...]:
        """All lines of the evidence, ascending; () for structural edges."""
        return (self.line, *self.further_lines) if self.line else ()


@dataclass(frozen=True, slots=True)
class FileRecord:
    """The stored record of one file (or of the structure unit, path "")."""

    path: str
    language: str = ""
    digest: str = ""
    """32 hex digits: first 16 bytes of BLAKE3 of the indexed content. For the structure unit: digest of its inputs."""
    size: int = 0
    mtime_ns: int = 0
    lines: int = 0
    unit_digest: str = ""
    """Digest over all node, edge and text rows of the unit; an equal digest makes a write unnecessary."""
    unresolved: int = 0
    """References that no rule could resolve: counted, not guessed."""
    resolved: int = 0
    is_test: bool = False
    is_generated: bool = False
    problems: tuple[str, ...] = ()
    """`line: code: message` each."""
    stale: bool = False
    """The file is known to have changed on disk since `digest` was computed; size and time are the newer file's."""


class Decision(NamedTuple):
    """The significance gate's decision on a changed symbol: whether it needs a new vector soon, and why."""

    uid: str
    through: bool
    reason: str
    """added, deleted, signature, docstring, body: pass the gate; layout, comment, small-body: do not."""


@dataclass(frozen=True, slots=True)
class UnitRows:
    """The rows of a unit as a writer has made them."""

    digest: str
    """`unit_digest` of the record that belongs to them."""
    nodes: Sequence[NodeRow]
    edges: frozenset[EdgeRow]
    texts: Sequence[SearchText]


@dataclass(frozen=True, slots=True)
class GraphDelta:
    """The complete new content of one unit.

    `record` None deletes the unit; `nodes` None keeps nodes, edges and texts; `content` None keeps the stored bytes.
    """

    project: str
    path: str
    record: FileRecord | None
    nodes: Sequence[NodeRow] | None = None
    edges: Sequence[EdgeRow] = ()
    texts: Sequence[SearchText] = ()
    content: bytes | None = None
    decisions: Sequence[Decision] = ()
    """The last one per symbol is recorded; those on symbols outside the unit are only counted. A delta whose record
    equals the stored one changes nothing: its decisions are neither recorded nor counted."""
    before: UnitRows | None = None
    """What the writer gave this unit last: a store with the record of that digest may compare with these rows, and
    read only what they do not share with the new ones."""


class SymbolDigests(NamedTuple):
    """The digests that the significance gate compares; see NodeRow."""

    signature: str
    body: str
    docstring: str
    text: str
    chunk: str


RULE_FILES = {
    "too-many-gitignore-rules": ".gitignore",
    "too-many-atlasignore-rules": ".atlasignore",
    "too-many-exclude-rules": ".git/info/exclude",
    "too-many-rules-above": "a .gitignore above it",
}
"""Reasons of folders of which nothing is indexed, since it is unknown what they ignore; and the file at fault."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that is not indexed, and the reason (`gitignore`, `scope`, `binary`, `too-large`, `secret`, ...).

    The path of a folder ends in `/`; the root's is `/`.
    """

    path: str
    reason: str
    size: int = 0
    mtime_ns: int = 0
    """Size and time of a file that was read and rejected because of its content; 0 for others."""

    @property
    def unread(self) -> str:
        """Why it is unknown what is in a folder, as one line; "" for files and for folders that rules exclude."""
        if self.reason not in RULE_FILES:
            return ""
        folder, file = self.path.lstrip("/"), RULE_FILES[self.reason]
        what = f"in {folder}" if folder else "of the project"
        place = file if self.reason == "too-many-rules-above" else f"{folder}{file}"
        return f"nothing {what} is indexed: {place} has more patterns than are obeyed (about 20,000)"


@dataclass(frozen=True, slots=True)
class Filter:
    """Restrictions of a read; empty values do not restrict."""

    project: str = ""
    path: str = ""
    """Path prefix, or a glob if it contains `*` or `?`."""
    labels: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    include_tests: bool = True
    include_generated: bool = True


class Match(StrEnum):
    """How `find` compares names."""

    UID = "uid"
    EXACT = "exact"
    """Equal qualified name."""
    SUFFIX = "suffix"
    """Qualified name ends with the given dotted or plain name, case-sensitive."""
    FOLDED = "folded"
    """Like SUFFIX, ignoring case."""
    PREFIX = "prefix"
    """Plain name starts with the text, ignoring case."""
    NEAR = "near"
    """Similar spelling, best first."""
    PATH = "path"
    """All nodes of one file in source order; "" = the structure unit."""


@dataclass(frozen=True, slots=True)
class Node:
    """A node as read: its row and its project."""

    project: str
    row: NodeRow


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge as read, with the row of the node at the other end (`node`), so that one read is enough to show it."""

    row: EdgeRow
    node: Node


class Direction(StrEnum):
    """Direction of edges, seen from the given nodes."""

    OUT = "out"
    IN = "in"


class Scored(NamedTuple):
    """The uid of a node with its score in one channel; higher is better."""

    uid: str
    score: float


MAX_COUNTED = 3_000
"""Nodes up to which the files of a word are counted; a more frequent word hardly tells files apart."""


@dataclass(frozen=True, slots=True)
class WordCounts:
    """In which files words occur, and how often: a word counts once per node that contains it."""

    nodes: Mapping[str, int]
    """Nodes of each file that has one of the words, by path: the length of the file."""
    words: Mapping[str, Mapping[str, int]]
    """By word: path -> nodes that contain it. Words of more than `MAX_COUNTED` nodes are omitted."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Text to embed: the first 3,000 characters of the node's text, and its name field."""

    uid: str
    digest: str
    name: str
    text: str
    is_file: bool
    """True for modules, files and document sections, whose name field is the path (name weight 3 instead of 4)."""


@dataclass(frozen=True, slots=True)
class VectorRow:
    """One vector: `data` is little-endian float16, `digest` the digest of the embedded chunk."""

    uid: str
    digest: str
    data: bytes


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """Identity of an embedding model; vectors of a model that differs in any field are stale."""

    provider: str
    model: str
    dimension: int
    fingerprint: str
    """SHA-256 of the weights, or the provider's substitute for it."""
    space: str = CODE
    """The vector space, `CODE`, `DOCUMENTS`, `PROSE` or `QUALITY`, which says which nodes the model embeds."""


@dataclass(frozen=True, slots=True)
class EmbeddingStats:
    """Texts that an embedder could not embed unchanged, since its creation."""

    truncated: int = 0
    """Truncated texts; an estimate if the server truncates."""
    given_up: int = 0
    """Texts that were rejected in any form: their vector is zero, so vector search does not find them."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of a Cypher query. Nodes and edges are mappings with `_label`/`_type`; `truncated`: cut at the row limit."""

    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    truncated: bool = False
