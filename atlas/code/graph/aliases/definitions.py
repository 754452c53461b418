"""Tell apart the definitions of one function: overloads, and redefinitions under a condition. Reads the graph only."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from atlas.code.graph.relation import RelatedSymbol
from atlas.code.graph.targets import Target, Targets
from atlas.code.question.languages import is_declaration
from atlas.code.question.relation_kinds import Kind, RelationIntent
from atlas.code.reader import Reader
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Label, Node

MOST_DEFINITIONS = 6
"""Definitions of a function that are told apart; the edges of more are listed together."""
_TOLD = frozenset((Kind.TESTS, Kind.CALLERS, Kind.CALLEES, Kind.USAGES))
_LABELS = frozenset((Label.FUNCTION, Label.METHOD, Label.VALUE))
_REDEFINITION = lazy_regex(r"#\d+$")
_SIGNATURE = 80
"""Characters of a signature behind its name."""


async def related_of_definitions(
    reader: Reader,
    intent: RelationIntent,
    targets: Targets,
    find: Callable[[Targets], Awaitable[Sequence[RelatedSymbol]]],
) -> tuple[list[RelatedSymbol], Targets, tuple[str, ...]]:
    """Return what `find` finds for the symbols, and, of a function with several definitions, their places and a note.

    What leads to some of them, as a test does to one overload, says to which.
    """
    definitions = await definitions_of(reader, targets) if intent.kind in _TOLD else []
    if not 1 < len(definitions) <= MOST_DEFINITIONS:
        return list(await find(targets)), targets, ()
    target = targets.targets[0]
    first, *others = definitions
    own = {node.row.uid for node in others}
    found: dict[str, RelatedSymbol] = {}
    places: dict[str, list[str]] = {}
    for node in definitions:
        # a declaration counts as the first definition
        uids = (node.row.uid,) if node is not first else tuple(uid for uid in target.uids if uid not in own)
        for each in await find(replace(targets, targets=(Target(node, uids),))):
            uid = each.node.row.uid
            known = found.get(uid)
            lines = tuple(sorted({*known.lines, *each.lines})) if known is not None else each.lines
            nearer = each if known is None or each.depth < known.depth else known
            found[uid] = replace(nearer, lines=lines)
            places.setdefault(uid, []).append(_place(node, first))
    related = [
        each if len(places[uid]) == len(definitions) else replace(each, of=" and ".join(places[uid]))
        for uid, each in found.items()
    ]
    listed = ", ".join(f"{_place(node, first)} {_called(node)}" for node in definitions)
    note = f"{len(definitions)} definitions of {first.row.name}: {listed}"
    if len(leads := {each.of for each in related}) == 1 and (only := leads.pop()):
        related, note = [replace(each, of="") for each in related], f"{note}; all of these lead to {only}"
    further = "".join(f" and {_place(node, first)}" for node in others)
    told = replace(targets, targets=(replace(target, node=first, further=further),))
    return related, told, (note,)


async def definitions_of(reader: Reader, targets: Targets) -> list[Node]:
    """Return the definitions of the only function or value of a name, in the order of their lines."""
    if targets.total != 1 or targets.targets[0].node.row.label not in _LABELS:
        return []
    target = targets.targets[0]
    name = _REDEFINITION.sub("", target.node.row.qualified_name)
    nodes = await reader.store.symbols(target.uids)
    found = [
        node
        for node in nodes
        if node.row.label in _LABELS
        and _REDEFINITION.sub("", node.row.qualified_name) == name
        and not is_declaration(node, reader.languages)
    ]
    return sorted(found, key=lambda node: (node.row.path != target.node.row.path, node.row.path, node.row.line))


def _place(node: Node, first: Node) -> str:
    path = "" if node.row.path == first.row.path else node.row.path
    return f"{path}:{node.row.line}"


def _called(node: Node) -> str:
    """Return a signature from the name on: `secret(path: String) async`."""
    row = node.row
    at = row.signature.find(f"{row.name}(")
    return " ".join(row.signature[at:].split())[:_SIGNATURE] if at >= 0 else row.name
