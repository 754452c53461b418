"""Declared dependencies with their packs, and the places that use what the packs call deprecated or removed."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from atlas.app.session import Session
from atlas.app.toolsets import open_packs
from atlas.code.graph.declarations import read_declarations
from atlas.code.reader import Reader
from atlas.runtime.process.installation_key import has_packs

if TYPE_CHECKING:
    from atlas.packs.outdated_uses import OutdatedUse

LISTED = 40
"""Dependencies that the page shows."""


@dataclass(frozen=True, slots=True)
class ShownDependency:
    """A dependency that the project needs when it runs."""

    uid: str
    name: str
    range: str
    locked: str
    path: str
    line: int
    pack: str
    """Name and version of its pack, "" without one."""
    documents: str
    """The version that the pack documents."""
    is_exact: bool


@dataclass(frozen=True, slots=True)
class ProjectDependencies:
    """What a project declares, and what packs say about it."""

    kinds: dict[str, int]
    """Number of declarations by kind."""
    runtime: tuple[ShownDependency, ...]
    runtime_total: int
    outdated: tuple[OutdatedUse, ...] | None
    """None if no dependency has a pack: nothing is known then."""
    said: tuple[str, ...]
    """Packs that cannot be read, and how one is built where there is none."""


async def read_dependencies(session: Session, reader: Reader) -> ProjectDependencies:
    """Return the dependencies of the project. Raises store errors."""
    # imported here: the explorer listens before it counts
    from atlas.packs.links import build_command, dependencies, pack_of
    from atlas.packs.opening import list_packs
    from atlas.packs.outdated_uses import outdated_uses

    declared = [each for each in await read_declarations(reader, reader.project) if not each.is_inner]
    kinds: dict[str, int] = {}
    for each in declared:
        kinds[each.kind] = kinds.get(each.kind, 0) + 1
    said: list[str] = []
    try:
        packs = await asyncio.to_thread(list_packs) if has_packs() else []
    except OSError as error:  # one is removed at this moment, or the folder is not ours
        packs = []
        said.append(f"the packs cannot be read: {error.strerror or type(error).__name__}")
    known = await dependencies(reader.store, reader.project)
    joined = {each.name: found for each in known if (found := pack_of(each, packs)) is not None}
    runtime: dict[str, ShownDependency] = {}
    for each in declared:
        if each.kind == "runtime" and each.name not in runtime:
            pack = joined.get(each.name)
            runtime[each.name] = ShownDependency(
                each.target, each.name, each.range, each.locked, each.path, each.line,
                f"{pack.folder.parent.name}@{pack.folder.name}" if pack else "",
                pack.documents if pack else "", pack.is_exact if pack else False,
            )  # fmt: skip
    outdated: tuple[OutdatedUse, ...] | None = None
    if joined:
        desk = session.opened_by(open_packs)
        outdated = tuple(await outdated_uses(desk, reader.store, reader.project, said))
    without = next((each for each in known if each.name in runtime and each.name not in joined), None)
    if without is not None:
        said.append(f"{without.name} has no pack; one is built by: {build_command(without)}")
    # those with a pack first: there is something to read
    shown = sorted(runtime.values(), key=lambda each: not each.pack)
    return ProjectDependencies(kinds, tuple(shown[:LISTED]), len(runtime), outdated, tuple(said))


def installed() -> tuple[str, ...]:
    """Return which packs are installed, without reading them: what a page knows of them is of the same ones."""
    from atlas.runtime.process.installation_key import packs_folder

    return tuple(sorted(str(each) for each in packs_folder().glob("*/*"))) if has_packs() else ()
