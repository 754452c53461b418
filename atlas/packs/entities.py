"""API symbols of an opened pack, by the dotted names under which code uses them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from atlas.core.model import Filter, Match, Node
from atlas.packs.questions.texts import properties_of

if TYPE_CHECKING:
    from atlas.packs.opening import OpenPack


async def find_entity(pack: OpenPack, name: str, package: str) -> Node | None:
    """Return the entity of a dotted name: the longest end of it that is the end of exactly one entity."""
    where = Filter(project=pack.manifest.name, labels=("Entity",))
    exact = await pack.store.find(f"entity:{name}", Match.EXACT, where, 1)
    if exact:
        return exact[0]
    parts = name.split(".")
    for start in range(1 if parts[0] == package else 0, len(parts)):
        end = parts[start:]
        near = await pack.store.find(end[-1], Match.SUFFIX, where, 50)
        same = [one for one in near if _parts(one)[-len(end) :] == end]
        described = [one for one in same if one.row.signature] or same
        inside = [one for one in described if _parts(one)[: max(start, 1)] == parts[: max(start, 1)]] or described
        if len(inside) == 1:
            return inside[0]
        if same:
            return None  # ambiguous: nothing is better than another symbol's description
    return None


def said_of(node: Node) -> Mapping[str, object]:
    """Return the properties of a node of a pack."""
    return properties_of(node.row)


def _parts(node: Node) -> list[str]:
    return node.row.qualified_name.removeprefix("entity:").split(".")
