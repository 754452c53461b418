"""Claims a project for writing unless the store holds another tree under its name.

Names are not unique: checkouts on two hosts, or in two containers, may both be called `app`. The same tree in another
place (another host, another mount, moved) contains most of the indexed files; another tree does not.
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
"""Recorded files that are looked up."""
SHARE = 0.5
"""Share of them that must exist."""


async def claim_project(store: Store, source: ProjectSource, *, take_over: bool = False) -> None:
    """Open the project in the store; with `take_over`, regardless of the tree that it was made from.

    Raises ConfigError if the store holds another tree under its name, and what `Store.open_project` raises.
    """
    state = next((each for each in await store.projects() if each.project == source.project), None)
    if state is not None and not take_over and _is_elsewhere(state, source.root):
        recorded = sorted(path for path in await store.manifest(source.project) if path)
        sample = recorded[:: len(recorded) // SAMPLE + 1]
        present = await asyncio.to_thread(_present, source.root, sample)
        if present < SHARE * len(sample):
            place = f"{state.root} on {state.host}" if state.host else state.root
            raise ConfigError(
                f"the index holds another project named {source.project}, indexed at {place}: only {present:,} of "
                f"{len(sample):,} sampled files exist in {source.root}",
                "give this project another name, [project] name in atlas.toml (ATLAS_PROJECT_NAME), "
                "or replace the other project: atlas index --take-over",
            )
    await store.open_project(source.project, str(source.root))


def _is_elsewhere(state: ProjectState, root: Path) -> bool:
    return state.root != str(root) or state.host not in ("", socket.gethostname())


def _present(root: Path, paths: Sequence[str]) -> int:
    return sum((root / path).is_file() for path in paths)
