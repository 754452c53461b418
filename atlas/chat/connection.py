"""One server: a session that is opened once, reused by every call, and opened again after a crash.

One task owns the session from its start to its end, as the SDK requires; calls come from any task. After a crash it is
opened again with growing delays. What a server offers is read when it is opened and when it says that it has changed.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
import warnings
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar, cast

import anyio
import mcp_types as types
from mcp.client.client import Client
from mcp.shared.dispatcher import ProgressFnT
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError

from atlas.chat.offer import ServerOffer, definition_of, read_offer, watch_offer
from atlas.chat.server_spec import ServerSpec
from atlas.chat.servers_user import Host, ServersUser
from atlas.chat.transport import Stderr, open_transport
from atlas.core.errors import AtlasError, Unavailable
from atlas.core.invisible import one_line, printable

FIRST_DELAY, MAX_DELAY = 0.2, 10.0
"""Seconds before a crashed server is started again; doubled for each crash in a row."""

MAX_RESTARTS = 8
"""Consecutive crashes after which a server is restarted only by the next call."""

STABLE_SECONDS = 30.0
"""A session that lived this long starts a new row of crashes."""

CLOSE_SECONDS = 8.0
"""The SDK closes stdin, waits 2 s, sends SIGTERM to the process group, waits 2 s, and kills it."""

CLOSED = "Connection closed"
"""How the SDK says that the connection was lost."""

MAX_PROBLEM = 400

MAX_COMPLETIONS, MAX_COMPLETION = 100, 200
"""Completions of an argument, and characters of each."""

_Result = TypeVar("_Result")


class ConnectionState(StrEnum):
    """The state of a connection."""

    CONNECTING = "connecting"
    READY = "ready"
    RESTARTING = "restarting"
    FAILED = "failed"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class Limits:
    """Time limits of a connection, in seconds."""

    connect: float = 30.0
    call: float = 120.0


class ServerConnection:
    """Use from one event loop: `start`, any number of calls, `close`."""

    def __init__(self, spec: ServerSpec, client: types.Implementation, roots: tuple[Path, ...], host: Host) -> None:
        self.spec, self.state, self.problem, self.offer = spec, ConnectionState.CONNECTING, "", ServerOffer()
        self.limits = Limits()
        self.restarts = 0
        self.seconds = 0.0
        """Time from start to ready."""
        self._info, self._roots = client, roots
        self._user = ServersUser(spec.name, host)
        self._client: Client | None = None
        self._stderr = Stderr()
        self._closing, self._changed = asyncio.Event(), asyncio.Condition()
        self._lost = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._stale = False
        self._declared: Mapping[str, str] | None = None

    @property
    def declared(self) -> Mapping[str, str]:
        """The definitions of the tools as they were when the server was connected, by name."""
        return self._declared or {}

    def vouches(self, tool: types.Tool) -> bool:
        """Return whether the user, who chose this server, has chosen it with this tool as it is."""
        return not self.spec.is_foreign and self.declared.get(tool.name) == definition_of(tool)

    @property
    def stderr(self) -> tuple[str, ...]:
        """The last lines that the process wrote to stderr."""
        return self._stderr.lines

    @property
    def protocol(self) -> str:
        """The revision of the protocol in use; "" while there is no session."""
        return self._client.protocol_version if self._client is not None else ""

    async def start(self) -> None:
        """Open the session; returns once it is ready or has failed, which `state` and `problem` say."""
        if self._task is None or self._task.done():
            self.state = ConnectionState.CONNECTING
            self._task = asyncio.create_task(self._run(), name=f"server {self.spec.name}")
        await self._wait_for(lambda: self.state is not ConnectionState.CONNECTING)

    async def close(self) -> None:
        """End the session and the process; idempotent."""
        self._closing.set()
        self._lost.set()
        if self._task is None:
            return
        if self._client is None:  # still being opened: there is no session to end in order
            self._task.cancel()
        for _ in range(2):
            # a program must not end before this: its event loop would cancel the SDK's orderly end of the process
            done, _ = await asyncio.wait([self._task], timeout=CLOSE_SECONDS)
            if done:
                return
            self._task.cancel()

    async def refresh(self) -> None:
        """Read again what the server offers, if it has said that this has changed."""
        if self._stale and self._client is not None:
            self._stale = False
            try:
                async with asyncio.timeout(self.limits.connect):
                    self.offer = await self._ask(lambda client: read_offer(client))
            except TimeoutError as error:
                raise Unavailable(f"{self.spec.name} does not say what it offers") from error

    async def call_tool(self, name: str, arguments: Mapping[str, Any], progress: ProgressFnT) -> types.CallToolResult:
        """Return the result of a tool. Raises Unavailable if the server is gone or does not answer in time."""
        with self._user.has_asked():
            return await self._ask(
                lambda client: client.call_tool(
                    name, dict(arguments), read_timeout_seconds=self.limits.call, progress_callback=progress
                )
            )

    async def read_resource(self, uri: str) -> types.ReadResourceResult:
        """Return a resource. Raises Unavailable, AtlasError for one that the server does not have."""
        with self._user.has_asked():
            return await self._ask(lambda client: client.read_resource(uri))

    async def get_prompt(self, name: str, arguments: Mapping[str, str]) -> types.GetPromptResult:
        """Return the messages of a prompt. Raises as `read_resource` does."""
        with self._user.has_asked():
            return await self._ask(lambda client: client.get_prompt(name, dict(arguments)))

    async def complete(
        self, reference: types.PromptReference | types.ResourceTemplateReference, name: str, value: str
    ) -> tuple[str, ...]:
        """Return the server's completions of an argument; none if it offers none or fails."""
        if self._client is None or self._client.server_capabilities.completions is None:
            return ()
        try:
            result = await self._ask(lambda client: client.complete(reference, {"name": name, "value": value}))
        except AtlasError:
            return ()
        return tuple(one[:MAX_COMPLETION] for one in result.completion.values[:MAX_COMPLETIONS])

    async def _ask(self, request: Callable[[Client], Awaitable[_Result]]) -> _Result:
        client = await self._ready()
        # of this session: an error that arrives late must not end the next one
        lost = self._lost
        try:
            return await request(client)
        except MCPError as error:
            # servers use the code of a lost connection for errors of their own, too
            is_closed = error.code == types.CONNECTION_CLOSED and (lost.is_set() or error.message == CLOSED)
            if is_closed or "Session terminated" in error.message:
                lost.set()
                raise Unavailable(f"{self.spec.name} ended during the call", "It is being started again.") from error
            if error.code == types.REQUEST_TIMEOUT:
                raise Unavailable(f"{self.spec.name} did not answer within {self.limits.call:g} s") from error
            raise AtlasError(f"{self.spec.name}: {one_line(error.message, MAX_PROBLEM)}") from error
        except (anyio.ClosedResourceError, anyio.BrokenResourceError) as error:
            lost.set()
            raise Unavailable(f"{self.spec.name} is gone", "It is being started again.") from error
        except Exception as error:  # isolation: a result that breaks its own schema raises errors of several libraries
            raise AtlasError(f"{self.spec.name}: the answer is not valid: {describe(error)}") from error

    async def _ready(self) -> Client:
        """Return the session; waits for a restart. Raises Unavailable if there is none."""
        if self.state is ConnectionState.FAILED and not self._closing.is_set():
            await self.start()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.limits.connect):
                await self._wait_for(lambda: not self._is_starting)
        if self._client is None or self.state is not ConnectionState.READY or self._is_starting:
            reason = self.problem or str(self.state)
            raise Unavailable(f"{self.spec.name} is not connected: {reason}", "See /servers.")
        return self._client

    @property
    def _is_starting(self) -> bool:
        """Whether a session is being opened, or one that has been lost is about to be opened again."""
        if self.state is ConnectionState.READY:
            return self._lost.is_set()
        return self.state in (ConnectionState.CONNECTING, ConnectionState.RESTARTING)

    async def _wait_for(self, condition: Callable[[], bool]) -> None:
        async with self._changed:
            await self._changed.wait_for(condition)

    async def _set(self, state: ConnectionState, problem: str = "") -> None:
        async with self._changed:
            self.state, self.problem = state, problem
            self._changed.notify_all()

    async def _run(self) -> None:
        crashes = 0
        while not self._closing.is_set():
            began, ready = time.monotonic(), False
            self._lost = asyncio.Event()
            reasons: list[str] = []
            problem = ""
            try:
                async with self._session(reasons) as client:
                    self._client, ready, self.seconds = client, True, time.monotonic() - began
                    await self._set(ConnectionState.READY)
                    async with watch_offer(client, self._mark_stale):
                        await self._lost.wait()
            except Exception as error:  # noqa: BLE001 isolation: whatever a server or the SDK raises, the chat goes on
                problem = describe(error)
            self._client = None
            if self._closing.is_set():
                break
            problem = reasons[0] if reasons and ready else problem or "the connection was lost"
            said = f" (stderr: {printable(self.stderr[-1])})" if self.stderr else ""
            crashes = 1 if time.monotonic() - began > STABLE_SECONDS else crashes + 1
            if crashes > MAX_RESTARTS or (not ready and self.restarts == 0):
                await self._set(ConnectionState.FAILED, problem + said)
                return
            self.restarts += 1
            await self._set(ConnectionState.RESTARTING, problem + said)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(min(MAX_DELAY, FIRST_DELAY * 2 ** (crashes - 1))):
                    await self._closing.wait()
        await self._set(ConnectionState.CLOSED)

    @asynccontextmanager
    async def _session(self, reasons: list[str]) -> AsyncGenerator[Client]:
        """Open a session and read what the server offers; the time limit ends with that.

        `reasons` gets why the connection has ended, from the side that noticed first.
        """
        lost = self._lost

        def ended(reason: str) -> None:
            reasons.append(reason)
            lost.set()

        client = Client(
            open_transport(self.spec, self._stderr, ended),
            client_info=self._info,
            read_timeout_seconds=self.limits.call,
            elicitation_callback=self._user.elicit,
            list_roots_callback=self._list_roots,
            logging_callback=self._user.log,
            log_level="warning",
            message_handler=self._handle,
            cache=None,
        )
        with anyio.CancelScope() as scope:
            scope.deadline = anyio.current_time() + self.limits.connect
            async with client:
                # a schema of results may hold a pattern that never ends; `result_problem` looks at the rest
                client.session.validate_tool_result = _believe
                await self._ask_for_warnings(client)
                self.offer = await read_offer(client)
                if self._declared is None:
                    self._declared = self.offer.definitions
                scope.deadline = float("inf")
                yield client
        if scope.cancelled_caught:
            raise TimeoutError(f"no answer within {self.limits.connect:g} s")

    async def _ask_for_warnings(self, client: Client) -> None:
        """Ask a server of a revision before 2026-07-28 for its warnings only; later ones get the level per request."""
        if client.server_capabilities.logging is None or client.protocol_version >= "2026-07-28":
            return
        with warnings.catch_warnings(), contextlib.suppress(MCPError):
            warnings.simplefilter("ignore", MCPDeprecationWarning)
            await client.set_logging_level("warning")  # pyright: ignore[reportDeprecated]

    def _mark_stale(self) -> None:
        self._stale = True

    async def _list_roots(self, context: object) -> types.ListRootsResult:
        return types.ListRootsResult(
            roots=[types.Root.model_validate({"uri": root.as_uri(), "name": root.name}) for root in self._roots]
        )

    async def _handle(self, message: object) -> None:
        if isinstance(message, Exception):
            self._user.show("warning", "printed a line that is no message to its standard output")
        elif isinstance(
            message,
            types.ToolListChangedNotification
            | types.PromptListChangedNotification
            | types.ResourceListChangedNotification,
        ):
            self._stale = True


def describe(error: BaseException) -> str:
    """Return an error on one line; of a group, the first one inside."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    if isinstance(error, FileNotFoundError) and error.filename:
        return f"no such program or folder: {error.filename}"
    return one_line(" ".join(str(error)[: 2 * MAX_PROBLEM].split()), MAX_PROBLEM) or type(error).__name__


async def _believe(name: str, result: types.CallToolResult) -> None:
    """Accept a result."""
