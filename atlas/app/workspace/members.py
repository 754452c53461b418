"""The other projects of a session's workspace: their names, their sessions, and why one cannot be asked."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from atlas.core.errors import AtlasError, ConfigError, NotFound
from atlas.runtime.config.load import load_member
from atlas.runtime.config.settings import WorkspaceSettings
from atlas.runtime.config.workspace import roots_beside

if TYPE_CHECKING:
    from atlas.answers.answer import Answer
    from atlas.answers.tool import Tool
    from atlas.code.across.packages import ProjectView
    from atlas.code.atlas import Atlas
    from atlas.runtime.config.load import Settings

ALL = "all"
"""The value of a tool's argument `project` that means every project of the workspace."""
MEMBER_SECONDS = 20.0
"""Another project has this long to open and to index its newer files before an answer goes on without it."""


@dataclass(frozen=True, slots=True)
class Member:
    """Another project of the workspace."""

    root: Path
    label: str
    """Its name; with its folder where another member has the same."""
    settings: Settings | None
    problem: str = ""
    """Why it cannot be asked."""

    @property
    def name(self) -> str:
        """The name of the project, that of its folder where its settings cannot be read."""
        return self.settings.project_name if self.settings is not None else self.root.name


class MemberSession(Protocol):
    """A session with one project, as `atlas.app.session.Session` is."""

    async def fresh(self) -> Atlas:
        """Return the index after newer files were indexed. Raises NotFound without one."""
        ...

    async def answer(self, tool: Tool, arguments: Mapping[str, object], client: str = "") -> Answer:
        """Return the answer of a tool. Raises AtlasError as the tool does."""
        ...

    def release(self) -> list[Atlas]:
        """Forget what is open until the next call; return it for the caller to close."""
        ...

    async def aclose(self) -> None:
        """Close the index; idempotent."""
        ...


class SessionWorkspace:
    """Use from one event loop; close with `aclose`. Nothing is opened before it is needed."""

    def __init__(self, own: Settings, opening: Callable[[Settings], MemberSession]) -> None:
        self._own, self._opening = own, opening
        self._roots = roots_beside(own)
        self._members: tuple[Member, ...] | None = None
        self._sessions: dict[Path, MemberSession] = {}

    @property
    def is_empty(self) -> bool:
        """Whether the project shares a workspace with no other."""
        return not self._roots

    @property
    def sessions(self) -> Collection[MemberSession]:
        """The sessions of those that were asked."""
        return self._sessions.values()

    @property
    def own_label(self) -> str:
        """The name of the session's own project; with its folder where a member has the same."""
        same = any(one.name == self._own.project_name for one in self._members or ())
        return f"{self._own.project_name} ({self._own.root})" if same else self._own.project_name

    async def members(self) -> tuple[Member, ...]:
        """Return the other projects, those that cannot be asked too."""
        if self._members is None:
            self._members = await asyncio.to_thread(_read_members, self._own, self._roots)
        # a folder may go and come while a session lives
        return await asyncio.to_thread(_checked, self._members)

    async def named(self, project: str) -> Member | None:
        """Return the member with a name, a label or a folder; None for the session's own project or an unknown one.

        Raises ConfigError for a name that several projects have, NotFound for one that cannot be asked.
        """
        members = await self.members()
        named = [one for one in members if project in (one.label, str(one.root))]
        named = named or [one for one in members if one.name == project]
        is_own = project == self._own.project_name
        if len(named) + is_own > 1:
            folders = [str(one.root) for one in named] + [str(self._own.root)] * is_own
            raise ConfigError(
                f"{len(folders)} projects of the workspace are called {project}", f"Name one: {', '.join(folders)}."
            )
        if not named:
            return None
        if named[0].problem:
            raise NotFound(f"{named[0].label} cannot be asked: {named[0].problem}", "See: atlas workspace list")
        return named[0]

    def session(self, member: Member) -> MemberSession:
        """Return the session with a member that can be asked."""
        assert member.settings is not None
        if member.root not in self._sessions:
            self._sessions[member.root] = self._opening(member.settings)
        return self._sessions[member.root]

    async def views(self) -> tuple[list[ProjectView], list[str]]:
        """Return the other projects with an index, after their newer files were indexed, and why others are missing."""
        members = await self.members()
        answers = await asyncio.gather(*map(self._view, members))
        found = [one for one in answers if not isinstance(one, str)]
        return found, [one for one in answers if isinstance(one, str)]

    async def _view(self, member: Member) -> ProjectView | str:
        if member.problem:
            return f"project {member.label} is not asked: {member.problem}"
        try:
            async with asyncio.timeout(MEMBER_SECONDS):
                atlas = await self.session(member).fresh()
        except AtlasError as error:
            return f"project {member.label} is not asked: {error.message}"
        except TimeoutError:
            return f"project {member.label} is not asked: it does not answer in {MEMBER_SECONDS:.0f} s"
        from atlas.code.across.packages import ProjectView

        return ProjectView(member.label, atlas.reader)

    async def aclose(self) -> None:
        """Close the sessions; idempotent."""
        for session in self._sessions.values():
            await session.aclose()
        self._sessions = {}


def _read_members(own: Settings, roots: Sequence[Path]) -> tuple[Member, ...]:
    read = [_read_member(own, root) for root in roots]
    counts = Counter([own.project_name, *(one.name for one in read)])
    return tuple(one if counts[one.name] == 1 else replace(one, label=f"{one.name} ({one.root})") for one in read)


def _read_member(own: Settings, root: Path) -> Member:
    if not root.is_dir():
        return Member(root, root.name, None)
    try:
        settings = load_member(root)
    except AtlasError as error:
        return Member(root, root.name, None, error.message)
    # What the session may do, it may do in members; an index of theirs is begun by its own commands only. Other
    # workspaces of a member are not those of the session: their projects have no part in its answers.
    mcp = replace(own.mcp, index_on_demand=False, start_daemon=False)
    settings = replace(settings, mcp=mcp, workspace=WorkspaceSettings())
    return Member(root, settings.project_name, settings)


def _checked(members: Sequence[Member]) -> tuple[Member, ...]:
    return tuple(one if one.root.is_dir() else replace(one, problem=f"{one.root} is gone") for one in members)
