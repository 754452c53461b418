"""One SELECT for the joined part of a MATCH: tables in visiting order, conditions and bound values.

The planner here fixes the order (CROSS JOIN keeps SQLite from changing it): the node with the best anchor first, then
along the relationships. The SQL contains no text of the query: every name or value is bound.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from atlas.adapters.stores.sqlite.cypher.graph import EDGE_COLUMNS, LABEL, NODE_COLUMNS, TYPE, Column, label_sql
from atlas.adapters.stores.sqlite.cypher.pattern import RelationshipColumns, may_share
from atlas.adapters.stores.sqlite.cypher.scope import LABEL_OF, TYPE_OF
from atlas.adapters.stores.sqlite.cypher.values import Row

Source: TypeAlias = Callable[[Row], object]
LABEL_RANK = 5.0
"""Lower ranks use an index other than the label's."""


@dataclass(slots=True)
class Bound:
    """The values of a statement's `?n`, computed from the incoming row."""

    sources: list[Source] = field(default_factory=list[Source])

    def add(self, source: Source) -> str:
        """Register a value and return its placeholder."""
        self.sources.append(source)
        return f"?{len(self.sources)}"

    def constant(self, value: object) -> str:
        """Register a constant and return its placeholder."""
        return self.add(lambda row: value)

    def values(self, row: Row) -> tuple[object, ...]:
        """Return the values for one incoming row."""
        return tuple(source(row) for source in self.sources)


