"""The tables as a property graph: SQL for properties, contents of entities, neighbours of a node.

Read-only. Caches are bounded and last for one query. Values that mean "none" in the tables are returned as null: line
number 0, and an empty path, language or digest. An edge without a row for its far node is invisible.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, cast

import apsw

from atlas.adapters.stores.cypher.syntax import LabelExpression, LabelLogic, LabelName
from atlas.adapters.stores.shared.properties import (
    EDGE_PROPERTIES,
    NODE_PROPERTIES,
    edge_values,
    json_key,
    node_values,
    parsed,
)
from atlas.adapters.stores.sqlite.cypher.values import Edge
from atlas.adapters.stores.sqlite.rows import fetch, lines_of

_CACHED_NODES = 5_000
"""Cached with all properties: a few KB each, 17 KB at most."""
_CACHED_EDGES = 100_000


class Column(NamedTuple):
    """The SQL of a property, with `{0}` for the table alias; `kind` is str, int, float, bool, list, ints or json."""

    sql: str
    kind: str
    file_column: str = ""
    """The expression over table `file` if `sql` reads the property through the node's file, else ""."""


def _file(expression: str) -> Column:
    return Column(f"(SELECT {expression} FROM file WHERE file.id = {{0}}.file)", "str", expression)


def _note_columns(kinds: Mapping[str, str]) -> dict[str, Column]:
    """Return the properties in the column `properties`, which is empty except for notes."""
    text = "CASE WHEN json_valid({{0}}.properties) THEN json_extract({{0}}.properties, '$.{0}') END"
    return {name: Column(text.format(json_key(name)), kind) for name, kind in kinds.items()}


_PROJECT = "(SELECT project.name FROM project WHERE project.id = file.project)"
_NODE_TABLE: dict[str, Column] = {
    "uid": Column("(SELECT uid FROM symbol_id WHERE symbol_id.id = {0}.id)", "str"),
    "label": Column("{0}.label", "str"),
    "kind": Column("{0}.kind", "str"),
    "name": Column("{0}.name", "str"),
    "qualified_name": Column("{0}.qualified_name", "str"),
    "path": _file("NULLIF(file.path, '')"),
    "language": _file("NULLIF(file.language, '')"),
    "line": Column("NULLIF({0}.line, 0)", "int"),
    "start_line": Column("NULLIF({0}.start_line, 0)", "int"),
    "end_line": Column("NULLIF({0}.end_line, 0)", "int"),
    "signature": Column("{0}.signature", "str"),
    "docstring": Column("{0}.docstring", "str"),
    "is_test": Column("{0}.is_test", "bool"),
    "is_generated": Column("{0}.is_generated", "bool"),
    "exported": Column("{0}.exported", "bool"),
    "modifiers": Column("{0}.modifiers", "list"),
    "project": _file(_PROJECT),
    "digest": _file("CASE WHEN file.path <> '' THEN NULLIF(file.digest, '') END"),
}
_EDGE_TABLE: dict[str, Column] = {
    "line": Column("NULLIF({0}.line, 0)", "int"),
    "lines": Column("CASE WHEN {0}.line <> 0 THEN {0}.line || ' ' || {0}.further_lines END", "ints"),
    "strategy": Column("{0}.strategy", "str"),
    "confidence": Column("{0}.confidence", "float"),
}
_TEXT = (
    "CASE WHEN {0}.label IN ('Article', 'Section', 'Chunk') THEN span_text({0}.file, "
    "(SELECT data FROM content WHERE content.file = {0}.file), {0}.start_byte, {0}.end_byte) END"
)
"""Read by name only: the text of a node in a result would be most of the answer."""
NODE_COLUMNS: dict[str, Column] = {
    **_NODE_TABLE,
    **_note_columns(NODE_PROPERTIES),
    "content": Column(_TEXT, "str"),
}
EDGE_COLUMNS: dict[str, Column] = {**_EDGE_TABLE, **_note_columns(EDGE_PROPERTIES)}
LABEL = NODE_COLUMNS["label"]
TYPE = Column("{0}.type", "str")

_NODE_SQL = (
    "SELECT " + ", ".join(column.sql.format("n") for column in _NODE_TABLE.values()) + ", n.properties"
    " FROM node AS n WHERE n.id = ?"
)
_EDGE_SQL = (
    "SELECT strategy, confidence, further_lines, properties FROM edge "
    "WHERE source = ? AND type = ? AND target = ? AND line = ?"
)
_KEY = "SELECT e.source, e.type, e.target, e.line FROM edge AS e CROSS JOIN node AS n"
_OUT = f"{_KEY} ON n.id = e.target WHERE e.source = ?"
_IN = f"{_KEY} ON n.id = e.source WHERE e.target = ?"


def decode(value: object, kind: str) -> object:
    """Return the raw value of a column as a Cypher value."""
    if kind == "bool":
        return None if value is None else bool(value)
    if kind == "list":
        return None if value is None else cast("str", value).split()
    if kind == "json":
        return None if value is None else parsed(cast("str", value))
    if kind == "ints":
        return None if value is None else list(lines_of(cast("str", value)))
    return value


class Types(NamedTuple):
    """A condition on relationship types as SQL over the alias `e`, with its bound values."""

    sql: str
    values: tuple[str, ...]


