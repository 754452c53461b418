"""What lies beside a qualified name that nothing has: the members of its owner. Reads the graph only."""

from __future__ import annotations

from atlas.code.question.names import dotted
from atlas.code.reader import Reader
from atlas.core.model import Filter, Label, Match, Node

MOST_MEMBERS, MOST_OWNERS, MAX_NODES = 12, 2, 5_000
_OWNERS = frozenset((Label.MODULE, Label.PACKAGE, Label.CLASS, Label.FUNCTION, Label.METHOD, Label.VALUE))
_MEMBERS = frozenset((Label.CLASS, Label.FUNCTION, Label.METHOD, Label.VALUE))


async def members_beside(reader: Reader, name: str, project: str) -> tuple[str, ...]:
    """Return sentences with the members of what `OWNER.missing` names before its last part. Raises store errors.

    () where the index has no such owner in code, or more than `MOST_OWNERS` with members.
    """
    owner, _, last = dotted(name.strip("()")).rpartition(".")
    if not owner or not last:
        return ()
    where = Filter(project=project)
    held: list[tuple[Node, list[Node]]] = []
    for form in dict.fromkeys((owner, owner.rpartition(".")[2])):
        nodes = [] if held else await reader.store.find(form, Match.SUFFIX, where, MOST_MEMBERS)
        nodes = [node for node in nodes if node.row.label in _OWNERS and node.row.path]
        nodes = [node for node in nodes if not node.row.is_test] or nodes
        held += [(node, members) for node in nodes[: MOST_OWNERS + 1] if (members := await _held(reader, node))]
    defined = [each for each in held if not each[0].row.path.endswith(reader.languages.declarations)] or held
    if not 0 < len(defined) <= MOST_OWNERS:
        return ()
    words = set(reader.split_words(last)[1:]) or {last.lower()}
    return tuple(_said(reader, node, members, words, MOST_MEMBERS // len(defined)) for node, members in defined)


def _said(reader: Reader, node: Node, members: list[Node], words: set[str], most: int) -> str:
    """Return an owner with its members, those first whose names share a word with the missing one."""
    members.sort(key=lambda each: (words.isdisjoint(reader.split_words(each.row.name)), each.row.line))
    shown = ", ".join(f"{each.row.name} {each.row.line}" for each in members[:most])
    more = f" and {len(members) - most} more" if len(members) > most else ""
    return f"`{node.row.qualified_name}` {node.row.path}:{node.row.line or 1} has {shown}{more}"


async def _held(reader: Reader, node: Node) -> list[Node]:
    """Return the definitions of the same file whose qualified names are one part longer, each name once."""
    inside = await reader.store.find(node.row.path, Match.PATH, Filter(project=node.project), MAX_NODES)
    prefix = f"{node.row.qualified_name}."
    found: dict[str, Node] = {}
    for each in inside:
        rest = each.row.qualified_name.removeprefix(prefix)
        if each.row.label in _MEMBERS and rest != each.row.qualified_name and "." not in rest:
            found.setdefault(each.row.name, each)
    return list(found.values())
