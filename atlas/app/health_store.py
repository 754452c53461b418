"""Health of where the index is: the server and its indexes, and whether its vectors are the embedder's own."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from atlas.app.store import store_facts
from atlas.errors import AtlasError
from atlas.tools.answers import Check

if TYPE_CHECKING:
    from atlas.config.load import Settings
    from atlas.model import ModelInfo, ProjectState

STORE_SECONDS = 10.0


async def check_store(settings: Settings) -> list[Check]:
    """Ask the configured server; nothing for an index in a folder, which is opened and counted anyway."""
    if not settings.store.url:
        return []
    place = settings.store_place
    try:
        async with asyncio.timeout(STORE_SECONDS):
            facts = await store_facts(settings)
    except TimeoutError:
        return [
            Check("store", "broken", f"{place}: no answer within {STORE_SECONDS:g} s", "Look at the server's load.")
        ]
    except AtlasError as error:
        return [Check("store", "broken", error.message, error.hint)]
    if not facts.indexes:
        return [Check("store", "missing", f"{facts.agent} at {place}: empty", f"atlas index {settings.root}")]
    if facts.missing:
        absent = f"{facts.agent} at {place}: {len(facts.missing)} indexes are missing: {', '.join(facts.missing[:3])}"
        return [Check("store", "broken", absent, f"atlas index {settings.root}")]
    return [Check("store", "ok", f"{facts.agent} at {place}, {facts.indexes} indexes online")]


def check_model(settings: Settings, made: ModelInfo, state: ProjectState | None) -> list[Check]:
    """Compare the model of the embedder with that of the vectors there are."""
    stored = state.model if state is not None else None
    if stored is None or stored == made:
        return []
    detail = (
        f"vectors are of {stored.provider} {stored.model} ({stored.dimension} dimensions), the embedder makes "
        f"{made.provider} {made.model} ({made.dimension}): no search by meaning"
    )
    return [Check("model", "warning", detail, f"atlas index {settings.root}")]
