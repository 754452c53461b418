"""Claims a project for writing unless the store holds another tree under its name; drops its former names.

Names are not unique: checkouts on two hosts, or in two containers, may both be called `app`. The same tree in another
place (another host, another mount, moved) contains most of the indexed files; another tree does not.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Sequence
from pathlib import Path

from atlas.code.index.project.workspace import ProjectSource
from atlas.core.contracts import Store
from atlas.core.errors import ConfigError
from atlas.core.project_state import ProjectState

logger = logging.getLogger(__name__)

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
        present, sampled = await _sampled(store, source.project, source.root)
        if present < SHARE * sampled:
            place = f"{state.root} on {state.host}" if state.host else state.root
            raise ConfigError(
                f"the index holds another project named {source.project}, indexed at {place}: only {present:,} of "
                f"{sampled:,} sampled files exist in {source.root}",
                "give this project another name, [project] name in atlas.toml (ATLAS_PROJECT_NAME), "
                "or replace the other project: atlas index --take-over",
            )
    await store.open_project(source.project, str(source.root))
    await _drop_former_names(store, source)


async def _drop_former_names(store: Store, source: ProjectSource) -> None:
    """Delete the projects that were indexed from the same tree under other names: the project was renamed."""
    for other in await store.projects():
        if other.project == source.project or _is_elsewhere(other, source.root):
            continue
        # Containers with the same host name may mount different trees at one path.
        if other.host and not await _is_same_tree(store, other.project, source.root):
            continue
        logger.info("the project %s is now named %s: its former index is deleted", other.project, source.project)
        await store.drop_project(other.project)
        facts = source.cache.with_name(source.cache.name.replace(source.project, other.project))
        if facts != source.cache:
            facts.unlink(missing_ok=True)


async def _is_same_tree(store: Store, project: str, root: Path) -> bool:
    present, sampled = await _sampled(store, project, root)
    return present >= SHARE * sampled


async def _sampled(store: Store, project: str, root: Path) -> tuple[int, int]:
    """Return how many of a sample of the project's recorded files exist below a folder, and the size of the sample."""
    recorded = sorted(path for path in await store.manifest(project) if path)
    sample = recorded[:: len(recorded) // SAMPLE + 1]
    return await asyncio.to_thread(_present, root, sample), len(sample)


def _is_elsewhere(state: ProjectState, root: Path) -> bool:
    return state.root != str(root) or state.host not in ("", socket.gethostname())


def _present(root: Path, paths: Sequence[str]) -> int:
    return sum((root / path).is_file() for path in paths)
