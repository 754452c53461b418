"""The `apply` verb on SQLite: it writes the rows of units that differ from the new content, in one transaction.

A node belongs to the unit that claimed its uid last. An edge is stored with the unit of its source node and is left out
if that unit does not own the source. Ids are interned per uid. Deleting a unit does not affect the uids that it lost to
other units.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Any

import apsw

from atlas.adapters.stores.shared.filters import project_id
from atlas.adapters.stores.shared.statements import statements
from atlas.adapters.stores.sqlite.file.erasure import add_pending, forget_names
from atlas.adapters.stores.sqlite.gate import forget_decisions, put_decisions
from atlas.adapters.stores.sqlite.read import record_of
from atlas.adapters.stores.sqlite.rows import fetch, lines_text, run_many, select
from atlas.adapters.stores.sqlite.text_segments import add_words
from atlas.adapters.stores.sqlite.unit_changes import ChangedPart, Edges, RowChanges, changed_part
from atlas.core.model import EdgeRow, FileRecord, GraphDelta, NodeRow, SearchText
from atlas.core.project_state import now

_COLUMNS = (
    *(
        "label",
        "is_test",
        "is_generated",
        "chunk_digest",
        "start_byte",
        "end_byte",
        "name",
        "qualified_name",
        "kind",
        "line",
    ),
    *("start_line", "end_line", "signature", "docstring", "exported", "modifiers", "signature_digest", "body_digest"),
    *("docstring_digest", "text_digest", "chunk_name", "properties"),
)
"""Columns of `node` after id, file and search_digest, in the order of the statements in write.sql."""

_stored = itemgetter(*(NodeRow._fields.index(column) for column in _COLUMNS))

_CHUNK = 3 + _COLUMNS.index("chunk_digest")
_FILTERED = 3 + _COLUMNS.index("is_generated") + 1

_first = itemgetter(0)
_target = itemgetter(1)


def apply(connection: apsw.Connection, deltas: Sequence[GraphDelta]) -> int:
    """See `Store.apply`. Return the generation of the last delta's project, 0 for no deltas. All or nothing."""
    if not deltas:
        return 0
    fetch(connection, "BEGIN IMMEDIATE")
    try:
        gone: list[tuple[int]] = []
        without_chunk: list[tuple[int]] = []
        unnamed: list[int] = []
        left = words_gone = False
        decided: list[GraphDelta] = []
        for deltas_once in _batches(deltas):
            batch = _Batch(connection, deltas_once)
            decided += batch.decided()
            changes = batch.write()
            gone += changes.gone_nodes
            without_chunk += changes.gone_chunks
            unnamed += changes.unnamed()
            left |= batch.left
            words_gone |= bool(changes.gone_texts)
        _forget_vectors(connection, [*gone, *without_chunk])
        put_decisions(connection, decided)
        forget_decisions(connection, gone)
        forget_names(connection, unnamed)
        if left or words_gone:
            add_pending(connection, left=left)
        projects = dict.fromkeys(delta.project for delta in reversed(deltas))
        generations = [
            fetch(connection, statements("write")["next_generation"], (now(), project_id(connection, project)))[0][0]
            for project in projects
        ]
        fetch(connection, "COMMIT")
    finally:
        if connection.in_transaction:
            fetch(connection, "ROLLBACK")
    return generations[0]


def _forget_vectors(connection: apsw.Connection, nodes: Sequence[tuple[int]]) -> None:
    """Delete the vectors of deleted nodes and of nodes without a chunk; nodes that only moved keep theirs."""
    before = connection.total_changes()
    run_many(connection, statements("write")["delete_vector"], nodes)
    if connection.total_changes() != before:
        fetch(connection, statements("write")["next_vector_generation"])


def _batches(deltas: Sequence[GraphDelta]) -> Iterator[list[GraphDelta]]:
    """Split the deltas where the project changes or a unit repeats, so that each batch holds a unit once."""
    batch: list[GraphDelta] = []
    paths: set[str] = set()
    for delta in deltas:
        if batch and (delta.project != batch[0].project or delta.path in paths):
            yield batch
            batch, paths = [], set()
        batch.append(delta)
        paths.add(delta.path)
    yield batch


