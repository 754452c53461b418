"""Health of an installation and of one project's index: what works, what is missing, and how to fix it.

Every check is tried for real: the extension is imported, the model encodes a word, the store is opened and counted.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from typing import TYPE_CHECKING

from atlas.errors import AtlasError, NotFound
from atlas.tools.answers import Check, Evidence, HealthAnswer
from atlas.tools.health import health
from atlas.wiring import make_embedder, open_atlas

if TYPE_CHECKING:
    from atlas.config import Settings
    from atlas.model import ProjectState, ProjectStats

LITTLE_SPACE = 512 << 20
"""Bytes of free disk below which indexing may fail: three times the index of a project of 3,000 files."""


async def check_health(settings: Settings) -> HealthAnswer:
    """Return the state of every part; never raises an AtlasError."""
    index, state = await _check_index(settings)
    checks = [
        await asyncio.to_thread(_check_extension),
        *index,
        await _check_embedder(settings),
        await asyncio.to_thread(_check_data_dir, settings),
    ]
    return health(checks, _evidence(settings, state))


def _check_extension() -> Check:
    try:
        from atlas.parsing import load_languages

        names = load_languages().names
    except (ImportError, ValueError) as error:
        fix = "Install the package again: pip install --force-reinstall code-atlas"
        return Check("parser", "broken", str(error), fix)
    return Check("parser", "ok", f"languages: {', '.join(names)}")


async def _check_index(settings: Settings) -> tuple[list[Check], ProjectState | None]:
    command = f"atlas index {settings.root}"
    try:
        async with open_atlas(settings) as atlas:
            states = {state.project: state for state in await atlas.reader.store.projects()}
            state = states.get(settings.project_name)
            if state is None or not state.generation:
                known = f"; the store holds {', '.join(states)}" if states else ""
                return [Check("index", "missing", f"{settings.project_name} is not indexed{known}", command)], state
            stats = (await atlas.reader.store.stats(settings.project_name))[0]
    except NotFound:
        return [Check("index", "missing", f"no index in {settings.data_dir}", command)], None
    except AtlasError as error:
        return [Check("index", "broken", error.message, error.hint)], None
    counts = f"{stats.files} files, {sum(stats.nodes.values())} nodes, {sum(stats.edges.values())} edges"
    found = Check("index", "ok", f"generation {state.generation} of {state.indexed_at}: {counts}")
    return [found, _check_vectors(settings, stats, command)], state


def _check_vectors(settings: Settings, stats: ProjectStats, command: str) -> Check:
    share = f"{stats.vectors} of {stats.chunks} texts have a vector"
    if settings.embedder.provider == "none":
        return Check("vectors", "missing", "switched off", 'Set embedder.provider = "static"')
    if stats.vectors < stats.chunks:
        return Check("vectors", "missing", share, command)
    return Check("vectors", "ok", share)


async def _check_embedder(settings: Settings) -> Check:
    if settings.embedder.provider == "none":
        return Check("embedder", "missing", "switched off: no search by meaning", 'Set embedder.provider = "static"')
    try:
        embedder = make_embedder(settings)
        await embedder.embed_query("health check")
    except AtlasError as error:
        return Check("embedder", "broken", error.message, error.hint)
    info = embedder.info
    return Check("embedder", "ok", f"{info.provider} {info.model}, {info.dimension} dimensions, on this machine")


def _check_data_dir(settings: Settings) -> Check:
    folder = settings.data_dir
    while not folder.exists():
        folder = folder.parent
    if not os.access(folder, os.W_OK):
        return Check("disk", "broken", f"{folder} cannot be written", "Choose another folder with --data-dir")
    free = shutil.disk_usage(folder).free
    if free < LITTLE_SPACE:
        return Check("disk", "missing", f"{free >> 20} MB free at {folder}", "Free disk space before indexing")
    return Check("disk", "ok", f"{free >> 30} GB free at {folder}")


def _evidence(settings: Settings, state: ProjectState | None) -> Evidence:
    generation, indexed_at = (state.generation, state.indexed_at) if state else (0, "")
    return Evidence(settings.project_name, generation, indexed_at, "", (), "cl100k_base", 0, 0)
