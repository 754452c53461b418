"""The project of a server that was given none: that of the roots which its client offers, else that of its folder.

Further roots that are projects answer with it, as members of a workspace of the session.

Roots are asked for with the first call, and again after the client says that they have changed. They choose among
folders that exist; what a project may hold is checked as for any other. Only a client over stdio is asked.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import mcp_types as types
from mcp.server.session import ServerSession
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from atlas.answers.file_uri import local_path
from atlas.core.errors import AtlasError
from atlas.runtime.config.load import first_project, further_projects
from atlas.runtime.config.workspace import with_session_members

if TYPE_CHECKING:
    from atlas.runtime.config.load import Settings
    from atlas.server.shared_sessions import AnyClientSession

logger = logging.getLogger("atlas.mcp")

ROOTS_SECONDS = 3.0
"""A call waits this long for the client's roots."""
MAX_ROOTS = 100
"""Roots that are looked at."""
MAX_BESIDE = 20
"""Further roots that answer with the first one."""
ORIGIN = "roots of the client"


class RootSessions:
    """One session for each project that a client has chosen. Use from one event loop; close with `aclose`."""

    def __init__(
        self,
        default: AnyClientSession,
        opening: Callable[[Settings], AnyClientSession],
        load: Callable[[Path], Settings],
    ) -> None:
        """Serve `default` unless the client's roots choose; `opening` returns a session with a project.

        `load` returns the settings of a root. Raises AtlasError.
        """
        self._default, self._opening, self._load = default, opening, load
        self._opened = {(default.settings.root, tuple[Path, ...]()): default}
        self._chosen, self._is_asked, self._asking = default, False, asyncio.Lock()

    async def of(self, client: ServerSession) -> AnyClientSession:
        """Return the session with the project of the client's roots."""
        capabilities = client.client_capabilities
        if capabilities is None or capabilities.roots is None or not client.can_send_request:
            return self._default
        async with self._asking:
            if not self._is_asked:
                self._is_asked = True
                self._chosen = await self._choose(client)
            return self._chosen

    async def has_changed(self, context: object, params: types.NotificationParams | None) -> None:
        """Ask for the roots again with the next call. Calls at work keep their project."""
        self._is_asked = False

    async def aclose(self) -> None:
        """Close all sessions; idempotent."""
        for session in self._opened.values():
            await session.aclose()

    async def _choose(self, client: ServerSession) -> AnyClientSession:
        try:
            request = types.ListRootsRequest()
            listed = await client.send_request(request, types.ListRootsResult, ROOTS_SECONDS)
        except (MCPError, ValidationError) as error:
            logger.warning("the client does not say its roots: %s", str(error)[:200])
            return self._default
        folders = _folders(listed.roots)
        root = await asyncio.to_thread(first_project, folders)
        if root is None:
            return self._default
        beside = await asyncio.to_thread(further_projects, folders, root)
        if (root, beside) not in self._opened:
            try:
                settings = await asyncio.to_thread(self._load, root)
                settings = with_session_members(settings, beside[:MAX_BESIDE])
            except AtlasError as error:
                logger.warning("the client's root cannot be served: %s", error.message)
                return self._default
            mcp = self._default.settings.mcp  # with the options of the command line
            settings = replace(settings, mcp=mcp, origins={**settings.origins, "root": ORIGIN})
            self._opened[root, beside] = self._opening(settings)
        return self._opened[root, beside]


def _folders(roots: list[types.Root]) -> list[Path]:
    """Return the folders that roots name; what names none of this machine is omitted."""
    folders: list[Path] = []
    for one in roots[:MAX_ROOTS]:
        try:
            folders.append(Path(local_path(str(one.uri))[0]))
        except ValueError:
            continue
    return folders
