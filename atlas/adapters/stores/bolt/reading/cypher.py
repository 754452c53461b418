"""The `cypher` verb on a Bolt server: a checked query in a READ transaction, its rows as plain values."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from neo4j import exceptions
from neo4j.graph import Node, Path, Relationship

from atlas.adapters.stores.bolt.connection import BoltConnection, Transaction
from atlas.adapters.stores.bolt.dialect import Dialect
from atlas.adapters.stores.bolt.errors import out_of_memory, timed_out
from atlas.adapters.stores.bolt.reading.query import SCOPE, prepared
from atlas.adapters.stores.bolt.rows import SYMBOL
from atlas.adapters.stores.shared.properties import NODE_PROPERTIES
from atlas.adapters.stores.shared.statements import cypher_statements
from atlas.adapters.stores.sqlite.cypher.results import Size, check_nesting
from atlas.adapters.stores.sqlite.cypher.values import check_parameter, order_key
from atlas.core.errors import AtlasError, QueryError, Unavailable
from atlas.core.model import Table

MAX_CELL = 10_000
"""Maximum number of items of a list in a result; longer lists are cut and the table is marked as truncated."""
FETCH_SIZE = 50
"""Rows per fetch of a query: they are in memory before the first one is counted."""
_ENDS = "UNWIND $ids AS id MATCH (n:Symbol) WHERE elementId(n) = id RETURN id, n.uid"


async def run(
    link: BoltConnection,
    dialect: Dialect,
    text: str,
    parameters: Mapping[str, object],
    limit: int,
    timeout: float,  # noqa: ASYNC109 the server ends the transaction
    project: str = "",
) -> Table:
    """See `Store.cypher`. Raises `QueryError` for unsupported constructs and for errors that the server reports."""
    values = {name: check_parameter(value, name) for name, value in parameters.items()}
    sent = prepared(text, values, memgraph=dialect.name == "memgraph")

    async def work(transaction: Transaction) -> Table:
        nonlocal sent
        counter = ByteCounter()
        if project and len(await transaction.rows(cypher_statements("read")["projects"])) > 1:
            values[SCOPE] = project
            sent = prepared(text, values, memgraph=dialect.name == "memgraph", scoped=True)
        columns, rows, more = await transaction.some(sent.text, values, max(limit, 0), counter.take)
        uids = await _uids(transaction, rows)
        found, cut = await asyncio.to_thread(_plain_rows, rows, uids, sent.ordered)
        return Table(tuple(columns), found, more or cut)

    started = asyncio.get_running_loop().time()
    try:
        table = await link.read(work, timeout, fetch_size=FETCH_SIZE)
        if table.truncated:
            return table
        left = timeout - (asyncio.get_running_loop().time() - started)
        return replace(table, truncated=await _goes_on(link, sent.beyond, values, max(left, 1.0)))
    except AtlasError as error:
        cause = error.__cause__
        if isinstance(cause, Exception) and timed_out(cause):
            raise QueryError(
                f"timeout: the query took longer than {timeout:g} s",
                "anchor it (name, uid or label), bound variable lengths, or add LIMIT",
            ) from cause
        if isinstance(cause, Exception) and out_of_memory(cause):
            raise QueryError("the query needs too much memory", "filter or aggregate earlier, or add LIMIT") from cause
        if isinstance(cause, exceptions.ClientError) and not isinstance(cause, exceptions.AuthError):
            raise QueryError(str(cause.message or cause)) from cause
        raise


class ByteCounter:
    """Counts the bytes of rows on arrival and stops the reading at the limit of a result."""

    def __init__(self) -> None:
        self._size = Size()

    def take(self, row: list[object]) -> None:
        """Count a row. Raises QueryError if the result becomes too large or a value is nested too deeply."""
        for value in row:
            self._count(value, 0)

    def _count(self, value: object, depth: int) -> None:
        self._size.add(value)
        if isinstance(value, list):
            check_nesting(depth)
            parts: Iterable[object] = cast("list[object]", value)
        elif isinstance(value, dict):
            check_nesting(depth)
            parts = cast("dict[str, object]", value).values()
        elif isinstance(value, (Node, Relationship)):
            parts = value.values()
        elif isinstance(value, Path):
            parts = (*value.nodes, *value.relationships)
        else:
            return
        for part in parts:
            self._count(part, depth + 1)


def _plain_rows(
    rows: Sequence[Sequence[object]], uids: Mapping[str, str], ordered: bool
) -> tuple[tuple[tuple[object, ...], ...], bool]:
    """Return rows as plain values, sorted unless the query orders them, and whether a list was cut."""
    writer = _DriverValues(uids)
    found = [tuple(writer.plain(value) for value in row) for row in rows]
    if not ordered:
        found.sort(key=lambda row: [order_key(value) for value in row])
    return tuple(found), writer.cut


async def _goes_on(link: BoltConnection, beyond: Sequence[str], values: dict[str, object], seconds: float) -> bool:
    """Return whether longer paths exist, or may exist, as far as the remaining time allows to determine."""

    async def work(transaction: Transaction) -> bool:
        return any([(await transaction.some(text, values, 1))[1] for text in beyond])

    try:
        return bool(beyond) and await link.read(work, seconds)
    except Unavailable:
        return True


async def _uids(transaction: Transaction, rows: Sequence[Sequence[object]]) -> dict[str, str]:
    """Return the uids of the end nodes of all edges in the rows: the server sends edges without them."""
    ends: dict[str, None] = {}
    for row in rows:
        for value in row:
            _collect(value, ends)
    return {row[0]: row[1] for row in await transaction.rows(_ENDS, ids=list(ends))} if ends else {}


def _collect(value: object, ends: dict[str, None]) -> None:
    if isinstance(value, Relationship):
        ends.update((node.element_id, None) for node in value.nodes if node is not None)
    elif isinstance(value, Path):
        ends.update((node.element_id, None) for edge in value.relationships for node in edge.nodes if node is not None)
    elif isinstance(value, list):
        for item in cast("list[object]", value):
            _collect(item, ends)
    elif isinstance(value, dict):
        for item in cast("dict[str, object]", value).values():
            _collect(item, ends)


class _DriverValues:
    """Converts values of the driver into plain ones."""

    def __init__(self, uids: Mapping[str, str]) -> None:
        self._uids = uids
        self.cut = False

    def plain(self, value: object) -> object:
        if isinstance(value, list):
            items = cast("list[object]", value)
            self.cut = self.cut or len(items) > MAX_CELL
            return [self.plain(item) for item in items[:MAX_CELL]]
        if isinstance(value, dict):
            return {key: self.plain(item) for key, item in cast("dict[str, object]", value).items()}
        if isinstance(value, Node):
            return self._node(value)
        if isinstance(value, Relationship):
            return self._edge(value)
        if isinstance(value, Path):
            nodes, edges = value.nodes, value.relationships
            return {"nodes": [self._node(node) for node in nodes], "edges": [self._edge(edge) for edge in edges]}
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        return str(value)

    def _node(self, node: Node) -> dict[str, object]:
        label = next((name for name in node.labels if name != "Symbol"), "")
        values: dict[str, Any] = dict(node.items())
        shown = (name for name in (*SYMBOL, *NODE_PROPERTIES) if name in values and name != "label")
        return {"_label": label, **{name: values[name] for name in shown}}

    def _edge(self, edge: Relationship) -> dict[str, object]:
        source, target = (self._uids.get(node.element_id) if node is not None else None for node in edge.nodes)
        return {"_type": edge.type, "_source": source, "_target": target, **dict(edge.items())}
