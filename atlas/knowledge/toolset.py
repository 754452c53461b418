"""Composition of knowledge: note folders of the project and of the user, short-term memory, limits on writing."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from atlas.adapters.opening.data_folder import open_short_term, prepare_data_folder
from atlas.adapters.opening.embedder import make_prose_embedder
from atlas.adapters.opening.models import encode_emotion, make_language_model
from atlas.answers.toolset import UNKNOWN_CALLER, Caller
from atlas.core.errors import ConfigError, NotFound, Unavailable
from atlas.core.ids import PERSONAL_PROJECT
from atlas.knowledge.notes.ids import IdSource
from atlas.runtime.process.files import make_private_folder

if TYPE_CHECKING:
    from atlas.answers.answer import Answer
    from atlas.answers.evidence import NewerFiles
    from atlas.answers.tool import Tool
    from atlas.code.atlas import Atlas
    from atlas.core.paper_source import PaperLinks
    from atlas.core.short_term import ShortTermMemory
    from atlas.knowledge.tools.note_base import Knowledge, NoteBase, SessionNotes
    from atlas.runtime.config.load import Settings

MINUTE = 60.0


class ProjectSession(Protocol):
    """What a session does for its notes; see `atlas.app.session.Session`."""

    @property
    def settings(self) -> Settings:
        """The settings of the project."""
        ...

    async def opened(self) -> Atlas:
        """Return the index as it is. Raises NotFound if there is none."""
        ...

    async def fresh(self) -> Atlas:
        """Return the index after newer files have been indexed, or are named. Raises NotFound if there is none."""
        ...

    async def looked(self) -> tuple[Atlas, NewerFiles | None]:
        """Return the index as it is, and which files are newer, None if unknown. Raises NotFound if there is none."""
        ...

    def has_written(self) -> None:
        """Note that files have changed."""
        ...

    async def aclose(self) -> None:
        """Close; idempotent."""
        ...


class KnowledgeDesk:
    """The notes and memories that one session serves. Use from one event loop; close with `aclose`."""

    def __init__(
        self,
        settings: Settings,
        session: ProjectSession,
        personal: ProjectSession | None,
        papers: PaperLinks | None = None,
    ) -> None:
        """`personal`: a session with the user's own notes, `papers`: stored papers; None if they are not served."""
        self._settings = settings
        self._sessions = (session, *([personal] if personal is not None else ()))
        self._written: list[SessionNotes] = []
        self._short_term: ShortTermMemory | None = None
        self._opening = asyncio.Lock()
        self._writes: deque[float] = deque()
        self._ids = IdSource()
        self._prose = make_prose_embedder(settings)
        self._papers = papers
        self._model = make_language_model(settings)
        self._prepared: set[Path] = set()

    async def answer(self, tool: Tool, arguments: Mapping[str, object], caller: Caller = UNKNOWN_CALLER) -> Answer:
        """Return the answer of a tool of claims or memory. Raises AtlasError as the tool does.

        Raises Unavailable if this session has written too much within a minute.
        """
        if not tool.read_only:
            self._count_write()
            await asyncio.to_thread(self._prepare, personal=bool(arguments.get("personal")))
        try:
            return await tool.run(self._knowledge(caller.client), arguments)
        finally:
            if not tool.read_only:
                for session in self._sessions:
                    session.has_written()

    async def aclose(self) -> None:
        """Close short-term memory; idempotent. The session closes that with personal notes."""
        if self._short_term is not None:
            await self._short_term.aclose()
            self._short_term = None

    def _count_write(self) -> None:
        """Raise Unavailable beyond the limit of writes."""
        now, most = time.monotonic(), self._settings.knowledge.writes_per_minute
        while self._writes and self._writes[0] < now - MINUTE:
            self._writes.popleft()
        if len(self._writes) >= most:
            raise Unavailable(
                f"more than {most} notes were written within a minute: nothing was written",
                "Wait a minute; `atlas notes import` writes many notes at once (setting knowledge.writes_per_minute).",
            )
        self._writes.append(now)

    def _prepare(self, *, personal: bool) -> None:
        """Create the data folders, which hold locks and idempotency keys, and the folder of personal notes.

        Raises ConfigError for a folder that cannot be used.
        """
        for session in self._sessions[: 2 if personal else 1]:
            settings = session.settings
            if settings.project_name == PERSONAL_PROJECT:
                try:
                    make_private_folder(settings.root)
                except OSError as error:
                    hint = "Check the permissions of the folder above it."
                    raise ConfigError(f"cannot create {settings.root}: {error.strerror}", hint) from error
            if settings.data_dir not in self._prepared:
                prepare_data_folder(settings)
                self._prepared.add(settings.data_dir)

    def _knowledge(self, client: str) -> Knowledge:
        from atlas.knowledge.tools.note_base import Knowledge, SessionNotes
        from atlas.parsing import Cl100kCounter

        self._written = self._written or [SessionNotes() for _ in self._sessions]
        bases = [
            self._base(session, written, client)
            for session, written in zip(self._sessions, self._written, strict=True)
            if session is self._sessions[0] or session.settings.root.exists()
        ]
        settings = self._settings.memory
        return Knowledge(
            bases=tuple(bases),
            short_term=self._memory,
            emotion=encode_emotion,
            prose=self._prose,
            model=self._model,
            papers=self._papers,
            counter=Cl100kCounter(),
            client=client,
            identity=settings.identity,
            ttl_hours=float(settings.ttl_hours),
        )

    def _base(self, session: ProjectSession, written: SessionNotes, client: str) -> NoteBase:
        from atlas.knowledge.notes.folder import KnowledgeFolder
        from atlas.knowledge.notes.notebook import Notebook
        from atlas.knowledge.tools.note_base import NoteBase

        settings = session.settings
        folder = KnowledgeFolder(settings.root, settings.knowledge.folder, settings.data_dir)
        notebook = Notebook(folder, self._ids, settings.data_dir, client)
        is_personal = settings.project_name == PERSONAL_PROJECT

        async def opened() -> Atlas | None:
            return await _or_none(session.opened)

        async def fresh() -> Atlas | None:
            return await _or_none(session.fresh)

        return NoteBase(
            settings.project_name, notebook, opened, fresh, session.looked, written, is_personal=is_personal
        )

    async def _memory(self) -> ShortTermMemory:
        async with self._opening:
            if self._short_term is None:
                self._short_term = await open_short_term(self._settings)
            return self._short_term


async def _or_none(opening: Callable[[], Awaitable[Atlas]]) -> Atlas | None:
    """Return an index, None if there is none yet."""
    try:
        return await opening()
    except NotFound:
        return None
