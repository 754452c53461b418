"""Comparison and order of names in the in-memory store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from atlas.adapters.stores.shared import names
from atlas.core.edit_distance import fold
from atlas.core.model import Match, Node, NodeRow

MATCHES: Mapping[Match, Callable[[str, NodeRow], bool]] = {
    Match.UID: lambda text, row: row.uid == text,
    Match.EXACT: lambda text, row: row.qualified_name == text,
    Match.SUFFIX: lambda text, row: names.suffix_matcher(text)(row.name, row.qualified_name),
    Match.FOLDED: lambda text, row: names.suffix_matcher(fold(text))(fold(row.name), fold(row.qualified_name)),
    Match.PREFIX: lambda text, row: fold(row.name).startswith(fold(text)),
}
"""How `find` compares a name, for matches that are either true or false."""


def near(text: str, nodes: Sequence[Node]) -> Iterable[tuple[int, tuple[bool, int, str, str], Node]]:
    """Yield (edits, order, node) for the nodes with similarly spelled names."""
    qualifier, wanted = names.wanted_name(text)
    for node in nodes:
        edits = names.similar(wanted, node.row.name) if wanted else None
        if edits is not None:
            total = edits + names.qualifier_distance(qualifier, node.row.qualified_name)
            yield total, names.order_key(node), node


def source_order(node: Node) -> tuple[int, int, str, str]:
    """Return the key that sorts the nodes of a file in source order."""
    return (node.row.start_byte, -node.row.end_byte, node.row.qualified_name, node.row.uid)