class _Batch:
    """Distinct units of one project, written together."""

    def __init__(self, connection: apsw.Connection, deltas: Sequence[GraphDelta]) -> None:
        self._connection = connection
        self._project = project_id(connection, deltas[0].project)
        self._deltas = deltas
        self._write = statements("write")
        paths = json.dumps([delta.path for delta in deltas], ensure_ascii=False)
        known = select(connection, self._write["files"], {"paths": paths, "project": self._project})
        self._known: dict[str, tuple[int, bool, FileRecord]] = {
            row[2]: (row[0], bool(row[1]), record_of(row[2:])) for row in known
        }
        self._last_file, self._last_id = fetch(connection, self._write["last_ids"])[0]
        self.left = False
        """Whether a file was removed from the index."""

    def decided(self) -> list[GraphDelta]:
        """Return the deltas with new decisions: their records differ from the stored ones. Call this before `write`."""
        return [delta for delta in self._deltas if delta.decisions and delta.record != self._record(delta.path)]

    def write(self) -> RowChanges:
        """Update the stored rows of these units to the deltas' content; return the changes."""
        files = self._put_files()
        rewritten = [delta for delta in self._deltas if delta.nodes is not None or delta.record is None]
        changes = self._changes(*self._parts(rewritten), files)
        self._put_rows(changes)
        removed = [(self._known[d.path][0],) for d in self._deltas if d.record is None and d.path in self._known]
        self.left = bool(removed)
        self._many("delete_content", removed)
        self._many("delete_file", removed)
        return changes

    def _put_files(self) -> dict[str, int]:
        """Write file rows and contents; return the file ids by path, including known ones of deleted units."""
        ids = {path: known[0] for path, known in self._known.items()}
        rows: list[tuple[Any, ...]] = []
        contents: list[tuple[int, bytes]] = []
        for delta in self._deltas:
            record = delta.record
            if record is None:
                continue
            if delta.path not in ids:
                self._last_file += 1
                ids[delta.path] = self._last_file
            file = ids[delta.path]
            _, held, was = self._known.get(delta.path, (0, False, None))
            if was != record:
                rows.append((file, self._project, delta.path, *_record_values(record)))
            same = held and was is not None and was.digest != "" and was.digest == record.digest
            if delta.content is not None and not same:
                contents.append((file, zlib.compress(delta.content, 1)))
        self._many("put_file", rows)
        self._many("put_content", contents)
        return ids

    def _record(self, path: str) -> FileRecord | None:
        return self._known[path][2] if path in self._known else None

    def _parts(self, deltas: Sequence[GraphDelta]) -> tuple[list[GraphDelta], dict[str, ChangedPart]]:
        """Replace units by the parts that differ where these are known; return also these parts by path.

        Where another unit owns or claims one of the nodes, the whole unit is compared: it claims them again.
        """
        found: list[GraphDelta] = []
        parts: dict[str, ChangedPart] = {}
        for delta in deltas:
            known = self._known.get(delta.path)
            part = changed_part(delta, known[2].unit_digest) if known is not None else None
            if part is not None and known is not None and self._owns(known[0], part) and not _meet(part, deltas):
                parts[delta.path] = part
                found.append(part.delta)
            else:
                found.append(delta)
        return found, parts

    def _owns(self, file: int, part: ChangedPart) -> bool:
        """Return whether the nodes of a unit are its own, and new ones nobody's."""
        if fetch(self._connection, self._write["count_nodes"], (file,))[0][0] != part.nodes:
            return False
        uids = json.dumps([*part.gone, *(row.uid for row in part.delta.nodes or ())], ensure_ascii=False)
        ids = [node for _, node in select(self._connection, self._write["ids"], (uids,))]
        rows = select(self._connection, self._write["nodes_by_id"], (json.dumps(ids),))
        return all(row[1] == file for row in rows)

    def _changes(
        self, deltas: Sequence[GraphDelta], parts: dict[str, ChangedPart], files: dict[str, int]
    ) -> RowChanges:
        """Return what differs from the store; `parts`: units that come in part."""
        claimed: dict[str, NodeRow] = {}
        for delta in deltas:
            rows = _nodes(delta)
            claimed.update(zip(map(_first, rows), rows, strict=True))
        lost = [uid for part in parts.values() for uid in part.gone]
        ends = [end for part in parts.values() for edge in part.left for end in edge[:2]]
        ids, before = self._intern([*claimed, *lost, *ends], deltas)
        whole = [self._known[d.path][0] for d in deltas if d.path in self._known and d.path not in parts]
        old = self._old_nodes(whole, [*claimed, *lost], ids, before)
        compared = {
            ids[uid] for part in parts.values() for uid in (*part.gone, *(row.uid for row in _nodes(part.delta)))
        }
        old_edges = self._old_edges([node for node in old if node not in compared])
        old_edges.update(_edge(edge, ids) for part in parts.values() for edge in part.left)
        changes = RowChanges()
        kept: set[int] = set()
        for delta in deltas:
            if delta.record is None:
                continue
            mine = self._node_changes(delta, files[delta.path], claimed, ids, old, changes)
            kept.update(mine.values())
            wanted: Edges = dict(_edge(edge, ids) for edge in delta.edges if edge.source in mine)
            if len(wanted) != len(delta.edges):
                changes.strays += [ids[row[1]] for row in delta.edges if row[0] not in mine]
            changes.edges(wanted, old_edges)
        for gone in old.keys() - kept:
            changes.gone_nodes.append((gone,))
            if old[gone][2]:
                changes.gone_texts.append(gone)
        changes.edges_gone(old_edges)
        return changes

    def _node_changes(
        self,
        delta: GraphDelta,
        file: int,
        claimed: dict[str, NodeRow],
        ids: dict[str, int],
        old: dict[int, tuple[Any, ...]],
        changes: RowChanges,
    ) -> dict[str, int]:
        """Record the differences in the unit's nodes and texts; return the ids of the nodes that the unit owns."""
        texts = {text[0]: text for text in delta.texts}
        mine: dict[str, int] = {}
        for row in _nodes(delta):
            uid = row[0]
            if claimed[uid] is not row or uid in mine:
                continue
            node = mine[uid] = ids[uid]
            text = texts.get(uid)
            digest = _search_digest(text) if text is not None else 0
            new = (node, file, digest, *_stored(row))
            was = old.get(node)
            if was is None:
                changes.new_nodes.append(new)
            elif was != new:
                changes.changed_nodes.append(new)
                if was[_CHUNK] and not new[_CHUNK]:
                    changes.gone_chunks.append((node,))
            # Segments also hold what filters ask: file, label and flags.
            if (was[1:_FILTERED] if was is not None else ()) != new[1:_FILTERED]:
                if was is not None and was[2]:
                    changes.gone_texts.append(node)
                if text is not None:
                    changes.new_texts.append(
                        (node, file, row.label, bool(row.is_test), bool(row.is_generated), *text[1:])
                    )
        return mine

    def _intern(self, claimed: Sequence[str], deltas: Sequence[GraphDelta]) -> tuple[dict[str, int], int]:
        """Return the ids of all named uids, creating missing ones, and the last id before; greater ids have no rows."""
        before = self._last_id
        wanted = dict.fromkeys(claimed)
        for delta in deltas:
            wanted.update(dict.fromkeys(map(_target, delta.edges)))
        ids: dict[str, int] = {}
        if before:
            # in the order of the index, so that adjacent lookups read the same pages: half the time
            sought = json.dumps(sorted(wanted), ensure_ascii=False)
            ids.update(select(self._connection, self._write["ids"], (sought,)))
        new = [uid for uid in wanted if uid not in ids]
        self._last_id += len(new)
        ids.update(zip(new, range(before + 1, self._last_id + 1), strict=True))
        self._many("add_id", [(uid, ids[uid]) for uid in new])
        return ids, before

    def _old_nodes(
        self, files: list[int], claimed: Sequence[str], ids: dict[str, int], before: int
    ) -> dict[int, tuple[Any, ...]]:
        """Return by id the stored rows that the units own or now claim."""
        old: dict[int, tuple[Any, ...]] = {}
        if files:
            old.update(
                (row[0], row) for row in select(self._connection, self._write["nodes_of_files"], (json.dumps(files),))
            )
        others = [node for uid in claimed if (node := ids[uid]) <= before and node not in old]
        if others:
            old.update(
                (row[0], row) for row in select(self._connection, self._write["nodes_by_id"], (json.dumps(others),))
            )
        return old

    def _old_edges(self, sources: list[int]) -> Edges:
        if not sources:
            return {}
        rows = select(self._connection, self._write["edges_of"], (json.dumps(sources),))
        return {row[:4]: row[4:] for row in rows}

    def _put_rows(self, changes: RowChanges) -> None:
        self._many("delete_edge", changes.gone_edges)
        self._many("delete_node", changes.gone_nodes)
        self._many("change_node", changes.changed_nodes)
        self._many("add_node", changes.new_nodes)
        add_words(self._connection, changes.new_texts, changes.gone_texts)
        self._many("put_edge", changes.new_edges)
        counts = [(self._project, *kind, count) for kind, count in changes.edge_counts.items() if count]
        self._many("count_edges", counts)

    def _many(self, name: str, rows: Sequence[tuple[Any, ...]]) -> None:
        if rows:
            run_many(self._connection, self._write[name], rows)


