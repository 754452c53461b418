"""Sessions of many clients in one process: what they share, what each has for itself, and how they take turns.

Clients with equal settings share the store, the models and the check of the tree (`app.session`). Each has its own
notes of what it has written, and its own limits, so that what one of them asks for does not keep the others waiting.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncGenerator, Callable, Collection, Generator, Iterable, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from atlas.app.session import Session, make_session
from atlas.app.toolsets import BY_NAME, TOOLSETS
from atlas.runtime.process.bulkhead import Bulkheads, leave_place, widths
from atlas.runtime.process.memory import trim_heap
from atlas.server.http.admission import AdmissionControl, Permit

if TYPE_CHECKING:
    from atlas.answers.answer import Answer
    from atlas.answers.tool import Tool
    from atlas.answers.toolset import OpenToolset, Report
    from atlas.app.session_host import SessionHost
    from atlas.app.toolset_host import ToolsetHost
    from atlas.code.atlas import Atlas
    from atlas.runtime.config.load import Settings

UNUSED_SECONDS = 300.0
"""A store that no client uses is closed after this time: a client that is started again finds it open."""
QUIET_SECONDS = 120.0
"""After this time without a call, a store is closed although clients use it: they are open all day. With it go vectors
and what was found, 60 MB for Django; the next call opens it again, which takes 0.1 s more."""
AT_WORK = 16
"""Calls of all clients that run at once; a call that waits for a query, a pass or a large answer is not among them."""
STARTING = 3
"""Of these, in their first 0.25 seconds: calls that compute in one interpreter only take turns."""
AT_WORK_OF_CLIENT = 4
QUERIES_OF_CLIENT = 1
"""Of the queries that run at once, so that one client's long queries leave a place."""


@dataclass(slots=True, eq=False)
class _SharedSession:
    settings: Settings
    session: Session
    users: int = 0
    closing: asyncio.TimerHandle | None = None
    calls: int = 0
    resting: asyncio.TimerHandle | None = None

    @contextmanager
    def use(self, rest: Callable[[_SharedSession], None]) -> Generator[None]:
        """Hold the store open during the block; `rest` is called some time after the last one."""
        self.calls += 1
        if self.resting is not None:
            self.resting.cancel()
        try:
            yield
        finally:
            self.calls -= 1
            if not self.calls:
                self.resting = asyncio.get_running_loop().call_later(QUIET_SECONDS, rest, self)


class SharedSessions:
    """All sessions of a process. Use from one event loop; close with `aclose`."""

    def __init__(self, host: SessionHost) -> None:
        self._host = host
        self._shared: list[_SharedSession] = []
        self._admission = AdmissionControl(AT_WORK, STARTING)
        self._closings: set[asyncio.Task[None]] = set()
        self.clients: set[ClientSession] = set()

    def open(self, settings: Settings) -> ClientSession:
        """Return a session of one client, which closes it."""
        key = _without_choice_of_tools(settings)
        found = next((one for one in self._shared if one.settings == key), None)
        if found is None:
            found = _SharedSession(key, make_session(settings, serves_agents=True, host=self._host))
            self._shared.append(found)
        if found.closing is not None:
            found.closing.cancel()
            found.closing = None
        found.users += 1
        client = ClientSession(
            found.session, self._admission, partial(found.use, self._rest), lambda: self._release(found, client)
        )
        self.clients.add(client)
        return client

    async def aclose(self) -> None:
        """Close all that is open; the clients have ended."""
        for one in self._shared:
            for timer in (one.closing, one.resting):
                if timer is not None:
                    timer.cancel()
            await one.session.aclose()
        await asyncio.gather(*self._closings)

    def _release(self, shared: _SharedSession, client: ClientSession) -> None:
        self.clients.discard(client)
        shared.users -= 1
        if not shared.users:
            shared.closing = asyncio.get_running_loop().call_later(UNUSED_SECONDS, self._close, shared)

    def _close(self, shared: _SharedSession) -> None:
        self._shared.remove(shared)
        if shared.resting is not None:
            shared.resting.cancel()
        self._later(shared.session)

    def _rest(self, shared: _SharedSession) -> None:
        self._later(*shared.session.release())

    def _later(self, *unused: Session | Atlas) -> None:
        task = asyncio.get_running_loop().create_task(_close(unused))
        self._closings.add(task)
        task.add_done_callback(self._closings.discard)


