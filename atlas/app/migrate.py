"""Composition of `atlas migrate`: copies an index from one store to another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from atlas.app.store import open_store
from atlas.core.errors import ConfigError

if TYPE_CHECKING:
    from atlas.code.index.copying import CopyReport
    from atlas.code.index.events import Progress
    from atlas.runtime.config.load import Settings


async def migrate(
    source: Settings, target: Settings, projects: list[str], progress: Progress, *, replacing: bool
) -> list[CopyReport]:
    """Copy projects (none = that of the settings) from one index to another; return a comparison of each.

    Holds the right to write to the target meanwhile. Raises ConfigError if both are the same index or the target
    already holds a project (unless `replacing`), NotFound, WriterBusy, and as the stores do.
    """
    from atlas.code.index.copying import compare_project, copy_project

    if source.store_place == target.store_place:
        raise ConfigError(f"the index is already at {target.store_place}", "Name another index with --to.")
    here = await open_store(source)
    try:
        there = await open_store(target, writing=True)
        try:
            names = projects or [source.project_name]
            for project in names:
                await copy_project(here, there, project, progress, replacing=replacing)
            return [await compare_project(here, there, project, progress) for project in names]
        finally:
            await there.aclose()
    finally:
        await here.aclose()


async def projects_of(settings: Settings) -> list[str]:
    """Return the names of all projects in an index. Raises as `store.open_store` for reading does."""
    store = await open_store(settings)
    try:
        return [state.project for state in await store.projects()]
    finally:
        await store.aclose()
