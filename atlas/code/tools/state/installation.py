"""index, status and health: tools that describe or change an installation instead of asking its index."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Protocol

from atlas.answers.evidence import Evidence, NewerFiles
from atlas.code.atlas import Atlas
from atlas.code.index.events import IndexSummary
from atlas.code.tools.state.daemon import DaemonStatus
from atlas.code.tools.state.health import HealthAnswer
from atlas.code.tools.state.index import status
from atlas.code.tools.state.index_pass import IndexAnswer
from atlas.code.tools.state.report import StatusAnswer


class Installation(Protocol):
    """What is known of the index of a project and of the processes around it."""

    async def run_pass(self, *, full: bool) -> IndexSummary:
        """Make the index equal to the tree and tell the caller how far that is. Raises AtlasError."""
        ...

    async def opened(self) -> Atlas:
        """Return the index as it is. Raises NotFound if there is none."""
        ...

    async def daemon(self) -> DaemonStatus:
        """Return the state of the daemon."""
        ...

    async def newer(self, atlas: Atlas) -> NewerFiles | None:
        """Return the files of the project that differ from the index, None if that is unknown."""
        ...

    def places(self) -> Sequence[str]:
        """Return notes on where the index is and which settings are ignored."""
        ...

    async def diagnosis(self) -> HealthAnswer:
        """Return the state of every part."""
        ...


async def index(installation: Installation, *, full: bool = False) -> IndexAnswer:
    """Make the index equal to the tree; `full` parses all files again. Raises AtlasError."""
    summary = await installation.run_pass(full=full)
    evidence = Evidence(summary.project, summary.generation, "", "", (), "", 0, 0)
    return IndexAnswer("index", summary, evidence)


async def describe(
    installation: Installation,
    *,
    project: str = "",
    everything: bool = False,
    skipped: bool = False,
    skipped_filter: str = "",
    token_budget: int = 2000,
) -> StatusAnswer:
    """Return the result of `status`; the daemon answers while the store counts."""
    atlas = await installation.opened()
    daemon, newer = asyncio.create_task(installation.daemon()), asyncio.create_task(installation.newer(atlas))
    try:
        return await status(
            atlas,
            project=project,
            everything=everything,
            skipped=skipped,
            skipped_filter=skipped_filter,
            token_budget=token_budget,
            daemon=daemon,
            newer=newer,
            places=installation.places(),
        )
    finally:
        # an error of `status` leaves them without a reader
        daemon.cancel()
        newer.cancel()


async def diagnose(installation: Installation) -> HealthAnswer:
    """Return the state of every part, worst first; never raises an AtlasError."""
    return await installation.diagnosis()
