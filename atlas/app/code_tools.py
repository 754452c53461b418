"""The tools of code within a session: an answer is composed from one generation, after newer files or with their names.

The tree is checked while a tool works. What a tool needs is a property of its definition: nothing here knows its name.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from atlas.adapters.opening.sentence_transformer import WITHOUT_MODEL, missing_model_note
from atlas.answers.tool import Reads, Tool
from atlas.answers.toolset import UNKNOWN_CALLER, Caller
from atlas.core.errors import AtlasError, ConfigError, NotFound

if TYPE_CHECKING:
    from atlas.answers.answer import Answer
    from atlas.answers.evidence import NewerFiles
    from atlas.app.toolset_host import ToolsetHost
    from atlas.code.atlas import AnswerDraft, Atlas
    from atlas.code.index.events import IndexSummary
    from atlas.code.reader import Reader
    from atlas.code.tools.state.daemon import DaemonStatus
    from atlas.code.tools.state.health import HealthAnswer
    from atlas.core.contracts import Store

MAX_GENERATIONS = 3
"""An answer is composed again this often because the index has changed meanwhile."""

PackLines = Callable[["Store", str, "Answer"], Awaitable[tuple[str, ...]]]
"""Store, project, answer -> what packs say about it, one line each."""


class CodeTools:
    """Use from one event loop."""

    def __init__(self, session: ToolsetHost, pack_lines: PackLines) -> None:
        self._session, self._pack_lines = session, pack_lines

    async def answer(self, tool: Tool, arguments: Mapping[str, object], caller: Caller = UNKNOWN_CALLER) -> Answer:
        """Return the answer of a tool. Raises AtlasError as the tool does."""
        workspace = self._session.workspace
        if arguments.get("project"):
            from atlas.app.workspace.asking import ask_elsewhere

            own = self._session.settings
            if (other := await ask_elsewhere(workspace, own, tool, arguments, caller, self._own_answer)) is not None:
                return other
        return await self._own_answer(tool, arguments, caller)

    async def _own_answer(self, tool: Tool, arguments: Mapping[str, object], caller: Caller) -> Answer:
        """Return the answer of the session's own project. Raises AtlasError as the tool does."""
        if tool.reads is Reads.INSTALLATION:
            return await tool.run(SessionInstallation(self._session, caller), arguments)
        atlas = await self._session.indexed(begins=tool.reads is Reads.FILES)
        if tool.reads is Reads.INDEX:
            return await tool.run(atlas, arguments)
        return await self._up_to_date(atlas, tool, arguments)

    async def aclose(self) -> None:
        """Do nothing: the session closes the index."""

    async def _up_to_date(self, atlas: Atlas, tool: Tool, arguments: Mapping[str, object]) -> Answer:
        """Return the answer of a tool that reads the index, after the files that are newer have been indexed or named.

        The tree is checked while the tool works. The tool works again only if the index has changed under it: notes
        are fitted into the answer that there is.
        """
        from atlas.code.atlas import AnswerDraft

        draft = AnswerDraft()
        try:
            return await self._composed(atlas, draft, tool, arguments)
        finally:
            # it holds all that the question has read, which refers to it: megabytes until a full collection
            draft.finish = None

    async def _composed(self, atlas: Atlas, draft: AnswerDraft, tool: Tool, arguments: Mapping[str, object]) -> Answer:
        from atlas.code.atlas import TreeReport
        from atlas.code.tools.state.newer_files import lacks_something

        session = self._session
        own = arguments.get("project") in (None, "", session.settings.project_name)
        watched = own and session.guard.is_watched
        before = await _states(atlas)
        if own:
            atlas = replace(atlas, draft=draft)
        looking = asyncio.create_task(session.report(atlas)) if own else None
        answer, failure = None, None
        try:
            answer = await _run(atlas, tool, arguments)
        except (NotFound, ConfigError) as error:
            failure = error
        finally:
            report = await looking if looking is not None else None
        if watched and report is None and (answer is None or lacks_something(answer)):
            # the daemon may not have noticed a change of the last milliseconds
            report = await session.report(atlas, certain=True)
        draft.tree = report = report or TreeReport()
        if before != await _states(atlas):
            # newer files are indexed now, or another process has indexed what the check would have found newer
            answer = await _run(atlas, tool, arguments)
        elif failure is not None:
            raise failure
        elif report != TreeReport():
            answer = await _again(atlas, draft, tool, arguments)
        assert answer is not None
        notes = await self._remarks(atlas.reader, tool, answer, report.newer) if own else ()
        if notes:
            draft.tree = report = replace(report, notes=(*notes, *report.notes))
            answer = await _again(atlas, draft, tool, arguments)
        if own and not answer.evidence.below_floor and (lines := await self._further_lines(atlas, tool, answer)):
            return await _with_lines(atlas, draft, tool, arguments, answer, lines)
        return answer

    async def _further_lines(self, atlas: Atlas, tool: Tool, answer: Answer) -> tuple[str, ...]:
        """Return what other projects of the workspace, and packs, say about an answer."""
        lines: tuple[str, ...] = ()
        if tool.joins_workspace and not self._session.workspace.is_empty:
            lines = await workspace_lines(self._session, atlas.reader, answer)
        if tool.joins_packs:
            lines += await self._pack_lines(atlas.reader.store, atlas.reader.project, answer)
        return lines

    async def _remarks(self, reader: Reader, tool: Tool, answer: Answer, newer: NewerFiles) -> tuple[str, ...]:
        """Return where newer files mention what was asked for, what is unsupported, and a missing model."""
        from atlas.code.tools.state.newer_files import asked_names, has_code, mention_notes, unsupported_note

        session = self._session
        notes: tuple[str, ...] = ()
        if newer.paths and (names := asked_names(answer)):
            notes = await asyncio.to_thread(mention_notes, str(session.settings.root), newer, names)
        if tool.compares_meaning and (lack := missing_model_note(session.settings)):
            said = any(note.startswith(WITHOUT_MODEL) for note in answer.evidence.notes)
            notes = notes if said else (*notes, lack)
        if not answer.evidence.indexed_at or not answer.result().has_no_definition:
            return notes  # while the first index is made, other files wait for it
        if await reader.cache.get(reader.store, reader.project, "has code", partial(has_code, reader)):
            return notes
        note = unsupported_note(session.guard.unsupported(reader.languages.forms))
        return (*notes, note) if note else notes


