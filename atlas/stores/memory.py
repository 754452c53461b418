"""The store contract on plain dicts: slow, complete in what it keeps, and readable enough to be believed.

The reference that other stores are compared with, and a store for tests of what is above it. It has no Cypher. Word
search ranks by weighted counts only; everything else answers as the contract says.
"""

from __future__ import annotations

import math
import struct
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from atlas.errors import QueryError, StoreError
from atlas.model import (
    STRUCTURE,
    Chunk,
    Decision,
    Direction,
    Edge,
    EdgeRow,
    FileRecord,
    Filter,
    GraphDelta,
    Match,
    ModelInfo,
    Node,
    NodeRow,
    ProjectState,
    ProjectStats,
    Scored,
    SearchText,
    Skipped,
    SymbolDigests,
    Table,
    VectorRow,
)
from atlas.stores import names
from atlas.stores.chunks import FILE_LABELS, chunk_text
from atlas.stores.filters import predicate, unknown_project
from atlas.stores.memory_find import MATCHES, near, source_order

_WEIGHTS = (8.0, 4.0, 2.0, 1.0, 2.0)


@dataclass(slots=True)
class _Project:
    root: str
    generation: int = 0
    indexed_at: str = ""
    records: dict[str, FileRecord] = field(default_factory=dict[str, FileRecord])
    contents: dict[str, bytes] = field(default_factory=dict[str, bytes])
    skipped: dict[str, Skipped] = field(default_factory=dict[str, Skipped])
    decisions: Counter[str] = field(default_factory=Counter[str])
    """How often a reason was given."""


@dataclass(frozen=True, slots=True)
class _Owned:
    """A node with the unit that claimed its uid last."""

    project: str
    path: str
    row: NodeRow


