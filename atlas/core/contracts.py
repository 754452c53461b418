"""The contracts of adapters. Verbs are coroutines; they raise `Unavailable` if retrying may help, else `StoreError`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from typing import Protocol

from atlas.core.events import DeadLetter, Delivery, Event, StreamState
from atlas.core.model import (
    CODE,
    Chunk,
    Decision,
    Direction,
    Edge,
    EmbeddingStats,
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


class Store(Protocol):
    """The graph, its texts and its vectors. One writer, any number of readers; readers never wait for the writer."""

    @property
    def apply_bytes(self) -> int:
        """The most source text, in bytes, that one `apply` should carry: the store holds it until the commit."""
        ...

    async def open_project(self, project: str, root: str) -> int:
        """Register a project (idempotent) and return its generation (0 = never indexed). Needs a store for writing.

        This store becomes the project's writer: where processes share a store, `apply` and `finish` of an earlier
        writer raise `LeaseLost` and write nothing, however long ago they began. Anybody may call `put_vectors`.
        """
        ...

    async def drop_project(self, project: str) -> None:
        """Delete a project with all its units. Raises `NotFound` for an unknown one."""
        ...

    async def apply(self, deltas: Sequence[GraphDelta]) -> int:
        """Make each delta's unit equal to its content; all deltas in one transaction. Return the new generation.

        Applying twice equals applying once. Nodes that stay keep their ids and up-to-date vectors; vectors of changed
        chunks stay until replaced and count as stale.
        """
        ...

    def apply_batches(self, batches: AsyncIterator[Sequence[GraphDelta]]) -> AsyncGenerator[Sequence[GraphDelta]]:
        """Apply each batch as `apply` does, in order, and yield it once it is committed.

        The store may request the next batch while it writes one. Closing it writes nothing more; then close `batches`.
        """
        ...

    async def finish(self, project: str, skipped: Sequence[Skipped] | None = None) -> None:
        """Record the end of an index pass: skipped files (None keeps them), planner statistics, checkpoint.

        The end of the first pass is the time of the index; from then on it is that of the last generation.
        """
        ...

    async def manifest(self, project: str) -> dict[str, FileRecord]:
        """Return the record of every unit of the project by path (the structure unit under "")."""
        ...

    async def paths(self, project: str) -> list[str]:
        """Return the paths of the project's files, sorted."""
        ...

    async def records(self, project: str, paths: Sequence[str]) -> dict[str, FileRecord]:
        """Return the records of the given files; omits unknown paths. Cheap: every answer needs it."""
        ...

    async def projects(self) -> list[ProjectState]:
        """Return every project, sorted by name, with the models of its vectors and without counts. Cheap."""
        ...

    async def skipped(self, project: str) -> list[Skipped]:
        """Return the skipped files of the last pass, sorted by path."""
        ...

    async def symbol_digests(self, project: str, paths: Sequence[str]) -> dict[str, dict[str, SymbolDigests]]:
        """Return the digests of every node of the files by path and uid; omits unknown paths."""
        ...

    async def decisions(self, uids: Sequence[str]) -> list[Decision]:
        """Return the last recorded decision of each node in the given order; omits nodes without one."""
        ...

    async def content(self, project: str, paths: Sequence[str]) -> dict[str, bytes]:
        """Return the indexed bytes of the files; omits unknown paths."""
        ...

    async def symbols(self, uids: Sequence[str], having: str = "") -> list[Node]:
        """Return the nodes of the uids in the given order; omits unknown ones, and properties without this text."""
        ...

    async def find(self, text: str, match: Match, where: Filter, limit: int) -> list[Node]:
        """Return nodes by name in a fixed order: definitions before tests, then shorter, then by qualified name."""
        ...

    async def edges(
        self, uids: Sequence[str], direction: Direction, types: Sequence[str] = (), limit: int = 1000, each: int = 0
    ) -> list[Edge]:
        """Return edges at the nodes with their far ends, ordered by (given uid, type, -confidence, path, line).

        `path` is that of the far end; its uid breaks ties. `each` > 0 keeps at most that many per (given uid, type).
        """
        ...

    async def edge_lines(
        self, uids: Sequence[str], types: Sequence[str], least: float = 0.0, limit: int = 10_000
    ) -> set[tuple[str, int]]:
        """Return path and line of the evidence of edges that end at the nodes, of at least a confidence.

        Far cheaper than `edges`. Of more edges than the limit, it is not said which are left out.
        """
        ...

    async def degrees(
        self, uids: Sequence[str], direction: Direction, types: Sequence[str] = ()
    ) -> dict[str, dict[str, int]]:
        """Return the number of edges at each node by type, from the index only; omits those without any."""
        ...

    async def search_text(self, words: Sequence[str], where: Filter, limit: int) -> list[Scored]:
        """BM25 (name x8, qualified name x4, docstring x2, source x1, path x2) over pre-split words or phrases."""
        ...

    async def count_words(self, words: Sequence[str], where: Filter) -> WordCounts:
        """Count, by word and file, the nodes that pass the filter and contain the word (see `WordCounts`)."""
        ...

    async def search_vector(self, vector: bytes, where: Filter, limit: int, space: str = CODE) -> list[Scored]:
        """Return the exact nearest neighbours of a float32 query vector by cosine; none without vectors."""
        ...

    async def stale_chunks(
        self, project: str, model: ModelInfo, limit: int, after: str = "", uids: Sequence[str] | None = None
    ) -> list[Chunk]:
        """Return chunks of the model's space whose vector is missing, of another text or of another model, by file.

        `after` is the uid of the last chunk of the previous page: all pages together cost one scan. `uids` restricts
        the answer to these nodes; omits unknown ones.
        """
        ...

    async def put_vectors(self, project: str, model: ModelInfo, vectors: Sequence[VectorRow]) -> None:
        """Store vectors in one transaction, made by what becomes its space's model; drops rows of outdated digests."""
        ...

    async def units(self, project: str, paths: Sequence[str]) -> list[GraphDelta]:
        """Return the stored content of these units as deltas that recreate them in a copy, without search texts.

        In the order of the paths; omits unknown ones. Nodes are sorted by uid, edges by all their fields, including
        edges without a target.
        """
        ...

    async def vectors(self, project: str, limit: int, after: str = "", space: str = CODE) -> list[VectorRow]:
        """Return up-to-date vectors of the space's current model by uid, those behind `after`, for a copy."""
        ...

    async def stats(self, project: str = "") -> list[ProjectStats]:
        """Return counts of one project, or of all."""
        ...

    async def cypher(
        self,
        text: str,
        parameters: Mapping[str, object],
        limit: int,
        timeout: float,  # noqa: ASYNC109 the store interrupts its own statement; cancelling a task cannot
        project: str = "",
    ) -> Table:
        """Run a read-only openCypher query: at most `limit` rows, `timeout` seconds. Raises QueryError.

        It sees only the nodes of `project`, unless that is "" or the query reads the property `project` itself.
        """
        ...

    async def aclose(self) -> None:
        """Close; idempotent."""
        ...


