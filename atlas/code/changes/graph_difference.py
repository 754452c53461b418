"""What differs between the graphs of two indexes: files, symbols, and edges gained and lost.

Units with equal digests are equal, whatever their projects are called (ADR 0006), so only the others are read. Names
are those without the project.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from atlas.core.contracts import Store
from atlas.core.model import EdgeRow, FileRecord, NodeRow

BATCH = 200
"""Units that are read at once."""

OF_FILES = frozenset(
    (
        "file",
        "module",
        "package",
        "docfile",
        "adr",
        "code",
        "config",
        "markup",
        "text",
        "project",
        "subproject",
        "namespace",
    )
)
"""Kinds of nodes that stand for whole files, folders or projects: what differs in them is said by file."""

CONTAINS = "CONTAINS"
"""Edges of this type say where a symbol stands, which the symbol's own line says."""

Edge = tuple[str, str, str]
"""Qualified name of the source, type, and qualified name of the target."""


@dataclass(frozen=True, slots=True)
class GraphSide:
    """A project in an open store."""

    store: Store
    project: str


@dataclass(frozen=True, slots=True)
class DifferingSymbol:
    """A symbol that only one side has, or that differs; with its place on the side that has it, the new one first."""

    qualified_name: str
    kind: str
    path: str
    line: int
    what: str = ""
    """Of a changed one: which of signature, decorators, body and docstring differ. Of a moved one: its former name."""


@dataclass(frozen=True, slots=True)
class DifferingEdge:
    """An edge that only one side has, with its first line and the rule that found it."""

    source: str
    type: str
    target: str
    path: str
    line: int
    strategy: str
    confidence: float


@dataclass(slots=True)
class GraphDifference:
    """From the old side to the new one; every list is sorted."""

    files_added: list[str] = field(default_factory=list[str])
    files_removed: list[str] = field(default_factory=list[str])
    files_changed: list[str] = field(default_factory=list[str])
    added: list[DifferingSymbol] = field(default_factory=list[DifferingSymbol])
    removed: list[DifferingSymbol] = field(default_factory=list[DifferingSymbol])
    changed: list[DifferingSymbol] = field(default_factory=list[DifferingSymbol])
    moved: list[DifferingSymbol] = field(default_factory=list[DifferingSymbol])
    gained: list[DifferingEdge] = field(default_factory=list[DifferingEdge])
    lost: list[DifferingEdge] = field(default_factory=list[DifferingEdge])

    @property
    def is_empty(self) -> bool:
        """Whether both graphs say the same of the code; lines may have moved."""
        files = self.files_added or self.files_removed or self.files_changed
        return not (files or self.added or self.removed or self.changed or self.moved or self.gained or self.lost)


@dataclass(slots=True)
class _Read:
    """What one side says in the units that differ."""

    symbols: dict[str, NodeRow] = field(default_factory=dict[str, NodeRow])
    edges: dict[Edge, tuple[EdgeRow, str]] = field(default_factory=dict[Edge, tuple[EdgeRow, str]])
    """With the path of the unit."""


async def compare_graphs(old: GraphSide, new: GraphSide) -> GraphDifference:
    """Return what differs. Raises as the stores do."""
    before, after = await old.store.manifest(old.project), await new.store.manifest(new.project)
    differ = sorted(path for path in before.keys() | after.keys() if _differs(before.get(path), after.get(path)))
    was, now = await _read(old, differ), await _read(new, differ)
    found = GraphDifference(
        files_added=[path for path in differ if path and path not in before],
        files_removed=[path for path in differ if path and path not in after],
        files_changed=[path for path in differ if path and _has_other_content(before.get(path), after.get(path))],
        gained=_edges(now.edges, was.edges),
        lost=_edges(was.edges, now.edges),
    )
    gone = {name: row for name, row in was.symbols.items() if name not in now.symbols}
    come = {name: row for name, row in now.symbols.items() if name not in was.symbols}
    for name, former in _moved(gone, come):
        found.moved.append(_symbol(come.pop(name), former))
        del gone[former]
    found.added = [_symbol(come[name]) for name in sorted(come)]
    found.removed = [_symbol(gone[name]) for name in sorted(gone)]
    for name in sorted(now.symbols.keys() & was.symbols.keys()):
        if what := _what_differs(was.symbols[name], now.symbols[name]):
            found.changed.append(_symbol(now.symbols[name], what))
    return found


async def _read(side: GraphSide, paths: Sequence[str]) -> _Read:
    read, prefix = _Read(), len(side.project) + 1
    for start in range(0, len(paths), BATCH):
        for unit in await side.store.units(side.project, paths[start : start + BATCH]):
            for row in unit.nodes or ():
                if row.kind not in OF_FILES:
                    read.symbols[row.uid[prefix:]] = row
            for edge in unit.edges:
                if edge.type != CONTAINS:
                    read.edges[edge.source[prefix:], edge.type, edge.target[prefix:]] = edge, unit.path
    return read


def _differs(one: FileRecord | None, other: FileRecord | None) -> bool:
    return one is None or other is None or (one.unit_digest, one.digest) != (other.unit_digest, other.digest)


def _has_other_content(one: FileRecord | None, other: FileRecord | None) -> bool:
    return one is not None and other is not None and one.digest != other.digest


def _edges(mine: Mapping[Edge, tuple[EdgeRow, str]], theirs: Mapping[Edge, tuple[EdgeRow, str]]) -> list[DifferingEdge]:
    only = sorted(mine.keys() - theirs.keys())
    return [
        DifferingEdge(*edge, path, row.line, row.strategy, row.confidence)
        for edge in only
        for row, path in [mine[edge]]
    ]


def _moved(gone: Mapping[str, NodeRow], come: Mapping[str, NodeRow]) -> Iterator[tuple[str, str]]:
    """Yield (new name, former name) of symbols with the same name and text in another place, where that is clear."""
    former: dict[tuple[str, str, str], list[str]] = {}
    for name, row in gone.items():
        former.setdefault((row.kind, row.name, row.text_digest), []).append(name)
    now: dict[tuple[str, str, str], list[str]] = {}
    for name, row in come.items():
        now.setdefault((row.kind, row.name, row.text_digest), []).append(name)
    for key, names in sorted(now.items()):
        if key[2] and len(names) == 1 and len(former.get(key, ())) == 1:
            yield names[0], former[key][0]


def _what_differs(one: NodeRow, other: NodeRow) -> str:
    """Return which parts differ, "" if only the place or the lines do."""
    is_declared_alike = (one.signature, one.modifiers) == (other.signature, other.modifiers)
    parts = {
        "kind": one.kind != other.kind,
        "signature": not is_declared_alike,
        # the digest covers what stands before the declaration, too
        "decorators or comments": is_declared_alike and one.signature_digest != other.signature_digest,
        "body": one.body_digest != other.body_digest,
        "docstring": one.docstring_digest != other.docstring_digest,
    }
    return ", ".join(part for part, differs in parts.items() if differs)


def _symbol(row: NodeRow, what: str = "") -> DifferingSymbol:
    return DifferingSymbol(row.qualified_name, row.kind, row.path, row.line, what)