def _record_values(record: FileRecord) -> tuple[Any, ...]:
    return (
        *(record.language, record.digest, record.size, record.mtime_ns, record.lines, record.unit_digest),
        *(record.resolved, record.unresolved, record.is_test, record.is_generated, "\n".join(record.problems)),
        record.stale,
    )


def _nodes(delta: GraphDelta) -> Sequence[NodeRow]:
    """Return the nodes of the unit's new content; none if the unit is deleted."""
    return delta.nodes if delta.nodes is not None and delta.record is not None else ()


def _edge(edge: EdgeRow, ids: dict[str, int]) -> tuple[tuple[int, str, int, int], tuple[str, float, str, str]]:
    source, target, kind, line, strategy, confidence, lines, properties = edge
    key = (ids[source], kind, ids[target], line)
    return key, (strategy, confidence, lines_text(lines) if lines else "", properties)


def _meet(part: ChangedPart, deltas: Sequence[GraphDelta]) -> bool:
    """Return whether another unit of a batch has a node of the part."""
    own = {*part.gone, *(row.uid for row in part.delta.nodes or ())}
    return any(row.uid in own for delta in deltas if delta.path != part.delta.path for row in _nodes(delta))


def _search_digest(text: SearchText) -> int:
    """Return a 64-bit hash of the words of a node, never 0."""
    words = "\0".join(text[1:]).encode("utf8")
    return int.from_bytes(hashlib.blake2b(words, digest_size=8).digest(), "little", signed=True) or 1
