"""Trees with an index: made once for the tests of a module, which only ask."""

from __future__ import annotations

from pathlib import Path

from atlas.app.main import open_atlas
from atlas.runtime.config.load import load_settings

QUICK = {"ATLAS_EMBEDDER_PROVIDER": "none"}


async def indexed(root: Path, data: Path) -> None:
    """Index a tree without an embedder."""
    async with open_atlas(load_settings(str(root), str(data), environment=QUICK), writing=True) as opened:
        await opened.index()
