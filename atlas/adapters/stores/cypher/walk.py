"""Walks over a syntax tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import cast

from atlas.adapters.stores.cypher.syntax import Subquery


def walk(tree: object, subqueries: bool = True) -> Iterator[object]:
    """Yield every node of a syntax tree (or of a tuple of trees), parents first."""
    stack: list[object] = [tree]
    while stack:
        item = stack.pop()
        if isinstance(item, tuple):
            stack.extend(reversed(cast("tuple[object, ...]", item)))
        elif is_dataclass(item):
            yield item
            if subqueries or not isinstance(item, Subquery):
                stack.extend(getattr(item, part.name) for part in reversed(fields(item)))
