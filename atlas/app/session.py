"""A session with one project, of one agent or shared by all clients of a server: checked calls in, answers out.

The first call that needs the index opens it, and each call tries again until there is one, so a server may start before
its index exists. What a tool needs is a property of its definition; what answers it is opened by its toolset, see
`atlas.app.toolsets`. The session keeps the store and the last view of the tree and does not know the client's protocol.
"""

from __future__ import annotations

import asyncio
import shlex
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, cast

from atlas.answers.file_uri import without_uris
from atlas.answers.tool import Reads
from atlas.answers.toolset import Caller, OpenToolset, Toolset
from atlas.app.freshness import FreshnessGuard
from atlas.app.single_flight import SingleFlight
from atlas.app.toolset_host import OpenT, ToolsetHost
from atlas.app.toolsets import TOOLSETS, tools_of
from atlas.app.workspace.members import SessionWorkspace
from atlas.core.errors import AtlasError, ConfigError, NotFound, OlderSchema
from atlas.core.threads import in_background
from atlas.runtime.process.bulkhead import LARGE, QUERIES_AT_WORK, SERVER_QUERIES_AT_WORK, Bulkheads, widths
from atlas.runtime.process.metrics import CALLS, start_tracing

if TYPE_CHECKING:
    from atlas.answers.answer import Answer
    from atlas.answers.evidence import NewerFiles
    from atlas.answers.tool import Tool
    from atlas.answers.toolset import Report
    from atlas.app.session_host import SessionHost
    from atlas.code.atlas import Atlas, TreeReport
    from atlas.core.contracts import Store
    from atlas.core.project_state import ProjectState
    from atlas.runtime.config.load import Settings

Structure = dict[str, object]
FirstIndex = Callable[["Settings"], Awaitable[None]]
"""Makes the first index of a project. Raises AtlasError."""
QUIET_SECONDS = 0.3
"""After this long without a further write, what the session wrote is indexed: the next question finds it done."""