class ClientSession:
    """One client's part of a shared session; close with `aclose`."""

    def __init__(
        self,
        shared: Session,
        admission: AdmissionControl,
        use: Callable[[], AbstractContextManager[None]],
        released: Callable[[], None],
    ) -> None:
        self._shared, self._admission, self._use, self._released = shared, admission, use, released
        self._bulkheads = Bulkheads(widths({n: str(t.effort) for n, t in BY_NAME.items()}, QUERIES_OF_CLIENT))
        self._turns, self._asking = asyncio.Semaphore(AT_WORK_OF_CLIENT), asyncio.Lock()
        self._openings = {tool.name: one.open for one in TOOLSETS.values() if one.is_per_client for tool in one.tools}
        self._own: dict[Callable[[ToolsetHost], OpenToolset], OpenToolset] = {}
        self._calls = 0

    @property
    def settings(self) -> Settings:
        """The settings of the project."""
        return self._shared.settings

    @property
    def is_at_work(self) -> bool:
        """Whether a call runs or waits."""
        return self._calls > 0

    async def call(
        self,
        tool: Tool,
        arguments: Mapping[str, object],
        report: Report,
        client: str = "",
        offered: Collection[str] = (),
    ) -> tuple[str, dict[str, object]]:
        """Return a tool's answer as `Session.call` does."""
        async with self._bulkheads.place(tool.name), self._turn():
            return await self._shared.call(tool, arguments, report, client, self._own_toolset(tool), offered)

    async def answer(self, tool: Tool, arguments: Mapping[str, object], client: str) -> Answer:
        """Return a tool's answer as `Session.answer` does."""
        async with self._bulkheads.place(tool.name), self._turn():
            return await self._shared.answer(tool, arguments, client)

    async def is_finished(self) -> bool:
        """Return whether the first pass over the project has ended, as `Session.is_finished` does."""
        with self._use():
            return await self._shared.is_finished()

    async def resource(self, uri: str) -> str:
        """Return the text of a resource as `Session.resource` does."""
        async with self._turn():
            return await self._shared.resource(uri)

    async def completions(self, argument: str, value: str) -> list[str]:
        """Return values as `Session.completions` does."""
        async with self._turn():
            return await self._shared.completions(argument, value)

    async def aclose(self) -> None:
        """Close what is this client's own; idempotent."""
        for toolset in self._own.values():
            await toolset.aclose()
        self._own = {}
        released, self._released = self._released, _nothing
        released()

    def _own_toolset(self, tool: Tool) -> OpenToolset | None:
        opening = self._openings.get(tool.name)
        if opening is None:
            return None
        if opening not in self._own:
            self._own[opening] = opening(self._shared)
        return self._own[opening]

    @asynccontextmanager
    async def _turn(self) -> AsyncGenerator[None]:
        """Hold a place among the calls at work during the block, or until the call waits in a shared bulkhead."""
        permit: Permit | None = None
        has_left = False

        def leave() -> None:
            nonlocal has_left
            if not has_left:
                has_left = True
                if permit is not None:
                    permit.end()
                self._turns.release()

        self._calls += 1
        try:
            with self._use():
                await self._turns.acquire()
                try:
                    # one call of each client stands in the line of all
                    async with self._asking:
                        permit = await self._admission.take()
                    token = leave_place.set(leave)
                    try:
                        yield
                    finally:
                        leave_place.reset(token)
                finally:
                    leave()
        finally:
            self._calls -= 1


AnyClientSession = Session | ClientSession
"""A session of one client: its own, or its part of a shared one."""


def _without_choice_of_tools(settings: Settings) -> Settings:
    """Return the settings as far as answers depend on them: clients differ in the toolsets that they see."""
    origins = {key: origin for key, origin in settings.origins.items() if key != "mcp.toolsets"}
    return replace(settings, mcp=replace(settings.mcp, toolsets=()), origins=origins)


async def _close(unused: Iterable[Session | Atlas]) -> None:
    """Close what is no longer used and return its memory to the system."""
    for one in unused:
        await one.aclose()
    gc.collect()
    await asyncio.to_thread(trim_heap)


def _nothing() -> None:
    pass
