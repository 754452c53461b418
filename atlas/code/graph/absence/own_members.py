"""Say of each class of an answer whether it defines a member of its own. Reads the graph only."""

from __future__ import annotations

from dataclasses import replace

from atlas.code.graph.relation import EdgeAnswer
from atlas.code.reader import Reader
from atlas.core.model import Direction, EdgeType, Label, Node

MAX_HELD = 20_000
_HOLDS = (EdgeType.DEFINES, EdgeType.DEFINES_METHOD)


async def with_own_members(reader: Reader, found: EdgeAnswer, member: str) -> EdgeAnswer:
    """Return an answer whose classes say where they define a member, or that they do not. Raises store errors.

    An answer without classes stays as it is, and so does one in which neither they nor what they derive from have it.
    """
    classes = [each.node.row.uid for each in found.related if each.node.row.label == Label.CLASS]
    wholes = {part.row.uid: each.node.row.uid for each in found.related for part in each.parts}
    uids = [*found.targets.uids, *classes, *wholes]
    held = await reader.store.edges(uids, Direction.OUT, _HOLDS, MAX_HELD) if classes else []
    own: dict[str, Node] = {}
    for edge in held:
        if edge.node.row.name == member:
            own.setdefault(wholes.get(edge.row.source, edge.row.source), edge.node)
    if not own:
        return found
    related = tuple(
        replace(each, quoted=(*each.quoted, _said(member, own.get(each.node.row.uid), each.path)))
        if each.node.row.label == Label.CLASS
        else each
        for each in found.related
    )
    count = sum(uid in own for uid in classes)
    base = next((own[uid].row for uid in found.targets.uids if uid in own), None)
    above = f"; {base.qualified_name} {base.path}:{base.line} is what the rest may inherit" if base is not None else ""
    note = f"{count} of {len(classes)} define `{member}` of their own{above if count < len(classes) else ''}"
    return replace(found, related=related, notes=(note, *found.notes))


def _said(member: str, node: Node | None, path: str) -> str:
    if node is None:
        return f"no `{member}` of its own"
    at = "" if node.row.path == path else f"{node.row.path}:"
    return f"own `{member}` {at}{node.row.line}"
