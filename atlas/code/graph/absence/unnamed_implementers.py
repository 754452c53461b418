"""Classes that have the methods of a protocol and need not name it as a base. Reads the graph only.

A class is a member of a protocol (PEP 544) by its methods alone, so no edge leads to it: a type checker compares both
where one is handed over. Which classes are meant is not known; those with all methods may be.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from atlas.code.reader import Reader
from atlas.core.labels import EXTERNAL_LABELS
from atlas.core.model import Direction, EdgeType, Filter, Label, Match, Node

PROTOCOL = "Protocol"
"""Name of the base by which a class says that others need not name it."""
MAX_NODES = 500
"""Methods of one name that are read; a protocol whose methods have more is not compared."""
SHOWN = 8


async def find_unnamed_implementers(
    reader: Reader, nodes: Sequence[Node], known: Collection[str] = ()
) -> tuple[str, ...]:
    """Return a clause about the classes that have the methods of a protocol; () if no node is one. Raises store errors.

    `known`: uids of the classes that the answer has.
    """
    for node in nodes:
        if node.row.label == Label.CLASS and await _is_protocol(reader, node):
            return (await _said(reader, node, known),)
    return ()


async def _is_protocol(reader: Reader, node: Node) -> bool:
    edges = await reader.store.edges([node.row.uid], Direction.OUT, (EdgeType.INHERITS,), MAX_NODES)
    bases = (edge.node.row for edge in edges)
    return any(row.name == PROTOCOL and row.label in EXTERNAL_LABELS for row in bases)


async def _said(reader: Reader, node: Node, known: Collection[str]) -> str:
    members = await reader.store.edges([node.row.uid], Direction.OUT, (EdgeType.DEFINES_METHOD,), MAX_NODES)
    names = sorted({edge.node.row.name for edge in members if not edge.node.row.name.startswith("__")})
    head = "it is a protocol, which a class need not name"
    found: dict[str, Node] | None = None
    for name in names:
        methods = await reader.store.find(name, Match.SUFFIX, Filter(project=node.project), MAX_NODES)
        if len(methods) == MAX_NODES:
            return head
        owners = {
            each.row.qualified_name.rpartition(".")[0]: each for each in methods if each.row.label == Label.METHOD
        }
        found = owners if found is None else {owner: at for owner, at in found.items() if owner in owners}
    known_names = {uid.partition(":")[2] for uid in known} | {node.row.qualified_name}
    classes = sorted(
        (at.row.path, at.row.line, owner) for owner, at in (found or {}).items() if owner not in known_names
    )
    if not classes:
        return f"{head}; no other class has its methods ({', '.join(names)})" if names else head
    places = ", ".join(f"{owner.rpartition('.')[2]} {path}:{line}" for path, line, owner in classes[:SHOWN])
    rest = f", and {len(classes) - SHOWN} more" if len(classes) > SHOWN else ""
    return f"{head}; classes with its methods ({', '.join(names)}): {places}{rest}"
