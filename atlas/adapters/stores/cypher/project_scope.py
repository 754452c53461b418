"""The restriction of a query to one project of a store that holds several. Pure.

Edges never lead to another project, so it is enough that the first node of each pattern belongs to the project. A query
that reads the property `project` chooses for itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any, cast

from atlas.adapters.stores.cypher.syntax import (
    Index,
    Literal,
    MapProjection,
    NodePattern,
    PathPattern,
    Property,
    Query,
    walk,
)

PROJECT = "project"


def names_project(tree: Query) -> bool:
    """Return whether the query reads the property `project` of any entity."""
    return any(_reads_project(item) for item in walk(tree))


def _reads_project(item: object) -> bool:
    match item:
        case Property(name=name):
            return name == PROJECT
        case Index(index=Literal(value=value)):
            return value == PROJECT
        case NodePattern(properties=entries) | MapProjection(entries=entries):
            return any(name == PROJECT for name, _ in entries)
        case _:
            return False


def first_nodes(tree: Query) -> Iterator[NodePattern]:
    """Yield the first node of every pattern."""
    return (item.nodes[0] for item in walk(tree) if isinstance(item, PathPattern))


def restricted(tree: Query, project: str) -> Query:
    """Return the query with a condition on the first node of every pattern."""
    return cast("Query", _restricted(tree, ("project", Literal(project, "string"))))


def _restricted(tree: object, condition: tuple[str, Literal]) -> object:
    if isinstance(tree, tuple):
        return tuple(_restricted(item, condition) for item in cast("tuple[object, ...]", tree))
    if not is_dataclass(tree) or isinstance(tree, type):
        return tree
    changed: dict[str, Any] = {}
    for part in fields(tree):
        value: object = getattr(tree, part.name)
        if isinstance(value, tuple) or is_dataclass(value):
            changed[part.name] = _restricted(cast("object", value), condition)
    made = replace(tree, **changed) if changed else tree
    if isinstance(made, PathPattern):
        first, *others = made.nodes
        first = replace(first, properties=(*first.properties, condition))
        made = replace(made, nodes=(first, *others))
    return made
