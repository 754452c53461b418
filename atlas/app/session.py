"""A session with one project, of one agent or shared by all clients of a server: checked calls in, answers out.

The first call that needs the index opens it, and each call tries again until there is one, so a server may start before
its index exists. Every read passes `_up_to_date`, which compares the tree with the index. The session keeps the store
and the last view of the tree and does not know the client's protocol.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from atlas.adapters.opening.models import make_language_model, make_reranker
from atlas.adapters.opening.sentence_transformer import WITHOUT_MODEL, missing_model_note
from atlas.app.freshness import FreshnessGuard
from atlas.app.papers import make_paper_links
from atlas.app.single_flight import SingleFlight
from atlas.core.errors import AtlasError, ConfigError, NotFound
from atlas.knowledge.toolset import KnowledgeDesk
from atlas.packs.links import pack_notes, trees_with_lines
from atlas.packs.toolset import PackDesk
from atlas.runtime.process.bulkhead import LARGE, QUERIES_AT_WORK, SERVER_QUERIES_AT_WORK, Bulkheads, widths

if TYPE_CHECKING:
    from atlas.answers.answer import Answer
    from atlas.answers.newer_files import NewerFiles
    from atlas.answers.tool import Tool
    from atlas.code.atlas import Atlas, TreeReport
    from atlas.code.reader import Reader
    from atlas.code.tools.state.index_pass import Report
    from atlas.core.contracts import Store
    from atlas.core.project_state import ProjectState
    from atlas.runtime.config.load import Settings

Structure = dict[str, object]

MAX_GENERATIONS = 3
"""An answer is composed again this often because the index has changed meanwhile."""

_ABOUT_THE_INDEX = ("status", "schema_info")
"""Tools that describe the index as it is; they neither wait for newer files nor begin an index."""


class Session:
    """Use from one event loop; close with `aclose`."""

    def __init__(
        self,
        settings: Settings,
        index_patience: float | None = None,
        *,
        serves_agents: bool = False,
        personal: Session | None = None,
    ) -> None:
        """`serves_agents`: the `mcp` settings apply; other sessions index newer files, but make no first index.

        `personal`: a session with the user's own notes, which this one closes; None if they are not served.
        """
        self._settings, self._index_patience = settings, index_patience
        may_index = settings.mcp.allow_index or not serves_agents
        self._makes_index = serves_agents and may_index and settings.mcp.index_on_demand
        self._starts_daemon = serves_agents and settings.mcp.start_daemon and not settings.shared
        self._guard = FreshnessGuard(settings, may_index=may_index, on_demand=self._makes_index)
        self._bulkheads = Bulkheads(widths(SERVER_QUERIES_AT_WORK if settings.store.url else QUERIES_AT_WORK))
        self._atlas: Atlas | None = None
        self._opening: SingleFlight[Atlas] = SingleFlight()
        # which papers the user has stored is the user's own, as personal notes are
        papers = make_paper_links(settings) if personal is not None else None
        self._desk = KnowledgeDesk(settings, self, personal, papers)
        self._packs = PackDesk(settings.project_name, make_language_model(settings), make_reranker(settings))
        self._is_known = False
        self._writes = self._writes_looked_at = 0
        """How often this session has changed files: ever, and before the last check of the tree that was certain."""

    @property
    def settings(self) -> Settings:
        """The settings of the project."""
        return self._settings

    async def call(
        self, tool: Tool, arguments: Mapping[str, object], report: Report, client: str = ""
    ) -> tuple[str, Structure]:
        """Return a tool's answer as text and as structured content; `client` has name and version of who asks.

        Raises AtlasError as the tool does.
        """
        if tool.name == "index":
            async with self._bulkheads.place(tool.name):
                return await self._index(report, full=bool(arguments.get("full", False)))
        from atlas.answers.assemble import INLINE_TOKENS

        budget = arguments.get("token_budget", 0)
        is_large = isinstance(budget, int) and budget > INLINE_TOKENS and tool.name != "cypher_query"
        async with self._bulkheads.place(LARGE if is_large else tool.name):
            answer = await self.answer(tool, arguments, client)
            if answer.evidence.tokens <= INLINE_TOKENS // 4:
                return answer.render(), answer.structure()
            return await asyncio.to_thread(lambda: (answer.render(), answer.structure()))

    async def generation(self) -> int:
        """Return the generation of the project's index. Raises NotFound if there is none, and as opening does."""
        atlas = await self._open()
        if (state := await self._state(atlas.reader.store)) is not None:
            return state.generation
        raise NotFound(f"{self._settings.project_name} is not in the index")

    async def aclose(self) -> None:
        """Close the store, and end an index pass in the background; idempotent."""
        await self._desk.aclose()
        await self._packs.aclose()
        await self._guard.aclose()
        await self._opening.aclose(cancel=False)
        if self._atlas is not None:
            await self._atlas.aclose()
            self._atlas = None

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
        atlas = await self._indexed()
        report = await self._report(atlas)
        return atlas if report is None else replace(atlas, tree=report)

    def has_written(self) -> None:
        """Note that this session changes files: the next read compares the tree, whatever a daemon has noticed."""
        self._writes += 1

    async def answer(self, tool: Tool, arguments: Mapping[str, object], client: str = "") -> Answer:
        """Return the answer of any tool but `index`. Raises AtlasError as the tool does."""
        if self._starts_daemon and tool.name not in ("status", "health"):
            await self._guard.start_daemon()
        if tool.is_pack:
            return await self._packs.answer(tool, self._with_defaults(tool, arguments))
        if tool.is_knowledge:
            return await self._desk.answer(tool, self._with_defaults(tool, arguments), client)
        if tool.name == "health":
            from atlas.app.health import check_health

            return await check_health(self._settings, self._guard.daemon_problem())
        reads_files = tool.name not in _ABOUT_THE_INDEX
        try:
            atlas = await self._open()
        except NotFound as error:
            atlas = await self._open_new(error, makes_index=reads_files and self._makes_index)
        from atlas.code.atlas import TreeReport
        from atlas.code.tools.call import call

        complete = self._with_defaults(tool, arguments)
        if reads_files:
            return await self._up_to_date(atlas, tool.name, complete)
        if tool.name == "status":
            from atlas.app.health import describe_places, look_at_daemon

            # a task, so that the daemon answers while the store counts
            complete["daemon"] = asyncio.create_task(look_at_daemon(self._settings))
            complete["newer"] = asyncio.create_task(self._guard.look(atlas.reader.store))
            problem = self._guard.daemon_problem()
            failed = [f"the daemon could not be started: {problem}"] if problem else []
            complete["places"] = [*failed, *describe_places(self._settings)]
            atlas = replace(atlas, tree=TreeReport(unfinished=await self._guard.work_at_index()))
        return await call(atlas, tool.name, complete)

    async def _up_to_date(self, atlas: Atlas, name: str, arguments: Mapping[str, object]) -> Answer:
        """Return the answer of a tool that reads the index, after the files that are newer have been indexed or named.

        The tree is checked while the tool works; only if files are newer, the tool works again.
        """
        from atlas.code.atlas import TreeReport
        from atlas.code.tools.state.newer_files import lacks_something

        own = arguments.get("project") in (None, "", self._settings.project_name)
        watched = own and self._guard.is_watched
        generation = await self._generation(atlas)
        looking = asyncio.create_task(self._report(atlas)) if own else None
        answer, failure = None, None
        try:
            answer = await self._call(atlas, name, arguments)
        except (NotFound, ConfigError) as error:
            failure = error
        finally:
            report = await looking if looking is not None else None
        if watched and report is None and (answer is None or lacks_something(answer)):
            # the daemon may not have noticed a change of the last milliseconds
            report = await self._report(atlas, certain=True)
        if report is not None:
            answer = await self._call(replace(atlas, tree=report), name, arguments)
        elif generation != await self._generation(atlas):
            # another process has indexed meanwhile what the check would have found newer
            answer = await self._call(atlas, name, arguments)
        elif failure is not None:
            raise failure
        assert answer is not None
        report = report or TreeReport()
        notes = await self._remarks(atlas.reader, answer, report.newer) if own else ()
        if notes:
            report = replace(report, notes=(*notes, *report.notes))
            answer = await self._call(replace(atlas, tree=report), name, arguments)
        if own and name in ("get_context", "hybrid_search") and not answer.evidence.below_floor:
            lines = await pack_notes(self._packs, atlas.reader.store, atlas.reader.project, answer)
            for tree in trees_with_lines(report, lines, atlas.reader.counter, answer.evidence.token_budget):
                more = await self._call(replace(atlas, tree=tree), name, arguments)
                if not more.evidence.below_floor:  # what packs say never takes the place of the answer
                    return more
        return answer

    async def _call(self, atlas: Atlas, name: str, arguments: Mapping[str, object]) -> Answer:
        """Return the answer of a tool that reads the index, all of it from one generation.

        An answer of two generations may deny what both have; a writer that never rests is answered from two.
        """
        from atlas.code.tools.call import call

        for _ in range(MAX_GENERATIONS):
            generation = await self._generation(atlas)
            try:
                answer = await call(atlas, name, arguments)
            except (NotFound, ConfigError):
                if generation == await self._generation(atlas):
                    raise
            else:
                if generation == await self._generation(atlas):
                    return answer
        return await call(atlas, name, arguments)

    async def _generation(self, atlas: Atlas) -> int:
        return sum(state.generation for state in await atlas.reader.store.projects())

    async def _report(self, atlas: Atlas, *, certain: bool = False) -> TreeReport | None:
        """Have newer files indexed; return what an answer says about them, None if a first answer was up to date.

        Raises NotFound while the first index holds nothing of the project.
        """
        from atlas.code.atlas import TreeReport
        from atlas.code.tools.state.newer_files import newer_note

        store = atlas.reader.store
        if (state := await self._state(store)) is None or not state.indexed_at:
            report = await self._guard.unfinished(store)
            await self._is_in(store)
            return report
        writes = self._writes
        newer = await self._guard.look(store, certain=certain or writes != self._writes_looked_at)
        self._writes_looked_at = max(writes, self._writes_looked_at)
        if newer is None or not newer.paths:
            return None
        newer, why = await self._guard.update(store, newer)
        note = newer_note(newer, why)
        return TreeReport(newer, (note,) if note else ())

    async def _state(self, store: Store) -> ProjectState | None:
        return next((one for one in await store.projects() if one.project == self._settings.project_name), None)

    async def _is_in(self, store: Store) -> bool:
        """Return whether the index knows the project. Raises NotFound while its first pass begins."""
        self._is_known = self._is_known or await self._state(store) is not None
        if not self._is_known and (far := await self._guard.work_at_index()):
            raise self._being_indexed(far)
        return self._is_known

    def _being_indexed(self, far: str) -> NotFound:
        return NotFound(f"{self._settings.project_name} is being indexed: {far}", "Ask again in a few seconds.")

    async def _remarks(self, reader: Reader, answer: Answer, newer: NewerFiles) -> tuple[str, ...]:
        """Return where newer files mention what was asked for, what is unsupported, and a missing model."""
        from atlas.code.tools.state.newer_files import asked_names, mention_notes, unsupported_note

        notes: tuple[str, ...] = ()
        if newer.paths and (names := asked_names(answer)):
            notes = await asyncio.to_thread(mention_notes, str(self._settings.root), newer, names)
        if answer.tool in ("hybrid_search", "get_context") and (lack := missing_model_note(self._settings)):
            said = any(note.startswith(WITHOUT_MODEL) for note in answer.evidence.notes)
            notes = notes if said else (*notes, lack)
        if not answer.evidence.indexed_at or not answer.result().has_no_definition:
            return notes  # while the first index is made, other files wait for it
        note = unsupported_note(await self._guard.unsupported(reader.store, reader.languages.forms))
        return (*notes, note) if note else notes

    async def resource(self, uri: str) -> str:
        """Return the text of a resource. Raises AtlasError as `read_resource` does."""
        from atlas.code.tools.resources import read_resource

        async with self._bulkheads.place("get_context"):
            return await read_resource(await self._indexed(), uri)

    async def completions(self, argument: str, value: str) -> list[str]:
        """Return values that an argument of a resource or prompt may have. Raises AtlasError without an index."""
        from atlas.code.tools.resources import complete

        async with self._bulkheads.place("get_node"):
            return await complete(await self._indexed(), argument, value)

    async def _indexed(self) -> Atlas:
        """Return the open index; without one, begin it if that is allowed. Raises NotFound with the next step."""
        try:
            return await self._open()
        except NotFound as error:
            return await self._open_new(error, makes_index=self._makes_index)

    def _with_defaults(self, tool: Tool, arguments: Mapping[str, object]) -> dict[str, object]:
        """Fill in arguments that the settings define and the caller omits; defaults of settings are for searches."""
        search, is_search = self._settings.search, "cursor" in tool.arguments and not tool.is_knowledge
        configured: dict[str, object] = {}
        if is_search or self._settings.origin("search.token_budget") != "default":
            configured["token_budget"] = search.token_budget
        if is_search and self._settings.origin("search.limit") != "default":
            configured["limit"] = search.limit
        return {**{name: value for name, value in configured.items() if name in tool.arguments}, **arguments}

    async def _open_new(self, missing: NotFound, *, makes_index: bool) -> Atlas:
        """Make the first index if this session may; return it, finished or not. Raises NotFound without one."""
        project, root = self._settings.project_name, self._settings.root
        hint = f"Run `atlas index {root}` (agents: call the index tool), then ask again."
        if not makes_index:
            raise NotFound(f"{project} is not indexed yet: {missing.message}", hint) from missing
        try:
            await self._guard.make_index()
        except ConfigError as error:
            raise NotFound(f"{project} is not indexed: {error.message}", error.hint) from error
        except AtlasError as error:
            raise NotFound(f"{project} could not be indexed: {error.message}", error.hint or hint) from error
        try:
            return await self._open()
        except NotFound as error:
            raise self._being_indexed(self._guard.progress() or "starting") from error

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

    async def _index(self, report: Report, *, full: bool) -> tuple[str, Structure]:
        from atlas.app.main import index_project
        from atlas.code.tools.state.index_pass import INDEX_PATIENCE, IndexProgress, summary_structure, summary_text
        from atlas.core.threads import in_background

        progress, patience = IndexProgress(), self._index_patience
        async with in_background(progress.pump(report)):
            summary = await index_project(
                self._settings,
                progress,
                full=full,
                patience=INDEX_PATIENCE if patience is None else patience,
                waiting=progress.waiting,
            )
        await report(100, 100, "done")
        return summary_text(summary), summary_structure(summary)


def make_session(settings: Settings, *, serves_agents: bool = False, personal: bool | None = None) -> Session:
    """Return a session with a project, and with the user's own notes unless these are not wanted.

    `personal`: whether they are served; None: as `knowledge.personal` says.
    """
    from atlas.runtime.config.load import personal_settings

    wanted = settings.knowledge.personal if personal is None else personal
    own = Session(personal_settings(settings), serves_agents=True) if wanted else None
    return Session(settings, serves_agents=serves_agents, personal=own)