class Streams(Protocol):
    """Streams of hints with consumer groups and at-least-once delivery.

    An event says that something about its key may have changed. Every group of a stream receives every event. Within a
    group, one consumer at a time receives an event, in order of arrival, and the event stays pending until it is
    acknowledged. Events that a dead consumer left pending are delivered again. Lost, duplicated or reordered events may
    cost time, never correctness.
    """

    async def publish(self, stream: str, events: Sequence[Event]) -> int:
        """Add events; an event that is already queued and that no group has taken is not added again.

        Return the number of events for which the stream had no room: the publisher must then arrange a scan of the
        whole project. Pending events are never dropped to make room.
        """
        ...

    async def take(self, stream: str, group: str, limit: int, wait: float) -> list[Delivery]:
        """Return up to `limit` events in order of arrival: redeliveries that are due, then new events.

        Waits up to `wait` seconds for the first event (0 = does not wait). An event whose deliveries exceed the retry
        policy without an answer becomes a dead letter instead. Cancellation loses nothing.
        """
        ...

    async def extend_visibility(self, stream: str, group: str, ids: Sequence[str]) -> None:
        """Restart the redelivery timeout of these deliveries: their consumer is still working on them."""
        ...

    async def acknowledge(self, stream: str, group: str, ids: Sequence[str]) -> None:
        """Remove deliveries whose effect is in the store. Unknown ids are ignored."""
        ...

    async def nack(self, stream: str, group: str, ids: Sequence[str], reason: str) -> None:
        """Return failed deliveries: each is redelivered after a growing delay, or becomes a dead letter."""
        ...

    async def reclaim(self, stream: str, group: str, *, from_others: bool = False) -> int:
        """Make all pending events of the group due now; return how many. The caller knows that no worker has them.

        `from_others`: only events delivered to other consumers, for a caller that knows it is the only live one.
        """
        ...

    async def states(self, streams: Sequence[str] = ()) -> list[StreamState]:
        """Return length, waiting, pending and dead letters of every (stream, group) in use (of `streams`), sorted."""
        ...

    async def dead_letters(self, limit: int = 1000) -> list[DeadLetter]:
        """Return the dead letters, oldest first."""
        ...

    async def retry(self, ids: Sequence[str]) -> int:
        """Publish the events of these dead letters again with a new count and remove the letters; return how many."""
        ...

    async def drop(self, ids: Sequence[str]) -> int:
        """Remove dead letters; return how many."""
        ...


