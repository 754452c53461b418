"""The settings of the user's own notes, which belong to no project."""

from __future__ import annotations

from dataclasses import replace

from atlas.core.ids import PERSONAL_PROJECT
from atlas.runtime.config.settings import (
    BusSettings,
    EmbedderSettings,
    ProjectSettings,
    ScopeSettings,
    Settings,
    StoreSettings,
)
from atlas.runtime.process.data_folder import default_folder
from atlas.runtime.process.installation_key import personal_folder


def personal_settings(settings: Settings) -> Settings:
    """Return the settings of the user's own notes: always a store in files, and vectors made in this process.

    Personal notes never reach the servers that a project is configured with.
    """
    root = personal_folder().resolve()
    embeds = "static" if settings.embedder.embeds_prose else "none"
    return replace(
        settings,
        root=root,
        data_dir=default_folder(root),
        project=ProjectSettings(PERSONAL_PROJECT),
        scope=ScopeSettings(),
        knowledge=replace(settings.knowledge, folder="knowledge"),
        store=StoreSettings(),
        bus=BusSettings(),
        mcp=replace(settings.mcp, allow_index=True, index_on_demand=True, start_daemon=False),
        embedder=replace(EmbedderSettings(), provider="none", prose=embeds),
        origins={},
    )
