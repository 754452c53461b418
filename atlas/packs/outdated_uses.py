"""Places of a project that use APIs which the documentation of its dependencies calls deprecated or removed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from atlas.core.model import Filter, Label, Match, Node
from atlas.packs.entities import find_entity, said_of
from atlas.packs.links import Dependency, JoinedPack, dependencies, joined_pack
from atlas.packs.opening import BROKEN, list_packs

if TYPE_CHECKING:
    from atlas.core.contracts import Store
    from atlas.packs.documentation.pack.folder import InstalledPack
    from atlas.packs.opening import OpenPack
    from atlas.packs.toolset import PackDesk

MAX_USES = 50_000
MAX_FACTS = 20
"""Facts about one name that are looked at."""
SECONDS = 20.0
STATES = ("removed", "deprecated")
"""The stronger one counts."""
_USES = (
    "MATCH (user)-[r]->(e:ExternalSymbol) WHERE type(r) <> 'CONTAINS' RETURN e.qualified_name AS name, "
    "user.qualified_name AS user, user.path AS path, r.line AS line ORDER BY name, path, line"
)


@dataclass(frozen=True, slots=True)
class OutdatedUse:
    """A place that uses an API which the documentation calls deprecated or removed."""

    symbol: str
    state: str
    """`deprecated 4.2` or `removed 5.0`."""
    path: str
    line: int
    user: str
    pack: str
    evidence: str
    """The sentence that says so, else the first one of its description, or its section."""


_State = tuple[str, str, str]
"""State, pack and evidence of a symbol."""


async def outdated_uses(desk: PackDesk, store: Store, project: str, notes: list[str]) -> list[OutdatedUse]:
    """Return the places of the project that use deprecated or removed APIs, according to the installed packs.

    Packs that cannot be read are named in the notes.
    """
    packs, declared = list_packs(), await dependencies(store, project)
    table = await store.cypher(_USES, {}, MAX_USES, SECONDS, project)
    states: dict[str, _State | None] = {}
    found: list[OutdatedUse] = []
    for row in table.rows:
        name = str(row[0]).removeprefix("ext:")
        if name not in states:
            try:
                states[name] = await _state(desk, name, declared, packs)
            except BROKEN as error:
                states[name] = None
                notes.append(f"{name}: its pack was skipped: {error}")
        state = states[name]
        if state is not None:
            found.append(OutdatedUse(name, state[0], str(row[2]), int(str(row[3] or 0)), str(row[1]), *state[1:]))
    return found


async def _state(
    desk: PackDesk, name: str, dependencies: Sequence[Dependency], packs: Sequence[InstalledPack]
) -> _State | None:
    joined = joined_pack(name, dependencies, packs)
    if joined is None:
        return None
    pack = await desk.opened(joined.folder)
    title = f"{pack.manifest.name}@{pack.manifest.version}"
    entity = await find_entity(pack, name, joined.dependency.import_name)
    said: Mapping[str, object] = said_of(entity) if entity is not None else {}
    state = next((f"{key} {said[key]}" for key in STATES if said.get(key)), "")
    if entity is None or not state:
        return await _declared_state(pack, title, _names(name, joined))
    evidence = entity.row.docstring
    if not evidence:
        declared = await _declared_state(pack, title, _names(name, joined))
        evidence = declared[2] if declared is not None else str(said.get("section", ""))
    return state, title, evidence


async def _declared_state(pack: OpenPack, title: str, names: Sequence[str]) -> _State | None:
    """Return what a sentence declares about a name as a whole: removed APIs have no description of their own."""
    where = Filter(project=pack.manifest.name, labels=(Label.FACT,))
    for name in names:
        found: dict[str, Node] = {}
        for node in await pack.store.find(f"{name} ", Match.PREFIX, where, MAX_FACTS):
            said = said_of(node)
            if said.get("whole") and said.get("subject") == name:
                found.setdefault(node.row.kind, node)
        for state in STATES:
            if state in found:
                version = _version(said_of(found[state]))
                return f"{state} {version}", title, found[state].row.docstring
    return None


def _names(name: str, joined: JoinedPack) -> list[str]:
    """Return how documentation may name a symbol: whole, or by an end that is not ambiguous.

    The last part alone counts only for what the package itself has.
    """
    parts = name.split(".")
    inside = 1 if parts[0] == joined.dependency.import_name else len(joined.dependency.import_name.split("."))
    ends = [parts[start:] for start in range(1, len(parts))]
    return [name, *(".".join(end) for end in ends if len(end) > 1 or len(parts) == inside + 1)]


def _version(said: Mapping[str, object]) -> str:
    return str(said.get("value") or "yes")
