"""What a session does for the toolsets that it has opened; see `atlas.app.session.Session`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeVar

from atlas.answers.toolset import OpenToolset
from atlas.knowledge.toolset import ProjectSession

if TYPE_CHECKING:
    from atlas.app.freshness import FreshnessGuard
    from atlas.app.workspace.members import SessionWorkspace
    from atlas.code.atlas import Atlas, TreeReport

OpenT = TypeVar("OpenT", bound=OpenToolset)


class ToolsetHost(ProjectSession, Protocol):
    """A session with one project."""

    guard: FreshnessGuard
    index_patience: float | None
    """Seconds that an index pass waits for another writer; None: the default."""

    workspace: SessionWorkspace
    """The other projects that answer with this one."""

    @property
    def personal(self) -> ProjectSession | None:
        """A session with the user's own notes; None if they are not served."""
        ...

    async def indexed(self, *, begins: bool = True) -> Atlas:
        """Return the open index; without one, begin it if `begins` and that is allowed. Raises NotFound."""
        ...

    async def report(self, atlas: Atlas, *, certain: bool = False) -> TreeReport | None:
        """Have newer files indexed; return what an answer says about them, None if there are none."""
        ...

    def opened_by(self, opening: Callable[[ToolsetHost], OpenT]) -> OpenT:
        """Return what the session has opened with a function."""
        ...
