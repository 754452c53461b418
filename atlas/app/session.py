"""A session with one project, of one agent or of all that share a server: checked calls in, text and structure out.

The index is opened at the first call that needs it and tried again at each call until there is one, so a server may be
older than its index; nothing but the store is kept. Must not know how a client is spoken to.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

from atlas.errors import NotFound
from atlas.process.bulkhead import LARGE, QUERIES_AT_WORK, SERVER_QUERIES_AT_WORK, Bulkheads, widths

if TYPE_CHECKING:
    from atlas.api import Atlas
    from atlas.config.load import Settings
    from atlas.pipeline.events import IndexSummary
    from atlas.tools.answers import Answer
    from atlas.tools.catalogue import Tool

Report = Callable[[float, float, str], Awaitable[None]]
"""(done, total, message) -> None: tells the client how far a long call is."""

Structure = dict[str, object]

REPORT_SECONDS = 0.2

INDEX_PATIENCE = 60.0
"""Seconds that a call of `index` waits for another process that writes: clients give up on calls that take longer."""

PHASES: Mapping[str, tuple[float, float, str]] = {
    "scan": (0, 3, "looking for files"),
    "parse": (3, 40, "parsing"),
    "link": (40, 50, "linking"),
    "write": (50, 80, "writing"),
    "embed": (80, 99, "embedding"),
}
"""Phase -> from and to which percent it takes an index pass, so that progress only grows; and what it is called."""


class Session:
    """Use from one event loop; close with `aclose`."""

    def __init__(self, settings: Settings, index_patience: float = INDEX_PATIENCE) -> None:
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
        from atlas.tools.structure import structure

        budget = arguments.get("token_budget", 0)
        is_large = isinstance(budget, int) and budget > INLINE_TOKENS and tool.name != "cypher_query"
        async with self._bulkheads.place(LARGE if is_large else tool.name):
            answer = await self.answer(tool, arguments)
            if answer.evidence.tokens <= INLINE_TOKENS // 4:
                return render(answer), structure(answer)
            return await asyncio.to_thread(lambda: (render(answer), structure(answer)))

    async def generation(self) -> int:
        """Return the generation of the project's index. Raises NotFound when there is none, else as opening does."""
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
        try:
            atlas = await self._open()
        except NotFound as error:
            hint = f"Run `atlas index {self._settings.root}` (agents: call the index tool), then ask again."
            raise NotFound(f"{self._settings.project_name} is not indexed yet: {error.message}", hint) from error
        from atlas.tools.call import call

        complete = self._with_defaults(tool, arguments)
        if tool.name == "status":
            from atlas.app.health import describe_places, look_at_daemon

            # a task: the daemon is asked while the store counts
            complete["daemon"] = asyncio.create_task(look_at_daemon(self._settings))
            complete["places"] = describe_places(self._settings)
        return await call(atlas, tool.name, complete)

    def _with_defaults(self, tool: Tool, arguments: Mapping[str, object]) -> dict[str, object]:
        """Fill in what the settings say and the caller left open."""
        search = self._settings.search
        configured = {"token_budget": search.token_budget, "limit": search.limit if "cursor" in tool.arguments else 0}
        return {**{name: value for name, value in configured.items() if value and name in tool.arguments}, **arguments}

    async def _open(self) -> Atlas:
        async with self._opening:
            if self._atlas is None:
                from atlas.app.main import connect

                self._atlas = await connect(self._settings)
            return self._atlas

    async def _index(self, report: Report, *, full: bool) -> tuple[str, Structure]:
        from atlas.app.main import index_project

        progress = _Progress()
        pump = asyncio.create_task(progress.pump(report))
        try:
            summary = await index_project(
                self._settings, progress, full=full, patience=self._index_patience, waiting=progress.waiting
            )
        finally:
            pump.cancel()
        await report(100, 100, "done")
        return _summary_text(summary), _summary_structure(summary)


class _Progress:
    """Takes note from any thread; `pump` passes the latest on, at most every `REPORT_SECONDS`."""

    def __init__(self) -> None:
        self._percent, self._message = 0.0, "starting"

    def __call__(self, phase: str, done: int, total: int) -> None:
        start, end, name = PHASES[phase]
        percent = start + (end - start) * (min(done / total, 1.0) if total else 0.0)
        if percent >= self._percent:
            self._percent = percent
            self._message = f"{name} {done}/{total}" if total else f"{name} {done}" if done else name

    def waiting(self, message: str, seconds: float) -> None:
        """Say for whom is waited; takes none of the percents of the pass itself."""
        self._percent, self._message = max(self._percent, min(seconds / INDEX_PATIENCE, 0.99)), message

    async def pump(self, report: Report) -> None:
        sent = -1.0
        while True:
            if self._percent > sent:
                sent = self._percent
                await report(sent, 100, self._message)
            await asyncio.sleep(REPORT_SECONDS)


def _summary_text(summary: IndexSummary) -> str:
    by = f" by the {summary.by}" if summary.by else ""
    lines = [
        f"[{summary.project} @{summary.generation}, indexed now{by}]",
        f"{summary.files} files, {summary.changed} changed, {summary.parsed} parsed, {summary.removed} removed",
        f"{summary.skipped} skipped, {summary.problems} read only in part",
        f"{summary.written} units written, {summary.vectors} vectors made, {summary.seconds:.1f} s",
    ]
    if summary.cut_texts:
        lines.append(
            f"note: {summary.cut_texts} texts were longer than the embedding model takes; their ends are cut off"
        )
    if summary.unembedded:
        lines.append(f"note: {summary.unembedded} texts got no vector: the embedding server takes them in no form")
    if summary.given_up:
        lines.append(f"note: {summary.given_up} events could not be worked off; `atlas dead-letters list` says why")
    if not summary.files:
        lines.append("note: no file was indexed; status with skipped says why")
    return "\n".join(lines)


def _summary_structure(summary: IndexSummary) -> Structure:
    body = asdict(summary)
    evidence = {name: body.pop(name) for name in ("project", "generation")}
    body["phases"] = {phase: round(seconds, 3) for phase, seconds in summary.phases}
    body["seconds"], body["cpu_seconds"] = round(summary.seconds, 3), round(summary.cpu_seconds, 3)
    return {"summary": body, "evidence": evidence}
