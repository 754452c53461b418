"""Becoming the writer of a project: not of one that is another tree with the same name.

Names are not unique: two checkouts on two hosts, or in two containers, may both be called `app`. A tree that is known
from elsewhere (another host, another mount, moved) has most of the files that were indexed; another tree has not.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from pathlib import Path

from atlas.contracts import Store
from atlas.errors import ConfigError
from atlas.model import ProjectState
from atlas.pipeline.workspace import ProjectSource

SAMPLE = 500
"""Recorded files that are looked for."""
SHARE = 0.5
"""Part of them that has to be there."""


async def claim_project(store: Store, source: ProjectSource, *, take_over: bool = False) -> None:
    """Open the project in the store; with `take_over` whatever tree it was made from.

    Raises ConfigError when the store holds another tree under its name, and what `Store.open_project` raises.
    """
    state = next((each for each in await store.projects() if each.project == source.project), None)
    if state is not None and not take_over and _is_elsewhere(state, source.root):
        recorded = sorted(path for path in await store.manifest(source.project) if path)
        looked_for = recorded[:: len(recorded) // SAMPLE + 1]
        present = await asyncio.to_thread(_present, source.root, looked_for)
        if present < SHARE * len(looked_for):
            place = f"{state.root} on {state.host}" if state.host else state.root
            raise ConfigError(
                f"the index holds another project called {source.project}, of {place}: of {len(looked_for):,} files "
                f"indexed there {present:,} are in {source.root}",
                "give this one a name of its own, [project] name in atlas.toml (ATLAS_PROJECT_NAME); "
                "or replace the other one: atlas index --take-over",
            )
    await store.open_project(source.project, str(source.root))


def _is_elsewhere(state: ProjectState, root: Path) -> bool:
    return state.root != str(root) or state.host not in ("", socket.gethostname())


def _present(root: Path, paths: Sequence[str]) -> int:
    return sum((root / path).is_file() for path in paths)
