"""Counts of words by file on SQLite's FTS5, for `Store.count_words`.

The rows of a word are read without a join: looking up the file of each row in the table of nodes takes ten times as
long as reading the rows. Which file a node belongs to is kept in memory, 4 bytes per node, for the nodes that words
have led to since the last write.
"""

from __future__ import annotations

import json
import threading
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain

import apsw

from atlas.adapters.stores.shared.filters import Restriction
from atlas.adapters.stores.shared.statements import statements
from atlas.adapters.stores.sqlite.rows import Row, fetch, select
from atlas.core.model import MAX_COUNTED, Filter

_MAX_ENTRIES = 40_000
"""Entries of the cache of counts by file: 4 MB."""

FileCounts = Mapping[str, int]
"""Number of nodes by path."""


@dataclass(slots=True)
class _FilesOfNodes:
    """The files of a project, and of the nodes that are known; everything is of one state of the store."""

    state: Row
    project: str
    paths: Mapping[int, str]
    """Path of each file by its id."""
    lengths: FileCounts
    file_of: array[int] = field(default_factory=lambda: array("I"))
    """File of a node by its id; 0 where it is not known."""


class WordCounter:
    """Counts words by file; safe for threads. What it keeps is valid until the next write."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._nodes: _FilesOfNodes | None = None
        self._state: Row = ()
        self._counts: dict[tuple[str, Filter], tuple[int, FileCounts]] = {}
        self._entries = 0

    def lengths(
        self, connection: apsw.Connection, state: Row, project: str, counted: Iterable[FileCounts]
    ) -> FileCounts:
        """Return the number of nodes of each of the files that were counted."""
        lengths = self._known(connection, state, project).lengths
        return {path: lengths[path] for path in dict.fromkeys(chain.from_iterable(counted))}

    def count(
        self, connection: apsw.Connection, state: Row, match: str, where: Filter, limits: Restriction
    ) -> tuple[int, FileCounts]:
        """Return how many rows match an expression, up to `MAX_COUNTED` + 1, and their nodes by file.

        Of more than `MAX_COUNTED` rows nothing is counted by file. `limits` is the filter `where` as SQL.
        """
        with self._guard:
            if state == self._state and (known := self._counts.get((match, where))) is not None:
                return known
        found = self._read(connection, state, match, where.project, limits)
        with self._guard:
            if state != self._state or self._entries + len(found[1]) > _MAX_ENTRIES:
                self._state, self._counts, self._entries = state, {}, 0
            self._counts[match, where] = found
            self._entries += len(found[1]) + 1
        return found

    def _read(
        self, connection: apsw.Connection, state: Row, match: str, project: str, limits: Restriction
    ) -> tuple[int, FileCounts]:
        read = statements("text")
        ((rows, listed),) = fetch(connection, read["nodes_with"], {"match": match, "limit": MAX_COUNTED + 1})
        if not rows or rows > MAX_COUNTED:
            return rows, {}
        known = self._known(connection, state, project)
        if limits.where:
            text = read["count_in_files"].format(join=limits.join, where=limits.where)
            by_file: Mapping[int, int] = dict(select(connection, text, {**limits.bindings, "match": match}))
        else:
            by_file = self._by_file(connection, known, json.loads(f"[{listed}]"))
        return rows, {known.paths[file]: nodes for file, nodes in sorted(by_file.items())}

    def _by_file(self, connection: apsw.Connection, known: _FilesOfNodes, nodes: list[int]) -> Mapping[int, int]:
        """Return the number of these nodes by file."""
        file_of = known.file_of
        with self._guard:
            file_of.frombytes(bytes(max(max(nodes) + 1 - len(file_of), 0) * file_of.itemsize))
        counts = Counter(map(file_of.__getitem__, nodes))
        if counts.pop(0, 0):
            missing = [node for node in nodes if not file_of[node]]
            for node, file in select(connection, statements("text")["files_of_nodes"], {"ids": json.dumps(missing)}):
                file_of[node] = file
                counts[file] += 1
        return counts

    def _known(self, connection: apsw.Connection, state: Row, project: str) -> _FilesOfNodes:
        """Return the files in this state. Listing them takes 4 ms for 75,000 nodes."""
        known = self._nodes
        if known is None or known.state != state or known.project != project:
            rows = fetch(connection, statements("text")["nodes_of_files"], {"project": project})
            lengths = {path: nodes for _, path, nodes in rows}
            self._nodes = known = _FilesOfNodes(state, project, {file: path for file, path, _ in rows}, lengths)
        return known
