"""The embedder for a server: prefixes, concurrent requests, backoff, and detection of a changed model.

The endpoint implements the server's protocol; storing vectors is the caller's task.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from atlas.adapters.embedders.prefixes import AUTO, Prefixes, prefixes
from atlas.adapters.embedders.remote.batches import clean, split, tokens_of
from atlas.adapters.embedders.remote.bisect import Bisection
from atlas.adapters.embedders.remote.endpoint import PROBE, Endpoint, EndpointInfo, EndpointLimits
from atlas.adapters.embedders.remote.retry import Backoff, RequestRejected, ServerBusy, retry_with_backoff
from atlas.adapters.embedders.vector_codec import chunk_vector, query_vector
from atlas.core.errors import ConfigError, Unavailable
from atlas.core.model import Chunk, EmbeddingStats, ModelInfo

FRESH_SECONDS = 10.0
"""Seconds for which queries reuse the server's description; embedding chunks always asks again."""


QUESTION_SECONDS = 5.0
"""Timeout of a query: a search without vectors is better than a late one."""

BULK = Backoff(30.0, 0.25)
PROMPT = Backoff(2.0, 0.1)


@dataclass(frozen=True, slots=True)
class RequestOptions:
    """The settings that all servers share."""

    dimensions: int = 0
    """Dimension of the vectors; 0 means the model's own."""
    query_prefix: str = AUTO
    document_prefix: str = AUTO
    batch: int = 32
    """Texts per request."""
    concurrency: int = 4
    """Concurrent requests."""
    backoff: Backoff = BULK
    """For chunks."""
    query_backoff: Backoff = PROMPT
    """For a query, for which a user waits, and for the server's description."""


@dataclass(frozen=True, slots=True)
class _Known:
    """The description of a server at one time."""

    description: EndpointInfo
    info: ModelInfo
    prefixes: Prefixes
    at: float


