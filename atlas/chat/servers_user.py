"""The user as one server reaches him: log messages at a pace, and questions only within what he has asked for."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from typing import Protocol

import mcp_types as types

from atlas.chat.token_bucket import TokenBucket
from atlas.core.invisible import printable
from atlas.core.wording import counted

LOGS, LOG_BURST = 1.0, 10.0
"""Log messages of a server that are shown, a second and at once; the others are counted."""

MAX_LOG = 2000
"""Characters of a log message."""

MAX_QUESTIONS = 5
"""Questions to the user within one request: a server must not ask until he gives in."""


class Host(Protocol):
    """Requests that a server may send to the user."""

    async def elicit(self, server: str, params: types.ElicitRequestParams) -> types.ElicitResult:
        """Return what the user answers to a question of a server."""
        ...

    def log(self, server: str, level: str, text: str) -> None:
        """Show a log message of a server."""
        ...


class NoForms:
    """A part of a `Host` that cannot show forms: questions of servers are declined, and the user is told."""

    async def elicit(self, server: str, params: types.ElicitRequestParams) -> types.ElicitResult:
        """Decline."""
        self.log(server, "question", f"declined here, `atlas chat` can answer it: {params.message}")
        return types.ElicitResult(action="decline")

    def log(self, server: str, level: str, text: str) -> None:
        """Show a message of a server."""
        raise NotImplementedError


class ServersUser:
    """What one server may send to the user. Use from one event loop."""

    def __init__(self, server: str, host: Host) -> None:
        self._server, self._host = server, host
        self._logs, self._unshown = TokenBucket(LOGS, LOG_BURST), 0
        self._requests, self._questions, self._question = 0, 0, asyncio.Lock()

    @contextmanager
    def has_asked(self) -> Generator[None]:
        """Within the block, the server works on a request of the user and may ask him."""
        if not self._requests:
            self._questions = 0
        self._requests += 1
        try:
            yield
        finally:
            self._requests -= 1

    async def elicit(self, context: object, params: types.ElicitRequestParams) -> types.ElicitResult:
        """Ask the user, one question at a time."""
        self._questions += 1
        if not self._requests or self._questions > MAX_QUESTIONS:
            self.show("warning", "asked a question out of turn, or too many; it was declined")
            return types.ElicitResult(action="decline")
        async with self._question:
            return await self._host.elicit(self._server, params)

    async def log(self, params: types.LoggingMessageNotificationParams) -> None:
        """Show a log message."""
        self.show(params.level, params.data)

    def show(self, level: str, data: object) -> None:
        """Show a message, or count it where there have just been many."""
        if not self._logs.allows():
            self._unshown += 1
            return
        if self._unshown:
            self._host.log(self._server, "warning", f"not shown: {counted(self._unshown, 'message')}")
            self._unshown = 0
        self._host.log(self._server, level, printable(str(data)[:MAX_LOG]))
