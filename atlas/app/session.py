"""A session with one project, of one agent or shared by all clients of a server: checked calls in, answers out.

The first call that needs the index opens it, and each call tries again until there is one, so a server may start before
its index exists. The session keeps nothing but the store and does not know the client's protocol.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

from atlas.errors import NotFound
from atlas.process.bulkhead import LARGE, QUERIES_AT_WORK, SERVER_QUERIES_AT_WORK, Bulkheads, widths

if TYPE_CHECKING:
    from atlas.api import Atlas
    from atlas.config.load import Settings
    from atlas.tools.answers import Answer
    from atlas.tools.catalogue import Tool
    from atlas.tools.index_pass import Report

Structure = dict[str, object]


class Session:
    """Use from one event loop; close with `aclose`."""

    def __init__(self, settings: Settings, index_patience: float | None = None) -> None:
        self._settings, self._index_patience = settings, index_patience
        self._bulkheads = Bulkheads(widths(SERVER_QUERIES_AT_WORK if settings.store.url else QUERIES_AT_WORK))
        self._atlas: Atlas | None = None
        self._opening = asyncio.Lock()

    async def call(self, tool: Tool, arguments: Mapping[str, object], report: Report) -> tuple[str, Structure]:
        """Return a tool's answer as text and as structured content. Raises AtlasError as the tool does."""
        if tool.name == "index":
            async with self._bulkheads.place(tool.name):
                return await self._index(report, full=bool(arguments.get("full", False)))
        from atlas.tools.envelope import INLINE_TOKENS
        from atlas.tools.render import render
        from atlas.tools.structured_content import structure

        budget = arguments.get("token_budget", 0)
        is_large = isinstance(budget, int) and budget > INLINE_TOKENS and tool.name != "cypher_query"
        async with self._bulkheads.place(LARGE if is_large else tool.name):
            answer = await self.answer(tool, arguments)
            if answer.evidence.tokens <= INLINE_TOKENS // 4:
                return render(answer), structure(answer)
            return await asyncio.to_thread(lambda: (render(answer), structure(answer)))

    async def generation(self) -> int:
        """Return the generation of the project's index. Raises NotFound if there is none, and as opening does."""
        atlas = await self._open()
        for state in await atlas.reader.store.projects():
            if state.project == self._settings.project_name:
                return state.generation
        raise NotFound(f"{self._settings.project_name} is not in the index")

    async def aclose(self) -> None:
        """Close the store; idempotent."""
        if self._atlas is not None:
            await self._atlas.aclose()
            self._atlas = None

    async def answer(self, tool: Tool, arguments: Mapping[str, object]) -> Answer:
        """Return the answer of any tool but `index`. Raises AtlasError as the tool does."""
        if tool.name == "health":
            from atlas.app.health import check_health

            return await check_health(self._settings)
        atlas = await self._indexed()
        from atlas.tools.call import call

        complete = self._with_defaults(tool, arguments)
        if tool.name == "status":
            from atlas.app.health import describe_places, look_at_daemon

            # a task, so that the daemon answers while the store counts
            complete["daemon"] = asyncio.create_task(look_at_daemon(self._settings))
            complete["places"] = describe_places(self._settings)
        return await call(atlas, tool.name, complete)

    async def resource(self, uri: str) -> str:
        """Return the text of a resource. Raises AtlasError as `read_resource` does."""
        from atlas.tools.resources import read_resource

        async with self._bulkheads.place("get_context"):
            return await read_resource(await self._indexed(), uri)

    async def completions(self, argument: str, value: str) -> list[str]:
        """Return values that an argument of a resource or prompt may have. Raises AtlasError without an index."""
        from atlas.tools.resources import complete

        async with self._bulkheads.place("get_node"):
            return await complete(await self._indexed(), argument, value)

    async def _indexed(self) -> Atlas:
        """Return the open index. Raises NotFound with the next step if there is none."""
        try:
            return await self._open()
        except NotFound as error:
            hint = f"Run `atlas index {self._settings.root}` (agents: call the index tool), then ask again."
            raise NotFound(f"{self._settings.project_name} is not indexed yet: {error.message}", hint) from error

    def _with_defaults(self, tool: Tool, arguments: Mapping[str, object]) -> dict[str, object]:
        """Fill in arguments that the settings define and the caller omits; defaults of settings are for searches."""
        search, is_search = self._settings.search, "cursor" in tool.arguments
        configured: dict[str, object] = {}
        if is_search or self._settings.origin("search.token_budget") != "default":
            configured["token_budget"] = search.token_budget
        if is_search and self._settings.origin("search.limit") != "default":
            configured["limit"] = search.limit
        return {**{name: value for name, value in configured.items() if name in tool.arguments}, **arguments}

    async def _open(self) -> Atlas:
        async with self._opening:
            if self._atlas is None:
                from atlas.app.main import connect

                self._atlas = await connect(self._settings)
            return self._atlas

    async def _index(self, report: Report, *, full: bool) -> tuple[str, Structure]:
        from atlas.app.main import index_project
        from atlas.pipeline.background import in_background
        from atlas.tools.index_pass import INDEX_PATIENCE, IndexProgress, summary_structure, summary_text

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
