"""The Bolt store: the `Store` contract on a Memgraph or Neo4j server.

Any number of readers, and one writer per project, which locks on the server enforce (`fencing`). Any process may write
vectors. A write is one transaction, a read a read-only one with a deadline.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing, suppress
from dataclasses import dataclass
from functools import cache
from typing import Any, Self, TypeVar

from atlas.adapters.stores.bolt.apply import StartedWrite, apply, begin, complete
from atlas.adapters.stores.bolt.connection import Address, BoltConnection, StatementDialect, Transaction
from atlas.adapters.stores.bolt.dialect import Dialect, dialect_of
from atlas.adapters.stores.bolt.fencing import become_writer, check_writer, forget_project
from atlas.adapters.stores.bolt.reading import export as whole
from atlas.adapters.stores.bolt.reading import read
from atlas.adapters.stores.bolt.reading.consistent_reads import CommitCounts, announce
from atlas.adapters.stores.bolt.reading.cypher import run as run_cypher
from atlas.adapters.stores.bolt.reading.find import find
from atlas.adapters.stores.bolt.reading.read import current_models
from atlas.adapters.stores.bolt.reading.search import count_words, search_text, search_vector
from atlas.adapters.stores.bolt.schema import (
    check_version,
    create_schema,
    create_vector_index,
    identity,
    indexes,
    vector_name,
)
from atlas.adapters.stores.bolt.speculative_write import SpeculativeWrite, with_following
from atlas.adapters.stores.bolt.stats import stats
from atlas.adapters.stores.bolt.vectors import put_vectors
from atlas.adapters.stores.shared.removal import drop_units
from atlas.adapters.stores.shared.spaces import check_lengths
from atlas.adapters.stores.shared.statements import cypher_statements
from atlas.core.errors import StoreError, Unavailable
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
from atlas.core.project_state import ProjectState, ProjectStats, now

_Result = TypeVar("_Result")


class BoltStore:
    """A `Store` on a server. Open it with `open`, use it from one event loop, close it with `aclose`."""

    apply_bytes = 1_000_000
    """See `Store.apply_bytes`. A Neo4j server with 512 MB of heap fails at less than 4 MB."""

    def __init__(self, link: BoltConnection, dialect: Dialect, writing: bool) -> None:
        self._link, self._dialect, self._writing = link, dialect, writing
        self._speculative: SpeculativeWrite | None = None
        self._lock, self._vector_lock = asyncio.Lock(), asyncio.Lock()
        """At most one write of the graph and one of vectors at a time; the two may overlap."""
        self._indexed_models, self._counts = set[str](), CommitCounts()
        self._fences: dict[str, int] = {}
        """Fencing token of each project that this store writes."""
        self._written: dict[str, set[str]] = {}
        """Paths written, or attempted, by project, for projects that were empty when this store became their writer."""

    @classmethod
    async def open(cls, address: Address, *, writing: bool) -> Self:
        """Connect and determine the dialect; a store for writing also creates the schema.

        Raises `Unavailable` if the server cannot be reached, `ConfigError` for wrong credentials or a wrong address,
        `SchemaMismatch` for a graph of another version, and `StoreError` for an unsupported server.
        """
        link = BoltConnection(address)
        try:
            dialect = dialect_of(await link.agent())
            link.dialect = StatementDialect(cache(dialect.statement), dialect.parameters)
            if writing:
                await create_schema(link, dialect)
            else:
                await check_version(link)
        except BaseException:  # also a cancellation: the connections have no other owner
            await link.aclose()
            raise
        return cls(link, dialect, writing)

    async def identity(self) -> str:
        """Return the identity of the graph: the same for all processes, whatever address they use."""
        return await identity(self._link)

    async def open_project(self, project: str, root: str) -> int:
        """See `Store.open_project`."""
        generation, self._fences[project] = await self._write(lambda asked: become_writer(asked, project, root))
        self._written.pop(project, None)
        if generation == 0:
            self._written[project] = set()
        return generation

    async def drop_project(self, project: str) -> None:
        """See `Store.drop_project`."""
        await drop_units(self, project)
        await self._write(lambda transaction: forget_project(transaction, project))

    async def apply(self, deltas: Sequence[GraphDelta]) -> int:
        """See `Store.apply`. Batches of a few hundred units are cheapest."""
        return await self._apply(deltas, lambda: ())

    async def apply_batches(self, batches: AsyncIterator[Sequence[GraphDelta]]) -> AsyncGenerator[Sequence[GraphDelta]]:
        """See `Store.apply_batches`. Begins to write the next batch while one is being committed."""
        async with aclosing(with_following(batches)) as pairs:
            try:
                async for batch, following in pairs:
                    await self._apply(batch, following)
                    yield batch
            finally:
                await self._give_up()

    async def _apply(self, deltas: Sequence[GraphDelta], following: Callable[[], Sequence[GraphDelta]]) -> int:
        """Apply deltas; `following` returns the next batch if it is known by the time of the commit."""

        async def finish(transaction: Transaction, begun: StartedWrite | None) -> int:
            await check_writer(transaction, self._fences, names)
            if begun is None and are_new and are_new.pop():
                begun = await begin(transaction, deltas)
            # A retry reads stored content: another unit may hold a symbol, or the lost connection has committed.
            generation = await (complete(transaction, begun) if begun is not None else apply(transaction, deltas))
            await announce(self._link, self._dialect, "begin_commit", names)
            # in a snapshot, edges would never find ends that are committed later
            if not self._dialect.snapshots and (after := following()) and self._are_new(after):
                # Not earlier: it may wait for locks of this transaction, which must never wait for it.
                self._speculative = SpeculativeWrite(self._link, after)
            return generation

        async def work(transaction: Transaction) -> int:
            await self._give_up()
            return await finish(transaction, None)

        self._check_writing()
        names = sorted({delta.project for delta in deltas})
        are_new: list[bool] = []
        try:
            async with self._lock:
                begun_write, self._speculative = self._speculative, None
                if begun_write is not None and begun_write.is_for(deltas):
                    # On any failure the ordinary write below repeats the work or raises the cause.
                    with suppress(StoreError, Unavailable):
                        return await begun_write.complete(finish)
                elif begun_write is not None:
                    await begun_write.give_up()
                are_new.append(self._are_new(deltas))
                return await self._link.write(work)
        except BaseException:  # also a cancellation: the speculative write would keep its locks on the server
            await self._give_up()
            raise
        finally:
            if self._speculative is not None:
                self._speculative.hurry()
            await announce(self._link, self._dialect, "end_commit", names)

    async def _give_up(self) -> None:
        """Roll back the write of the next batch if it has begun."""
        begun_write, self._speculative = self._speculative, None
        if begun_write is not None:
            await begun_write.give_up()

    def _are_new(self, deltas: Sequence[GraphDelta]) -> bool:
        """Return whether the server holds none of these units. Afterwards they count as written."""
        new = all(delta.project in self._written and delta.path not in self._written[delta.project] for delta in deltas)
        for delta in deltas:
            self._written.get(delta.project, set()).add(delta.path)
        return new

    async def finish(self, project: str, skipped: Sequence[Skipped] | None = None) -> None:
        """See `Store.finish`."""
        write = cypher_statements("write")

        async def work(transaction: Transaction) -> None:
            await read.check_project(transaction, project)
            await check_writer(transaction, self._fences, {project})
            await transaction.rows(write["finish"], name=project, indexed_at=now())
            if skipped is not None:
                rows = {row.path: (row.path, row.reason, row.size, row.mtime_ns) for row in skipped}
                await transaction.rows(write["set_skipped"], name=project, skipped=json.dumps(list(rows.values())))

        await self._write(work)
        self._written.pop(project, None)

    async def put_vectors(self, project: str, model: ModelInfo, vectors: Sequence[VectorRow]) -> None:
        """See `Store.put_vectors`. The first vectors of a model create its index; removing its last ones drops it."""
        check_lengths(model, vectors)
        self._check_writing()
        key = vector_name(model)
        if key not in self._indexed_models:
            await self._link.read(lambda transaction: read.check_project(transaction, project))
            await create_vector_index(self._link, self._dialect, model)
            self._indexed_models.add(key)

        async def work(transaction: Transaction) -> list[str]:
            await read.check_project(transaction, project)
            return await put_vectors(transaction, project, model, vectors)

        async with self._vector_lock:
            for unused in await self._link.write(work):
                await self._forget(unused)

    async def manifest(self, project: str) -> dict[str, FileRecord]:
        """See `Store.manifest`."""
        return await self._read_consistent([project], read.manifest, project)

    async def paths(self, project: str) -> list[str]:
        """See `Store.paths`."""
        return await self._read_consistent([project], read.paths, project)

    async def records(self, project: str, paths: Sequence[str]) -> dict[str, FileRecord]:
        """See `Store.records`."""
        return await self._read_consistent([project], read.records, project, paths)

    async def projects(self) -> list[ProjectState]:
        """See `Store.projects`."""
        return await self._read(read.projects)

    async def skipped(self, project: str) -> list[Skipped]:
        """See `Store.skipped`."""
        return await self._read(read.skipped, project)

    async def symbol_digests(self, project: str, paths: Sequence[str]) -> dict[str, dict[str, SymbolDigests]]:
        """See `Store.symbol_digests`."""
        return await self._read_consistent([project], read.symbol_digests, project, paths)

    async def decisions(self, uids: Sequence[str]) -> list[Decision]:
        """See `Store.decisions`."""
        return await self._read(read.decisions, uids)

    async def content(self, project: str, paths: Sequence[str]) -> dict[str, bytes]:
        """See `Store.content`."""
        return await self._read_consistent([project], read.content, project, paths)

    async def symbols(self, uids: Sequence[str], having: str = "") -> list[Node]:
        """See `Store.symbols`."""
        return await self._read_consistent(_projects_of(uids), read.symbols, uids, having)

    async def find(self, text: str, match: Match, where: Filter, limit: int) -> list[Node]:
        """See `Store.find`."""
        return await self._read_consistent(_projects_in(where), find, text, match, where, limit)

    async def edges(
        self, uids: Sequence[str], direction: Direction, types: Sequence[str] = (), limit: int = 1000, each: int = 0
    ) -> list[Edge]:
        """See `Store.edges`."""
        return await self._read_consistent(_projects_of(uids), read.edges, uids, direction, types, limit, each)

    async def edge_lines(
        self, uids: Sequence[str], types: Sequence[str], least: float = 0.0, limit: int = 10_000
    ) -> set[tuple[str, int]]:
        """See `Store.edge_lines`."""
        edges = await self.edges(uids, Direction.IN, types, limit)
        return {(each.node.row.path, line) for each in edges if each.row.confidence >= least for line in each.row.lines}

    async def degrees(
        self, uids: Sequence[str], direction: Direction, types: Sequence[str] = ()
    ) -> dict[str, dict[str, int]]:
        """See `Store.degrees`."""
        return await self._read_consistent(_projects_of(uids), read.degrees, uids, direction, types)

    async def search_text(self, words: Sequence[str], where: Filter, limit: int) -> list[Scored]:
        """See `Store.search_text`."""
        return await self._read_consistent(_projects_in(where), search_text, self._dialect, words, where, limit)

    async def count_words(self, words: Sequence[str], where: Filter) -> WordCounts:
        """See `Store.count_words`."""
        return await self._read_consistent(_projects_in(where), count_words, self._dialect, words, where)

    async def search_vector(self, vector: bytes, where: Filter, limit: int, space: str = CODE) -> list[Scored]:
        """See `Store.search_vector`. The server's index is approximate."""
        asked = (search_vector, self._dialect, vector, where, limit, space)
        return await self._read_consistent(_projects_in(where), *asked)

    async def stale_chunks(
        self, project: str, model: ModelInfo, limit: int, after: str = "", uids: Sequence[str] | None = None
    ) -> list[Chunk]:
        """See `Store.stale_chunks`."""
        return await self._read_consistent([project], read.stale_chunks, project, model, limit, after, uids)

    async def units(self, project: str, paths: Sequence[str]) -> list[GraphDelta]:
        """See `Store.units`."""
        return await self._read_consistent([project], whole.units, project, paths)

    async def vectors(self, project: str, limit: int, after: str = "", space: str = CODE) -> list[VectorRow]:
        """See `Store.vectors`. Reads of nodes never return vectors."""
        return await self._read(whole.vectors, project, limit, after, space)

    async def stats(self, project: str = "") -> list[ProjectStats]:
        """See `Store.stats`."""
        return await self._read(stats, project)

    async def cypher(
        self,
        text: str,
        parameters: Mapping[str, object],
        limit: int,
        timeout: float,  # noqa: ASYNC109
        project: str = "",
    ) -> Table:
        """See `Store.cypher`."""
        return await run_cypher(self._link, self._dialect, text, parameters, limit, timeout, project)

    async def aclose(self) -> None:
        """See `Store.aclose`. Waits for running writes."""
        async with self._lock, self._vector_lock:
            await self._give_up()
            await self._link.aclose()

    async def _read(self, work: Callable[..., Awaitable[_Result]], *arguments: Any) -> _Result:
        return await self._link.read(lambda transaction: work(transaction, *arguments))

    async def _read_consistent(
        self, projects: Iterable[str], work: Callable[..., Awaitable[_Result]], *arguments: Any
    ) -> _Result:
        """Run a read that must not mix several commits; `projects` are those that it reads, none for all."""
        if self._dialect.snapshots:
            return await self._read(work, *arguments)
        return await self._counts.read(self._link, projects, lambda transaction: work(transaction, *arguments))

    async def _write(self, work: Callable[[Transaction], Awaitable[_Result]]) -> _Result:
        self._check_writing()
        async with self._lock:
            return await self._link.write(work)

    def _check_writing(self) -> None:
        if not self._writing:
            raise StoreError("this store was opened for reading", "open it for writing")

    async def _forget(self, key: str) -> None:
        """Drop the index of a model without vectors."""
        self._indexed_models.discard(key)
        await self._link.command(self._dialect.drop_vector_index(key))
        statement = cypher_statements("write")["forget_model"]
        await self._link.write(lambda transaction: transaction.rows(statement, key=key))