async def _with_lines(
    atlas: Atlas, draft: AnswerDraft, tool: Tool, arguments: Mapping[str, object], answer: Answer, lines: Sequence[str]
) -> Answer:
    """Return an answer with the lines of packs and other projects that fit into their share of its budget."""
    from atlas.packs.links import trees_with_lines

    report, budget = draft.tree, answer.evidence.token_budget
    for draft.tree in trees_with_lines(report, lines, atlas.reader.counter, budget):
        more = await _again(atlas, draft, tool, arguments)
        if not more.evidence.below_floor:  # what others say never takes the place of the answer
            return more
    return answer


async def workspace_lines(session: ToolsetHost, reader: Reader, answer: Answer) -> tuple[str, ...]:
    """Return what the other projects of the workspace add to an answer, and which of them cannot be asked."""
    from atlas.app.workspace.lines import concerns_others, lines_across
    from atlas.code.across.packages import ProjectView

    if not concerns_others(answer):
        return ()
    others, missing = await session.workspace.views()
    own = ProjectView(session.workspace.own_label, reader)
    try:
        lines = await lines_across(own, others, answer)
    except AtlasError as error:  # the answer of the own project stands
        return (f"other projects of the workspace are not taken into account: {error.message}",)
    return (*lines, *missing)


async def _again(atlas: Atlas, draft: AnswerDraft, tool: Tool, arguments: Mapping[str, object]) -> Answer:
    """Return the answer with what its draft says now; a tool without a last step that can be repeated works again."""
    return await (draft.finish() if draft.finish is not None else _run(atlas, tool, arguments))


async def _run(atlas: Atlas, tool: Tool, arguments: Mapping[str, object]) -> Answer:
    """Return the answer of a tool that reads the index, all of it from one generation.

    An answer of two generations may deny what both have; a writer that never rests is answered from two.
    """
    for _ in range(MAX_GENERATIONS):
        generation = await _generation(atlas)
        try:
            answer = await tool.run(_for_question(atlas), arguments)
        except (NotFound, ConfigError):
            if generation == await _generation(atlas):
                raise
        else:
            if generation == await _generation(atlas):
                return answer
    return await tool.run(_for_question(atlas), arguments)


def _for_question(atlas: Atlas) -> Atlas:
    from atlas.code.question_store import for_question

    return replace(atlas, reader=replace(atlas.reader, store=for_question(atlas.reader.store)))


async def _states(atlas: Atlas) -> list[tuple[str, int, str]]:
    return [(state.project, state.generation, state.indexed_at) for state in await atlas.reader.store.projects()]


async def _generation(atlas: Atlas) -> int:
    return sum(state.generation for state in await atlas.reader.store.projects())


class SessionInstallation:
    """The index of a session's project and the processes around it, for one call; see `Installation`."""

    def __init__(self, session: ToolsetHost, caller: Caller) -> None:
        self._session, self._caller = session, caller

    async def run_pass(self, *, full: bool) -> IndexSummary:
        """Make the index equal to the tree and tell the caller how far that is. Raises AtlasError."""
        from atlas.app.main import index_project
        from atlas.code.tools.state.index_pass import INDEX_PATIENCE, IndexProgress
        from atlas.core.threads import in_background

        progress, patience = IndexProgress(), self._session.index_patience
        async with in_background(progress.pump(self._caller.report)):
            summary = await index_project(
                self._session.settings,
                progress,
                full=full,
                patience=INDEX_PATIENCE if patience is None else patience,
                waiting=progress.waiting,
            )
        await self._caller.report(100, 100, "done")
        return summary

    async def opened(self) -> Atlas:
        """Return the index as it is, and how far the first one is. Raises NotFound if there is none."""
        from atlas.code.atlas import TreeReport

        atlas = await self._session.indexed(begins=False)
        return replace(atlas, tree=TreeReport(unfinished=await self._session.guard.work_at_index()))

    async def daemon(self) -> DaemonStatus:
        """Return the state of the daemon."""
        from atlas.app.health import look_at_daemon

        return await look_at_daemon(self._session.settings)

    async def newer(self, atlas: Atlas) -> NewerFiles | None:
        """Return the files of the project that differ from the index, None if that is unknown."""
        return await self._session.guard.look(atlas.reader.store)

    def places(self) -> Sequence[str]:
        """Return notes on where the index is and which settings are ignored, and why no daemon runs."""
        from atlas.app.health import describe_places

        problem = self._session.guard.daemon_problem()
        failed = [f"the daemon could not be started: {problem}"] if problem else []
        return [*failed, *describe_places(self._session.settings)]

    async def diagnosis(self) -> HealthAnswer:
        """Return the state of every part."""
        from atlas.app.health import check_health

        return await check_health(self._session.settings, self._session.guard.daemon_problem())
