"""`apply` on a Bolt server: writes the difference between a plan and the stored content in one transaction.

An edge whose target does not exist is stored as an `AtlasPending` node and becomes an edge when the target is created.
When a target is deleted, the edges into it from other units become pending again. The stored graph therefore does not
depend on the order in which units are written.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from atlas.adapters.stores.bolt.batches import Rows, StatementBatches, unfolded
from atlas.adapters.stores.bolt.connection import Transaction
from atlas.adapters.stores.bolt.plan import EdgeKey, StoredNode, TargetNode, WritePlan, key_of, plan, touched
from atlas.adapters.stores.bolt.rows import (
    ENTRY_PLACES,
    NOTE_EDGE_PLACES,
    NOTE_PLACES,
    RECORD,
    SYMBOL_PLACES,
    decision_text,
    edge_of,
    edge_places,
    entry_properties,
    is_row,
    literal,
    note_properties,
    record_of,
    record_properties,
    row_digest,
    symbol_properties,
    unit_key,
    vector_properties,
)
from atlas.adapters.stores.shared.filters import unknown_project
from atlas.adapters.stores.shared.statements import cypher_statements
from atlas.core.model import CODE, QUALITY, Decision, EdgeRow, FileRecord, GraphDelta
from atlas.core.project_state import now

_Edges = dict[EdgeKey, EdgeRow]


@dataclass(frozen=True, slots=True)
class StartedWrite:
    """New units whose nodes are created but not committed, and their edges that still lack a target."""

    deltas: Sequence[GraphDelta]
    made: WritePlan
    created: dict[str, int]
    """Server ids of the created nodes by uid."""
    missing: list[EdgeRow]
    """Edges whose target was not visible when the write began."""


async def apply(transaction: Transaction, deltas: Sequence[GraphDelta]) -> int:
    """See `Store.apply`. Raises `NotFound` for an unknown project."""
    async with StatementBatches(transaction) as batches:
        return await _Apply(batches).run(deltas)


async def begin(transaction: Transaction, deltas: Sequence[GraphDelta]) -> StartedWrite:
    """Create the nodes, records and edges of new units without reading stored content; `complete` does the rest.

    If another unit holds one of the symbols, the uniqueness constraint makes the server reject the transaction.
    """
    async with StatementBatches(transaction) as batches:
        return await _Apply(batches).begin(deltas)


async def complete(transaction: Transaction, begun: StartedWrite) -> int:
    """Write the remaining edges, the decisions and the new generation; return the generation."""
    async with StatementBatches(transaction) as batches:
        return await _Apply(batches).complete(begun)


class _Apply:
    def __init__(self, batches: StatementBatches) -> None:
        self._batches = batches
        self._write = cypher_statements("write")
        self._read = cypher_statements("read")

    async def run(self, deltas: Sequence[GraphDelta]) -> int:
        records = await self._records(deltas)
        held = await self._held(deltas)
        made = plan(deltas, records, held)
        before = await self._old_edges(sorted(held))
        await self._edges_of_kept(made, before)
        await self._remove(made)
        created = await self._put_nodes(made, held, records)
        edges, pending = before
        new = [
            edge
            for node in made.wanted.values()
            for key, edge in node.edges.items()
            if edges.get(key) != edge and pending.get(key) != edge
        ]
        await self._put_records(made)
        return await self.complete(StartedWrite(deltas, made, created, new))

    async def begin(self, deltas: Sequence[GraphDelta]) -> StartedWrite:
        made = plan(deltas, {}, {})
        created = await self._put_nodes(made, {}, {})
        await self._put_records(made)
        edges = [edge for node in made.wanted.values() for edge in node.edges.values()]
        return StartedWrite(deltas, made, created, await self._link(edges, created))

    async def complete(self, begun: StartedWrite) -> int:
        known = [row[0] for row in await self._batches.rows(self._read["projects"])]
        for delta in begun.deltas:
            if delta.project not in known:
                raise unknown_project(delta.project, known)
        await self._put_edges(begun.missing, begun.created)
        await self._put_decisions(begun.made, begun.created)
        return await self._next_generations(begun.deltas, begun.made)

    async def _records(self, deltas: Sequence[GraphDelta]) -> dict[str, FileRecord]:
        keys = list(dict.fromkeys(map(key_of, deltas)))
        text = self._read["unit_records"].replace("%record%", f"key, {RECORD}")
        return {row[0]: record_of(row[1:]) for row in await self._batches.each(text, "keys", keys)}

    async def _held(self, deltas: Sequence[GraphDelta]) -> dict[str, StoredNode]:
        units, uids = touched(deltas)
        owned = await self._batches.gathered(self._write["owned"], "units", units)
        held = {row[0]: StoredNode(*row) for row in owned}
        claimed = await self._batches.gathered(self._write["claimed"], "uids", [uid for uid in uids if uid not in held])
        held.update((row[0], StoredNode(*row)) for row in claimed)
        return held

    async def _old_edges(self, uids: list[str]) -> tuple[_Edges, _Edges]:
        """Return the edges and the pending edges from these nodes."""
        return (
            _by_key(await self._batches.gathered(self._write["outgoing"], "uids", uids)),
            _by_key(await self._batches.gathered(self._write["pending_from"], "uids", uids)),
        )

    async def _edges_of_kept(self, made: WritePlan, before: tuple[_Edges, _Edges]) -> None:
        """Remove the edges that kept nodes no longer have; unchanged edges stay."""
        for edges, name in zip(before, ("delete_edges", "delete_pending"), strict=True):
            gone = [
                {"source": key[0], "target": key[1], "type": key[2], "line": key[3]}
                for key, edge in edges.items()
                if key[0] not in made.removed and made.wanted[key[0]].edges.get(key) != edge
            ]
            await self._batches.send(self._write[name], "rows", gone)

    async def _remove(self, made: WritePlan) -> None:
        uids = sorted(made.removed)
        incoming = _by_key(await self._batches.gathered(self._write["incoming"], "uids", uids)).values()
        pending = [edge for edge in incoming if edge.source not in made.removed]
        await self._batches.send(self._write["delete_pending_from"], "uids", uids)
        await self._batches.send(self._write["delete_symbols"], "uids", uids)
        await self._batches.send(self._write["delete_entries"], "uids", uids)
        await self._add_pending(pending)

    async def _put_nodes(
        self, made: WritePlan, held: dict[str, StoredNode], records: dict[str, FileRecord]
    ) -> dict[str, int]:
        """Write the nodes that differ; return the server ids of new nodes by uid."""
        digests = {key: record.digest for key, record in records.items()} | made.digests
        created = {uid: node for uid, node in made.wanted.items() if uid not in held}
        changed = {uid: node for uid, node in made.wanted.items() if uid in held and _differs(node, held[uid])}
        ids = await self._add_nodes(created, digests, made)
        await self._batches.send(
            self._write["change_symbols"], "rows", (_symbol(node, digests) for node in changed.values())
        )
        await self._relabel(changed, held)
        await self._batches.send(self._write["change_entries"], "rows", await self._changed_entries(changed))
        fresh = [
            {"unit": unit, "digest": digest or None}
            for unit, digest in made.digests.items()
            if unit in records and records[unit].path
        ]
        await self._batches.send(self._write["set_digests"], "rows", fresh)
        return ids

    async def _add_nodes(
        self, created: dict[str, TargetNode], digests: dict[str, str], made: WritePlan
    ) -> dict[str, int]:
        by_label: dict[tuple[str, bool], list[TargetNode]] = {}
        for node in created.values():
            by_label.setdefault((literal(node.row.label), bool(node.row.properties)), []).append(node)
        found: list[tuple[Any, ...]] = []
        for (label, is_note), nodes in by_label.items():
            text = self._write["add_symbols"].replace("%properties%", NOTE_PLACES if is_note else SYMBOL_PLACES)
            rows = (list(_symbol(node, digests).values()) for node in nodes)
            await self._batches.send(text.replace("%label%", label), "rows", rows, found)
        decided = {(unit, decision.uid): decision for unit, decision in made.decisions if decision.uid in created}
        entries = (_new_entry(node, decided) for node in created.values())
        text = self._write["add_entries"].replace("%properties%", ENTRY_PLACES)
        await self._batches.each(text, "rows", entries)
        return {uid: place for uid, place in unfolded(found)}

    async def _changed_entries(self, changed: dict[str, TargetNode]) -> list[dict[str, object]]:
        """Return the entries to write. A node without a chunk loses its vector, which nothing would replace."""
        if all(node.row.chunk_digest for node in changed.values()):
            return [_entry(node) for node in changed.values()]
        models = [row[0] for row in await self._batches.rows(self._read["models"])]
        nothing = dict.fromkeys((*models, *vector_properties(CODE), *vector_properties(QUALITY)))
        return [_entry(node) | ({} if node.row.chunk_digest else nothing) for node in changed.values()]

    async def _relabel(self, changed: dict[str, TargetNode], held: dict[str, StoredNode]) -> None:
        moves: dict[tuple[str, str], list[str]] = {}
        for uid, node in changed.items():
            if node.row.label != held[uid].label:
                moves.setdefault((literal(held[uid].label), literal(node.row.label)), []).append(uid)
        for (old, new), uids in moves.items():
            await self._batches.send(
                self._write["change_label"].replace("%old%", old).replace("%new%", new), "uids", uids
            )

    async def _put_edges(self, new: Sequence[EdgeRow], created: dict[str, int]) -> None:
        """Add new edges and the edges that were pending for new nodes; `created` are the server ids of these by uid."""
        pending = _by_key(await self._pending_to(created)).values()
        await self._add_pending(await self._link([*pending, *new], created))
        # Last, because Neo4j copies the set of nodes that the transaction has deleted for each index lookup.
        await self._batches.send(
            self._write["delete_pending_to"], "uids", dict.fromkeys(edge.target for edge in pending)
        )

    async def _link(self, edges: Sequence[EdgeRow], created: Mapping[str, int]) -> list[EdgeRow]:
        """Create edges; return those without a target. `created` are the server ids of new ends by uid."""
        ends = dict.fromkeys(uid for edge in edges for uid in (edge.source, edge.target))
        unknown = [uid for uid in ends if uid not in created]
        ids = {**created, **dict(await self._batches.gathered(self._write["existing"], "uids", unknown))}
        missing: list[EdgeRow] = []
        by_type: dict[tuple[str, bool], list[list[object]]] = {}
        for edge in edges:
            if edge.target not in ids:
                missing.append(edge)
                continue
            ends = (ids[edge.source], ids[edge.target])
            by_type.setdefault((edge.type, bool(edge.properties)), []).append([*ends, *edge_places(edge)])
        for (kind, stated), rows in by_type.items():
            text = self._write["add_edges"].replace("%further%", NOTE_EDGE_PLACES if stated else "")
            await self._batches.send(text.replace("%type%", literal(kind)), "rows", rows)
        return missing

    async def _pending_to(self, uids: Collection[str]) -> Rows:
        """Return the pending edges to these nodes. Looks up the smaller set: pending targets or new nodes."""
        ((targets,),) = await self._batches.rows(self._write["pending_targets"], limit=len(uids))
        if len(targets) < len(uids):
            uids = {target for target in targets if target in uids}
        return await self._batches.gathered(self._write["pending_to"], "uids", uids)

    async def _add_pending(self, edges: Iterable[EdgeRow]) -> None:
        rows = ([*edge[:6], list(edge.lines) or None, edge.properties or None] for edge in edges)
        await self._batches.send(self._write["add_pending"], "rows", rows)

    async def _put_records(self, made: WritePlan) -> None:
        gone = [key for key, delta in made.records.items() if delta is None]
        await self._batches.send(self._write["delete_records"], "keys", gone)
        rows = [
            record_properties(delta.project, delta.record, made.contents.get(key))
            for key, delta in made.records.items()
            if delta is not None and delta.record is not None
        ]
        await self._batches.send(self._write["put_records"], "rows", rows)

    async def _put_decisions(self, made: WritePlan, created: Container[str]) -> None:
        """Write the decisions about nodes that existed before; new nodes are created with theirs."""
        last = {(unit, decision.uid): decision for unit, decision in made.decisions if decision.uid not in created}
        rows = [
            {"unit": unit, "uid": uid, "decision": decision_text(decision)} for (unit, uid), decision in last.items()
        ]
        await self._batches.send(self._write["set_decisions"], "rows", rows)

    async def _next_generations(self, deltas: Sequence[GraphDelta], made: WritePlan) -> int:
        names = list(dict.fromkeys(delta.project for delta in deltas))
        counted = await self._batches.each(self._write["decision_counts"], "names", names)
        rows = [
            {
                "name": name,
                "decisions": json.dumps(Counter(json.loads(said)) + made.reasons.get(name, Counter())),
                "indexed_at": now(),
            }
            for name, said in counted
        ]
        generations = dict(await self._batches.each(self._write["next_generations"], "rows", rows))
        return generations[deltas[-1].project] if deltas else 0


def _by_key(rows: Iterable[tuple[Any, ...]]) -> _Edges:
    """Return edges by key from rows as `edge_of` takes them."""
    return {(row[0], row[1], row[2], row[3]): edge_of(row) for row in rows}


def _differs(node: TargetNode, held: StoredNode) -> bool:
    return not is_row(held.digests, row_digest(node.project, node.path, node.row, node.text))


def _symbol(node: TargetNode, digests: dict[str, str]) -> dict[str, object]:
    properties = symbol_properties(node.project, node.row, digests.get(f"{node.project}:{node.path}", ""))
    return note_properties(properties, node.row) if node.row.properties else properties


def _entry(node: TargetNode) -> dict[str, object]:
    return entry_properties(node.project, node.path, node.row, node.text)


def _new_entry(node: TargetNode, decided: dict[tuple[str, str], Decision]) -> list[object]:
    decision = decided.get((unit_key(node.project, node.path), node.row.uid))
    return [*_entry(node).values(), decision_text(decision)]