class Coordinator(Protocol):
    """Leases and heartbeats: which process works on what, and which processes are alive."""

    async def lease(self, name: str, holder: str, seconds: float) -> str:
        """Acquire or renew a lease for `seconds`; return its current holder.

        A lease says who should work, not who may write: a paused holder learns too late that its lease has expired.
        """
        ...

    async def release(self, name: str, holder: str) -> None:
        """Release a lease; a lease of another holder stays."""
        ...

    async def send_heartbeat(self, name: str, text: str, seconds: float) -> None:
        """Publish the state of `name` as text; it expires after `seconds`."""
        ...

    async def heartbeat(self, name: str) -> str:
        """Return the last state of `name`, "" if there is none or it has expired."""
        ...

    async def heartbeats(self) -> dict[str, str]:
        """Return all states that have not expired, by name, sorted."""
        ...


class Bus(Streams, Coordinator, Protocol):
    """Both contracts on one connection."""

    async def aclose(self) -> None:
        """Close; idempotent. Pending events stay pending."""
        ...


class Embedder(Protocol):
    """Text to vectors of one space, that of its model."""

    @property
    def place(self) -> str:
        """Where texts are sent, for people and without secrets; "" = they stay in this process."""
        ...

    @property
    def embedding_stats(self) -> EmbeddingStats:
        """How many texts were truncated or could not be embedded."""
        ...

    async def info(self) -> ModelInfo:
        """Return the model of the vectors; asks the server if there is one."""
        ...

    async def embed_chunks(self, chunks: Sequence[Chunk]) -> list[bytes]:
        """Return one L2-normalised float16 little-endian vector of `info.dimension` per chunk, in order."""
        ...

    async def embed_query(self, text: str) -> bytes:
        """Return the float32 little-endian vector of a query; all zeros when the model knows none of its words."""
        ...

    async def aclose(self) -> None:
        """Close connections and files, if any; idempotent."""
        ...


class EmbeddingCache(Protocol):
    """Vectors by a digest of their input, shared by all projects; bounded, evicts the least recently used."""

    async def get(self, keys: Sequence[str]) -> list[bytes | None]:
        """Return the vector of each key in order, None for a miss."""
        ...

    async def put(self, vectors: Mapping[str, bytes]) -> None:
        """Store vectors by key."""
        ...

    async def aclose(self) -> None:
        """Close; idempotent."""
        ...


class TokenCounter(Protocol):
    """Counts tokens of a named encoding."""

    @property
    def encoding(self) -> str:
        """Name of the encoding, e.g. `cl100k_base`."""
        ...

    def count(self, text: str) -> int:
        """Return the exact number of tokens."""
        ...