class MemoryStore:
    """A `Store` that is gone when the process is."""

    apply_bytes = 4_000_000
    """See `Store.apply_bytes`."""

    def __init__(self) -> None:
        self._projects: dict[str, _Project] = {}
        self._nodes: dict[str, _Owned] = {}
        self._edges: dict[str, dict[tuple[str, str, int], EdgeRow]] = {}
        self._texts: dict[str, SearchText] = {}
        self._vectors: dict[str, tuple[ModelInfo, VectorRow]] = {}
        self._model: ModelInfo | None = None
        self._decisions: dict[str, Decision] = {}

    async def open_project(self, project: str, root: str) -> int:
        """See `Store.open_project`."""
        opened = self._projects.setdefault(project, _Project(root))
        opened.root = root
        return opened.generation

    async def apply(self, deltas: Sequence[GraphDelta]) -> int:
        """See `Store.apply`."""
        for delta in deltas:
            self._project(delta.project)
        decided = [(delta, decision) for delta in deltas if self._apply(delta) for decision in delta.decisions]
        for delta, decision in decided:
            self._projects[delta.project].decisions[decision.reason] += 1
            owned = self._nodes.get(decision.uid)
            if owned is not None and (owned.project, owned.path) == (delta.project, delta.path):
                self._decisions[decision.uid] = decision
        for kept in (self._vectors, self._decisions):
            for uid in kept.keys() - self._nodes.keys():
                del kept[uid]
        for uid in [uid for uid in self._vectors if not self._nodes[uid].row.chunk_digest]:
            del self._vectors[uid]
        for project in {delta.project for delta in deltas}:
            self._projects[project].generation += 1
        return self._projects[deltas[-1].project].generation if deltas else 0

    async def finish(self, project: str, skipped: Sequence[Skipped] | None = None) -> None:
        """See `Store.finish`."""
        finished = self._project(project)
        finished.indexed_at = datetime.now(UTC).isoformat(timespec="seconds")
        if skipped is not None:
            finished.skipped = {row.path: row for row in skipped}

    async def manifest(self, project: str) -> dict[str, FileRecord]:
        """See `Store.manifest`."""
        return dict(sorted(self._project(project).records.items()))

    async def records(self, project: str, paths: Sequence[str]) -> dict[str, FileRecord]:
        """See `Store.records`."""
        records = self._project(project).records
        return {path: records[path] for path in paths if path in records}

    async def projects(self) -> list[ProjectState]:
        """See `Store.projects`."""
        return [
            ProjectState(name, p.root, p.generation, p.indexed_at, self._model)
            for name, p in sorted(self._projects.items())
        ]

    async def skipped(self, project: str) -> list[Skipped]:
        """See `Store.skipped`."""
        return [row for _, row in sorted(self._project(project).skipped.items())]

    async def symbol_digests(self, project: str, paths: Sequence[str]) -> dict[str, dict[str, SymbolDigests]]:
        """See `Store.symbol_digests`."""
        records = self._project(project).records
        found: dict[str, dict[str, SymbolDigests]] = {path: {} for path in paths if path in records}
        for uid, owned in self._nodes.items():
            if owned.project == project and owned.path in found:
                row = owned.row
                found[owned.path][uid] = SymbolDigests(
                    row.signature_digest, row.body_digest, row.docstring_digest, row.text_digest, row.chunk_digest
                )
        return found

    async def decisions(self, uids: Sequence[str]) -> list[Decision]:
        """See `Store.decisions`."""
        return [self._decisions[uid] for uid in uids if uid in self._decisions]

    async def content(self, project: str, paths: Sequence[str]) -> dict[str, bytes]:
        """See `Store.content`."""
        contents = self._project(project).contents
        return {path: contents[path] for path in paths if path in contents}

    async def symbols(self, uids: Sequence[str]) -> list[Node]:
        """See `Store.symbols`."""
        return [self._node(uid) for uid in uids if uid in self._nodes]

    async def find(self, text: str, match: Match, where: Filter, limit: int) -> list[Node]:
        """See `Store.find`."""
        nodes = [node for node in self._filtered(where) if text or match is Match.PATH]
        if match is Match.PATH:
            order = list(self._projects)
            nodes = [node for node in nodes if node.row.path == text]
            nodes.sort(key=lambda node: (order.index(node.project), *source_order(node)))
        elif match is Match.NEAR:
            nodes = [node for _, _, node in sorted(near(text, nodes), key=lambda found: found[:2])]
        else:
            matches = MATCHES[match]
            nodes = sorted((node for node in nodes if matches(text, node.row)), key=names.order_key)
        return nodes[: max(limit, 0)]

    async def edges(
        self, uids: Sequence[str], direction: Direction, types: Sequence[str] = (), limit: int = 1000, each: int = 0
    ) -> list[Edge]:
        """See `Store.edges`."""
        found: list[Edge] = []
        for uid in dict.fromkeys(uids):
            near = [
                edge for edge in self._visible() if (edge.source if direction is Direction.OUT else edge.target) == uid
            ]
            ends = [Edge(edge, self._node(edge.target if direction is Direction.OUT else edge.source)) for edge in near]
            ends.sort(key=lambda e: (e.row.type, -e.row.confidence, e.node.row.path, e.row.line, e.node.row.uid))
            listed: Counter[str] = Counter()
            for end in ends:
                listed[end.row.type] += 1
                if (not types or end.row.type in types) and not 0 < each < listed[end.row.type]:
                    found.append(end)
        return found[: max(limit, 0)]

    async def degrees(
        self, uids: Sequence[str], direction: Direction, types: Sequence[str] = ()
    ) -> dict[str, dict[str, int]]:
        """See `Store.degrees`."""
        ends = (
            (edge.source if direction is Direction.OUT else edge.target, edge.type)
            for edge in self._visible()
            if not types or edge.type in types
        )
        found: dict[str, dict[str, int]] = {}
        for (uid, edge_type), count in Counter(ends).items():
            if uid in uids and uid in self._nodes:
                found.setdefault(uid, {})[edge_type] = count
        return found

    async def search_text(self, words: Sequence[str], where: Filter, limit: int) -> list[Scored]:
        """See `Store.search_text`."""
        scores: dict[str, float] = {}
        for node in self._filtered(where):
            text = self._texts.get(node.row.uid)
            if text is not None:
                counts = [Counter(column.split()) for column in text[1:]]
                pairs = [
                    (count[word], weight) for word in set(words) for count, weight in zip(counts, _WEIGHTS, strict=True)
                ]
                scores[node.row.uid] = sum(number * weight for number, weight in pairs)
        return _best(((uid, score) for uid, score in scores.items() if score > 0), limit)

    async def search_vector(self, vector: bytes, where: Filter, limit: int) -> list[Scored]:
        """See `Store.search_vector`."""
        nodes = self._filtered(where)
        if self._model is None or limit <= 0:
            return []
        if len(vector) != 4 * self._model.dimension:
            raise QueryError(
                f"the query vector has {len(vector) // 4} dimensions, the index has {self._model.dimension}"
            )
        query = struct.unpack(f"<{self._model.dimension}f", vector)
        scores: list[tuple[str, float]] = []
        for node in nodes:
            model, row = self._vectors.get(node.row.uid, (None, None))
            if model == self._model and row is not None:
                values = struct.unpack(f"<{self._model.dimension}e", row.data)
                length = math.hypot(*query) * math.hypot(*values)
                if length:
                    scores.append((node.row.uid, sum(a * b for a, b in zip(query, values, strict=True)) / length))
        return _best(scores, limit)

    async def stale_chunks(
        self, project: str, model: ModelInfo, limit: int, after: str = "", uids: Sequence[str] | None = None
    ) -> list[Chunk]:
        """See `Store.stale_chunks`."""
        contents = self._project(project).contents
        passed = after not in self._nodes
        chunks: list[Chunk] = []
        for uid, owned in sorted(self._nodes.items(), key=lambda item: (item[1].path, item[0])):
            row = owned.row
            made_by, vector = self._vectors.get(uid, (None, None))
            fresh = made_by == model and vector is not None and vector.digest == row.chunk_digest
            wanted = owned.project == project and row.chunk_digest and (uids is None or uid in uids)
            if passed and wanted and not fresh:
                text = chunk_text(contents.get(owned.path, b""), row.start_byte, row.end_byte)
                chunks.append(Chunk(uid, row.chunk_digest, row.chunk_name, text, row.label in FILE_LABELS))
            passed = passed or uid == after
        return chunks[: max(limit, 0)]

    async def put_vectors(self, project: str, model: ModelInfo, vectors: Sequence[VectorRow]) -> None:
        """See `Store.put_vectors`."""
        self._project(project)
        for row in vectors:
            if len(row.data) != 2 * model.dimension:
                raise StoreError(f"the vector of {row.uid} has {len(row.data)} bytes, not {2 * model.dimension}")
        self._model = model
        for row in vectors:
            owned = self._nodes.get(row.uid)
            if owned is not None and owned.project == project and owned.row.chunk_digest == row.digest:
                self._vectors[row.uid] = (model, row)

    async def units(self, project: str, paths: Sequence[str]) -> list[GraphDelta]:
        """See `Store.units`."""
        held = self._project(project)
        return [self._unit(project, held, path) for path in dict.fromkeys(paths) if path in held.records]

    async def vectors(self, project: str, limit: int, after: str = "") -> list[VectorRow]:
        """See `Store.vectors`."""
        self._project(project)
        found = [
            row
            for uid, (model, row) in sorted(self._vectors.items())
            if uid > after and model == self._model and self._nodes[uid].project == project
            if row.digest == self._nodes[uid].row.chunk_digest
        ]
        return found[: max(limit, 0)]

    async def stats(self, project: str = "") -> list[ProjectStats]:
        """See `Store.stats`."""
        if project:
            self._project(project)
        return [self._count(name) for name in sorted(self._projects) if project in ("", name)]

    async def cypher(self, text: str, parameters: Mapping[str, object], limit: int, timeout: float) -> Table:  # noqa: ASYNC109
        """Raise `StoreError`: there is no query language here."""
        raise StoreError("the memory store has no Cypher", "use the embedded store")

    async def aclose(self) -> None:
        """See `Store.aclose`."""

    def _project(self, project: str) -> _Project:
        if project not in self._projects:
            raise unknown_project(project, sorted(self._projects))
        return self._projects[project]

    def _apply(self, delta: GraphDelta) -> bool:
        """Bring the unit to the delta's content; return whether its record changed."""
        project = self._projects[delta.project]
        news = project.records.get(delta.path) != delta.record
        if delta.record is None:
            project.records.pop(delta.path, None)
            project.contents.pop(delta.path, None)
            self._replace(delta, ())
            return news
        project.records[delta.path] = delta.record
        if delta.content is not None:
            project.contents[delta.path] = delta.content
        if delta.nodes is not None:
            self._replace(delta, delta.nodes)
        return news

    def _replace(self, delta: GraphDelta, nodes: Sequence[NodeRow]) -> None:
        owned = {uid for uid, node in self._nodes.items() if (node.project, node.path) == (delta.project, delta.path)}
        claimed = {row.uid for row in nodes}
        for uid in owned | claimed:
            self._nodes.pop(uid, None)
            self._edges.pop(uid, None)
            self._texts.pop(uid, None)
        for row in nodes:
            self._nodes[row.uid] = _Owned(delta.project, delta.path, row)
        for text in delta.texts:
            if text.uid in claimed:
                self._texts[text.uid] = text
        for edge in delta.edges:
            if edge.source in claimed:
                self._edges.setdefault(edge.source, {})[edge.type, edge.target, edge.line] = edge

    def _unit(self, project: str, held: _Project, path: str) -> GraphDelta:
        owned = ((uid, node) for uid, node in self._nodes.items() if (node.project, node.path) == (project, path))
        nodes = [node.row for _, node in sorted(owned, key=lambda item: item[0])]
        edges = sorted(edge for row in nodes for edge in self._edges.get(row.uid, {}).values())
        decisions = [self._decisions[row.uid] for row in nodes if row.uid in self._decisions]
        content = held.contents.get(path)
        return GraphDelta(project, path, held.records[path], nodes, edges, content=content, decisions=decisions)

    def _node(self, uid: str) -> Node:
        owned = self._nodes[uid]
        return Node(owned.project, owned.row)

    def _filtered(self, where: Filter) -> list[Node]:
        if where.project:
            self._project(where.project)
        matches = predicate(where)
        return [node for node in map(self._node, self._nodes) if matches(node)]

    def _visible(self) -> Iterable[EdgeRow]:
        return (edge for edges in self._edges.values() for edge in edges.values() if edge.target in self._nodes)

    def _count(self, name: str) -> ProjectStats:
        project = self._projects[name]
        rows = [owned.row for owned in self._nodes.values() if owned.project == name]
        edges = [edge for edge in self._visible() if self._nodes[edge.source].project == name]
        files = [record for path, record in project.records.items() if path != STRUCTURE]
        vectors = {row.uid: self._vectors[row.uid] for row in rows if row.uid in self._vectors}
        return ProjectStats(
            project=name,
            root=project.root,
            generation=project.generation,
            indexed_at=project.indexed_at,
            files=len(files),
            nodes=Counter(row.label for row in rows),
            edges=Counter(edge.type for edge in edges),
            languages=Counter(record.language for record in files),
            resolved=sum(record.resolved for record in project.records.values()),
            unresolved=sum(record.unresolved for record in project.records.values()),
            chunks=sum(row.chunk_digest != "" for row in rows),
            vectors=sum(
                (row.uid in vectors)
                and vectors[row.uid][0] == self._model
                and vectors[row.uid][1].digest == row.chunk_digest
                for row in rows
            ),
            skipped=Counter(row.reason for row in project.skipped.values()),
            problems=sum(bool(record.problems) for record in project.records.values()),
            bytes_on_disk=0,
            model=self._model,
            strategies=Counter(edge.strategy for edge in edges),
            stale_files=sum(record.stale for record in files),
            decisions=Counter(project.decisions),
        )


def _best(scores: Iterable[tuple[str, float]], limit: int) -> list[Scored]:
    ranked = sorted(scores, key=lambda pair: (-pair[1], pair[0]))
    return [Scored(uid, score) for uid, score in ranked[: max(limit, 0)]]
