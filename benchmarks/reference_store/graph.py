"""The data of the in-memory store: units, nodes, edges, texts and vectors in dicts, and how a delta changes them.

It implements only what every verb needs: look up a project or a node, apply a filter, count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from atlas.adapters.stores.shared.filters import predicate, unknown_project
from atlas.core.model import (
    QUALITY,
    STRUCTURE_PATH,
    Decision,
    EdgeRow,
    FileRecord,
    Filter,
    GraphDelta,
    Label,
    ModelInfo,
    Node,
    NodeRow,
    SearchText,
    Skipped,
    VectorRow,
    is_in_space,
    space_of,
)
from atlas.core.project_state import ProjectStats, now


@dataclass(slots=True)
class ProjectData:
    """A project and its files. Mutable."""

    root: str
    generation: int = 0
    indexed_at: str = ""
    records: dict[str, FileRecord] = field(default_factory=dict[str, FileRecord])
    contents: dict[str, bytes] = field(default_factory=dict[str, bytes])
    skipped: dict[str, Skipped] = field(default_factory=dict[str, Skipped])
    decisions: Counter[str] = field(default_factory=Counter[str])
    """Number of decisions by reason."""


@dataclass(frozen=True, slots=True)
class OwnedNode:
    """A node and the unit that claimed its uid last."""

    project: str
    path: str
    row: NodeRow


class MemoryGraph:
    """All projects of one store. Mutable."""

    def __init__(self) -> None:
        self.projects: dict[str, ProjectData] = {}
        self.nodes: dict[str, OwnedNode] = {}
        self.edges: dict[str, dict[tuple[str, str, int], EdgeRow]] = {}
        """By source; includes edges whose target does not exist."""
        self.texts: dict[str, SearchText] = {}
        self.vectors: dict[str, tuple[ModelInfo, VectorRow]] = {}
        self.quality_vectors: dict[str, tuple[ModelInfo, VectorRow]] = {}
        """The second vectors of nodes, of the space `QUALITY`."""
        self.models: dict[str, ModelInfo] = {}
        """By space."""
        self.decisions: dict[str, Decision] = {}

    def project(self, project: str) -> ProjectData:
        """Return the data of a project. Raises `NotFound` with the names of the existing projects."""
        if project not in self.projects:
            raise unknown_project(project, sorted(self.projects))
        return self.projects[project]

    def apply(self, deltas: Sequence[GraphDelta]) -> int:
        """Make each unit equal to its delta, and drop the vectors and decisions of deleted nodes."""
        for delta in deltas:
            self.project(delta.project)
        decided = [(delta, decision) for delta in deltas if self._apply(delta) for decision in delta.decisions]
        for delta, decision in decided:
            self.projects[delta.project].decisions[decision.reason] += 1
            owned = self.nodes.get(decision.uid)
            if owned is not None and (owned.project, owned.path) == (delta.project, delta.path):
                self.decisions[decision.uid] = decision
        for kept in (self.vectors, self.quality_vectors, self.decisions):
            for uid in kept.keys() - self.nodes.keys():
                del kept[uid]
        for vectors in (self.vectors, self.quality_vectors):
            for uid in [uid for uid in vectors if not self.nodes[uid].row.chunk_digest]:
                del vectors[uid]
        for project in {delta.project for delta in deltas}:
            self.projects[project].generation += 1
            self.projects[project].indexed_at = self.projects[project].indexed_at and now()
        return self.projects[deltas[-1].project].generation if deltas else 0

    def unit(self, project: str, path: str) -> GraphDelta:
        """Return the delta that would produce the unit, without texts."""
        owned = ((uid, node) for uid, node in self.nodes.items() if (node.project, node.path) == (project, path))
        nodes = [node.row for _, node in sorted(owned, key=lambda item: item[0])]
        edges = sorted(edge for row in nodes for edge in self.edges.get(row.uid, {}).values())
        decisions = [self.decisions[row.uid] for row in nodes if row.uid in self.decisions]
        held = self.projects[project]
        content = held.contents.get(path)
        return GraphDelta(project, path, held.records[path], nodes, edges, content=content, decisions=decisions)

    def vectors_of(self, space: str) -> dict[str, tuple[ModelInfo, VectorRow]]:
        """Return the dict that holds the vectors of a space, by uid."""
        return self.quality_vectors if space == QUALITY else self.vectors

    def known_models(self) -> tuple[ModelInfo, ...]:
        """Return the models of the vectors by name of the space."""
        return tuple(model for _, model in sorted(self.models.items()))

    def node(self, uid: str) -> Node:
        """Return an existing node."""
        owned = self.nodes[uid]
        return Node(owned.project, owned.row)

    def filtered(self, where: Filter) -> list[Node]:
        """Return the nodes that pass the filter. Raises `NotFound` for an unknown project."""
        if where.project:
            self.project(where.project)
        matches = predicate(where)
        return [node for node in map(self.node, self.nodes) if matches(node)]

    def visible(self) -> Iterable[EdgeRow]:
        """Return the edges whose target exists."""
        return (edge for edges in self.edges.values() for edge in edges.values() if edge.target in self.nodes)

    def count(self, name: str) -> ProjectStats:
        """Return the counts of an existing project."""
        project = self.projects[name]
        rows = [owned.row for owned in self.nodes.values() if owned.project == name]
        edges = [edge for edge in self.visible() if self.nodes[edge.source].project == name]
        files = [record for path, record in project.records.items() if path != STRUCTURE_PATH]
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
            vectors=sum(self.is_fresh(row, self.models.get(space_of(row.label, row.kind))) for row in rows),
            quality_chunks=sum(row.chunk_digest != "" and is_in_space(QUALITY, row.label, row.kind) for row in rows),
            quality_vectors=sum(self.is_fresh(row, self.models.get(QUALITY)) for row in rows),
            skipped=Counter(row.reason for row in project.skipped.values()),
            problems=sum(bool(record.problems) for record in project.records.values()),
            bytes_on_disk=0,
            models=self.known_models(),
            strategies=Counter(edge.strategy for edge in edges),
            stale_files=sum(record.stale for record in files),
            decisions=Counter(project.decisions),
        )

    def is_fresh(self, row: NodeRow, model: ModelInfo | None) -> bool:
        """Return whether a node has a vector of its current text by a model."""
        made_by, vector = self.vectors_of(model.space if model else "").get(row.uid, (None, None))
        return made_by is not None and made_by == model and vector is not None and vector.digest == row.chunk_digest

    def sections(self, project: str, path: str) -> list[int]:
        """Return where the sections of a file start, sorted."""
        owned = (node.row for node in self.nodes.values() if (node.project, node.path) == (project, path))
        return sorted(row.start_byte for row in owned if row.label == Label.DOC_SECTION)

    def _apply(self, delta: GraphDelta) -> bool:
        """Update the unit to the delta's content; return whether its record changed."""
        project = self.projects[delta.project]
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
        owned = {uid for uid, node in self.nodes.items() if (node.project, node.path) == (delta.project, delta.path)}
        claimed = {row.uid for row in nodes}
        for uid in owned | claimed:
            self.nodes.pop(uid, None)
            self.edges.pop(uid, None)
            self.texts.pop(uid, None)
        for row in nodes:
            self.nodes[row.uid] = OwnedNode(delta.project, delta.path, row)
        for text in delta.texts:
            if text.uid in claimed:
                self.texts[text.uid] = text
        for edge in delta.edges:
            if edge.source in claimed:
                self.edges.setdefault(edge.source, {})[edge.type, edge.target, edge.line] = edge