def label_sql(expression: LabelExpression, column: str, bound: list[str]) -> str:
    """Return a condition on `column`; the compared names are appended to `bound`, in the order of the `?`."""
    if isinstance(expression, LabelName):
        bound.append(expression.name)
        return f"{column} = ?"
    if expression.operator == "%":
        return "1"
    if expression.operator == "|" and all(isinstance(operand, LabelName) for operand in expression.operands):
        bound.extend(operand.name for operand in expression.operands if isinstance(operand, LabelName))
        return f"{column} IN ({', '.join('?' * len(expression.operands))})"
    parts = [label_sql(operand, column, bound) for operand in expression.operands]
    if expression.operator == "!":
        return f"NOT ({parts[0]})"
    return "(" + (" AND " if expression.operator == "&" else " OR ").join(parts) + ")"


def has_label(expression: LabelExpression, label: str) -> bool:
    """Return whether an entity with this one label or type satisfies the expression."""
    if isinstance(expression, LabelName):
        return expression.name == label
    results = [has_label(operand, label) for operand in expression.operands]
    if expression.operator == "!":
        return not results[0]
    return any(results) if expression.operator == "|" else all(results)


def type_names(expression: LabelExpression | None) -> frozenset[str] | None:
    """Return the types that a relationship pattern allows; None if they cannot be enumerated."""
    if isinstance(expression, LabelName):
        return frozenset((expression.name,))
    if isinstance(expression, LabelLogic) and expression.operator == "|":
        names = [type_names(operand) for operand in expression.operands]
        listed = [name for name in names if name is not None]
        return frozenset[str]().union(*listed) if len(listed) == len(names) else None
    return None


@dataclass(slots=True)
class Graph:
    """Single entities and neighbourhoods, read over one connection inside one read transaction."""

    connection: apsw.Connection
    _nodes: dict[int, dict[str, object]] = field(default_factory=dict[int, dict[str, object]])
    _edges: dict[Edge, dict[str, object]] = field(default_factory=dict[Edge, dict[str, object]])
    _near: dict[tuple[int, str, Types], list[tuple[Edge, int]]] = field(
        default_factory=dict[tuple[int, str, Types], list[tuple[Edge, int]]]
    )
    _near_size: int = 0

    def node(self, identity: int) -> dict[str, object]:
        """Return all properties that are not null."""
        record = self._nodes.get(identity)
        if record is None:
            [row] = fetch(self.connection, _NODE_SQL, (identity,)) or [()]
            record = dict[str, object]()
            for (name, column), value in zip(_NODE_TABLE.items(), row, strict=False):
                if value is not None:
                    record[name] = decode(value, column.kind)
            if row:
                record |= node_values(cast("str", row[-1]))
            if len(self._nodes) >= _CACHED_NODES:
                self._nodes.clear()
            self._nodes[identity] = record
        return record

    def edge(self, edge: Edge) -> dict[str, object]:
        """Return all properties that are not null."""
        record = self._edges.get(edge)
        if record is None:
            record = dict[str, object](line=edge.line) if edge.line else dict[str, object]()
            for row in fetch(self.connection, _EDGE_SQL, (edge.source, edge.type, edge.target, edge.line)):
                if edge.line:
                    record["lines"] = [edge.line, *lines_of(row[2])]
                record |= {"strategy": row[0], "confidence": row[1], **edge_values(row[3])}
            if len(self._edges) >= _CACHED_NODES:
                self._edges.clear()
            self._edges[edge] = record
        return record

    def neighbours(self, identity: int, direction: str, types: Types) -> Sequence[tuple[Edge, int]]:
        """Return (relationship, far node id) pairs in key order; with direction `both`, a loop appears once."""
        key = (identity, direction, types)
        near = self._near.get(key)
        if near is None:
            found: list[tuple[Edge, int]] = []
            if direction != "in":
                found.extend((edge, edge.target) for edge in self._select(_OUT, identity, types))
            if direction != "out":
                loops = direction == "in"
                incoming = self._select(_IN, identity, types)
                found.extend((edge, edge.source) for edge in incoming if loops or edge.source != edge.target)
            if self._near_size > _CACHED_EDGES:
                self._near.clear()
                self._near_size = 0
            self._near[key] = near = found
            self._near_size += len(near) + 1
        return near

    def ends(self, identities: Sequence[int], direction: str, types: Types) -> list[int]:
        """Return the ids of all nodes one relationship away from any of the nodes, distinct, in a fixed order."""
        far: dict[int, None] = {}
        bound = (json.dumps(identities), *types.values)
        for near_column, far_column in (("source", "target"), ("target", "source")):
            if direction == ("in" if near_column == "source" else "out"):
                continue
            sql = f"SELECT e.{far_column} FROM json_each(?) AS j CROSS JOIN edge AS e ON e.{near_column} = j.value"
            rows = fetch(self.connection, f"{sql} WHERE {types.sql}" if types.sql else sql, bound)
            far.update((row[0], None) for row in rows)
        return list(far)

    def existing(self, identities: Sequence[int]) -> list[int]:
        """Return the ids that belong to visible nodes, in the same order."""
        sql = "SELECT n.id FROM json_each(?) AS j CROSS JOIN node AS n ON n.id = j.value"
        return [row[0] for row in fetch(self.connection, sql, (json.dumps(identities),))]

    def _select(self, sql: str, identity: int, types: Types) -> list[Edge]:
        rows = fetch(self.connection, f"{sql} AND {types.sql}" if types.sql else sql, (identity, *types.values))
        return [Edge(*row) for row in rows]


def edge_types(expression: LabelExpression | None) -> Types:
    """Return the condition for `Graph.neighbours`."""
    if expression is None:
        return Types("", ())
    bound: list[str] = []
    return Types(label_sql(expression, "e.type", bound), tuple(bound))
