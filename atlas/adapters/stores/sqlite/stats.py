"""The `stats` verb on SQLite: counts of projects, cached until the next write."""

from __future__ import annotations

import contextlib
import json
import threading
from collections import Counter
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import apsw

from atlas.adapters.stores.shared.filters import unknown_project
from atlas.adapters.stores.shared.spaces import sql_in_space
from atlas.adapters.stores.shared.statements import statements
from atlas.adapters.stores.sqlite.read import current_model, current_models
from atlas.adapters.stores.sqlite.rows import Row, fetch, select, value
from atlas.core.model import CODE, DOCUMENTS, PROSE, QUALITY
from atlas.core.project_state import ProjectStats
from atlas.runtime.process.files import read_file, write_file

FILE = "counts.json"
"""Beside the database: the last counts, for the next process. A file that is missing, damaged or old counts nothing."""


@dataclass(frozen=True, slots=True)
class _Counts:
    """Counts that take long and depend only on the generations of projects and vectors."""

    nodes: dict[str, int]
    chunks: int
    edges: dict[str, int]
    strategies: dict[str, int]
    vectors: int
    quality_chunks: int
    quality_vectors: int


@dataclass(frozen=True, slots=True)
class _FileSums:
    """Sums over files; they also change between generations, when a file is marked as stale."""

    files: list[Row]
    structure: list[Row]
    skipped: dict[str, int]
    decisions: dict[str, int]


class StatsReader:
    """Counts by SQL (about 0.1 s per 50,000 nodes), cached while the store's generations stay the same.

    Each connection caches sums over files (1 ms per 3,000) until it sees a commit of another connection.
    """

    def __init__(self, path: Path, *, keeps: bool = False) -> None:
        """Read the counts of the database at `path`; with `keeps` its folder is the index's own and holds them, too."""
        self._path = path
        self._file = path.with_name(FILE) if keeps else None
        self._guard = threading.Lock()
        self._state: tuple[object, ...] = ()
        self._counted: dict[int, _Counts] = {}
        self._summed: WeakKeyDictionary[apsw.Connection, tuple[int, dict[int, _FileSums]]] = WeakKeyDictionary()

    def read(self, connection: apsw.Connection, project: str) -> list[ProjectStats]:
        """See `Store.stats`. Raises `NotFound` for an unknown project."""
        projects = fetch(connection, statements("stats")["projects"])
        names = [row[1] for row in projects]
        if project and project not in names:
            raise unknown_project(project, names)
        return [self._stats(connection, row) for row in projects if project in ("", row[1])]

    def _stats(self, connection: apsw.Connection, project: Row) -> ProjectStats:
        owner, name, root, generation, indexed_at = project
        counts = self._counts(connection, owner)
        summed = self._file_sums(connection, owner)
        files, structure = summed.files, summed.structure
        return ProjectStats(
            project=name,
            root=root,
            generation=generation,
            indexed_at=indexed_at,
            files=sum(row[1] for row in files),
            nodes=counts.nodes,
            edges=counts.edges,
            languages={row[0]: row[1] for row in files},
            resolved=sum(row[2] for row in files) + sum(row[0] for row in structure),
            unresolved=sum(row[3] for row in files) + sum(row[1] for row in structure),
            chunks=counts.chunks,
            vectors=counts.vectors,
            quality_chunks=counts.quality_chunks,
            quality_vectors=counts.quality_vectors,
            skipped=dict(summed.skipped),
            problems=sum(row[4] for row in files) + sum(row[2] for row in structure),
            bytes_on_disk=self._size(),
            models=current_models(connection),
            strategies=counts.strategies,
            stale_files=sum(row[5] for row in files),
            decisions=dict(summed.decisions),
            began_from="".join(row[0] for row in fetch(connection, statements("seed")["beginning"])),
        )

    def _counts(self, connection: apsw.Connection, project: int) -> _Counts:
        read = statements("stats")
        state = fetch(connection, read["state"])[0]
        with self._guard:
            if state != self._state:
                self._state, self._counted = state, self._kept(state)
            if project not in self._counted:
                self._counted[project] = _count(connection, project)
                self._keep()
            return self._counted[project]

    def _kept(self, state: tuple[object, ...]) -> dict[int, _Counts]:
        """Return the counts that another process has made of the same state of the store."""
        if self._file is None:
            return {}
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
            kept: dict[str, Any] = json.loads(read_file(self._file))
            if kept["state"] == list(state):
                return {int(project): _Counts(**counts) for project, counts in kept["counts"].items()}
        return {}

    def _keep(self) -> None:
        if self._file is None:
            return
        counts = {str(project): asdict(counts) for project, counts in self._counted.items()}
        with contextlib.suppress(OSError):  # a full or read-only disk
            write_file(self._file, json.dumps({"state": self._state, "counts": counts}).encode())

    def _file_sums(self, connection: apsw.Connection, project: int) -> _FileSums:
        read = statements("stats")
        version: int = value(connection, read["version"])
        with self._guard:
            seen, summed = self._summed.get(connection, (-1, dict[int, _FileSums]()))
            if seen != version:
                summed = dict[int, _FileSums]()
                self._summed[connection] = (version, summed)
        # A connection belongs to one thread, and all statements of a transaction see the same version.
        if project not in summed:
            summed[project] = _FileSums(
                fetch(connection, read["files"], (project,)),
                fetch(connection, read["structure"], (project,)),
                dict(fetch(connection, read["skipped"], (project,))),
                dict(fetch(connection, read["decisions"], (project,))),
            )
        return summed[project]

    def _size(self) -> int:
        files = (self._path, self._path.with_name(self._path.name + "-wal"))
        return sum(file.stat().st_size for file in files if file.exists())


def _count(connection: apsw.Connection, project: int) -> _Counts:
    read = statements("stats")
    made_by = [model[0] if model else -1 for model in map(partial(current_model, connection), (CODE, DOCUMENTS, PROSE))]
    spaces = {space: sql_in_space(space, "n") for space in (DOCUMENTS, PROSE, QUALITY)}
    nodes = fetch(connection, read["nodes"].format(**spaces), (project, *made_by))
    types, strategies = _edges(connection, project)
    by_label = {row[0]: row[1] for row in nodes}
    chunks, vectors, further = (sum(row[column] for row in nodes) for column in (2, 3, 4))
    model = current_model(connection, QUALITY)  # most indexes have none: this saves a scan
    made = value(connection, read["quality_vectors"], (project, model[0])) if model is not None else 0
    return _Counts(by_label, chunks, types, strategies, vectors, further, made)


def _edges(connection: apsw.Connection, project: int) -> tuple[dict[str, int], dict[str, int]]:
    """Return the number of visible edges by type and by strategy: stored edges minus those with a missing target."""
    read = statements("stats")
    types: Counter[str] = Counter()
    strategies: Counter[str] = Counter()
    for sign, statement in ((1, "edges"), (-1, "dangling")):
        for edge_type, strategy, count in select(connection, read[statement], (project,)):
            types[edge_type] += sign * count
            strategies[strategy] += sign * count
    return dict(sorted((+types).items())), dict(sorted((+strategies).items()))
