"""`AsyncPack` and `Pack`: one opened pack. Close it, or use it in a `with` block."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from pathlib import Path
from types import TracebackType
from typing import Concatenate, ParamSpec, TypeVar

from atlas.core.language_model import LanguageModel
from atlas.core.model import Table
from atlas.packs.build import BuildRequest, BuildResult, build_pack, no_report
from atlas.packs.documentation.pack.manifest import Manifest
from atlas.packs.documentation.sources.values import CollectOptions, CollectProgress
from atlas.packs.opening import OpenPack, find_pack, open_pack
from atlas.packs.profiles import find_article, override_notes, profile_options
from atlas.packs.questions.answer import ask
from atlas.packs.questions.retrieval.search import search
from atlas.packs.questions.values import Hit, PackAnswer, Reranker

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")

CYPHER_SECONDS = 10.0


class AsyncPack:
    """An opened pack, for one event loop."""

    def __init__(self, opened: OpenPack) -> None:
        self._opened = opened

    @classmethod
    async def open(
        cls, pack: str | Path, *, model: LanguageModel | None = None, reranker: Reranker | None = None
    ) -> AsyncPack:
        """Open a pack: a folder (a `Path`, or text with a separator), or an installed one (`django`, `django@5.2`).

        With a language model, answers are written by it; a reranker reorders what the profile `maximum` finds. Raises
        NotFound, SchemaMismatch and StoreError.
        """
        folder = find_pack(pack)
        return cls(await asyncio.to_thread(open_pack, folder, model, reranker))

    @staticmethod
    async def build(
        name: str,
        sources: Sequence[str],
        folder: str | Path | None = None,
        *,
        version: str = "",
        library: str = "",
        description: str = "",
        options: CollectOptions | None = None,
        replaces: bool = False,
        progress: Callable[[CollectProgress], None] = no_report,
    ) -> BuildResult:
        """Build a pack from sources as `atlas pack build --from` takes them; without a folder it is installed.

        Raises ConfigError, Unavailable and StoreError.
        """
        request = BuildRequest(name, tuple(sources), version, library, description=description)
        request = replace(request, options=options or request.options)
        target = Path(folder) if folder is not None else None
        return await build_pack(request, target, replaces=replaces, report=progress)

    @property
    def manifest(self) -> Manifest:
        """What the pack is and what it was made from."""
        return self._opened.manifest

    async def search(self, question: str, *, profile: str = "balanced", limit: int = 5) -> tuple[Hit, ...]:
        """Return the best sections for a question. Raises ConfigError for an unknown profile."""
        options = replace(profile_options(self._opened, profile), limit=limit)
        return await search(self._opened.reader, question, options)

    async def ask(self, question: str, *, profile: str = "balanced", max_tokens: int = 0) -> PackAnswer:
        """Answer a question with quotations and sources. Profiles: `baseline`, `balanced`, `maximum`.

        `max_tokens` 0 is the profile's own number. Raises ConfigError for an unknown profile.
        """
        options = profile_options(self._opened, profile)
        options = replace(options, max_tokens=max_tokens) if max_tokens else options
        answer = await ask(self._opened.reader, question, options)
        return replace(answer, notes=(*override_notes(self._opened), *answer.notes))

    async def article(self, name: str) -> str:
        """Return the text of an article by key, title, or URL. Raises NotFound with similar names."""
        return (await find_article(self._opened, name)).text

    async def cypher(self, query: str, parameters: Mapping[str, object] | None = None, limit: int = 100) -> Table:
        """Run a read-only openCypher query on the graph of the pack. Raises QueryError."""
        return await self._opened.cypher(query, parameters or {}, limit, CYPHER_SECONDS)

    async def aclose(self) -> None:
        """Close; idempotent."""
        await self._opened.aclose()

    async def __aenter__(self) -> AsyncPack:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


def _blocking(
    verb: Callable[_Arguments, Coroutine[object, object, _Result]],
    run: Callable[[Coroutine[object, object, _Result]], _Result],
) -> Callable[_Arguments, _Result]:
    """Return the verb of `AsyncPack` as a plain function with the same signature."""

    @wraps(verb)
    def call(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result:
        return run(verb(*args, **kwargs))

    call.__doc__, call.__qualname__ = f"See `{verb.__qualname__}`.", f"Pack.{verb.__name__}"
    return call


class Pack:
    """An opened pack for code without an event loop. Use it from one thread; see `AsyncPack` for each verb."""

    def __init__(self, runner: asyncio.Runner, pack: AsyncPack) -> None:
        self._runner, self._pack = runner, pack

    @classmethod
    def open(cls, pack: str | Path, *, model: LanguageModel | None = None, reranker: Reranker | None = None) -> Pack:
        """See `AsyncPack.open`."""
        runner = asyncio.Runner()
        try:
            return cls(runner, runner.run(AsyncPack.open(pack, model=model, reranker=reranker)))
        except BaseException:
            runner.close()
            raise

    @staticmethod
    def _method(
        verb: Callable[Concatenate[AsyncPack, _Arguments], Coroutine[object, object, _Result]],
    ) -> Callable[Concatenate[Pack, _Arguments], _Result]:
        """Return the verb of an opened `AsyncPack` as a method of `Pack`."""

        @wraps(verb)
        def call(pack: Pack, *args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result:
            return pack._run(verb(pack._pack, *args, **kwargs))

        call.__doc__, call.__qualname__ = f"See `{verb.__qualname__}`.", f"Pack.{verb.__name__}"
        return call

    build = staticmethod(_blocking(AsyncPack.build, asyncio.run))

    @property
    def manifest(self) -> Manifest:
        """See `AsyncPack.manifest`."""
        return self._pack.manifest

    search = _method(AsyncPack.search)
    ask = _method(AsyncPack.ask)
    article = _method(AsyncPack.article)
    cypher = _method(AsyncPack.cypher)

    def close(self) -> None:
        """Close; idempotent."""
        self._run(self._pack.aclose())
        self._runner.close()

    def __enter__(self) -> Pack:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _run(self, work: Coroutine[object, object, _Result]) -> _Result:
        return self._runner.run(work)