class Session:
    """Use from one event loop; close with `aclose`."""

    def __init__(
        self,
        settings: Settings,
        index_patience: float | None = None,
        *,
        serves_agents: bool = False,
        personal: Session | None = None,
        toolsets: Sequence[Toolset[ToolsetHost]] = tuple(TOOLSETS.values()),
        first_index: FirstIndex | None = None,
        host: SessionHost | None = None,
    ) -> None:
        """`serves_agents`: the `mcp` settings apply; other sessions index newer files and make a first index as told.

        `first_index`: makes it and returns when it is finished; None: there is none to make.

        `personal`: a session with the user's own notes, which this one closes; None if they are not served.
        `toolsets`: those whose tools are answered. `host`: the daemon in whose process many clients share the session.
        """
        self._settings, self.index_patience = settings, index_patience
        self._personal = personal
        may_index = settings.mcp.allow_index or not serves_agents
        self._makes_index = serves_agents and may_index and settings.mcp.index_on_demand
        self._first_index = first_index if settings.mcp.index_on_demand else None
        self._starts_daemon = serves_agents and settings.mcp.start_daemon and not settings.shared
        self.guard = FreshnessGuard(settings, may_index=may_index, on_demand=self._makes_index, host=host)
        self._starts_daemon = self._starts_daemon and may_index and not self.guard.forbidden()
        queries = SERVER_QUERIES_AT_WORK if settings.store.url else QUERIES_AT_WORK
        efforts = {name: str(tool.effort) for name, tool in tools_of(toolsets).items()}
        self._bulkheads = Bulkheads(widths(efforts, queries, are_shared=host is not None))
        self._atlas: Atlas | None = None
        self._opening: SingleFlight[Atlas] = SingleFlight()
        self._toolsets: dict[Callable[[ToolsetHost], OpenToolset], OpenToolset] = {}
        self._openings = {tool.name: one.open for one in toolsets for tool in one.tools}
        """What answers each tool; opened on its first call, because opening imports what it needs."""
        self._is_known = self._is_complete = False
        self.workspace = SessionWorkspace(settings, partial(Session, serves_agents=serves_agents))
        """The other projects that answer with this one."""
        self._writes = self._writes_looked_at = 0
        """How often this session has changed files: ever, and before the last check of the tree that was certain."""
        self._written_at = 0.0
        self._indexes_writes = serves_agents and may_index and not settings.shared
        self._indexing: asyncio.Task[None] | None = None

    @property
    def settings(self) -> Settings:
        """The settings of the project."""
        return self._settings

    @property
    def personal(self) -> Session | None:
        """A session with the user's own notes; None if they are not served."""
        return self._personal

    async def call(
        self,
        tool: Tool,
        arguments: Mapping[str, object],
        report: Report,
        client: str = "",
        own: OpenToolset | None = None,
        offered: Collection[str] = (),
    ) -> tuple[str, Structure]:
        """Return a tool's answer as text and as structured content; `client` has name and version of who asks.

        `own`: what answers instead, for this client alone. `offered`: the tools that the client knows, if not all; the
        answer proposes no others. Raises AtlasError as the tool does.
        """
        from atlas.answers.assemble import INLINE_TOKENS

        budget = arguments.get("token_budget", 0)
        is_large = isinstance(budget, int) and budget > INLINE_TOKENS and not tool.is_bounded
        with CALLS.call(tool.name):
            return await self._call(tool, arguments, Caller(client, report), own, offered, is_large=is_large)

    async def _call(
        self,
        tool: Tool,
        arguments: Mapping[str, object],
        caller: Caller,
        own: OpenToolset | None,
        offered: Collection[str],
        *,
        is_large: bool,
    ) -> tuple[str, Structure]:
        from atlas.answers.answer import shown_structure
        from atlas.answers.assemble import INLINE_TOKENS

        async with self._bulkheads.place(LARGE if is_large else tool.name):
            answer = await self._answer(tool, arguments, caller, own)
            answer = answer.offering(offered) if offered else answer
            if answer.evidence.tokens <= INLINE_TOKENS // 4:
                return answer.render(), shown_structure(answer)
            return await asyncio.to_thread(lambda: (answer.render(), shown_structure(answer)))

    async def generation(self) -> int:
        """Return the generation of the project's index. Raises NotFound if there is none, and as opening does."""
        atlas = await self._open()
        if (state := await self._state(atlas.reader.store)) is not None:
            return state.generation
        raise NotFound(f"{self._settings.project_name} is not in the index")

    async def is_finished(self) -> bool:
        """Return whether there is an index of this version whose first pass over the project has ended."""
        try:
            state = await self._state((await self._open()).reader.store)
        except (NotFound, OlderSchema):
            return False
        return state is not None and bool(state.indexed_at)

    async def aclose(self) -> None:
        """Close the store, and end an index pass in the background; idempotent."""
        if self._indexing is not None:
            self._indexing.cancel()
            await asyncio.wait([self._indexing])
        for toolset in self._toolsets.values():
            await toolset.aclose()
        if self._personal is not None:
            await self._personal.aclose()
        await self.workspace.aclose()
        await self.guard.aclose()
        await self._opening.aclose(cancel=False)
        if self._atlas is not None:
            await self._atlas.aclose()
            self._atlas = None

    def release(self) -> list[Atlas]:
        """Forget what is open, unless the session is at work; return it for the caller to close.

        The next call opens it again. No call may be waiting for an answer.
        """
        if self.guard.is_at_work or (self._indexing is not None and not self._indexing.done()):
            return []
        atlas, self._atlas, self._opening = self._atlas, None, SingleFlight()
        own = [atlas] if atlas is not None else []
        return own + [one for other in (self._personal, *self.workspace.sessions) if other for one in other.release()]

    async def opened(self) -> Atlas:
        """Return the index as it is. Raises NotFound if there is none, or none of this project yet."""
        atlas = await self._open()
        if not await self._is_in(atlas.reader.store):
            raise NotFound(f"{self._settings.project_name} is not in the index", "Run `atlas index`, then ask again.")
        return atlas

    async def fresh(self) -> Atlas:
        """Return the index after newer files have been indexed, or are named in its `tree`.

        Makes the first index if this session may. Raises NotFound if there is none.
        """
        atlas = await self.indexed()
        report = await self.report(atlas)
        return atlas if report is None else replace(atlas, tree=report)

    async def looked(self) -> tuple[Atlas, NewerFiles | None]:
        """Return the index as it is, and which files are newer than it; None if that is unknown.

        Raises NotFound if there is none, or an unfinished one.
        """
        atlas = await self.opened()
        state = await self._state(atlas.reader.store)
        if state is None or not state.indexed_at:
            raise NotFound(f"the first index of {self._settings.project_name} is not finished")
        return atlas, await self._look(atlas.reader.store)

    async def _look(self, store: Store, *, certain: bool = False) -> NewerFiles | None:
        writes = self._writes
        newer = await self.guard.look(store, certain=certain or writes != self._writes_looked_at)
        self._writes_looked_at = max(writes, self._writes_looked_at)
        return newer

    def has_written(self) -> None:
        """Note that this session changes files: the next read compares the tree, whatever a daemon has noticed.

        Without a daemon they are indexed as soon as the session is quiet.
        """
        self._writes, self._written_at = self._writes + 1, time.monotonic()
        if self._indexes_writes and (self._indexing is None or self._indexing.done()) and not self.guard.is_watched:
            self._indexing = asyncio.create_task(self._index_when_quiet())

    async def _index_when_quiet(self) -> None:
        """Have what this session wrote indexed once it has written nothing for a moment; errors are left to readers."""
        indexed = -1
        while indexed != self._writes:
            # each write moves the end
            while (left := self._written_at + QUIET_SECONDS - time.monotonic()) > 0:  # noqa: ASYNC110
                await asyncio.sleep(left)
            indexed = self._writes
            self.guard.verify_early()
            with suppress(AtlasError):
                atlas, newer = await self.looked()
                if newer is not None and newer.paths:
                    await self.guard.update(atlas.reader.store, newer)

    async def answer(self, tool: Tool, arguments: Mapping[str, object], client: str = "") -> Answer:
        """Return the answer of a tool. Raises AtlasError as the tool does."""
        return await self._answer(tool, arguments, Caller(client))

    async def _answer(
        self, tool: Tool, arguments: Mapping[str, object], caller: Caller, own: OpenToolset | None = None
    ) -> Answer:
        # where no first index may be made, the daemon waits for one
        has_work = self._makes_index or self._is_known or self._is_complete
        if self._starts_daemon and has_work and tool.reads is not Reads.INSTALLATION:
            await self.guard.start_daemon()
        given = without_uris(tool.arguments, self._with_defaults(tool, arguments), str(self._settings.root))
        answering = (own or self.opened_by(self._openings[tool.name])).answer(tool, given, caller)
        if self._is_complete or not self._makes_index or tool.reads is not Reads.FILES:
            return await answering
        async with in_background(self.guard.tell(caller.report)):
            return await answering

    def opened_by(self, opening: Callable[[ToolsetHost], OpenT]) -> OpenT:
        """Return what this session has opened with a function; opens it on the first call."""
        if opening not in self._toolsets:
            self._toolsets[opening] = opening(self)
        return cast("OpenT", self._toolsets[opening])

    async def report(self, atlas: Atlas, *, certain: bool = False) -> TreeReport | None:
        """Have newer files indexed; return what an answer says about them, None if a first answer was up to date.

        Raises NotFound while the first index holds nothing of the project.
        """
        from atlas.code.atlas import TreeReport
        from atlas.code.tools.state.newer_files import newer_note

        store = atlas.reader.store
        if (state := await self._state(store)) is None or not state.indexed_at:
            report = await self.guard.unfinished(store)
            await self._is_in(store)
            return report
        self._is_complete = True
        newer = await self._look(store, certain=certain)
        if newer is None or not newer.paths:
            return None
        newer, why = await self.guard.update(store, newer)
        note = newer_note(newer, why)
        return TreeReport(newer, (note,) if note else ())

    async def _state(self, store: Store) -> ProjectState | None:
        return next((one for one in await store.projects() if one.project == self._settings.project_name), None)

    async def _is_in(self, store: Store) -> bool:
        """Return whether the index knows the project. Raises NotFound while its first pass begins."""
        self._is_known = self._is_known or await self._state(store) is not None
        if not self._is_known and (far := await self.guard.work_at_index()):
            raise self._being_indexed(far)
        return self._is_known

    def _being_indexed(self, far: str) -> NotFound:
        return NotFound(f"{self._settings.project_name} is being indexed: {far}", "Ask again in a few seconds.")

    async def resource(self, uri: str) -> str:
        """Return the text of a resource. Raises AtlasError as `read_resource` does."""
        from atlas.code.tools.resources import read_resource

        return await read_resource(await self.indexed(), uri)

    async def completions(self, argument: str, value: str) -> list[str]:
        """Return values that an argument of a resource or prompt may have. Raises AtlasError without an index."""
        from atlas.code.tools.resources import complete

        return await complete(await self.indexed(), argument, value)

    async def indexed(self, *, begins: bool = True) -> Atlas:
        """Return the open index; without one of this version, begin it if `begins` and that is allowed.

        Raises NotFound with the next step, and OlderSchema for an index that this session may not upgrade.
        """
        try:
            atlas = await self._open()
        except (NotFound, OlderSchema) as error:
            return await self._open_new(error, makes_index=begins)
        if begins and self._first_index is not None and not self._settings.shared and not self._is_known:
            state = await self._state(atlas.reader.store)
            # not in a store that holds other projects, or its first pass was interrupted
            self._is_known = state is not None and bool(state.indexed_at or await self.guard.work_at_index())
            if not self._is_known:
                await self._make_first_index("")
        return atlas

    def _with_defaults(self, tool: Tool, arguments: Mapping[str, object]) -> dict[str, object]:
        """Fill in arguments that the settings define and the caller omits; defaults of settings are for searches."""
        search, is_search = self._settings.search, tool.is_search
        configured: dict[str, object] = {}
        if is_search or self._settings.origin("search.token_budget") != "default":
            configured["token_budget"] = search.token_budget
        if is_search and self._settings.origin("search.limit") != "default":
            configured["limit"] = search.limit
        return {**{name: value for name, value in configured.items() if name in tool.arguments}, **arguments}

    async def _open_new(self, missing: NotFound | OlderSchema, *, makes_index: bool) -> Atlas:
        """Make the first index if this session may; return it, finished or not. Raises NotFound without one."""
        project, root = self._settings.project_name, self._settings.root
        words = ["atlas", "index", str(root)]
        if self._settings.origin("data_dir") == "--data-dir":
            words += ["--data-dir", str(self._settings.data_dir)]
        hint = f"Run `{shlex.join(words)}` (agents: call the index tool), then ask again."
        if not makes_index or not (self._makes_index or self._first_index):
            if isinstance(missing, OlderSchema):
                raise missing
            raise NotFound(f"{project} is not indexed yet: {missing.message}", hint) from missing
        await self._make_first_index(hint)
        try:
            return await self._open()
        except (NotFound, OlderSchema) as error:
            raise self._being_indexed(self.guard.progress() or "starting") from error

    async def _make_first_index(self, hint: str) -> None:
        """Make the first index. Raises NotFound where that is not allowed or fails."""
        project = self._settings.project_name
        try:
            if self._first_index is not None:
                self.guard.check_allowed()
                await self._first_index(self._settings)
            else:
                await self.guard.make_index()
        except ConfigError as error:
            raise NotFound(f"{project} is not indexed: {error.message}", error.hint) from error
        except AtlasError as error:
            raise NotFound(f"{project} could not be indexed: {error.message}", error.hint or hint) from error

    async def _open(self) -> Atlas:
        if self._atlas is None:
            run = await self._opening.after(time.monotonic(), self._connect)
            assert run is not None
            return run.task.result()
        return self._atlas

    async def _connect(self) -> Atlas:
        from atlas.app.main import connect

        if self._atlas is None:
            self._atlas = await connect(self._settings)
        return self._atlas


def make_session(
    settings: Settings,
    *,
    serves_agents: bool = False,
    personal: bool | None = None,
    first_index: FirstIndex | None = None,
    host: SessionHost | None = None,
) -> Session:
    """Return a session with a project, and with the user's own notes unless these are not wanted.

    `personal`: whether they are served; None: as `knowledge.personal` says.
    """
    from atlas.runtime.config.load import personal_settings

    if serves_agents:
        start_tracing(settings.mcp.tracing)
    wanted = settings.knowledge.personal if personal is None else personal
    own = Session(personal_settings(settings), serves_agents=True, host=host) if wanted else None
    return Session(settings, serves_agents=serves_agents, personal=own, first_index=first_index, host=host)
