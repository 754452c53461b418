"""Nearest-neighbour search: an in-memory copy of the vectors (int8, built by an injected index), synced with the file.

The file is the source of truth: candidates are scored again with its float16 vectors, which also drops deleted nodes.
"""

from __future__ import annotations

import json
import math
import operator
import struct
import threading
from array import array
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any, Protocol

import apsw

from atlas.adapters.stores.shared.filters import Restriction, restriction
from atlas.adapters.stores.shared.statements import statements
from atlas.adapters.stores.sqlite.read import current_model, vector_sign
from atlas.adapters.stores.sqlite.rows import Row, fetch, select, value
from atlas.core.errors import QueryError
from atlas.core.model import Filter, ModelInfo, Scored

_OVERSAMPLING = 1.25
"""Candidates scored exactly per requested hit: quantisation to 12 bits moves a vector by a few ranks at most (of 44,321
vectors, the best 100 were among the first 103 for each of 60 questions)."""
_FILTERED_OVERSAMPLING = 2
"""Candidates per hit with a filter, which removes some of them; if too many, more are scored, or the scan is repeated
on allowed nodes only."""
_MOST_WIDER = 4
_WIDER_SHARE = 0.02
"""How many candidates are scored instead of listing what a filter allows: this multiple of the first, and this share of
the vectors. At 50,000 vectors a candidate costs .01 ms, and the list, which a write makes invalid, 15 to 40 ms."""
_NARROW = 0.25
"""Share of the nodes that a filter allows, up to which only these are scanned if they are listed already: of the
nearest of all, too few would pass."""
_LEAST_CANDIDATES = 64
_FILTERS_KEPT = 8
"""Cached filters, 8 bytes per node: agents repeat the same few filters, and listing 44,000 nodes takes 10 ms."""
_ALL = Restriction("", "", {})
_ID_BYTES = 8
_BATCH = 1024


class VectorIndex(Protocol):
    """Vectors of one dimension in memory, by integer id."""

    def __len__(self) -> int: ...
    def put(self, ids: Sequence[int], vectors: Sequence[bytes]) -> None:
        """Add or replace vectors, each float16 little-endian."""
        ...

    def remove(self, ids: Sequence[int]) -> None:
        """Remove ids."""
        ...

    def ids(self) -> list[int]:
        """Return all ids."""
        ...

    def search(self, query: bytes, limit: int, allowed: bytes | None = None) -> list[tuple[int, float]]:
        """Return the best (id, cosine), best first; `allowed` holds sorted int64 little-endian ids."""
        ...

    def cosines(self, query: bytes, vectors: Sequence[bytes]) -> list[float]:
        """Return the exact cosine with each float16 little-endian vector; NaN for the zero vector."""
        ...


VectorIndexFactory = Callable[[int], VectorIndex]
"""Creates an empty index for vectors of the given dimension."""


def has_no_vectors(connection: apsw.Connection, where: Filter, space: str) -> bool:
    """Return whether a space has no model. Raises `NotFound` for an unknown project."""
    restriction(connection, where)
    return current_model(connection, space) is None


class VectorCache:
    """In-memory vectors of a space's current model; the first search loads them, and each search updates them."""

    def __init__(self, factory: VectorIndexFactory, space: str) -> None:
        self._factory, self._space = factory, space
        self._guard = threading.Lock()
        self._index: VectorIndex | None = None
        self._held = ("", -1)
        self._generation = -1
        self._filters = _Filters()

    @property
    def is_loaded(self) -> bool:
        """Whether a search has found vectors."""
        return self._index is not None

    def search(self, connection: apsw.Connection, vector: bytes, where: Filter, limit: int) -> list[Scored]:
        """See `Store.search_vector`."""
        limits = restriction(connection, where)
        model = current_model(connection, self._space)
        if model is None or limit <= 0:
            return []
        model_id, info = model
        if len(vector) != 4 * info.dimension:
            raise QueryError(
                f"the query vector has {len(vector) // 4} dimensions, the index has {info.dimension}",
                "the embedder changed since the last index; run: atlas index",
            )
        query = struct.unpack(f"<{info.dimension}f", vector)
        length = math.sqrt(sum(map(operator.mul, query, query)))
        if not length or not math.isfinite(length):
            return []
        index = self._current(connection, model_id, info.dimension)
        return _Scan(connection, index, model, vector, limits, self._filters).best(limit)

    def clear(self) -> None:
        """Release the memory."""
        with self._guard:
            self._index, self._held, self._generation = None, ("", -1), -1
        self._filters = _Filters()

    def _current(self, connection: apsw.Connection, model: int, dimension: int) -> VectorIndex:
        """Return the index in the state that the connection's transaction sees, or a later one."""
        read = statements("vector")
        identity, generation = fetch(connection, read["state"])[0]
        with self._guard:
            if self._index is None or self._held != (identity, model):
                self._index, self._held, self._generation = self._factory(dimension), (identity, model), -1
            index = self._index
            if generation > self._generation:
                self._load(connection, index, model)
                self._generation = generation
        return index

    def _load(self, connection: apsw.Connection, index: VectorIndex, model: int) -> None:
        """Load the rows written since the last load, then remove deleted ids if the counts differ."""
        read = statements("vector")
        if self._generation < 0:
            # In the order of nodes each batch is appended, and no loaded vector is moved.
            order = "DESC" if vector_sign(self._space) else ""
            rows = select(connection, read["all"].format(order=order), (model,))
        else:
            rows = select(connection, read["since"], (self._generation, model))
        while batch := list(islice(rows, _BATCH)):
            index.put([row[0] for row in batch], [row[1] for row in batch])
        if len(index) != value(connection, read["count"], (model,)):
            present = {row[0] for row in select(connection, read["ids"], (model,))}
            index.remove([held for held in index.ids() if held not in present])


