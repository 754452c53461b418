"""The packs that a session serves: opened on first use, kept open, opened again when they are replaced."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from atlas.answers.toolset import UNKNOWN_CALLER, Caller
from atlas.core.errors import AtlasError, ConfigError, NotFound, StoreError
from atlas.core.lazy_regex import lazy_regex
from atlas.packs.opening import BROKEN, OpenPack, installed_pack, is_path, list_packs, open_pack

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from atlas.adapters.opening.models import ConfiguredReranker
    from atlas.answers.answer import Answer
    from atlas.answers.tool import Tool
    from atlas.core.language_model import LanguageModel

_Result = TypeVar("_Result")

MAX_OPEN = 8
MAX_ASKED = 6
"""Packs that are asked by a question without a pack."""
OF_PROJECT, NAMED = 0.1, 0.2
"""What the confidence of a pack gains if the project depends on its library, and if the question names it."""
_WORD = lazy_regex(r"[\w.+-]+")


class AskedPack(NamedTuple, Generic[_Result]):
    """A pack, what was found in it, and what speaks for it before it is asked."""

    pack: OpenPack
    found: _Result
    gain: float


async def no_packs() -> list[Path]:
    """Return the packs of no dependencies."""
    return []


class PackDesk:
    """Use from one event loop; close with `aclose`."""

    def __init__(
        self,
        project: str,
        model: LanguageModel | None,
        reranker: ConfiguredReranker | None = None,
        of_project: Callable[[], Awaitable[list[Path]]] = no_packs,
    ) -> None:
        """`of_project` gives the folders of the packs of the project's dependencies."""
        self.project, self._model, self._reranker, self._of_project = project, model, reranker, of_project
        self._open: dict[Path, tuple[str, OpenPack]] = {}
        self._opening = asyncio.Lock()

    async def answer(self, tool: Tool, arguments: Mapping[str, object], caller: Caller = UNKNOWN_CALLER) -> Answer:
        """Return the answer of a tool of packs. Raises AtlasError."""
        return await tool.run(self, arguments)

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

    async def each(
        self, name: str, notes: list[str], work: Callable[[OpenPack], Awaitable[_Result]], text: str = ""
    ) -> list[AskedPack[_Result]]:
        """Return what the work finds in the named pack, or in one version of each installed one.

        Without a name, packs that `text` names are asked first, then those of the project's dependencies (in the
        version that the project has), then the others; the first of equals comes first. Packs that cannot be read are
        named in the notes. Raises NotFound without any that can.
        """
        if name:
            if is_path(name) or name.startswith("~"):
                raise ConfigError("a pack is asked by its name, not by a path", "list_packs names the installed ones")
            pack = await self.opened(await asyncio.to_thread(installed_pack, name))
            return [AskedPack(pack, await _reading(pack, work(pack)), 0.0)]
        gains, of_project = await self._order(text)
        if not gains:
            raise NotFound("no pack is installed", "build one: atlas pack build NAME --from pypi:NAME==VERSION")
        found: list[AskedPack[_Result]] = []
        asked = 0
        for each, gain in gains.items():
            if len(found) == MAX_ASKED:
                break
            asked += 1
            try:
                pack = await self.opened(of_project.get(each) or await asyncio.to_thread(installed_pack, each))
                found.append(AskedPack(pack, await _reading(pack, work(pack)), gain))
            except ConfigError:
                raise  # of the question, not of the pack
            except BROKEN as error:
                notes.append(f"the pack {each} was skipped: {error}")
        if asked < len(gains):
            notes.append(f"only {asked} of {len(gains)} packs were asked: {', '.join(list(gains)[:asked])}; name one")
        if not found:
            raise NotFound(f"no installed pack can be read: {notes[0]}", "see `atlas pack list`")
        return found

    async def _order(self, text: str) -> tuple[dict[str, float], dict[str, Path]]:
        """Return the names of all packs in the order in which they are asked, and the folders of the project's own."""
        names = dict.fromkeys(one.folder.parent.name for one in await asyncio.to_thread(list_packs))
        of_project = {folder.parent.name: folder for folder in await self._of_project()}
        words = {word.strip(".-+").casefold() for word in _WORD.findall(text)}
        gains = {
            name: NAMED if name.casefold() in words else OF_PROJECT if name in of_project else 0.0 for name in names
        }
        return dict(sorted(gains.items(), key=lambda item: -item[1])), of_project


async def _reading(pack: OpenPack, work: Awaitable[_Result]) -> _Result:
    """Return what the work finds. Raises AtlasError, StoreError for content that is not as a build makes it."""
    try:
        return await work
    except AtlasError:
        raise
    except BROKEN as error:
        raise StoreError(f"the pack {pack.manifest.title} is damaged: {error}", "install or build it again") from error