@dataclass(slots=True)
class SqlPattern:
    """The statement under construction.

    `ids` maps node names to the SQL of their ids, `edges` maps relationships to aliases.
    """

    bound: Bound
    prefix: str = ""
    """Distinguishes the aliases of a nested pattern."""
    tables: list[str] = field(default_factory=list[str])
    conditions: list[str] = field(default_factory=list[str])
    ids: dict[str, str] = field(default_factory=dict[str, str])
    nodes: dict[str, str] = field(default_factory=dict[str, str])
    edges: dict[str, str] = field(default_factory=dict[str, str])
    outer: SqlPattern | None = None
    reach: dict[str, str] = field(default_factory=dict[str, str])
    """Nodes that are reached by id, so that the index on their label must not be used."""

    def knows(self, name: str) -> bool:
        """Return whether the name is a node or relationship of this statement or of the enclosing one."""
        return (
            name in self.nodes
            or name in self.ids
            or name in self.edges
            or (self.outer is not None and self.outer.knows(name))
        )

    def column(self, name: str, part: str) -> tuple[str, Column] | None:
        """Return (table alias, column) of a property, `#type` or `#label`; None if there is no such column."""
        if name in self.edges:
            column = TYPE if part == TYPE_OF else EDGE_COLUMNS.get(part)
            return None if column is None else (self.edges[name], column)
        if name in self.ids:
            column = LABEL if part == LABEL_OF else NODE_COLUMNS.get(part)
            return None if column is None else (self.node(name), column)
        return self.outer.column(name, part) if self.outer is not None else None

    def identity(self, name: str) -> str | None:
        """Return the SQL of a node's id."""
        known = self.ids.get(name)
        return known if known is not None or self.outer is None else self.outer.identity(name)

    def node(self, name: str) -> str:
        """Return the table alias of a node; a node known only by its id gets its table now, at the front."""
        if name not in self.nodes:
            alias = f"{self.prefix}n{len(self.nodes)}"
            self.tables.insert(0, f"node AS {alias}")
            self.conditions.append(f"{alias}.id = {self.ids[name]}")
            self.nodes[name] = alias
            self.reach[name] = alias
        return self.nodes[name]

    def join(self, names: list[str], relations: list[RelationshipColumns], ranks: Mapping[str, float]) -> None:
        """Add all nodes and relationships. `ranks`: lower is a better start. Directions are out or in."""
        pending = list(relations)
        missing = [name for name in names if self.identity(name) is None]
        while missing or pending:
            reachable = [r for r in pending if self.identity(r.left) is not None or self.identity(r.right) is not None]
            if reachable:
                best = min(reachable, key=lambda relation: self._far_rank(relation, ranks))
                pending.remove(best)
                self._follow(best)
            else:
                best_node = min(missing, key=lambda name: ranks.get(name, 9.0))
                self._place(best_node, "")
                if ranks.get(best_node, 9.0) < LABEL_RANK:
                    self.reach[best_node] = self.nodes[best_node]
            missing = [name for name in missing if name not in self.ids]
        self._keep_apart(relations)

    def _far_rank(self, relation: RelationshipColumns, ranks: Mapping[str, float]) -> float:
        far = [name for name in (relation.left, relation.right) if self.identity(name) is None]
        return ranks.get(far[0], 9.0) if far else -1.0

    def _place(self, name: str, identity: str) -> None:
        alias = f"{self.prefix}n{len(self.nodes)}"
        self.tables.append(f"node AS {alias}")
        if identity:
            self.conditions.append(f"{alias}.id = {identity}")
            self.reach[name] = alias
        self.nodes[name] = alias
        self.ids[name] = identity or f"{alias}.id"

    def _follow(self, relation: RelationshipColumns) -> None:
        alias = f"{self.prefix}e{len(self.edges)}"
        self.tables.append(f"edge AS {alias}")
        self.edges[relation.name] = alias
        ends = (relation.left, relation.right) if relation.direction == "out" else (relation.right, relation.left)
        for name, column in zip(ends, ("source", "target"), strict=True):
            known = self.identity(name)
            if known is not None:
                self.conditions.append(f"{alias}.{column} = {known}")
            else:
                self._place(name, f"{alias}.{column}")
        if relation.types is not None:
            names: list[str] = []
            condition = label_sql(relation.types, f"{alias}.type", names)
            self.conditions.append(self.spell(condition, names))

    def spell(self, condition: str, values: list[str]) -> str:
        """Replace each plain `?` of a condition with a numbered placeholder."""
        for value in values:
            condition = condition.replace("?", f"\0{self.bound.constant(value)[1:]}", 1)
        return condition.replace("\0", "?")

    def _keep_apart(self, relations: list[RelationshipColumns]) -> None:
        for index, first in enumerate(relations):
            for second in relations[index + 1 :]:
                if may_share(first, second):
                    self.conditions.append(f"{self.key(first.name)} <> {self.key(second.name)}")

    def key(self, relation: str) -> str:
        """Return the row value that identifies a relationship."""
        alias = self.edges[relation]
        return f"({alias}.source, {alias}.type, {alias}.target, {alias}.line)"

    def skip_bare_nodes(self, columns: list[str]) -> bool:
        """Look up nodes whose existence alone matters in a set of all ids (`visible`); return whether there are any.

        This is worthwhile if most edges are read: 300,000 lookups in a table of 50,000 nodes take 350 ms, in the set
        140 ms.
        """
        changed = False
        for name, alias in self.reach.items():
            own = f"{alias}.id = {self.ids[name]}"
            used = any(f"{alias}." in part for part in (*self.conditions, *columns) if part != own)
            if not used and self.ids[name] != f"{alias}.id" and self.tables[0] != f"node AS {alias}":
                self.tables.remove(f"node AS {alias}")
                # `+` makes the planner probe the set for each edge instead of scanning it for each node.
                self.conditions[self.conditions.index(own)] = f"+{self.ids[name]} IN visible"
                changed = True
        return changed

    def select(self, columns: list[str]) -> str:
        """Return the statement."""
        text = f"SELECT {', '.join(columns) or '1'}"
        if self.tables:
            text += " FROM " + " CROSS JOIN ".join(self.tables)
        return text + (" WHERE " + " AND ".join(self.conditions) if self.conditions else "")
