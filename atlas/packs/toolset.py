"""The packs that a session serves: opened on first use, kept open, opened again when they are replaced."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from atlas.core.errors import AtlasError, ConfigError, NotFound, StoreError
from atlas.packs.opening import BROKEN, OpenPack, installed_pack, is_path, list_packs, open_pack
from atlas.packs.profiles import ArticleText, find_article, override_notes, profile_options

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from atlas.adapters.opening.models import ConfiguredReranker
    from atlas.answers.items import ItemsAnswer, ItemsBody
    from atlas.answers.tool import Tool
    from atlas.core.language_model import LanguageModel
    from atlas.packs.questions.values import PackAnswer

_Result = TypeVar("_Result")

MAX_OPEN = 8
MAX_ASKED = 6
"""Packs that are asked by a question without a pack."""
MAX_NOTE = 400
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

    async def answer(self, tool: Tool, arguments: Mapping[str, object]) -> ItemsAnswer:
        """Return the answer of a tool of packs. Raises AtlasError."""
        from atlas.packs.tools.bodies import packs_body

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
            body = await self._read(pack, str(arguments["article"]), notes)
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
        from atlas.packs.documentation.pack.folder import load_manifest

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

    async def _asked(self, name: str, question: str, profile: str, budget: int, notes: list[str]) -> ItemsBody:
        from atlas.packs.questions.answer import ask
        from atlas.packs.tools.bodies import answer_body

        async def asked(pack: OpenPack) -> PackAnswer:
            options = profile_options(pack, profile)
            options = replace(options, max_tokens=max(min(options.max_tokens, budget - OVERHEAD), 60))
            return await ask(pack.reader, question, options)

        found = await self._each(name, notes, asked)
        pack, answer = max(found, key=lambda one: (not one[1].is_refused, one[1].confidence))
        notes += (*override_notes(pack), *answer.notes)
        return answer_body(f"{pack.manifest.name}@{pack.manifest.version}", answer)

    async def _found(self, name: str, query: str, limit: int, notes: list[str]) -> ItemsBody:
        from atlas.packs.questions.retrieval.search import search
        from atlas.packs.tools.bodies import hits_body

        found = await self._each(
            name,
            notes,
            lambda pack: search(pack.reader, query, replace(profile_options(pack, "balanced"), limit=limit)),
        )
        pack, hits = max(found, key=lambda one: one[1][0].score if one[1] else 0.0)
        return hits_body(f"{pack.manifest.name}@{pack.manifest.version}", hits)

    async def _read(self, name: str, article: str, notes: list[str]) -> ItemsBody:
        from atlas.packs.tools.bodies import article_body

        async def read(pack: OpenPack) -> ArticleText | NotFound:
            try:
                return await find_article(pack, article)
            except NotFound as error:
                return error

        found = await self._each(name, notes, read)
        for pack, one in found:
            if isinstance(one, ArticleText):
                return article_body(pack.manifest.title, one.title, one.url, one.text)
        raise next(one for _, one in found if isinstance(one, NotFound))

    async def _each(
        self, name: str, notes: list[str], work: Callable[[OpenPack], Awaitable[_Result]]
    ) -> list[tuple[OpenPack, _Result]]:
        """Return what the work finds in the named pack, or in the newest version of each installed one.

        Without a name, packs that cannot be read are named in the notes. Raises NotFound without any that can.
        """
        if name:
            if is_path(name) or name.startswith("~"):
                raise ConfigError("a pack is asked by its name, not by a path", "list_packs names the installed ones")
            pack = await self.opened(await asyncio.to_thread(installed_pack, name))
            return [(pack, await _reading(pack, work(pack)))]
        names = list(dict.fromkeys(one.folder.parent.name for one in await asyncio.to_thread(list_packs)))
        if not names:
            raise NotFound("no pack is installed", "build one: atlas pack build NAME --from pypi:NAME==VERSION")
        found: list[tuple[OpenPack, _Result]] = []
        asked = 0
        for each in names:
            if len(found) == MAX_ASKED:
                break
            asked += 1
            try:
                pack = await self.opened(await asyncio.to_thread(installed_pack, each))
                found.append((pack, await _reading(pack, work(pack))))
            except ConfigError:
                raise  # of the question, not of the pack
            except BROKEN as error:
                notes.append(f"the pack {each} was skipped: {error}")
        if asked < len(names):
            notes.append(f"only the first {asked} of {len(names)} packs were asked; name one")
        if not found:
            raise NotFound(f"no installed pack can be read: {notes[0]}", "see `atlas pack list`")
        return found

    def _fitted(self, tool: str, body: ItemsBody, budget: int, notes: list[str]) -> ItemsAnswer:
        from atlas.answers.assemble import fit_counted
        from atlas.answers.evidence import Evidence
        from atlas.answers.items import ItemsAnswer
        from atlas.answers.schema import check_range
        from atlas.core.invisible import escaped
        from atlas.parsing import Cl100kCounter

        check_range("token_budget", budget, 1, 200_000)
        counter = Cl100kCounter()
        said = tuple(dict.fromkeys(escaped(note)[:MAX_NOTE] for note in notes if note))

        def build(shown: int) -> ItemsAnswer:
            withheld = (f"{body.size - shown} items; raise token_budget",) if shown < body.size else ()
            evidence = Evidence(self._project, 1, "-", "", (), counter.encoding, 0, budget, said, withheld)
            return ItemsAnswer(tool, body.cut(shown), evidence)

        return fit_counted(counter, budget, build, body.size)


async def _reading(pack: OpenPack, work: Awaitable[_Result]) -> _Result:
    """Return what the work finds. Raises AtlasError, StoreError for content that is not as a build makes it."""
    try:
        return await work
    except AtlasError:
        raise
    except BROKEN as error:
        raise StoreError(f"the pack {pack.manifest.title} is damaged: {error}", "install or build it again") from error