class RemoteEmbedder:
    """`atlas.core.contracts.Embedder` over an endpoint. Use it from one event loop."""

    def __init__(self, endpoint: Endpoint, choice: RequestOptions) -> None:
        self._endpoint, self._choice = endpoint, choice
        self._known: _Known | None = None
        self._describing = asyncio.Lock()
        self._losses = EmbeddingStats()

    @property
    def place(self) -> str:
        """Where texts are sent, with the server product once it is known."""
        server = self._known.description.server if self._known else ""
        return f"{server} at {self._endpoint.place}" if server else self._endpoint.place

    @property
    def embedding_stats(self) -> EmbeddingStats:
        """Number of texts shortened or skipped so far."""
        return self._losses

    async def info(self) -> ModelInfo:
        """Return the model of the vectors; asks the server. Raises Unavailable and ConfigError."""
        return (await self._described(FRESH_SECONDS)).info

    async def embed_chunks(self, chunks: Sequence[Chunk]) -> list[bytes]:
        """Return one vector per chunk, in order; zeros for a text that the server rejects in any length.

        Raises Unavailable if the server is unreachable for longer than the backoff or starts to serve another model;
        ConfigError if it rejects the key or every text, or returns vectors of another dimension than configured.
        """
        if not chunks:
            return []
        known = await self._described(0.0)
        texts = [clean(f"{known.prefixes.document}{chunk.name}\n{chunk.text}") for chunk in chunks]
        limits = known.description.limits
        bisection = Bisection(lambda some: self._vectors(some, known))
        found: list[bytes | None] = [None] * len(chunks)
        await _in_parallel(self._width(limits), split(texts, self._choice.batch, limits), texts, bisection, found)
        cut = bisection.shortened
        if longest := limits.text_tokens:
            cut += sum(tokens_of(text) > longest for text in texts)
        self._losses = EmbeddingStats(self._losses.truncated + cut, self._losses.given_up + bisection.given_up)
        return [vector if vector is not None else bytes(2 * known.info.dimension) for vector in found]

    async def embed_query(self, text: str) -> bytes:
        """Return the vector of a query, shortened if the server finds it too long. Raises the errors of `info`."""
        try:
            async with asyncio.timeout(QUESTION_SECONDS):
                return await self._question(text)
        except TimeoutError as error:
            self._known = None
            raise Unavailable(f"{self.place} did not respond to a query within {QUESTION_SECONDS:g} s") from error

    async def aclose(self) -> None:
        """Close the connections; idempotent."""
        await self._endpoint.aclose()

    async def _question(self, text: str) -> bytes:
        known = await self._described(FRESH_SECONDS)
        bisection = Bisection(lambda some: self._vectors(some, known, question=True))
        (vector,) = await bisection.vectors([clean(f"{known.prefixes.query}{text}") or " "])
        return vector if vector is not None else bytes(4 * known.info.dimension)

    def _width(self, limits: EndpointLimits) -> int:
        """Return the number of concurrent requests; TEI counts every text in them against its limit."""
        most = min(self._choice.batch, limits.texts or self._choice.batch)
        return max(1, min(self._choice.concurrency, limits.requests // most if limits.requests else 64))

    async def _vectors(self, texts: Sequence[str], known: _Known, *, question: bool = False) -> list[bytes]:
        """Embed the texts of one request. Raises RequestRejected also for vectors with NaN, which a text may cause."""
        backoff = self._choice.query_backoff if question else self._choice.backoff

        async def attempt() -> list[list[float]]:
            if self._known is None and (await self._described(FRESH_SECONDS)).info != known.info:
                raise self._changed(known)
            try:
                return await self._endpoint.embed(texts)
            except ServerBusy as busy:
                if busy.lost:  # The next server to respond may serve another model.
                    self._known = None
                raise

        rows = await retry_with_backoff(attempt, backoff)
        if any(len(row) != known.info.dimension for row in rows):
            self._known = None
            raise self._changed(known)
        make = query_vector if question else chunk_vector
        try:
            return [make(row) for row in rows]
        except ValueError as error:
            raise RequestRejected(f"{self._endpoint.place} returned {error}") from error

    async def _described(self, fresh: float) -> _Known:
        """Return the description of the server, at most `fresh` seconds old."""
        async with self._describing:
            known = self._known
            if known is not None and time.monotonic() - known.at < fresh:
                return known
            before = known.description if known else None
            try:
                served = await retry_with_backoff(lambda: self._endpoint.describe(before), self._choice.query_backoff)
            except RequestRejected as error:
                hint = f"The server rejects {PROBE!r}: check embedder.provider, embedder.model and embedder.dimensions."
                raise ConfigError(error.message, hint) from error
            except Unavailable:
                self._known = None
                raise
            self._known = self._understood(served)
            return self._known

    def _understood(self, served: EndpointInfo) -> _Known:
        wanted = self._choice.dimensions
        if wanted and served.dimension != wanted:
            raise ConfigError(
                f"{served.model} at {self._endpoint.place} returns vectors of {served.dimension} dimensions, "
                f"embedder.dimensions is {wanted}",
                "Set embedder.dimensions to 0 or to the model's dimension.",
            )
        chosen = prefixes(served.model, self._choice.query_prefix, self._choice.document_prefix)
        fingerprint = served.fingerprint
        if chosen.document:  # The prefix is part of every vector's input.
            fingerprint += f"+{hashlib.blake2b(chosen.document.encode(), digest_size=4).hexdigest()}"
        info = ModelInfo(self._endpoint.provider, served.model, served.dimension, fingerprint)
        return _Known(served, info, chosen, time.monotonic())

    def _changed(self, known: _Known) -> Unavailable:
        return Unavailable(
            f"{self._endpoint.place} no longer serves {known.info.model} with {known.info.dimension} dimensions",
            "Run: atlas index",
        )


async def _in_parallel(
    width: int, batches: Iterator[list[int]], texts: Sequence[str], bisection: Bisection, found: list[bytes | None]
) -> None:
    """Fill `found` with `width` concurrent requests; the first error cancels all of them and is raised."""

    async def work() -> None:
        for positions in batches:
            vectors = await bisection.vectors([texts[position] for position in positions])
            for position, vector in zip(positions, vectors, strict=True):
                found[position] = vector

    tasks = [asyncio.create_task(work()) for _ in range(width)]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
