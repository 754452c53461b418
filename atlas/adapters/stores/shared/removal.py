"""Deletes the units of a project through the store's own `apply`, in batches, so that no transaction holds them all."""

from __future__ import annotations

from atlas.core.contracts import Store
from atlas.core.model import GraphDelta

_UNITS = 200
"""Units per transaction."""


async def drop_units(store: Store, project: str) -> None:
    """Delete every unit of a project. Raises `NotFound` for an unknown one."""
    paths = list(await store.manifest(project))
    for start in range(0, len(paths), _UNITS):
        await store.apply([GraphDelta(project, path, None) for path in paths[start : start + _UNITS]])
