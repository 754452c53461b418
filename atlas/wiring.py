"""The composition root: settings -> adapters -> `Atlas`. The only module that knows which store and embedder there are.

Opening for reading needs an index; opening for writing makes one. Adapters are imported where they are needed: a server
that lists its tools, or a command that prints help, loads none of them.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from atlas.errors import ConfigError, StoreError

if TYPE_CHECKING:
    from atlas.api import Atlas
    from atlas.config import Settings
    from atlas.contracts import Embedder
    from atlas.pipeline.events import IndexSummary, Progress
    from atlas.pipeline.index import Indexer
    from atlas.pipeline.workplace import Source
    from atlas.search import Reader
    from atlas.stores.embedded import EmbeddedStore

FACTS_FILE = "facts-{project}.bin"
"""The facts cache of a project in the data folder; it may be deleted at any time."""


@asynccontextmanager
async def open_atlas(settings: Settings, *, writing: bool = False, reset: bool = False) -> AsyncGenerator[Atlas]:
    """Open the index of a project and close it at the end.

    For reading, raises NotFound when there is none. For writing, the index is made when there is none (`reset`: anew
    even if there is one), and Unavailable is raised when someone else is writing. Else SchemaMismatch and StoreError.
    """
    atlas = await asyncio.to_thread(connect, settings, writing=writing, reset=reset)
    try:
        yield atlas
    finally:
        await atlas.aclose()


async def index_project(settings: Settings, progress: Progress, *, full: bool = False) -> IndexSummary:
    """Make the index of a project equal to its files; `full` also replaces a store that only a rebuild can help."""
    try:
        async with open_atlas(settings, writing=True) as atlas:
            return await atlas.index(full=full, progress=progress)
    except StoreError as error:
        if not full or "--full" not in error.hint:
            raise
    async with open_atlas(settings, writing=True, reset=True) as atlas:
        return await atlas.index(full=True, progress=progress)


def connect(settings: Settings, *, writing: bool = False, reset: bool = False) -> Atlas:
    """Return an opened index that the caller closes; see `open_atlas`."""
    if settings.index.threads:
        # read by the extension's thread pool when it is first used
        os.environ.setdefault("RAYON_NUM_THREADS", str(settings.index.threads))
    from atlas.api import Atlas
    from atlas.parsing import VectorIndex
    from atlas.stores.embedded import EmbeddedStore

    store = EmbeddedStore.open(settings.data_dir, writing=writing, reset=reset, vector_index=VectorIndex)
    embedder = make_embedder(settings)
    return Atlas(_reader(settings, store, embedder), _indexer(settings, store, embedder) if writing else None)


def make_embedder(settings: Settings) -> Embedder:
    """Return the configured embedder."""
    if settings.embedder.provider == "none":
        from atlas.embedders.none import NoEmbedder

        return NoEmbedder()
    from atlas.embedders.static import StaticEmbedder

    return StaticEmbedder()


class Cl100kCounter:
    """`atlas.contracts.TokenCounter` of the extension."""

    @property
    def encoding(self) -> str:
        """Name of the encoding."""
        return "cl100k_base"

    def count(self, text: str) -> int:
        """Return the exact number of tokens."""
        from atlas.parsing import count_tokens

        return count_tokens(text)


def _reader(settings: Settings, store: EmbeddedStore, embedder: Embedder) -> Reader:
    from atlas.parsing import digest_paths, split_words
    from atlas.search import Reader

    counter = Cl100kCounter()
    return Reader(store, embedder, counter, settings.project_name, settings.root, split_words, digest_paths)


def _indexer(settings: Settings, store: EmbeddedStore, embedder: Embedder) -> Indexer:
    from atlas.buses.memory import MemoryBus
    from atlas.pipeline.gate import Gate
    from atlas.pipeline.index import Indexer

    return Indexer(
        source=make_source(settings),
        store=store,
        bus=MemoryBus(),
        gate=Gate(store, settings.pipeline.body_threshold / 100),
        embedder=None if settings.embedder.provider == "none" else embedder,
    )


def make_source(settings: Settings) -> Source:
    """Return what the write path has to know of a project."""
    from atlas.parsing import fingerprint, load_languages
    from atlas.pipeline.workplace import Source
    from atlas.scan import Scope

    scope = settings.scope
    try:
        languages = load_languages()
    except ValueError as error:
        raise ConfigError(f"a language cannot be used: {error}", "Install the package again.") from error
    return Source(
        project=settings.project_name,
        root=settings.root,
        languages=languages,
        fingerprint=fingerprint(languages),
        cache=settings.data_dir / FACTS_FILE.format(project=settings.project_name),
        scope=Scope(scope.include, scope.exclude, scope.max_file_bytes, scope.git_rules, scope.include_generated),
        timeout_ms=settings.index.parse_timeout_ms,
    )
