"""The packs that a session serves: opened on first use, kept open, opened again when they are replaced."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from atlas.app.pack_questions import find_article, override_notes, profile_options
from atlas.app.packs import OpenPack, find_pack, list_packs, open_pack
from atlas.errors import AtlasError, NotFound
from atlas.project_state import ProjectState

if TYPE_CHECKING:
    from pathlib import Path

    from atlas.app.pack_reranker import ConfiguredReranker
    from atlas.language_model import LanguageModel
    from atlas.tools.answers import KnowledgeAnswer
    from atlas.tools.catalogue import Tool
    from atlas.tools.knowledge.body import NoteBody

MAX_OPEN = 8
MAX_ASKED = 6
"""Packs that are asked by a question without a pack."""
BUDGET = 1500
ARTICLE_BUDGET = 4000
OVERHEAD = 250
"""Tokens of an answer's frame: title, sources and evidence."""


class PackDesk:
    """Use from one event loop; close with `aclose`."""

    def __init__(self, project: str, model: LanguageModel | None, reranker: ConfiguredReranker | None = None) -> None:
        self._project, self._model, self._reranker = project, model, reranker
        self._open: dict[Path, tuple[str, OpenPack]] = {}
        self._opening = asyncio.Lock()

    async def answer(self, tool: Tool, arguments: Mapping[str, object]) -> KnowledgeAnswer:
        """Return the answer of a tool of packs. Raises AtlasError."""
        from atlas.tools.packs.bodies import packs_body

        default = ARTICLE_BUDGET if tool.name == "pack_article" else BUDGET
        budget = int(str(arguments.get("token_budget") or default))
        pack = str(arguments.get("pack") or "")
        notes: list[str] = []
        if tool.name == "list_packs":
            body = packs_body(await asyncio.to_thread(list_packs))
        elif tool.name == "ask_pack":
            profile = str(arguments.get("profile") or "balanced")
            body = await self._asked(pack, str(arguments["question"]), profile, budget, notes)
        elif tool.name == "search_pack":
            limit = int(str(arguments.get("limit") or 5))
            body = await self._found(pack, str(arguments["query"]), limit, notes)
        else:
            body = await self._read(pack, str(arguments["article"]))
        return self._fitted(tool.name, body, budget, notes)

    async def aclose(self) -> None:
        """Close all packs; idempotent."""
        for _, pack in self._open.values():
            await pack.aclose()
        self._open = {}
        if self._reranker is not None:
            await self._reranker.aclose()

    async def opened(self, folder: Path) -> OpenPack:
        """Return an opened pack. Raises NotFound and StoreError."""
        from atlas.docs.pack.folder import load_manifest

        async with self._opening:
            manifest = await asyncio.to_thread(load_manifest, folder)
            state = f"{manifest.created} {manifest.files.get('pack.db')}"
            known = self._open.pop(folder, None)
            if known is not None and known[0] != state:
                await known[1].aclose()
                known = None
            if known is None:
                known = state, await asyncio.to_thread(open_pack, folder, self._model, self._reranker)
            self._open[folder] = known
            while len(self._open) > MAX_OPEN:
                _, oldest = self._open.pop(next(iter(self._open)))
                await oldest.aclose()
            return known[1]

    async def _asked(self, name: str, question: str, profile: str, budget: int, notes: list[str]) -> NoteBody:
        from atlas.search.packs.answer import ask
        from atlas.tools.packs.bodies import answer_body

        best = None
        for pack in await self._chosen(name, notes):
            options = profile_options(pack, profile)
            options = replace(options, max_tokens=max(min(options.max_tokens, budget - OVERHEAD), 60))
            answer = await ask(pack.reader, question, options)
            rank = (not answer.is_refused, answer.confidence)
            if best is None or rank > best[0]:
                best = rank, pack, answer
        assert best is not None
        notes += (*override_notes(best[1]), *best[2].notes)
        return answer_body(f"{best[1].manifest.name}@{best[1].manifest.version}", best[2])

    async def _found(self, name: str, query: str, limit: int, notes: list[str]) -> NoteBody:
        from atlas.search.packs.retrieval import search
        from atlas.tools.packs.bodies import hits_body

        packs = await self._chosen(name, notes)
        found = [
            (pack, await search(pack.reader, query, replace(profile_options(pack, "balanced"), limit=limit)))
            for pack in packs
        ]
        pack, hits = max(found, key=lambda one: one[1][0].score if one[1] else 0.0)
        return hits_body(f"{pack.manifest.name}@{pack.manifest.version}", hits)

    async def _read(self, name: str, article: str) -> NoteBody:
        from atlas.tools.packs.bodies import article_body

        missing: NotFound | None = None
        for pack in await self._chosen(name, []):
            try:
                found = await find_article(pack, article)
            except NotFound as error:
                missing = missing or error
                continue
            return article_body(pack.manifest.title, found.title, found.url, found.text)
        raise missing or NotFound(f"there is no article {article!r}")

    async def _chosen(self, name: str, notes: list[str]) -> list[OpenPack]:
        """Return the named pack, or the newest version of each installed one. Raises NotFound without any."""
        if name:
            return [await self.opened(await asyncio.to_thread(find_pack, name))]
        names = dict.fromkeys(one.folder.parent.name for one in await asyncio.to_thread(list_packs))
        if not names:
            raise NotFound("no pack is installed", "build one: atlas pack build NAME --from pypi:NAME==VERSION")
        packs: list[OpenPack] = []
        for each in list(names)[:MAX_ASKED]:
            try:
                packs.append(await self.opened(await asyncio.to_thread(find_pack, each)))
            except AtlasError as error:
                notes.append(f"{each}: {error.message}")
        if len(names) > MAX_ASKED:
            notes.append(f"only the first {MAX_ASKED} of {len(names)} packs were asked; name one")
        if not packs:
            raise NotFound(f"no installed pack can be opened: {notes[0]}", "see `atlas pack list`")
        return packs

    def _fitted(self, tool: str, body: NoteBody, budget: int, notes: list[str]) -> KnowledgeAnswer:
        from atlas.parsing import Cl100kCounter
        from atlas.tools.answers import KnowledgeAnswer
        from atlas.tools.envelope import Envelope, check_range, fit_counted

        check_range("token_budget", budget, 1, 200_000)
        counter = Cl100kCounter()
        envelope = Envelope(ProjectState(self._project, "", 1, "-"), counter.encoding, budget)

        def build(shown: int) -> KnowledgeAnswer:
            withheld = [f"{body.size - shown} items; raise token_budget"] if shown < body.size else []
            return KnowledgeAnswer(tool, body.cut(shown), envelope.evidence(notes=notes, withheld=withheld))

        return fit_counted(counter, budget, build, body.size)