def _projects_of(uids: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(uid.partition(":")[0] for uid in uids))


def _projects_in(where: Filter) -> list[str]:
    return [where.project] if where.project else []


class HeldBoltStore(BoltStore):
    """A `BoltStore` that also closes the resources passed to `hold`, after its own connections."""

    _held: AsyncExitStack | None = None

    def hold(self, held: AsyncExitStack) -> None:
        """Register the resources to close with the store."""
        self._held = held

    async def aclose(self) -> None:
        """See `Store.aclose`. Closes the registered resources even if closing the store fails."""
        try:
            await super().aclose()
        finally:
            if self._held is not None:
                await self._held.aclose()


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """State of a supported server that responds."""

    agent: str
    indexes: int
    """Number of required indexes that exist."""
    missing: tuple[str, ...]
    """Names of the missing indexes; all of them on an empty server."""


async def server_info(address: Address) -> ServerInfo:
    """Query a server. Raises as `BoltStore.open` for reading does."""
    link = BoltConnection(address)
    try:
        agent = await link.agent()
        dialect = dialect_of(agent)
        await check_version(link)
        needed = {(index.kind, index.name) for index, _ in dialect.schema()}
        needed |= {("vector", key) for key, _ in (await link.read(current_models)).values()}
        present = {(index.kind, index.name) for index in await indexes(link, dialect)}
    finally:
        await link.aclose()
    missing = tuple(f"{kind} {name}" for kind, name in sorted(needed - present))
    return ServerInfo(agent, len(needed) - len(missing), missing)
