"""The embedded store: the `Store` contract on one SQLite file, `<data_dir>/atlas.db`, in WAL mode.

Writes use one thread and one connection, reads a few threads with separate read-only connections, so a read never waits
for the writer.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from atlas.adapters.stores.shared.removal import drop_units
from atlas.adapters.stores.shared.spaces import SPACES
from atlas.adapters.stores.sqlite import edges as graph
from atlas.adapters.stores.sqlite import export as whole
from atlas.adapters.stores.sqlite import gate, read
from atlas.adapters.stores.sqlite.apply import apply
from atlas.adapters.stores.sqlite.file.connection import DATABASE, ReaderPool
from atlas.adapters.stores.sqlite.find import find
from atlas.adapters.stores.sqlite.stats import StatsReader
from atlas.adapters.stores.sqlite.text import WordSearch
from atlas.adapters.stores.sqlite.vector_cache import VectorCache, VectorIndexFactory, has_no_vectors
from atlas.adapters.stores.sqlite.write import finish, forget_project, open_project, put_vectors
from atlas.adapters.stores.sqlite.writer import Writer
from atlas.core.errors import StoreError
from atlas.core.model import (
    CODE,
    Chunk,
    Decision,
    Direction,
    Edge,
    FileRecord,
    Filter,
    GraphDelta,
    Match,
    ModelInfo,
    Node,
    Scored,
    Skipped,
    SymbolDigests,
    Table,
    VectorRow,
    WordCounts,
)
from atlas.core.project_state import ProjectState, ProjectStats

_READER_THREADS = 4
_CYPHER_THREADS = 2
_MAX_INLINE_KEYS = 256
"""Maximum number of keys to look up in the calling thread; larger reads run in a thread of the pool."""
_YIELD_SECONDS = 0.001
"""A read in the calling thread lets other tasks run first unless they have just had their turn."""

_Result = TypeVar("_Result")


class EmbeddedStore:
    """A `Store` in a folder. Open it with `open`, use it from one event loop, close it with `aclose`."""

    apply_bytes = 1_000_000
    """See `Store.apply_bytes`. Batches of 4 MB save 1 % of the time and need 120 MB more."""

    def __init__(
        self,
        path: Path,
        writer: Writer | None,
        vector_index: VectorIndexFactory,
        *,
        owned: bool = True,
    ) -> None:
        self._path = path
        self._writer = writer
        self._readers = ReaderPool(path, _READER_THREADS, owned=owned)
        self._cypher = ReaderPool(path, _CYPHER_THREADS, owned=owned)
        self._words = WordSearch()
        self._vectors = {space: VectorCache(vector_index, space) for space in SPACES}
        self._stats = StatsReader(path, keeps=owned)
        self._yielded = 0.0

    @classmethod
    def open(
        cls, data_dir: Path, *, writing: bool, vector_index: VectorIndexFactory, reset: bool = False
    ) -> EmbeddedStore:
        """Open the store of a data directory; `writing` creates both, `reset` deletes any existing store.

        Raises `NotFound` if there is nothing to read, `SchemaMismatch` for a store of another version, `Unavailable` if
        another store is writing, and `StoreError` if the file is damaged or cannot be used.
        """
        path = data_dir / DATABASE
        writer = Writer(data_dir, reset) if writing else None
        store = cls(path, writer, vector_index)
        if writer is None:
            store._readers.check()
        return store

    @classmethod
    def open_file(cls, path: Path, *, vector_index: VectorIndexFactory) -> EmbeddedStore:
        """Open a file that never changes, such as that of a pack, for reading only. Raises as `open` does.

        It may belong to another user, and its folder may be read-only.
        """
        store = cls(path, None, vector_index, owned=False)
        store._readers.check()
        return store

    async def open_project(self, project: str, root: str) -> int:
        """See `Store.open_project`."""
        return await self._write(open_project, project, root)

    async def drop_project(self, project: str) -> None:
        """See `Store.drop_project`."""
        await drop_units(self, project)
        await self._write(forget_project, project)

    async def apply(self, deltas: Sequence[GraphDelta]) -> int:
        """See `Store.apply`. Batches of a few hundred units are cheapest."""
        return await self._write(apply, deltas)

    async def apply_batches(self, batches: AsyncIterator[Sequence[GraphDelta]]) -> AsyncGenerator[Sequence[GraphDelta]]:
        """See `Store.apply_batches`."""
        async for batch in batches:
            await self.apply(batch)
            yield batch

    async def finish(self, project: str, skipped: Sequence[Skipped] | None = None) -> None:
        """See `Store.finish`."""
        await self._write(finish, project, skipped)

    async def put_vectors(self, project: str, model: ModelInfo, vectors: Sequence[VectorRow]) -> None:
        """See `Store.put_vectors`."""
        await self._write(put_vectors, project, model, vectors)

    async def manifest(self, project: str) -> dict[str, FileRecord]:
        """See `Store.manifest`."""
        return await self._readers.run(read.manifest, project)

    async def paths(self, project: str) -> list[str]:
        """See `Store.paths`."""
        return await self._readers.run(read.paths, project)

    async def records(self, project: str, paths: Sequence[str]) -> dict[str, FileRecord]:
        """See `Store.records`."""
        return await self._read(len(paths), read.records, project, paths)

    async def projects(self) -> list[ProjectState]:
        """See `Store.projects`."""
        return await self._read(0, read.projects)

    async def skipped(self, project: str) -> list[Skipped]:
        """See `Store.skipped`."""
        return await self._readers.run(read.skipped, project)

    async def symbol_digests(self, project: str, paths: Sequence[str]) -> dict[str, dict[str, SymbolDigests]]:
        """See `Store.symbol_digests`."""
        return await self._readers.run(gate.symbol_digests, project, paths)

    async def decisions(self, uids: Sequence[str]) -> list[Decision]:
        """See `Store.decisions`."""
        return await self._read(len(uids), gate.decisions, uids)

    async def content(self, project: str, paths: Sequence[str]) -> dict[str, bytes]:
        """See `Store.content`."""
        return await self._read(len(paths), read.content, project, paths)

    async def symbols(self, uids: Sequence[str], having: str = "") -> list[Node]:
        """See `Store.symbols`."""
        return await self._read(len(uids), read.symbols, uids, having)

    async def find(self, text: str, match: Match, where: Filter, limit: int) -> list[Node]:
        """See `Store.find`. Similar spellings and prefixes scan many names; all other matches look up keys."""
        keys = _MAX_INLINE_KEYS + 1 if match in (Match.NEAR, Match.PREFIX) else 1
        return await self._read(keys, find, text, match, where, limit)

    async def edges(
        self, uids: Sequence[str], direction: Direction, types: Sequence[str] = (), limit: int = 1000, each: int = 0
    ) -> list[Edge]:
        """See `Store.edges`."""
        return await self._read(len(uids), graph.edges, uids, direction, types, limit, each)

    async def edge_lines(
        self, uids: Sequence[str], types: Sequence[str], least: float = 0.0, limit: int = 10_000
    ) -> set[tuple[str, int]]:
        """See `Store.edge_lines`."""
        return await self._read(len(uids), graph.edge_lines, uids, types, least, limit)

    async def degrees(
        self, uids: Sequence[str], direction: Direction, types: Sequence[str] = ()
    ) -> dict[str, dict[str, int]]:
        """See `Store.degrees`."""
        return await self._read(len(uids), graph.degrees, uids, direction, types)

    async def search_text(self, words: Sequence[str], where: Filter, limit: int) -> list[Scored]:
        """See `Store.search_text`."""
        # one word is found in the time that it takes to ask a thread
        return await self._read(0 if len(words) == 1 else _MAX_INLINE_KEYS + 1, self._words.search, words, where, limit)

    async def count_words(self, words: Sequence[str], where: Filter) -> WordCounts:
        """See `Store.count_words`."""
        return await self._readers.run(self._words.count, words, where)

    async def search_vector(self, vector: bytes, where: Filter, limit: int, space: str = CODE) -> list[Scored]:
        """See `Store.search_vector`."""
        # most projects have no notes: to find no model takes less time than to ask a thread
        vectors = self._vectors[space]
        if not vectors.is_loaded and await self._read(0, has_no_vectors, where, space):
            return []
        return await self._readers.run(vectors.search, vector, where, limit)

    async def stale_chunks(
        self, project: str, model: ModelInfo, limit: int, after: str = "", uids: Sequence[str] | None = None
    ) -> list[Chunk]:
        """See `Store.stale_chunks`."""
        return await self._readers.run(read.stale_chunks, project, model, limit, after, uids)

    async def units(self, project: str, paths: Sequence[str]) -> list[GraphDelta]:
        """See `Store.units`."""
        return await self._readers.run(whole.units, project, paths)

    async def vectors(self, project: str, limit: int, after: str = "", space: str = CODE) -> list[VectorRow]:
        """See `Store.vectors`."""
        return await self._readers.run(whole.vectors, project, limit, after, space)

    async def stats(self, project: str = "") -> list[ProjectStats]:
        """See `Store.stats`."""
        return await self._readers.run(self._stats.read, project)

    async def cypher(
        self,
        text: str,
        parameters: Mapping[str, object],
        limit: int,
        timeout: float,  # noqa: ASYNC109
        project: str = "",
    ) -> Table:
        """See `Store.cypher`. Uses separate connections: a slow query never delays other reads."""
        from atlas.adapters.stores.sqlite.cypher import run

        return await self._cypher.run(run, text, parameters, limit, timeout, project)

    async def aclose(self) -> None:
        """See `Store.aclose`. Waits for the running write."""
        await asyncio.to_thread(self._close)

    async def _read(self, keys: int, read: Callable[..., _Result], *arguments: Any) -> _Result:
        """Run a read of `keys` keys where it is cheapest."""
        if keys <= _MAX_INLINE_KEYS:
            # A task that only reads must not starve the others, and a turn of the event loop costs as much as a read.
            if time.monotonic() - self._yielded > _YIELD_SECONDS:
                await asyncio.sleep(0)
                self._yielded = time.monotonic()
            return self._readers.run_here(read, *arguments)
        return await self._readers.run(read, *arguments)

    async def _write(self, work: Callable[..., _Result], *arguments: Any) -> _Result:
        if self._writer is None:
            raise StoreError("this store was opened for reading", "open it for writing")
        return await self._writer.run(work, *arguments)

    def _close(self) -> None:
        self._readers.close()
        self._cypher.close()
        for vectors in self._vectors.values():
            vectors.clear()
        if self._writer is not None:
            self._writer.close()