class _Filters:
    """The nodes that filters allow, cached until the next write."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._state: Row = ()
        self._allowed: dict[tuple[object, ...], bytes] = {}

    def allowed(self, connection: apsw.Connection, limits: Restriction) -> bytes:
        """Return the allowed ids in the state that the connection's transaction sees: sorted, int64 little-endian."""
        state, key, known = self._look_up(connection, limits)
        if known is not None:
            return known
        found = _listed(connection, limits)
        with self._guard:
            if state == self._state:
                self._allowed[key] = found
                if len(self._allowed) > _FILTERS_KEPT:
                    del self._allowed[next(iter(self._allowed))]
        return found

    def cached(self, connection: apsw.Connection, limits: Restriction) -> bytes | None:
        """Return the allowed ids if they are listed already."""
        return self._look_up(connection, limits)[2]

    def _look_up(
        self, connection: apsw.Connection, limits: Restriction
    ) -> tuple[Row, tuple[object, ...], bytes | None]:
        """Return the state of the file, the key of the filter, and its list if there is one of that state."""
        state = fetch(connection, statements("text")["state"])[0]
        key = (limits.where, *sorted(limits.bindings.items()))
        with self._guard:
            if state != self._state:
                self._state, self._allowed = state, {}
            known = self._allowed.pop(key, None)
            if known is not None:
                self._allowed[key] = known  # LRU: the most recently used entry is evicted last.
        return state, key, known


def _listed(connection: apsw.Connection, limits: Restriction) -> bytes:
    text = statements("vector")["allowed_path" if limits.join else "allowed"]
    text = text.format(join=limits.join, where=limits.where)
    ids = array("q", (row[0] for row in select(connection, text, limits.bindings)))
    if struct.pack("=q", 1) != struct.pack("<q", 1):
        ids.byteswap()
    return ids.tobytes()


class _Scan:
    """One search in one read transaction."""

    def __init__(
        self,
        connection: apsw.Connection,
        index: VectorIndex,
        model: tuple[int, ModelInfo],
        query: bytes,
        limits: Restriction,
        filters: _Filters,
    ) -> None:
        self._connection, self._index = connection, index
        self._model, self._sign = model[0], vector_sign(model[1].space)
        self._query, self._limits, self._filters = query, limits, filters

    def best(self, limit: int) -> list[Scored]:
        """Scan everything; if the filter leaves too few of the nearest, scan only the allowed nodes."""
        narrow = self._filters.cached(self._connection, self._limits) if self._limits.where else None
        if narrow is not None and len(narrow) // _ID_BYTES <= _NARROW * len(self._index):
            wanted = max(int(limit * _OVERSAMPLING), _LEAST_CANDIDATES)
            return self._first(self._rescored(self._index.search(self._query, wanted, narrow)), limit)
        share = _FILTERED_OVERSAMPLING if self._limits.where else _OVERSAMPLING
        wanted = max(int(limit * share), _LEAST_CANDIDATES)
        near = self._index.search(self._query, wanted)
        hits = self._rescored(near, self._limits)
        if len(hits) < limit and len(near) == wanted and (wider := self._wider(limit, wanted, len(hits))):
            wanted, near = wider, self._index.search(self._query, wider)
            hits = self._rescored(near, self._limits)
        if len(hits) < limit and len(near) == wanted:
            near = self._index.search(self._query, wanted, self._filters.allowed(self._connection, self._limits))
            hits = self._rescored(near)
        return self._first(hits, limit)

    def _wider(self, limit: int, wanted: int, passed: int) -> int:
        """Return how many candidates have enough hits among them if as many pass as of the first, 0 if too many."""
        wider = math.ceil(_OVERSAMPLING * limit * wanted / passed) if passed else 0
        return wider if wider <= min(_MOST_WIDER * wanted, int(_WIDER_SHARE * len(self._index))) else 0

    @staticmethod
    def _first(hits: list[Scored], limit: int) -> list[Scored]:
        return sorted(hits, key=lambda hit: (-hit.score, hit.uid))[:limit]

    def _rescored(self, near: Sequence[tuple[int, float]], limits: Restriction = _ALL) -> list[Scored]:
        """Return exact cosines of the candidates that exist and pass the filter; listed ones pass it already."""
        among = statements("vector")["among" if limits.where else "among_all"]
        text = among.format(join=limits.join, where=limits.where, sign=self._sign)
        bindings: dict[str, Any] = {
            **limits.bindings,
            # In the order of the file, where neighbours share pages.
            "ids": json.dumps(sorted(row[0] for row in near)),
            "model": self._model,
        }
        rows = fetch(self._connection, text, bindings)
        cosines = self._index.cosines(self._query, [row[1] for row in rows])
        scored = zip(rows, cosines, strict=True)
        return [Scored(row[0], cosine) for row, cosine in scored if not math.isnan(cosine)]
