"""The store contract on plain dicts: slow, complete, and simple enough to check by reading.

It is the reference that other stores are compared with, and a store for tests of the layers above. It has no Cypher.
Word search ranks by weighted counts only; all other verbs follow the contract.
"""

from __future__ import annotations

import math
import struct
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping, Sequence

from atlas.adapters.stores.shared import names
from atlas.adapters.stores.shared.removal import drop_units
from atlas.adapters.stores.shared.spaces import FILE_LABELS, check_lengths, chunk_text, own_end
from atlas.core.errors import QueryError, StoreError
from atlas.core.model import (
    CODE,
    MAX_COUNTED,
    Chunk,
    Decision,
    Direction,
    Edge,
    FileRecord,
    Filter,
    GraphDelta,
    Match,
    ModelInfo,
    Node,
    Scored,
    Skipped,
    SymbolDigests,
    Table,
    VectorRow,
    WordCounts,
    is_in_space,
)
from atlas.core.project_state import ProjectState, ProjectStats, now
from reference_store.find import MATCHES, near, source_order
from reference_store.graph import MemoryGraph, ProjectData

_WEIGHTS = (8.0, 4.0, 2.0, 1.0, 2.0)


class MemoryStore:
    """A `Store` that lasts as long as the process."""

    apply_bytes = 4_000_000
    """See `Store.apply_bytes`."""

    def __init__(self) -> None:
        self._graph = MemoryGraph()

    async def open_project(self, project: str, root: str) -> int:
        """See `Store.open_project`."""
        opened = self._graph.projects.setdefault(project, ProjectData(root))
        opened.root = root
        return opened.generation

    async def drop_project(self, project: str) -> None:
        """See `Store.drop_project`."""
        await drop_units(self, project)
        del self._graph.projects[project]

    async def apply(self, deltas: Sequence[GraphDelta]) -> int:
        """See `Store.apply`."""
        return self._graph.apply(deltas)

    async def apply_batches(self, batches: AsyncIterator[Sequence[GraphDelta]]) -> AsyncGenerator[Sequence[GraphDelta]]:
        """See `Store.apply_batches`."""
        async for batch in batches:
            await self.apply(batch)
            yield batch

    async def finish(self, project: str, skipped: Sequence[Skipped] | None = None) -> None:
        """See `Store.finish`."""
        finished = self._graph.project(project)
        finished.indexed_at = finished.indexed_at or now()
        if skipped is not None:
            finished.skipped = {row.path: row for row in skipped}

    async def manifest(self, project: str) -> dict[str, FileRecord]:
        """See `Store.manifest`."""
        return dict(sorted(self._graph.project(project).records.items()))

    async def paths(self, project: str) -> list[str]:
        """See `Store.paths`."""
        return sorted(path for path in self._graph.project(project).records if path)

    async def records(self, project: str, paths: Sequence[str]) -> dict[str, FileRecord]:
        """See `Store.records`."""
        records = self._graph.project(project).records
        return {path: records[path] for path in paths if path in records}

    async def projects(self) -> list[ProjectState]:
        """See `Store.projects`."""
        return [
            ProjectState(
                name,
                p.root,
                p.generation,
                p.indexed_at,
                self._graph.known_models(),
                unread=any(row.unread for row in p.skipped.values()),
            )
            for name, p in sorted(self._graph.projects.items())
        ]

    async def skipped(self, project: str) -> list[Skipped]:
        """See `Store.skipped`."""
        return [row for _, row in sorted(self._graph.project(project).skipped.items())]

    async def symbol_digests(self, project: str, paths: Sequence[str]) -> dict[str, dict[str, SymbolDigests]]:
        """See `Store.symbol_digests`."""
        records = self._graph.project(project).records
        found: dict[str, dict[str, SymbolDigests]] = {path: {} for path in paths if path in records}
        for uid, owned in self._graph.nodes.items():
            if owned.project == project and owned.path in found:
                row = owned.row
                found[owned.path][uid] = SymbolDigests(
                    row.signature_digest, row.body_digest, row.docstring_digest, row.text_digest, row.chunk_digest
                )
        return found

    async def decisions(self, uids: Sequence[str]) -> list[Decision]:
        """See `Store.decisions`."""
        return [self._graph.decisions[uid] for uid in uids if uid in self._graph.decisions]

    async def content(self, project: str, paths: Sequence[str]) -> dict[str, bytes]:
        """See `Store.content`."""
        contents = self._graph.project(project).contents
        return {path: contents[path] for path in paths if path in contents}

    async def symbols(self, uids: Sequence[str], having: str = "") -> list[Node]:
        """See `Store.symbols`."""
        found = [self._graph.node(uid) for uid in uids if uid in self._graph.nodes]
        return [node for node in found if having in node.row.properties]

    async def find(self, text: str, match: Match, where: Filter, limit: int) -> list[Node]:
        """See `Store.find`."""
        nodes = [node for node in self._graph.filtered(where) if text or match is Match.PATH]
        if match is Match.PATH:
            order = list(self._graph.projects)
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
        outward, graph = direction is Direction.OUT, self._graph
        for uid in dict.fromkeys(uids):
            near = [edge for edge in graph.visible() if (edge.source if outward else edge.target) == uid]
            ends = [Edge(edge, graph.node(edge.target if outward else edge.source)) for edge in near]
            ends.sort(key=lambda e: (e.row.type, -e.row.confidence, e.node.row.path, e.row.line, e.node.row.uid))
            listed: Counter[str] = Counter()
            for end in ends:
                listed[end.row.type] += 1
                if (not types or end.row.type in types) and not 0 < each < listed[end.row.type]:
                    found.append(end)
        return found[: max(limit, 0)]

    async def edge_lines(
        self, uids: Sequence[str], types: Sequence[str], least: float = 0.0, limit: int = 10_000
    ) -> set[tuple[str, int]]:
        """See `Store.edge_lines`."""
        edges = await self.edges(uids, Direction.IN, types, limit)
        return {(each.node.row.path, line) for each in edges if each.row.confidence >= least for line in each.row.lines}

    async def degrees(
        self, uids: Sequence[str], direction: Direction, types: Sequence[str] = ()
    ) -> dict[str, dict[str, int]]:
        """See `Store.degrees`."""
        ends = (
            (edge.source if direction is Direction.OUT else edge.target, edge.type)
            for edge in self._graph.visible()
            if not types or edge.type in types
        )
        found: dict[str, dict[str, int]] = {}
        for (uid, edge_type), count in Counter(ends).items():
            if uid in uids and uid in self._graph.nodes:
                found.setdefault(uid, {})[edge_type] = count
        return found

    async def search_text(self, words: Sequence[str], where: Filter, limit: int) -> list[Scored]:
        """See `Store.search_text`."""
        scores: dict[str, float] = {}
        for node in self._graph.filtered(where):
            text = self._graph.texts.get(node.row.uid)
            if text is not None:
                columns = [f" {' '.join(column.split())} ".replace(" ", "  ") for column in text[1:]]
                asked = {f" {'  '.join(word.split())} " for word in words if word.strip()}
                scores[node.row.uid] = sum(
                    column.count(word) * weight
                    for word in asked
                    for column, weight in zip(columns, _WEIGHTS, strict=True)
                )
        return _best(((uid, score) for uid, score in scores.items() if score > 0), limit)

    async def count_words(self, words: Sequence[str], where: Filter) -> WordCounts:
        """See `Store.count_words`."""
        found: dict[str, dict[str, int]] = {word: {} for word in words if any(map(str.isalnum, word))}
        for node in self._graph.filtered(where):
            tokens = set(" ".join(self._graph.texts.get(node.row.uid, ("", ""))[1:]).split())
            for word in found.keys() & tokens:
                found[word][node.row.path] = found[word].get(node.row.path, 0) + 1
        paths = {path for files in found.values() for path in files}
        everything = self._graph.filtered(Filter(project=where.project))
        lengths = Counter(node.row.path for node in everything if node.row.path in paths)
        return WordCounts(lengths, {word: files for word, files in found.items() if sum(files.values()) <= MAX_COUNTED})

    async def search_vector(self, vector: bytes, where: Filter, limit: int, space: str = CODE) -> list[Scored]:
        """See `Store.search_vector`."""
        nodes, current = self._graph.filtered(where), self._graph.models.get(space)
        if current is None or limit <= 0:
            return []
        if len(vector) != 4 * current.dimension:
            raise QueryError(f"the query vector has {len(vector) // 4} dimensions, the index has {current.dimension}")
        query = struct.unpack(f"<{current.dimension}f", vector)
        scores: list[tuple[str, float]] = []
        for node in nodes:
            model, row = self._graph.vectors_of(space).get(node.row.uid, (None, None))
            if model == current and row is not None:
                values = struct.unpack(f"<{current.dimension}e", row.data)
                length = math.hypot(*query) * math.hypot(*values)
                if length:
                    scores.append((node.row.uid, sum(a * b for a, b in zip(query, values, strict=True)) / length))
        return _best(scores, limit)

    async def stale_chunks(
        self, project: str, model: ModelInfo, limit: int, after: str = "", uids: Sequence[str] | None = None
    ) -> list[Chunk]:
        """See `Store.stale_chunks`."""
        contents = self._graph.project(project).contents
        passed = after not in self._graph.nodes
        chunks: list[Chunk] = []
        for uid, owned in sorted(self._graph.nodes.items(), key=lambda item: (item[1].path, item[0])):
            row = owned.row
            fresh = self._graph.is_fresh(row, model)
            wanted = owned.project == project and row.chunk_digest and (uids is None or uid in uids)
            if passed and wanted and not fresh and is_in_space(model.space, row.label, row.kind):
                end = own_end(row.label, row.start_byte, row.end_byte, self._graph.sections(project, owned.path))
                text = chunk_text(contents.get(owned.path, b""), row.start_byte, end)
                chunks.append(Chunk(uid, row.chunk_digest, row.chunk_name, text, row.label in FILE_LABELS))
            passed = passed or uid == after
        return chunks[: max(limit, 0)]

    async def put_vectors(self, project: str, model: ModelInfo, vectors: Sequence[VectorRow]) -> None:
        """See `Store.put_vectors`."""
        self._graph.project(project)
        check_lengths(model, vectors)
        self._graph.models[model.space] = model
        for row in vectors:
            owned = self._graph.nodes.get(row.uid)
            if owned is not None and owned.project == project and owned.row.chunk_digest == row.digest:
                self._graph.vectors_of(model.space)[row.uid] = (model, row)

    async def units(self, project: str, paths: Sequence[str]) -> list[GraphDelta]:
        """See `Store.units`."""
        held = self._graph.project(project)
        return [self._graph.unit(project, path) for path in dict.fromkeys(paths) if path in held.records]

    async def vectors(self, project: str, limit: int, after: str = "", space: str = CODE) -> list[VectorRow]:
        """See `Store.vectors`."""
        self._graph.project(project)
        found = [
            row
            for uid, (model, row) in sorted(self._graph.vectors_of(space).items())
            if uid > after and model == self._graph.models.get(space) and self._graph.nodes[uid].project == project
            if row.digest == self._graph.nodes[uid].row.chunk_digest
        ]
        return found[: max(limit, 0)]

    async def stats(self, project: str = "") -> list[ProjectStats]:
        """See `Store.stats`."""
        if project:
            self._graph.project(project)
        return [self._graph.count(name) for name in sorted(self._graph.projects) if project in ("", name)]

    async def cypher(
        self,
        text: str,
        parameters: Mapping[str, object],
        limit: int,
        timeout: float,  # noqa: ASYNC109
        project: str = "",
    ) -> Table:
        """Raise `StoreError`: the memory store has no query language."""
        raise StoreError("the memory store has no Cypher", "use the embedded store")

    async def aclose(self) -> None:
        """See `Store.aclose`."""


def _best(scores: Iterable[tuple[str, float]], limit: int) -> list[Scored]:
    ranked = sorted(scores, key=lambda pair: (-pair[1], pair[0]))
    return [Scored(uid, score) for uid, score in ranked[: max(limit, 0)]]
